//! Reduced models learnt from a shot of a body's full-space simulation: displacement basis and cubature
//! tets.

use std::sync::Arc;

use super::Body;
use crate::material::Material;
use crate::model::Model;
use crate::model::reduced::limits::{Bounds, LimitSamples};
use crate::model::reduced::training::Shot;
use crate::model::reduced::{ReducedExtras, ReducedModel};
use crate::rig::Pose;
use crate::sampling::cubature::Cubature;
use crate::subspace::{Basis, Share, mass_pca};
use crate::{Error, Progress, Result};

/// Training data and settings for a reduced model.
#[derive(Debug, Clone, Copy)]
pub struct Lesson<'a> {
    /// Bone transforms, b per frame, frame by frame.
    pub poses: &'a Pose,
    /// Displacements of the full space relative to the rig, f x n x 3, metres.
    pub snapshots: &'a [f64],
    /// Truncation of the displacement basis.
    pub share: Share,
    /// Largest number of tets for the elastic forces, and for the stretch limits.
    pub tets: usize,
    /// Limits on the flesh's motion; without them the reduced model has none.
    pub bounds: Bounds,
    /// Reference frequency of limits, Hz: that of the full space; `None` for the lowest learnt one.
    pub frequency: Option<f64>,
    /// Seed for the training states of the forces.
    pub seed: u64,
}

impl Body {
    /// A reduced model of the body, learnt from a full-space shot, with its own or another material.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a body with stitches; as [`mass_pca`], [`ReducedModel::new`],
    /// [`ReducedModel::train`] and [`ReducedModel::train_limits`].
    pub fn learn(
        &self,
        material: Option<&Material>,
        lesson: &Lesson<'_>,
        progress: &Progress,
    ) -> Result<Model> {
        self.refuse_stitches()?;
        progress.enter("displacements", 0.0, 0.3)?;
        let known = material.unwrap_or(&self.material);
        let basis = mass_pca(&self.mesh, known, lesson.snapshots, lesson.share, progress)?;
        progress.enter("reduction", 0.3, 0.5)?;
        let whole = self.in_basis(material, &basis, None, lesson.frequency, progress)?;
        let knows_limits = lesson.bounds != Bounds::default();
        progress.enter("forces", 0.5, if knows_limits { 0.75 } else { 1.0 })?;
        let coefficients = whole.nearest(lesson.snapshots)?;
        let shot = Shot { poses: lesson.poses, coefficients: &coefficients };
        let cubature = whole.train(&shot, (lesson.tets, lesson.seed), progress)?;
        let learnt = whole.sampled(&cubature)?;
        if !knows_limits {
            return Ok(Model::Reduced(Arc::new(learnt)));
        }
        progress.enter("limits", 0.75, 1.0)?;
        let counts = [lesson.tets, whole.displacement_count()];
        let limits = whole.train_limits(&shot, lesson.bounds, (counts, lesson.seed), progress)?;
        Ok(Model::Reduced(Arc::new(learnt.limited(&limits)?)))
    }

    /// A reduced model of the body in a given basis, such as one learnt earlier, with its own or another
    /// material.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a body with stitches; as [`ReducedModel::new`] and
    /// [`ReducedModel::limited`].
    pub fn reduced(
        &self,
        material: Option<&Material>,
        basis: &Basis,
        (cubature, limits): (Option<&Cubature>, Option<&LimitSamples>),
        frequency: Option<f64>,
        progress: &Progress,
    ) -> Result<Model> {
        self.refuse_stitches()?;
        let reduced = self.in_basis(material, basis, cubature, frequency, progress)?;
        let limited = limits.map(|limits| reduced.limited(limits)).transpose()?;
        Ok(Model::Reduced(Arc::new(limited.unwrap_or(reduced))))
    }

    fn in_basis(
        &self,
        material: Option<&Material>,
        basis: &Basis,
        cubature: Option<&Cubature>,
        frequency: Option<f64>,
        progress: &Progress,
    ) -> Result<ReducedModel> {
        let strength = self.strength.as_deref();
        let rig = Some(self.rig.as_ref());
        let extras = ReducedExtras { rig, strength, cubature, frequency, ..ReducedExtras::default() };
        ReducedModel::new(&self.mesh, material.unwrap_or(&self.material), basis, &extras, progress)
    }

    fn refuse_stitches(&self) -> Result<()> {
        if self.params.stitches.pairs.is_empty() {
            return Ok(());
        }
        let why = "a reduced model has none; take them off, or stay with skinning modes or the full space";
        Err(Error::Unsupported { what: "stitches", why })
    }
}
