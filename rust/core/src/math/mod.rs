//! Dense and sparse linear algebra that the rest shares: polar decompositions, sparse factorisations.

mod sparse;

pub use sparse::Sparse;
