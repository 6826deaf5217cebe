//! `Job`: what all jobs are, work of the core on a thread of its own that never touches Python.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use jounce::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::{BETWEEN_SIGNALS, Failure, attempt};

/// Work on a thread of its own, as its caller sees it.
pub trait Working: Send + Sync {
    /// How far it is.
    fn progress(&self) -> &Progress;

    /// Whether there is nothing to wait for.
    fn done(&self) -> bool;

    /// Makes it stop soon.
    fn cancel(&self) {
        self.progress().cancel();
    }
}

/// Work on a thread of its own that never touches Python: what all jobs have.
///
/// Poll `done`; show `progress` and `stage`. Dropping a job cancels it.
#[pyclass(frozen, subclass, module = "jounce", name = "Job")]
pub struct Job(Arc<dyn Working>);

#[pymethods]
impl Job {
    /// The fraction done, in [0, 1].
    #[getter]
    fn progress(&self) -> f32 {
        self.0.progress().fraction()
    }

    /// What is being computed, in a word or two; empty before that begins.
    #[getter]
    fn stage(&self) -> &'static str {
        self.0.progress().stage()
    }

    /// Whether all is done, or cannot be done: what waits for the job would return or raise at once.
    #[getter]
    fn done(&self) -> bool {
        self.0.done()
    }

    /// Asks the job to stop soon; a `result()` then raises ValueError "cancelled".
    fn cancel(&self) {
        self.0.cancel();
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (name, progress) = (slf.get_type().name()?, slf.get().0.progress());
        Ok(format!("{name}({:.0} %, {:?})", 100.0 * progress.fraction(), progress.stage()))
    }
}

impl Job {
    /// What a kind of job adds its own to.
    pub fn showing(work: Arc<dyn Working>) -> PyClassInitializer<Self> {
        Self(work).into()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Begins work on a thread of its own.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let started = thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))
}

/// What work leaves behind.
type Outcome<T> = Result<Arc<T>, Failure>;

/// Work that makes a `T`.
pub struct Making<T>(Arc<Slot<T>>);

impl<T: Send + Sync + 'static> Making<T> {
    /// Begins to work.
    pub fn start(work: impl FnOnce(&Progress) -> jounce::Result<T> + Send + 'static) -> PyResult<Self> {
        let made = Self(Arc::default());
        let slot = made.0.clone();
        start("jounce-job", move || slot.put(attempt(|| work(&slot.progress)).map(Arc::new)))?;
        Ok(made)
    }

    /// The job that shows it.
    pub fn job(&self) -> PyClassInitializer<Job> {
        Job::showing(self.0.clone())
    }

    /// Waits for what it makes; hears Ctrl+C meanwhile.
    pub fn result(&self, py: Python<'_>) -> PyResult<Arc<T>> {
        loop {
            if let Some(outcome) = py.detach(|| self.0.wait(BETWEEN_SIGNALS)) {
                return Ok(outcome?);
            }
            py.check_signals()?;
        }
    }
}

/// What work makes that nobody but the caller waits for; Ctrl+C ends it.
pub fn made<T: Send + Sync + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Progress) -> jounce::Result<T> + Send + 'static,
) -> PyResult<Arc<T>> {
    let making = Making::start(work)?;
    making.result(py).inspect_err(|_| making.0.cancel())
}

/// Where a thread leaves its outcome, and says how far it is.
struct Slot<T> {
    progress: Progress,
    outcome: Mutex<Option<Outcome<T>>>,
    filled: Condvar,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { progress: Progress::default(), outcome: Mutex::default(), filled: Condvar::default() }
    }
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Option<Outcome<T>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, outcome: Outcome<T>) {
        *self.lock() = Some(outcome);
        self.filled.notify_all();
    }

    /// The outcome, or None if it is not there within that time.
    fn wait(&self, longest: Duration) -> Option<Outcome<T>> {
        let waited = self.filled.wait_timeout_while(self.lock(), longest, |outcome| outcome.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

impl<T: Send + Sync> Working for Slot<T> {
    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn done(&self) -> bool {
        self.lock().is_some()
    }
}
