//! Stitches of a body, and updates of its modes after changes of stitches or stiffness.

use crate::material::Material;
use crate::mesh::{Embedding, TetMesh};
use crate::operators::Stitches;
use crate::rig::Rig;
use crate::subspace::{ModesProblem, ModesUpdate, SkinningModes};
use crate::{Progress, Result};

/// Number of modes kept beyond those of the body, because stitches raise some modes above others.
const SPARE: usize = 8;

/// Springs between points of a surface, as [`Stitches`] are between points of a mesh: s of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PointStitches {
    /// Pairs of point indices.
    pub pairs: Vec<[u32; 2]>,
    /// Stiffness, N/m.
    pub stiffness: Vec<f64>,
    /// Share of the rest distance that is kept.
    pub gaps: Vec<f64>,
    /// Group of each spring; each group opens and closes independently. Empty for one group.
    pub groups: Vec<u32>,
    /// Radius of the ball over which either end averages, metres, 0 for a single point; empty for single
    /// points.
    pub radii: Vec<f64>,
    /// Share of the stiffness with which modes are computed, in (0, 1], less than 1 for stitches that are
    /// to open; empty for 1.
    pub known: Vec<f64>,
}

impl PointStitches {
    pub(super) fn hang(&self, mesh: &TetMesh, embedding: &Embedding) -> Result<Stitches> {
        let mut made = Stitches::between_points(mesh, embedding, &self.pairs, &self.stiffness, &self.gaps)?;
        if !self.groups.is_empty() {
            made = made.in_groups(&self.groups)?;
        }
        if self.radii.is_empty() { Ok(made) } else { made.spread(mesh, &self.radii) }
    }

    /// Stitches for the computation of modes: softer if they can open, to let modes move the two ends apart.
    pub(super) fn in_modes(&self, stitches: &Stitches) -> Result<Stitches> {
        if self.known.is_empty() { Ok(stitches.clone()) } else { stitches.weakened(&self.known) }
    }
}

/// Factored problem of a body's modes, with more modes than the body uses.
pub(super) struct Base {
    problem: ModesProblem,
    modes: SkinningModes,
    material: Material,
}

impl Base {
    pub(super) fn new(
        problem: ModesProblem,
        material: &Material,
        count: usize,
        progress: &Progress,
    ) -> Result<Self> {
        let modes = problem.lowest((count + SPARE).min(problem.mode_limit()).max(count), progress)?;
        Ok(Self { problem, modes, material: material.clone() })
    }

    /// The modes of the same body with these stitches and this material, of unchanged density: the lowest,
    /// or those that the bones drive.
    pub(super) fn update(
        &self,
        (mesh, material): (&TetMesh, &Material),
        stitches: &Stitches,
        count: usize,
        bones: Option<&Rig>,
    ) -> Result<ModesUpdate> {
        if let Some(bones) = bones {
            return self.problem.update_driven(&self.modes, (mesh, material), stitches, bones, count);
        }
        if *material == self.material {
            return self.problem.update(&self.modes, stitches, count);
        }
        self.problem.update_stiffness(&self.modes, (mesh, material), stitches, count)
    }

    /// The modes: the lowest, or the driven ones.
    pub(super) fn modes(&self, count: usize, bones: Option<&Rig>) -> Result<SkinningModes> {
        let lowest = self.modes.truncated(count)?;
        bones.map_or(Ok(lowest.clone()), |bones| self.problem.driven_from(&lowest, bones))
    }
}
