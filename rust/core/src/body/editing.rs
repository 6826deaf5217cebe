//! Stitches of a body, and changing them without building it anew.

use std::sync::{Arc, OnceLock};

use super::{Body, BodyParams};
use crate::material::Material;
use crate::mesh::{Embedding, TetMesh};
use crate::method::Model;
use crate::method::skinning_modes::{Extras, SkinningModel};
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
}

impl PointStitches {
    pub(super) fn hang(&self, mesh: &TetMesh, embedding: &Embedding) -> Result<Stitches> {
        Stitches::between_points(mesh, embedding, &self.pairs, &self.stiffness, &self.gaps)
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
) -> Result<(SkinningModes, OnceLock<Base>)> {
    let problem = ModesProblem::new(mesh, material, restraint, stitches, progress)?;
    if params.locality != 0.0 {
        let found = localise(&problem, mesh, material, params.modes, params.locality, progress)?;
        return Ok((found.modes, OnceLock::new()));
    }
    if params.editable {
        let base = Base::new(problem, material, params.modes, progress)?;
        return Ok((base.modes(params.modes)?, OnceLock::from(base)));
    }
    Ok((problem.lowest(params.modes, progress)?, OnceLock::new()))
}

impl Body {
    /// The same body with these stitches in place of its own: modes found from those before
    /// ([`ModesProblem::update`]), the same clusters, a new model. [`Body::residual`] says how good they are.
    ///
    /// A body that is not `editable` is factored first, as in a build; the bodies that follow from it share
    /// that. Each update starts from the body that was built, so that errors do not add up.
    ///
    /// # Errors
    /// As [`Stitches::between_points`]; [`Error::Numerical`](crate::Error::Numerical);
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn restitched(&self, points: &PointStitches, progress: &Progress) -> Result<Self> {
        let stitches = points.hang(&self.mesh, &self.embedding)?;
        progress.enter("modes", 0.0, 0.8)?;
        let update = self.stitched_modes(&stitches, progress)?;
        progress.enter("model", 0.8, 1.0)?;
        let extras = Extras { strength: self.strength.as_deref(), stitches: Some(&stitches) };
        let (mesh, material, rig) = (&self.mesh, &self.material, Some(self.rig.as_ref()));
        let model = SkinningModel::with_extras(mesh, material, &update.modes, &self.labels, rig, &extras)?;
        progress.report(1.0)?;
        Ok(Self {
            mesh: self.mesh.clone(),
            embedding: self.embedding.clone(),
            rig: self.rig.clone(),
            leak: self.leak.clone(),
            pinned: self.pinned.clone(),
            merged: self.merged.clone(),
            material: self.material.clone(),
            residual: update.worst(),
            modes: Arc::new(update.modes),
            labels: self.labels.clone(),
            model: Model::Skinning(Arc::new(model)),
            surface: self.surface.clone(),
            surface_rig: self.surface_rig.clone(),
            strength: self.strength.clone(),
            offsets: OnceLock::new(),
            built_stitches: self.built_stitches.clone(),
            counting: self.counting.clone(),
            base: self.base.clone(),
            params: Arc::new(BodyParams { stitches: points.clone(), ..(*self.params).clone() }),
        })
    }

    /// Memory that is kept to change stitches, bytes.
    pub fn factor_bytes(&self) -> usize {
        self.base.get().map_or(0, |base| base.problem.bytes())
    }

    /// Localised modes are found anew: what they are found by is not linear.
    fn stitched_modes(&self, stitches: &Stitches, progress: &Progress) -> Result<ModesUpdate> {
        if self.params.locality != 0.0 {
            let problem = self.problem(stitches, progress)?;
            let count = self.modes.eigenvalues.len();
            let found =
                localise(&problem, &self.mesh, &self.material, count, self.params.locality, progress)?;
            return Ok(ModesUpdate { modes: found.modes, residuals: Vec::new() });
        }
        let base = self.base(progress)?;
        base.update((&self.mesh, &self.material), stitches, self.modes.eigenvalues.len())
    }

    fn problem(&self, stitches: &Stitches, progress: &Progress) -> Result<ModesProblem> {
        let restraint =
            Restraint { rig: Some(&self.counting), leak: Some(&self.leak), pinned: Some(&self.pinned) };
        ModesProblem::new(&self.mesh, &self.material, &restraint, stitches, progress)
    }

    fn base(&self, progress: &Progress) -> Result<&Base> {
        if let Some(base) = self.base.get() {
            return Ok(base);
        }
        let problem = self.problem(&self.built_stitches, progress)?;
        let made = Base::new(problem, &self.material, self.modes.eigenvalues.len(), progress)?;
        Ok(self.base.get_or_init(|| made))
    }
}
