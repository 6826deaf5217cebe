//! Progress and cancellation of long computations.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// Progress of a long computation and its cancellation flag; shared between threads by reference or `Arc`.
///
/// A computation of several stages calls [`Progress::enter`] before each; the fraction in [0, 1] reported
/// by a stage then counts for its share of the whole.
///
/// ```
/// use jounce::{Error, Progress};
///
/// let progress = Progress::default();
/// progress.enter("modes", 0.5, 1.0)?;
/// progress.report(0.5)?;
/// assert_eq!((progress.stage(), progress.fraction()), ("modes", 0.75));
/// progress.cancel();
/// assert_eq!(progress.report(0.6), Err(Error::Cancelled));
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Default)]
pub struct Progress {
    standing: Mutex<Standing>,
    /// Callback asked at each report whether to stop.
    stop: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

#[derive(Debug)]
struct Standing {
    fraction: f32,
    stage: &'static str,
    share: [f32; 2],
    cancelled: bool,
}

impl Default for Standing {
    fn default() -> Self {
        Self { fraction: 0.0, stage: "", share: [0.0, 1.0], cancelled: false }
    }
}

impl Progress {
    /// A progress that calls `stop` on the reporting thread at each report; `true` stops the computation.
    pub fn asking(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { standing: Mutex::default(), stop: Some(Box::new(stop)) }
    }

    /// Begins a named stage, which is the share `[from, to]` of the whole.
    ///
    /// # Errors
    /// [`Error::Cancelled`] once [`Progress::cancel`] was called.
    pub fn enter(&self, stage: &'static str, from: f32, to: f32) -> Result<()> {
        let mut standing = self.lock();
        standing.stage = stage;
        standing.share = [from, to];
        drop(standing);
        self.report(0.0)
    }

    /// Records the fraction of the current stage that is done, in [0, 1].
    ///
    /// # Errors
    /// [`Error::Cancelled`] once [`Progress::cancel`] was called.
    pub fn report(&self, fraction: f32) -> Result<()> {
        let mut standing = self.lock();
        let [from, to] = standing.share;
        standing.fraction = from + (to - from) * fraction;
        drop(standing);
        self.proceed()
    }

    /// Checks for cancellation in loops of unknown length, without recording a fraction.
    ///
    /// # Errors
    /// [`Error::Cancelled`] once [`Progress::cancel`] was called.
    pub fn proceed(&self) -> Result<()> {
        if self.lock().cancelled {
            return Err(Error::Cancelled);
        }
        match &self.stop {
            Some(stop) if stop() => {
                self.cancel();
                Err(Error::Cancelled)
            }
            _ => Ok(()),
        }
    }

    /// Completed fraction of the whole, in [0, 1].
    pub fn fraction(&self) -> f32 {
        self.lock().fraction
    }

    /// Name of the current stage; empty before the first.
    pub fn stage(&self) -> &'static str {
        self.lock().stage
    }

    /// Requests the computation to stop at its next report.
    pub fn cancel(&self) {
        self.lock().cancelled = true;
    }

    /// Locks the state. Its plain values stay valid even if a thread panicked while it held the lock.
    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
