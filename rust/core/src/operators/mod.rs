//! Discrete operators of a mesh and its material: mass, gradient, stiffness, constraint, diffusion,
//! stitches; and of a surface without volume: membrane and bending.

mod bending;
mod blocks;
mod constraint;
mod diffusion;
mod elements;
mod extension;
mod hinges;
mod independent;
mod maps;
mod membrane;
mod stiffness;
mod stitches;

pub use bending::Bending;
pub(crate) use blocks::{BlockMatrix, block_solve, for_each_coordinate};
pub use constraint::{constraint, displacement_constraint};
pub(crate) use diffusion::squared_length;
pub use diffusion::{HIGHEST_LEAK, momentum_leak};
pub use elements::{MassShares, gradients, laplacian, lumped_mass, vertex_volumes};
pub use extension::spread_to_interior;
pub(crate) use extension::{HarmonicExtension, out_of_reach};
pub(crate) use hinges::sheet_stiffness;
pub use maps::{gradient_map, skinning_map};
pub(crate) use membrane::surface_gradients;
pub use membrane::{Membrane, nearest_isometry};
pub(crate) use stiffness::fibre_stiffness;
pub use stiffness::{Strains, stiffness, stiffness_of, twisting_stiffness, weight_space_hessian};
pub use stitches::Stitches;
pub(crate) use stitches::{Anchor, Stitch};
