//! Choice of samples that represent all elements or vertices of a body.

pub(crate) mod covering;
pub(crate) mod cubature;

pub use cubature::Cubature;
