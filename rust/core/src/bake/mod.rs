//! What follows from a simulation: baked shapes in the forms that other tools read.

mod modal_keys;
mod pull_back;

pub use modal_keys::{ModalKeys, modal_keys};
pub use pull_back::{blend, pull_back};
