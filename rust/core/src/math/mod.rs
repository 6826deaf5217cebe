//! Shared dense and sparse linear algebra: polar and singular value decompositions, sparse factorisations.

mod cholesky;
pub(crate) mod columns;
mod conjugate_gradients;
mod cut;
pub(crate) mod dense;
mod dense_cholesky;
mod dissection;
mod eigen;
mod eigenbasis;
mod few_columns;
mod fronts;
mod graph;
pub(crate) mod grouped;
mod inverse_forms;
pub(crate) mod lanes;
mod ordering;
mod panels;
pub mod polar;
pub(crate) mod random;
pub(crate) mod rows;
mod selection;
mod separator;
mod sets;
mod sparse;
mod substitution;
mod supernodes;
mod svd;
mod symbolic;
pub(crate) mod symmetric;
mod tall;

pub use cholesky::SparseCholesky;
pub(crate) use cholesky::{Room, Structure, VertexRoom};
pub(crate) use conjugate_gradients::conjugate_gradients;
pub(crate) use dense_cholesky::DenseCholesky;
pub(crate) use eigen::{COPY, largest_eigenvectors};
pub(crate) use eigenbasis::fix_bases;
pub(crate) use inverse_forms::HalfSolved;
pub(crate) use selection::Selection;
pub(crate) use sets::Sets;
pub use sparse::Sparse;
pub(crate) use sparse::{add_diagonal, multiply_columns};
pub use svd::SignedSvd;
pub(crate) use svd::signed_svd_in_lanes;

/// Runs work with many short parallel parts on a thread of the pool. Each wait from outside of the pool
/// would take tens of microseconds.
pub(crate) fn on_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}
