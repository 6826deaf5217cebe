//! Small matrices and packed products, one item a SIMD lane.

pub(crate) mod grouped;
pub(crate) mod lanes;
pub mod polar;
pub(crate) mod svd;
