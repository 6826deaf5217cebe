//! External loads on a body.

pub mod contact;
pub(in crate::method) mod drag;
