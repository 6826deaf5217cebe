//! How the core's errors, and panics that should never be, reach Python.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Everything the core refuses is a ValueError with the core's own sentence.
pub fn refused(error: jounce::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Runs core work without the GIL; a panic inside arrives as a RuntimeError.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> jounce::Result<T> + Send) -> PyResult<T> {
    match py.detach(|| contained(work)) {
        Ok(result) => result.map_err(refused),
        Err(text) => Err(PyRuntimeError::new_err(text)),
    }
}

/// Why work on another thread came to nothing.
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
