//! What acts on a body from outside.

pub mod contact;
pub(in crate::method) mod drag;
