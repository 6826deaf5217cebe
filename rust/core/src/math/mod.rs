//! Dense and sparse linear algebra that the rest shares: polar decompositions, sparse factorisations.

mod cholesky;
pub(crate) mod dense;
mod eigen;
pub(crate) mod lanes;
mod ordering;
pub mod polar;
mod sparse;

pub use cholesky::SparseCholesky;
pub(crate) use eigen::{Eigenpairs, largest_eigenpairs};
pub use sparse::Sparse;
pub(crate) use sparse::add_diagonal;
