#![doc = include_str!("../README.md")]
//!
//! Data flows one way: mesh and rig, operators, subspace, model, simulation, displacement. A module uses
//! only the modules to its left: `error, check, progress, parallel, math -> mesh -> rig, material ->
//! operators -> skeleton, subspace, solve -> sampling, inputs -> kinematics -> potentials -> stepping ->
//! model -> simulation, modal -> body -> file -> bake`.

pub mod bake;
pub mod body;
mod check;
#[cfg(any(feature = "glam", feature = "mint"))]
pub mod convert;
pub mod error;
pub mod file;
pub mod inputs;
pub mod kinematics;
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
pub mod sampling;
pub mod simulation;
pub mod skeleton;
mod solve;
pub mod stepping;
pub mod subspace;

pub use error::{Error, Result};
/// The crate of the matrices in this interface.
pub use faer;
pub use progress::Progress;
