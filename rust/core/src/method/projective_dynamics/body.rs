//! What handles move, with its elastic energy: tets in clusters, or a surface without volume.

use super::clusters::{ClusterRoom, Clusters};
use super::sheet::{Sheet, SheetRoom};
use crate::math::rows::Rows;
use crate::mesh::{SurfaceMesh, TetMesh};

/// A mesh and its elastic energy, but for the quadratic part of it that is `unseen` in the model.
pub(super) enum Body {
    Solid(TetMesh, Clusters),
    Surface(SurfaceMesh, Sheet),
}

/// Memory for finding an energy.
pub(super) enum BodyRoom {
    Solid(ClusterRoom),
    Surface(SheetRoom),
}

impl Body {
    /// Clusters that share a rotation, or triangles.
    pub(super) fn element_count(&self) -> usize {
        match self {
            Self::Solid(_, clusters) => clusters.count(),
            Self::Surface(_, sheet) => sheet.triangle_counts()[0],
        }
    }

    /// Triangles that have no area.
    pub(super) fn skipped_count(&self) -> usize {
        match self {
            Self::Solid(..) => 0,
            Self::Surface(_, sheet) => sheet.triangle_counts()[1],
        }
    }

    /// The size of the numbers of which the energy is a difference, J.
    pub(super) fn scale(&self) -> f64 {
        match self {
            Self::Solid(_, clusters) => clusters.total_weight(),
            Self::Surface(_, sheet) => sheet.scale(),
        }
    }

    pub(super) fn room(&self) -> BodyRoom {
        match self {
            Self::Solid(_, clusters) => BodyRoom::Solid(clusters.room()),
            Self::Surface(_, sheet) => BodyRoom::Surface(sheet.room()),
        }
    }

    /// The energy of coordinates; adds `factor` times its derivative. What has a volume wants its lengths to be `inflation`
    /// times those it was made with.
    ///
    /// # Panics
    /// With memory of another body.
    pub(super) fn evaluate(
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
