//! Discrete operators of a mesh and its material: mass, gradient, stiffness, constraint, diffusion, stitches.

mod constraint;
mod diffusion;
mod elements;
mod extension;
mod independent;
mod stitches;

pub use constraint::{constraint, displacement_constraint};
pub use diffusion::{HIGHEST_LEAK, momentum_leak};
pub use elements::{gradients, laplacian, lumped_mass};
pub(crate) use extension::HarmonicExtension;
pub use extension::spread_to_interior;
pub use stitches::Stitches;
