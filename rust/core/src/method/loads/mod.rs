//! What acts on a body from outside.

pub mod contact;
