#![doc = include_str!("../README.md")]
//!
//! Data flows one way: mesh and rig, operators, subspace, model, simulation, displacement. A module uses
//! only the modules to its left: `error, progress, math -> mesh -> rig, material -> operators -> skeleton,
//! subspace, solve -> method -> body -> file -> bake`.

pub mod bake;
pub mod body;
pub mod error;
pub mod file;
pub mod material;
pub mod math;
pub mod mesh;
pub mod method;
pub mod operators;
mod progress;
pub mod rig;
pub mod skeleton;
pub mod solve;
pub mod subspace;

pub use error::{Error, Result};
pub use progress::Progress;
