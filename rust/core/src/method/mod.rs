//! Simulation methods, side by side; each file holds its parameters, its part of the model and its step.

mod coordinates;
mod cycle;
mod history;
mod orbit;
mod projector;
pub mod quasi_newton;
mod settings;
mod simulation;
pub mod skinning_modes;
mod together;

use std::sync::Arc;

pub use cycle::CycleReport;
pub use projector::Projector;
pub use settings::{Drive, Integrator, SimulationParams, State, StepReport};
pub use simulation::Simulation;
pub use together::{Turn, step_together};

use crate::Result;
use crate::mesh::{Embedding, TetMesh};
use crate::rig::Pose;
use skinning_modes::{ForceSamples, SkinningModel};

/// What a simulation needs of a body, whatever the method: immutable and cheap to clone.
#[derive(Clone)]
pub enum Model {
    /// Fast complementary dynamics on skinning eigenmodes.
    Skinning(Arc<SkinningModel>),
}

impl Model {
    /// Number of modes m; coefficients are m x 3 x 4.
    pub fn mode_count(&self) -> usize {
        match self {
            Self::Skinning(model) => model.mode_count(),
        }
    }

    /// Number of bones b of a pose; 0 without a rig.
    pub fn bone_count(&self) -> usize {
        match self {
            Self::Skinning(model) => model.bone_count(),
        }
    }

    /// Number of clusters in which rotations are found.
    pub fn cluster_count(&self) -> usize {
        match self {
            Self::Skinning(model) => model.cluster_count(),
        }
    }

    /// Frequency of the lowest mode that deforms, in Hz: `sqrt(lambda) / (2 pi)`.
    pub fn frequency(&self) -> f64 {
        match self {
            Self::Skinning(model) => model.frequency(),
        }
    }

    /// The mesh that is simulated.
    pub fn mesh(&self) -> &TetMesh {
        match self {
            Self::Skinning(model) => model.mesh(),
        }
    }

    /// The same body with the lowest `count` of its modes; see [`SkinningModel::truncated`].
    ///
    /// # Errors
    /// [`Error::Range`](crate::Error::Range) unless there are that many modes.
    pub fn truncated(&self, count: usize) -> Result<Self> {
        match self {
            Self::Skinning(model) => Ok(Self::Skinning(model.truncated(count)?.into())),
        }
    }

    /// Samples of about `count` parts at which force fields are read; see [`SkinningModel::force_samples`].
    ///
    /// # Errors
    /// [`Error::Range`](crate::Error::Range) for a count of 0.
    pub fn force_samples(&self, count: usize) -> Result<ForceSamples> {
        match self {
            Self::Skinning(model) => model.force_samples(count),
        }
    }

    /// Where the rig puts samples in a pose, k, metres; see [`SkinningModel::posed_samples`].
    ///
    /// # Errors
    /// As there.
    pub fn posed_samples(&self, samples: &ForceSamples, pose: Option<&Pose>) -> Result<Vec<[f64; 3]>> {
        match self {
            Self::Skinning(model) => model.posed_samples(samples, pose),
        }
    }

    /// The generalised force, m x 3 x 4, of forces on samples, k x 3 in newtons.
    ///
    /// # Errors
    /// As [`SkinningModel::reduce_sample_forces`].
    pub fn reduce_sample_forces(&self, samples: &ForceSamples, forces: &[f64]) -> Result<Vec<f64>> {
        match self {
            Self::Skinning(model) => model.reduce_sample_forces(samples, forces),
        }
    }

    /// What turns coefficients into displacements: of the tet vertices, or of the points of an embedding.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) or [`Error::Index`](crate::Error::Index) if the embedding is not
    /// one in this model's mesh.
    pub fn projector(&self, embedding: Option<&Embedding>) -> Result<Projector> {
        let (mesh, weights) = match self {
            Self::Skinning(model) => (model.mesh(), model.weights()),
        };
        let modes = self.mode_count();
        match embedding {
            None => Projector::new(mesh.vertices(), weights, modes),
            Some(embedding) => {
                Projector::new(embedding.points(), &embedding.interpolate(mesh, weights, modes)?, modes)
            }
        }
    }
}
