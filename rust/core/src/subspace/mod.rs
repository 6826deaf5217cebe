//! Reduced bases: skinning eigenmodes, localised modes, principal displacements of a shot, and clusters.

mod alternating;
mod clusters;
mod eigenpairs;
mod kmeans;
mod linear;
mod localised;
mod modes;
mod parts;
mod principal;
mod update;

pub use clusters::cluster_tets;
pub use linear::{LinearModes, LinearProblem};
pub(crate) use localised::localise;
pub use localised::{LocalisedModes, localised_modes};
pub use modes::{ModesProblem, Restraint, SkinningModes, restrained_modes, skinning_modes};
pub(crate) use modes::{check_truncation, shift};
pub use principal::{Basis, Share, mass_pca};
pub use update::ModesUpdate;
