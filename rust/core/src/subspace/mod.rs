//! Reduced bases: skinning eigenmodes, driven and localised modes, linear modes with modal derivatives,
//! principal displacements of a shot, handles, clusters, and bounded deformation trees.

mod alternating;
mod attached;
mod bending;
mod bounded_deformation;
mod clusters;
mod compliance;
mod cut;
mod cut_mesh;
mod driven;
mod edited;
mod edits;
mod eigenpairs;
mod flesh;
mod handles;
mod kmeans;
mod linear;
mod localised;
mod modes;
mod near_rest;
mod openings;
mod parts;
mod principal;
mod sheet;
mod stiffened;
mod stitched;
mod swings;
mod update;
mod warping;

pub use bounded_deformation::{BoundedDeformationTree, Sphere};
pub(crate) use clusters::tets_of_labels;
pub use clusters::{cluster_tets, cluster_tets_by_place};
pub use edited::EditedModes;
pub use flesh::LinearModes;
pub use handles::Handles;
pub use linear::LinearProblem;
pub(crate) use localised::localise;
pub use localised::{LocalisedModes, localised_modes};
pub use modes::{ModesProblem, Restraint, SkinningModes, restrained_modes, skinning_modes};
pub(crate) use modes::{check_truncation, shift};
pub use principal::{Basis, Share, mass_pca};
pub use sheet::SheetProblem;
pub use update::ModesUpdate;
pub use warping::{Warping, WarpingMethod, surface_rotations, vertex_rotations};
