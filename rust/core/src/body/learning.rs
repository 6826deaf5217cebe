//! A body that has seen a shot: displacements and tets found on what its full space did.

use std::sync::Arc;

use super::Body;
use crate::material::Material;
use crate::method::Model;
use crate::method::reduced_fem::{ReducedExtras, ReducedModel, Shot};
use crate::rig::Pose;
use crate::subspace::{Share, mass_pca};
use crate::{Error, Progress, Result};

/// What is learnt of a shot.
#[derive(Debug, Clone, Copy)]
pub struct Lesson<'a> {
    /// b transforms a frame, one frame after the other.
    pub poses: &'a Pose,
    /// What the full space added to the rig, f x n x 3, metres.
    pub snapshots: &'a [f64],
    /// How many displacements are kept.
    pub share: Share,
    /// Most tets at which elastic forces are found.
    pub tets: usize,
    /// Frequency at which the damping ratio is meant, Hz: that of the full space; `None` for the lowest that is learnt.
    pub frequency: Option<f64>,
    /// Of the states at which forces are compared.
    pub seed: u64,
}

impl Body {
    /// The same body in a few displacements, learnt from a shot of its full space, of its own or another material.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a body with stitches; as [`mass_pca`], [`ReducedModel::new`] and [`ReducedModel::train`].
    pub fn learn(
        &self,
        material: Option<&Material>,
        lesson: &Lesson<'_>,
        progress: &Progress,
    ) -> Result<Model> {
        if !self.params.stitches.pairs.is_empty() {
            let why =
                "a reduced model has none; take them off, or stay with skinning modes or the full space";
            return Err(Error::Unsupported { what: "stitches", why });
        }
        let material = material.unwrap_or(&self.material);
        progress.enter("displacements", 0.0, 0.3)?;
        let basis = mass_pca(&self.mesh, material, lesson.snapshots, lesson.share, progress)?;
        progress.enter("reduction", 0.3, 0.5)?;
        let extras = ReducedExtras {
            rig: Some(&self.rig),
            strength: self.strength.as_deref(),
            frequency: lesson.frequency,
            ..ReducedExtras::default()
        };
        let whole = ReducedModel::new(&self.mesh, material, &basis, &extras, progress)?;
        progress.enter("forces", 0.5, 1.0)?;
        let coefficients = whole.nearest(lesson.snapshots)?;
        let shot = Shot { poses: lesson.poses, coefficients: &coefficients };
        let cubature = whole.train(&shot, (lesson.tets, lesson.seed), progress)?;
        Ok(Model::Reduced(Arc::new(whole.sampled(&cubature)?)))
    }
}
