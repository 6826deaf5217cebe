//! Dense matrices: products, factors, bases and least squares.

pub(crate) mod cholesky;
pub(crate) mod columns;
pub(crate) mod diagonal;
pub(crate) mod eigenbasis;
pub(crate) mod nnls;
pub(crate) mod products;
pub(crate) mod rows;
pub(crate) mod symmetric;
pub(crate) mod tall;

pub(crate) use products::*;
