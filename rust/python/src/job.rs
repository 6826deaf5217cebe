//! `Job`, the base of all jobs: core work on a thread that never touches Python.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use jounce::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::{BETWEEN_SIGNALS, Failure, attempt};

/// Work on another thread, from the caller's side.
pub trait Working: Send + Sync {
    /// Progress of the work.
    fn progress(&self) -> &Progress;

    /// `true` if `result()` would not block.
    fn done(&self) -> bool;

    /// Asks the work to stop soon.
    fn cancel(&self) {
        self.progress().cancel();
    }
}

/// Base class of all jobs: work on a thread that never touches Python.
///
/// Poll `done`; show `progress` and `stage`. Dropping a job cancels the work.
///
/// Examples
/// --------
/// >>> frames = np.sin(np.arange(24))[:, None, None] * np.ones((1, 8, 3))
/// >>> job = jounce.ModalKeysJob(frames, 1e-4)
/// >>> keys, values, error = job.result()
/// >>> job.done, job.progress
/// (True, 1.0)
#[pyclass(frozen, subclass, module = "jounce", name = "Job")]
pub struct Job(Arc<dyn Working>);

#[pymethods]
impl Job {
    /// The completed fraction, in [0, 1].
    #[getter]
    fn progress(&self) -> f32 {
        self.0.progress().fraction()
    }

    /// Current stage, in a word or two; empty before the first stage.
    #[getter]
    fn stage(&self) -> &'static str {
        self.0.progress().stage()
    }

    /// True if the job is finished or has failed: a waiting call would return or raise at once.
    #[getter]
    fn done(&self) -> bool {
        self.0.done()
    }

    /// Asks the job to stop soon; `result()` then raises ValueError "cancelled".
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> job = jounce.BodyJob(points, triangles, np.ones((8, 1)), resolution=32)
    /// >>> job.cancel()
    /// >>> try:
    /// ...     body = job.result()
    /// ... except ValueError as error:
    /// ...     print(error)
    /// cancelled
    fn cancel(&self) {
        self.0.cancel();
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (name, progress) = (slf.get_type().name()?, slf.get().0.progress());
        Ok(format!("{name}({:.0} %, {:?})", 100.0 * progress.fraction(), progress.stage()))
    }
}

impl Job {
    /// Base part of a Python job class.
    pub fn showing(work: Arc<dyn Working>) -> PyClassInitializer<Self> {
        Self(work).into()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Starts work on a new thread.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let started = thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))
}

/// Result of the work.
type Outcome<T> = Result<Arc<T>, Failure>;

/// Work with a result of type `T`.
pub struct Making<T>(Arc<Slot<T>>);

impl<T: Send + Sync + 'static> Making<T> {
    /// Starts the work.
    pub fn start(work: impl FnOnce(&Progress) -> jounce::Result<T> + Send + 'static) -> PyResult<Self> {
        let made = Self(Arc::default());
        let slot = made.0.clone();
        start("jounce-job", move || slot.put(attempt(|| work(&slot.progress)).map(Arc::new)))?;
        Ok(made)
    }

    /// The base job of this work.
    pub fn job(&self) -> PyClassInitializer<Job> {
        Job::showing(self.0.clone())
    }

    /// Waits for the result; responds to Ctrl+C meanwhile.
    pub fn result(&self, py: Python<'_>) -> PyResult<Arc<T>> {
        loop {
            if let Some(outcome) = py.detach(|| self.0.wait(BETWEEN_SIGNALS)) {
                return Ok(outcome?);
            }
            py.check_signals()?;
        }
    }
}

/// Runs work to its result while the caller waits; Ctrl+C cancels it.
pub fn made<T: Send + Sync + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Progress) -> jounce::Result<T> + Send + 'static,
) -> PyResult<Arc<T>> {
    let making = Making::start(work)?;
    making.result(py).inspect_err(|_| making.0.cancel())
}

/// Shared slot for the outcome and the progress of a thread.
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

    /// The outcome, or None after the longest waiting time.
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
