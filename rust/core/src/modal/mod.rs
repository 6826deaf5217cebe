//! Independent oscillators of linear modes: exact steps of any length `[MOR eq. 2, 3]`, modal response to
//! the loads of a shot, and sound `[MOR eq. 4]`.

mod oscillators;
mod propagator;
mod sound;
mod swing;

pub use oscillators::{ModalOscillators, RayleighDamping};
pub use sound::{SoundParams, Strike, radiation, sound};
pub use swing::{ModalForces, swing};
