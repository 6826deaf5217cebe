//! A handle-driven mesh and its elastic energy: tets in clusters, or a surface without volume.

use super::clusters::{ClusterRoom, Clusters};
use super::sheet::{Sheet, SheetRoom};
use crate::math::rows::Rows;
use crate::mesh::{SurfaceMesh, TetMesh};

/// A mesh and its elastic energy, without the quadratic part `unseen` of the model.
pub(crate) enum Body {
    Solid(TetMesh, Clusters),
    Surface(SurfaceMesh, Sheet),
}

/// Scratch of an energy evaluation.
pub(crate) enum BodyRoom {
    Solid(ClusterRoom),
    Surface(SheetRoom),
}

impl Body {
    /// Number of clusters with a shared rotation, or of triangles.
    pub(crate) fn element_count(&self) -> usize {
        match self {
            Self::Solid(_, clusters) => clusters.count(),
            Self::Surface(_, sheet) => sheet.triangle_counts()[0],
        }
    }

    /// Number of triangles without area.
    pub(crate) fn skipped_count(&self) -> usize {
        match self {
            Self::Solid(..) => 0,
            Self::Surface(_, sheet) => sheet.triangle_counts()[1],
        }
    }

    /// Magnitude of the terms that cancel in the energy, J.
    pub(crate) fn scale(&self) -> f64 {
        match self {
            Self::Solid(_, clusters) => clusters.total_weight(),
            Self::Surface(_, sheet) => sheet.scale(),
        }
    }

    pub(crate) fn room(&self) -> BodyRoom {
        match self {
            Self::Solid(_, clusters) => BodyRoom::Solid(clusters.room()),
            Self::Surface(_, sheet) => BodyRoom::Surface(sheet.room()),
        }
    }

    /// Elastic energy at given coordinates; adds `factor` times the gradient. Bodies with volume have rest
    /// lengths scaled by `inflation`.
    ///
    /// # Panics
    /// With scratch of another body.
    pub(crate) fn evaluate(
        &self,
        y: &Rows,
        [factor, inflation]: [f64; 2],
        gradient: &mut Rows,
        room: &mut BodyRoom,
    ) -> f64 {
        match (self, room) {
            (Self::Solid(_, clusters), BodyRoom::Solid(room)) => {
                clusters.evaluate(y, [factor, inflation], gradient, room)
            }
            (Self::Surface(_, sheet), BodyRoom::Surface(room)) => sheet.evaluate(y, factor, gradient, room),
            _ => unreachable!("memory of another body"),
        }
    }
}
