#![doc = include_str!("../README.md")]
//!
//! Data flows one way: mesh and rig, operators, subspace, model, simulation, displacement. A module uses
//! only the modules to its left: `error, progress, parallel, math -> mesh -> rig, material -> operators -> skeleton,
//! subspace, solve -> sampling, inputs -> kinematics -> potentials -> stepping -> model -> simulation, modal
//! -> body -> file -> bake`.

pub mod bake;
pub mod body;
pub mod error;
pub mod file;
pub(crate) mod inputs;
pub(crate) mod kinematics;
pub mod material;
pub mod math;
pub mod mesh;
pub mod modal;
pub mod model;
pub mod operators;
mod parallel;
pub mod potentials;
mod progress;
pub mod rig;
pub(crate) mod sampling;
pub mod simulation;
pub mod skeleton;
pub mod solve;
pub(crate) mod stepping;
pub mod subspace;

pub use error::{Error, Result};
pub use progress::Progress;

/// The interface by method: one module each, whatever the rooms inside.
pub mod method {
    pub use crate::inputs::settings::{Drive, Integrator, SimulationParams, StepReport};
    pub use crate::inputs::shares::Shares;
    pub use crate::kinematics::projector::Projector;
    pub use crate::modal;
    pub use crate::model::Model;
    pub use crate::model::tree as domains;
    pub use crate::simulation::Simulation;
    pub use crate::simulation::periodic::CycleReport;
    pub use crate::simulation::together::{Turn, step_together};
    pub use crate::stepping::state::State;

    /// Loads on a body: contact.
    pub mod loads {
        pub use crate::potentials::contact;
    }

    /// Bodies of handles, and sheets, by projective dynamics.
    pub mod projective_dynamics {
        pub use crate::inputs::pull::{Grip, Pull};
        pub use crate::model::projective::{ProjectiveModel, Start};
        pub use crate::potentials::elastic::sheet::Fabric;
    }

    /// The full space, by quasi-Newton descent.
    pub mod quasi_newton {
        pub use crate::model::full_space::{
            FullSpaceExtras, FullSpaceModel, FullSpaceReport, FullSpaceStepper, Minimiser,
        };
    }

    /// Reduced hyperelastic bodies, and motion through keyed shapes.
    pub mod reduced_fem {
        pub use crate::model::reduced::{Bounds, LimitSamples, ReducedExtras, ReducedModel, Shot};
        pub use crate::simulation::keyed::tracking::Tracking;
        pub use crate::simulation::keyed::{Aim, Key, KeyedMotion, KeyedParams};
    }

    /// Skinning modes, with their loads and cubature.
    pub mod skinning_modes {
        pub use crate::inputs::drag::Drag;
        pub use crate::inputs::force_samples::ForceSamples;
        pub use crate::model::skinning_modes::{Extras, OffsetReduction, OffsetSource, SkinningModel};
        pub use crate::sampling::cubature::Cubature;
    }
}
