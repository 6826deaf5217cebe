//! Work of the core on a thread of its own that never touches Python.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use jounce::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::{Failure, attempt};

/// How long a wait can leave Ctrl+C unheard.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// What a job leaves behind.
type Outcome<T> = Result<Arc<T>, Failure>;

/// Work that makes a `T`; dropping it cancels it.
pub struct Job<T> {
    progress: Arc<Progress>,
    slot: Arc<Slot<T>>,
}

impl<T: Send + Sync + 'static> Job<T> {
    /// Begins to work.
    pub fn start(work: impl FnOnce(&Progress) -> jounce::Result<T> + Send + 'static) -> PyResult<Self> {
        let job = Self { progress: Arc::default(), slot: Arc::default() };
        let (progress, slot) = (job.progress.clone(), job.slot.clone());
        thread::Builder::new()
            .name("jounce-job".into())
            .spawn(move || slot.put(attempt(|| work(&progress)).map(Arc::new)))
            .map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))?;
        Ok(job)
    }

    /// How far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Whether `result` would return at once.
    pub fn done(&self) -> bool {
        self.slot.lock().is_some()
    }

    /// Waits for what it makes; hears Ctrl+C meanwhile.
    pub fn result(&self, py: Python<'_>) -> PyResult<Arc<T>> {
        loop {
            if let Some(outcome) = py.detach(|| self.slot.wait(BETWEEN_SIGNALS)) {
                return Ok(outcome?);
            }
            py.check_signals()?;
        }
    }

    /// What Python shows of it.
    pub fn describe(&self, name: &str) -> String {
        format!("{name}({:.0} %, {:?})", 100.0 * self.progress.fraction(), self.progress.stage())
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

/// Where the thread of a job leaves its outcome.
struct Slot<T> {
    outcome: Mutex<Option<Outcome<T>>>,
    filled: Condvar,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { outcome: Mutex::default(), filled: Condvar::default() }
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
