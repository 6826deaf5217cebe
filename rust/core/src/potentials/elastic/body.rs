//! A handle-driven mesh and its elastic energy: the sum of the potentials of tets in clusters, of triangles
//! and of springs.

use super::clusters::{ClusterScratch, Clusters};
use super::sheet::{Sheet, SheetScratch};
use super::spring::Spring;
use crate::material::StrainLimit;
use crate::math::rows::Rows;
use crate::mesh::{SurfaceMesh, TetMesh};

/// A mesh and its elastic energy, without the quadratic part `unseen` of the model.
pub(crate) struct Body {
    pub(crate) mesh: Mesh,
    pub(crate) clusters: Option<Clusters>,
    pub(crate) sheet: Option<Sheet>,
    pub(crate) springs: Vec<Spring>,
}

/// Tets, or a surface without volume.
pub(crate) enum Mesh {
    Tets(TetMesh),
    Surface(SurfaceMesh),
}

/// Scratch of an energy evaluation.
pub(crate) struct BodyScratch {
    clusters: Option<ClusterScratch>,
    sheet: Option<SheetScratch>,
}

impl Body {
    /// Sets a limit of the stretches of clusters and triangles.
    pub(crate) fn limit(&mut self, limit: StrainLimit) {
        self.clusters.iter_mut().for_each(|clusters| clusters.limit(limit));
        self.sheet.iter_mut().for_each(|sheet| sheet.limit(limit));
    }

    /// Number of clusters with a shared rotation, and of triangles.
    pub(crate) fn element_count(&self) -> usize {
        self.clusters.as_ref().map_or(0, Clusters::count) + self.triangle_counts()[0]
    }

    /// Number of triangles without area.
    pub(crate) fn skipped_count(&self) -> usize {
        self.triangle_counts()[1]
    }

    fn triangle_counts(&self) -> [usize; 2] {
        self.sheet.as_ref().map_or([0; 2], Sheet::triangle_counts)
    }

    /// Magnitude of the terms that cancel in the energy, J.
    pub(crate) fn scale(&self) -> f64 {
        let of_clusters = self.clusters.as_ref().map_or(0.0, Clusters::total_weight);
        let of_springs: f64 = self.springs.iter().map(Spring::scale).sum();
        of_clusters + self.sheet.as_ref().map_or(0.0, Sheet::scale) + of_springs
    }

    pub(crate) fn scratch(&self) -> BodyScratch {
        let (clusters, sheet) = (self.clusters.as_ref(), self.sheet.as_ref());
        BodyScratch { clusters: clusters.map(Clusters::scratch), sheet: sheet.map(Sheet::scratch) }
    }

    /// Elastic energy at given coordinates; adds `factor` times the gradient. Tets have rest lengths scaled
    /// by `inflation`, triangles and springs have not.
    pub(crate) fn evaluate(
        &self,
        y: &Rows,
        [factor, inflation]: [f64; 2],
        gradient: &mut Rows,
        scratch: &mut BodyScratch,
    ) -> f64 {
        let mut energy = self.springs.iter().map(|spring| spring.evaluate(y, factor, gradient)).sum();
        if let (Some(clusters), Some(scratch)) = (&self.clusters, &mut scratch.clusters) {
            energy += clusters.evaluate(y, [factor, inflation], gradient, scratch);
        }
        if let (Some(sheet), Some(scratch)) = (&self.sheet, &mut scratch.sheet) {
            energy += sheet.evaluate(y, factor, gradient, scratch);
        }
        energy
    }
}
