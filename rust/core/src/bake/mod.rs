//! Results of a simulation in the forms that other tools read.

mod helper_bones;
mod modal_keys;
mod pull_back;

pub use helper_bones::{HelperBones, HelperSettings, helper_bones};
pub use modal_keys::{ModalKeys, modal_keys};
pub use pull_back::pull_back;
