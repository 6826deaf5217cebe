//! Linear modes that swing each by itself: exact steps of any length `[MOR eq. 2, 3]`, how they move under the loads of a
//! shot, and how that sounds `[MOR eq. 4]`.

mod oscillators;
mod propagator;
mod sound;
mod swing;

pub use oscillators::{ModalOscillators, RayleighDamping};
pub use sound::{SoundParams, Strike, radiation, sound};
pub use swing::{ModalForces, swing};
