//! Dense matrices: products, factors, bases and least squares.

pub(crate) mod block_orthogonal;
pub(crate) mod cholesky;
pub(crate) mod columns;
pub(crate) mod diagonal;
mod dot;
pub(crate) mod eigenbasis;
#[cfg(feature = "large")]
mod large;
pub(crate) mod nnls;
pub(crate) mod products;
pub(crate) mod rows;
#[cfg(any(test, not(feature = "large")))]
mod short;
pub(crate) mod symmetric;

pub(crate) use dot::dot;
#[cfg(feature = "large")]
use large as kernels;
pub(crate) use products::*;
#[cfg(not(feature = "large"))]
use short as kernels;
