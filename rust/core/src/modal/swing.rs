//! Response of linear modes to the loads of a shot.

use super::{ModalOscillators, RayleighDamping};
use crate::subspace::LinearModes;
use crate::{Error, Result, check};

/// Largest rate of frames or samples, a second.
pub(super) const MOST_RATE: f64 = 1e6;

/// Loads `psi' f` of each mode a frame, linear between frames and zero after the last.
#[derive(Debug, Clone, Copy)]
pub struct ModalForces<'a> {
    /// f x k, N kg^(-1/2).
    pub rows: &'a [f64],
    /// Frames a second.
    pub fps: f64,
}

impl ModalForces<'_> {
    /// Checks the loads against k modes.
    pub(super) fn check(&self, k: usize) -> Result<()> {
        within("fps", "a positive number of frames a second, at most a million", self.fps, MOST_RATE)?;
        if k == 0 || self.rows.is_empty() || !self.rows.len().is_multiple_of(k) {
            let (expected, got) = (format!("(f, {k})"), format!("{} numbers", self.rows.len()));
            return Err(Error::Shape { what: "forces", expected, got });
        }
        check::finite("forces", self.rows, 1)
    }
}

/// Amplitudes z of the modes at each frame, f x k, m kg^(1/2), from rest at the first:
/// `z'' + (alpha + beta l) z' + l z = f`.
///
/// Steps are those of [`ModalOscillators`], exact for loads linear between frames.
///
/// # Errors
/// [`Error::Shape`], [`Error::NotFinite`] and [`Error::Range`] for invalid forces.
pub fn swing(modes: &LinearModes, forces: ModalForces<'_>, damping: &RayleighDamping) -> Result<Vec<f64>> {
    let k = modes.eigenvalues.len();
    forces.check(k)?;
    let mut oscillators = ModalOscillators::new(&modes.eigenvalues, damping, forces.fps.recip())?;
    let mut amplitudes = vec![0.0; k];
    for frames in forces.rows.windows(2 * k).step_by(k) {
        let (before, now) = frames.split_at(k);
        oscillators.step(before, now)?;
        amplitudes.extend_from_slice(oscillators.amplitudes());
    }
    Ok(amplitudes)
}

pub(super) fn within(what: &'static str, expected: &'static str, got: f64, most: f64) -> Result<()> {
    if got > 0.0 && got <= most { Ok(()) } else { Err(Error::Range { what, expected, got }) }
}
