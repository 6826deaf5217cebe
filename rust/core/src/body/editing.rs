//! Stitches of a body, and the modes of other stitches and another stiffness without building it anew.

use std::sync::Arc;

use super::{Body, BodyParams};
use crate::material::Material;
use crate::mesh::{Embedding, TetMesh};
use crate::operators::Stitches;
use crate::subspace::{ModesProblem, ModesUpdate, Restraint, SkinningModes, localise};
use crate::{Progress, Result};

/// Modes that are kept beyond those of the body, as stitches lift some above others.
const SPARE: usize = 8;

/// Springs between points of a surface, as [`Stitches`] has them between points of a mesh: s of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PointStitches {
    /// Indices of points.
    pub pairs: Vec<[u32; 2]>,
    /// N/m.
    pub stiffness: Vec<f64>,
    /// Share of the distance at rest that is kept.
    pub gaps: Vec<f64>,
    /// The group of each, which opens and closes by itself; none for one group.
    pub groups: Vec<u32>,
    /// The radius of the ball at whose mean either end pulls, metres, 0 for a point; none for points.
    pub radii: Vec<f64>,
    /// Share of its stiffness that modes are found with, in (0, 1], less than 1 for what is to open; none for all.
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

    /// Those springs as modes know them: where they are to open, modes move what they hold together apart as well.
    pub(super) fn in_modes(&self, stitches: &Stitches) -> Result<Stitches> {
        if self.known.is_empty() { Ok(stitches.clone()) } else { stitches.weakened(&self.known) }
    }
}

/// The factored problem of a body's modes, and more of them than it moves in.
pub(super) struct Base {
    problem: ModesProblem,
    modes: SkinningModes,
    material: Material,
}

impl Base {
    fn new(problem: ModesProblem, material: &Material, count: usize, progress: &Progress) -> Result<Self> {
        let modes = problem.lowest((count + SPARE).min(problem.mode_limit()).max(count), progress)?;
        Ok(Self { problem, modes, material: material.clone() })
    }

    /// The lowest modes of the same body with these stitches and this material, of the same density.
    pub(super) fn update(
        &self,
        (mesh, material): (&TetMesh, &Material),
        stitches: &Stitches,
        count: usize,
    ) -> Result<ModesUpdate> {
        if *material == self.material {
            return self.problem.update(&self.modes, stitches, count);
        }
        self.problem.update_stiffness(&self.modes, (mesh, material), stitches, count)
    }

    /// The lowest modes.
    fn modes(&self, count: usize) -> Result<SkinningModes> {
        self.modes.truncated(count)
    }
}

/// The modes of a body, and what it keeps to find others.
pub(super) fn modes(
    mesh: &TetMesh,
    material: &Material,
    restraint: &Restraint<'_>,
    stitches: &Stitches,
    params: &BodyParams,
    progress: &Progress,
) -> Result<(SkinningModes, Option<Arc<Base>>)> {
    let problem = ModesProblem::new(mesh, material, restraint, stitches, progress)?;
    // How much flesh a core leaves is nothing that is known before.
    let count = if params.core.is_some() { params.modes.min(problem.mode_limit()) } else { params.modes };
    if params.locality != 0.0 {
        let found = localise(&problem, mesh, material, count, params.locality, progress)?;
        return Ok((found.modes, None));
    }
    if params.editable {
        let base = Base::new(problem, material, count, progress)?;
        return Ok((base.modes(count)?, Some(Arc::new(base))));
    }
    Ok((problem.lowest(count, progress)?, None))
}

impl Body {
    /// Memory that is kept to change stitches and stiffness, bytes.
    pub fn factor_bytes(&self) -> usize {
        self.base.as_ref().map_or(0, |base| base.problem.bytes())
    }
}
