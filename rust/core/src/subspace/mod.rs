//! Reduced bases: skinning eigenmodes and clusters.

mod clusters;
mod kmeans;
mod modes;
mod parts;
mod update;

pub use clusters::cluster_tets;
pub(crate) use modes::check_truncation;
pub use modes::{ModesProblem, Restraint, SkinningModes, restrained_modes, skinning_modes};
pub use update::ModesUpdate;
