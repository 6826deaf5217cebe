//! Progress of long computations, seen from outside, and the wish to stop them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::{Error, Result};

/// How far a long computation is, and whether it should stop; shared between threads by reference or `Arc`.
#[derive(Debug, Default)]
pub struct Progress {
    fraction_bits: AtomicU32,
    cancelled: AtomicBool,
}

impl Progress {
    /// Records the fraction done, in [0, 1].
    ///
    /// # Errors
    /// [`Error::Cancelled`] once [`Progress::cancel`] was called.
    pub fn report(&self, fraction: f32) -> Result<()> {
        self.fraction_bits.store(fraction.to_bits(), Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// The fraction done, in [0, 1].
    pub fn fraction(&self) -> f32 {
        f32::from_bits(self.fraction_bits.load(Ordering::Relaxed))
    }

    /// Asks the computation to stop at its next report.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
