//! Discrete operators of a mesh and its material: mass, gradient, stiffness, constraint, diffusion.

mod elements;

pub use elements::{gradients, laplacian, lumped_mass};
