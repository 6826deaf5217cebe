//! Shared dense and sparse linear algebra: polar and singular value decompositions, sparse factorisations.
//!
//! Public are [`Sparse`], which operators return, and the kernels that can be used alone. As in the rest of
//! the crate, another signature takes another version.

pub(crate) mod dense;
mod order;
pub(crate) mod random;
mod sets;
mod simd;
mod sparse;

pub(crate) use dense::cholesky::DenseCholesky;
pub(crate) use dense::eigenbasis::fix_bases;
pub use dense::nnls::nonnegative_least_squares;
pub(crate) use dense::{columns, rows, symmetric};
pub(crate) use order::sort_few;
pub(crate) use sets::Sets;
pub use simd::polar;
pub use simd::svd::SignedSvd;
pub(crate) use simd::svd::signed_svd_in_lanes;
pub(crate) use simd::{grouped, lanes};
pub(crate) use sparse::cholesky::{Scratch, Structure};
pub use sparse::cholesky::{SparseCholesky, VertexScratch};
pub(crate) use sparse::conjugate_gradients::{conjugate_gradients, multiply_symmetric};
pub(crate) use sparse::eigen::{COPY, largest_eigenvectors};
pub(crate) use sparse::inverse_forms::{ForwardSubstituted, Halfway};
pub use sparse::matrix::Sparse;
pub(crate) use sparse::matrix::{add_diagonal, multiply_columns};
pub(crate) use sparse::selection::Selection;
