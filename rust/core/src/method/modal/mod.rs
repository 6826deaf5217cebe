//! Linear modes that swing each by itself: exact steps of any length `[MOR eq. 2, 3]`, and how that sounds `[MOR eq. 4]`.

mod oscillators;
mod propagator;
mod sound;

pub use oscillators::{ModalOscillators, RayleighDamping};
pub use sound::{ModalForces, SoundParams, Strike, radiation, sound};
