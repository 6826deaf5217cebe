//! The Python module `jounce._jounce`: one file for each concept of the core, and `arrays` for numpy
//! conversion. Doc comments are the docstrings of Python, in the sections of numpydoc.

// Examples of docstrings are quotes to Markdown; lines of output have no mark, and brackets are no links.
#![allow(clippy::doc_lazy_continuation, rustdoc::broken_intra_doc_links)]

mod arrays;
mod bake;
mod basis;
mod blows;
mod body;
mod body_input;
mod body_jobs;
mod body_maps;
mod contact;
mod cubature;
mod cycle;
mod dents;
mod domains;
mod errors;
mod fibres;
mod forces;
mod grip;
mod handled;
mod job;
mod keyed;
mod learning;
mod limit_samples;
mod linear;
mod linear_build;
mod linear_motion;
mod material;
mod mesh;
mod model;
mod model_build;
mod model_samples;
mod motion;
mod operators;
mod player;
mod recipe;
mod rig;
mod settings;
mod simulation;
mod simulation_starts;
mod skeleton;
mod sparse;
mod standard;
mod state;
mod step_input;
mod step_report;
mod stitches;
mod subspace;
mod surroundings;
mod together;

use pyo3::prelude::*;

/// Reduced-order elastodynamics that gives rigged characters flesh.
#[pymodule]
mod _jounce {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("STANDARD", crate::standard::values(module.py())?)
    }

    #[pymodule_export]
    use crate::bake::{HelperBonesJob, ModalKeysJob, helper_bones, modal_keys, pull_back};
    #[pymodule_export]
    use crate::basis::{Basis, mass_pca};
    #[pymodule_export]
    use crate::body::Body;
    #[pymodule_export]
    use crate::body_jobs::{BodyJob, FullSpaceJob};
    #[pymodule_export]
    use crate::contact::Collider;
    #[pymodule_export]
    use crate::cubature::Cubature;
    #[pymodule_export]
    use crate::cycle::CycleReport;
    #[pymodule_export]
    use crate::dents::Dents;
    #[pymodule_export]
    use crate::domains::{Domain, DomainTree};
    #[pymodule_export]
    use crate::fibres::Fibres;
    #[pymodule_export]
    use crate::forces::{Drag, ForceSamples};
    #[pymodule_export]
    use crate::grip::{Grip, Pull};
    #[pymodule_export]
    use crate::handled::ProjectiveJob;
    #[pymodule_export]
    use crate::job::Job;
    #[pymodule_export]
    use crate::keyed::{Key, KeyedMotion, Tracking, keyed_motion};
    #[pymodule_export]
    use crate::learning::LearnJob;
    #[pymodule_export]
    use crate::limit_samples::LimitSamples;
    #[pymodule_export]
    use crate::linear::LinearModes;
    #[pymodule_export]
    use crate::linear_build::{LinearModesJob, linear_modes};
    #[pymodule_export]
    use crate::material::Material;
    #[pymodule_export]
    use crate::mesh::{Embedding, SurfaceMesh, TetMesh};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::motion::MotionJob;
    #[pymodule_export]
    use crate::operators::{
        ElasticEnergy, displacement_constraint, gradient, laplacian, lumped_mass, skinning_jacobian,
        stiffness, weight_constraint, weight_hessian,
    };
    #[pymodule_export]
    use crate::player::Player;
    #[pymodule_export]
    use crate::rig::{Rig, momentum_leak, spread_to_interior};
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::skeleton::SkeletonCore;
    #[pymodule_export]
    use crate::sparse::SparseMatrix;
    #[pymodule_export]
    use crate::standard::{resolution, size_frequency};
    #[pymodule_export]
    use crate::state::State;
    #[pymodule_export]
    use crate::step_report::StepReport;
    #[pymodule_export]
    use crate::stitches::Stitches;
    #[pymodule_export]
    use crate::subspace::{
        LocalisedModes, SkinningModes, cluster_tets, driven_modes, localised_modes, skinning_modes,
    };
    #[pymodule_export]
    use crate::together::step_together;
}
