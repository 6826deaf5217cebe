//! Conversion of the core's errors, and of unexpected panics, into Python exceptions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use jounce::Progress;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Longest time without a check for Ctrl+C.
pub const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);
/// Progress reports between two looks at the clock.
const BETWEEN_LOOKS: u32 = 16;

/// Everything the core refuses is a ValueError with the core's own sentence.
pub fn refused(error: jounce::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Error for a kind of the core that this module has no name for.
pub fn unnamed(what: &'static str) -> PyErr {
    refused(jounce::Error::Unsupported { what, why: "the Python module has no name for values of this kind" })
}

/// Runs core work without the GIL; a panic inside arrives as a RuntimeError.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> jounce::Result<T> + Send) -> PyResult<T> {
    match py.detach(|| contained(work)) {
        Ok(result) => result.map_err(refused),
        Err(text) => Err(PyRuntimeError::new_err(text)),
    }
}

/// Runs long core work without the GIL; Ctrl+C cancels it.
pub fn run_long<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Progress) -> jounce::Result<T> + Send,
) -> PyResult<T> {
    let raised = Arc::new(Mutex::new(None));
    let (heard, asked) = (raised.clone(), AtomicU32::new(1));
    let looked = Mutex::new(Instant::now());
    let progress = Progress::asking(move || {
        // Reading the clock may take longer than an iteration of a small body.
        if !asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(BETWEEN_LOOKS) {
            return false;
        }
        let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() < BETWEEN_SIGNALS {
            return false;
        }
        *looked = Instant::now();
        let signal = Python::attach(|py| py.check_signals()).err();
        let stop = signal.is_some();
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = signal;
        stop
    });
    let outcome = run(py, || work(&progress));
    let signal = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    signal.map_or(outcome, Err)
}

/// Reason for failed work on another thread.
#[derive(Clone)]
pub enum Failure {
    /// The core refused.
    Refused(jounce::Error),
    /// The text of a panic.
    Internal(String),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => refused(error),
            Failure::Internal(text) => PyRuntimeError::new_err(text),
        }
    }
}

/// Runs core work on a thread without Python.
pub fn attempt<T>(work: impl FnOnce() -> jounce::Result<T>) -> Result<T, Failure> {
    match contained(work) {
        Ok(result) => result.map_err(Failure::Refused),
        Err(text) => Err(Failure::Internal(text)),
    }
}

/// Runs core work and turns a panic into a sentence.
fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        format!("internal error, please report it: {text}")
    })
}

/// Guard of a mutex, or an error if another thread holds it.
pub fn locked<'a, T>(inner: &'a Mutex<T>, used: &'static str) -> PyResult<MutexGuard<'a, T>> {
    match inner.try_lock() {
        Ok(inner) => Ok(inner),
        // A panicking step leaves only plain numbers, therefore a poisoned lock is safe to use.
        Err(TryLockError::Poisoned(inner)) => Ok(inner.into_inner()),
        Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(used)),
    }
}
