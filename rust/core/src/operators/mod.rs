//! Discrete operators of a mesh and its material: mass, gradient, stiffness, constraint, diffusion.
