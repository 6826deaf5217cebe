//! `MotionJob`: a simulation that is stepped on a thread of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jounce::{Progress, method};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays;
use crate::cycle::CycleReport;
use crate::errors::{BETWEEN_SIGNALS, Failure, attempt};
use crate::forces::Drag;
use crate::job::{self, Job, Working};
use crate::settings::{Change, Contraction, Stitching};
use crate::simulation::{Simulation, started};
use crate::state::State;

/// Something that changes the state.
type Advance = dyn FnOnce(&mut method::Simulation, &Progress) -> jounce::Result<()> + Send;

/// What the thread is asked for, in this order.
enum Request {
    /// To change the state.
    Advance(Box<Advance>),
    /// To keep the coefficients, and the state too if asked.
    Keep { state: bool },
}

/// What the caller and the thread share.
#[derive(Default)]
struct Ledger {
    waiting: VecDeque<Request>,
    /// Whether the thread works on a request that it has taken from the queue.
    busy: bool,
    /// Strength of the steps that are asked for from now on.
    strength: f64,
    coefficients: Vec<f64>,
    states: Vec<Option<method::State>>,
    /// Of the last cycle.
    report: Option<method::CycleReport>,
    failure: Option<Failure>,
    closed: bool,
}

impl Ledger {
    fn idle(&self) -> bool {
        self.failure.is_some() || self.closed || (self.waiting.is_empty() && !self.busy)
    }
}

#[derive(Default)]
struct Shared {
    ledger: Mutex<Ledger>,
    changed: Condvar,
    /// Of the cycle that is closed or the settling, and what stops whatever is done.
    progress: Progress,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn until(&self, met: impl Fn(&Ledger) -> bool) -> MutexGuard<'_, Ledger> {
        let mut ledger = self.lock();
        while !met(&ledger) {
            ledger = self.changed.wait(ledger).unwrap_or_else(PoisonError::into_inner);
        }
        ledger
    }

    fn is_idle_within(&self, longest: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), longest, |ledger| !ledger.idle());
        waited.unwrap_or_else(PoisonError::into_inner).0.idle()
    }

    /// The thread: answers one request after the other until it is told to stop or one fails.
    fn work(&self, mut simulation: method::Simulation) {
        loop {
            let mut ledger = self.until(|ledger| ledger.closed || !ledger.waiting.is_empty());
            if ledger.closed {
                return;
            }
            match ledger.waiting.pop_front() {
                None => {}
                Some(Request::Keep { state }) => {
                    ledger.coefficients.extend_from_slice(simulation.coefficients());
                    ledger.states.push(state.then(|| simulation.save_state()));
                }
                Some(Request::Advance(advance)) => {
                    ledger.busy = true;
                    drop(ledger);
                    let outcome = attempt(|| advance(&mut simulation, &self.progress));
                    ledger = self.lock();
                    ledger.busy = false;
                    // Being told to stop is no failure.
                    ledger.failure = outcome.err().filter(|_| !ledger.closed);
                }
            }
            let failed = ledger.failure.is_some();
            drop(ledger);
            self.changed.notify_all();
            if failed {
                return;
            }
        }
    }
}

/// A copy of a simulation, stepped on a thread of its own that never touches Python.
///
/// `reset`, `place`, `step`, `settle`, `settle_cycle`, `cut`, `coast`, `vary` and `strength` mean what they mean for a Simulation, and are
/// done in the order in which they are asked for; they return at once. `keep()` keeps the coefficients at that point, bit for bit
/// those of the Simulation. Wrong arrays raise at once; what a step refuses is raised by `wait()` and
/// `coefficients()`, and nothing after it is done. `progress` and `stage` are those of the last cycle or
/// settling; `report` says how well the last cycle closes. `cancel()` stops within an iteration of a step; what
/// is kept stays.
#[pyclass(frozen, extends = Job, module = "jounce", name = "MotionJob")]
pub struct MotionJob {
    shared: Arc<Shared>,
    simulation: Py<Simulation>,
    /// Axes of the coefficients.
    shape: Vec<usize>,
}

#[pymethods]
impl MotionJob {
    #[new]
    fn new(simulation: Bound<'_, Simulation>) -> PyResult<PyClassInitializer<Self>> {
        let (copy, shape) = {
            let given = simulation.get();
            (given.duplicate()?, given.shape.clone())
        };
        let shared = Arc::<Shared>::default();
        shared.lock().strength = copy.params().strength;
        let own = shared.clone();
        job::start("jounce-motion", move || own.work(copy))?;
        let job = Job::showing(shared.clone());
        Ok(job.add_subclass(Self { shared, simulation: simulation.unbind(), shape }))
    }

    /// Asks for a step, as `Simulation.step`.
    #[pyo3(signature = (pose=None, force=None, offsets=None, drag=None, colliders=None))]
    fn step(
        &self,
        pose: Option<&Bound<'_, PyAny>>,
        force: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        drag: Option<&Bound<'_, Drag>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let driven = self.simulation.get().arrays(pose, force, offsets, drag, colliders)?.to_owned();
        self.ask(move |simulation, progress| simulation.step_with(&driven.drive(), progress).map(drop));
        Ok(())
    }

    /// Asks to start in static equilibrium, as `Simulation.settle`.
    #[pyo3(signature = (pose=None, force=None, max_iterations=1000, offsets=None, drag=None, colliders=None))]
    fn settle(
        &self,
        pose: Option<&Bound<'_, PyAny>>,
        force: Option<&Bound<'_, PyAny>>,
        max_iterations: i64,
        offsets: Option<&Bound<'_, PyAny>>,
        drag: Option<&Bound<'_, Drag>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let max_iterations = arrays::count(max_iterations, "max_iterations")?;
        let driven = self.simulation.get().arrays(pose, force, offsets, drag, colliders)?.to_owned();
        self.ask(move |simulation, progress| {
            simulation.settle(&driven.drive(), max_iterations, progress).map(drop)
        });
        Ok(())
    }

    /// Asks to start at rest in a pose, as `Simulation.reset`.
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn reset(
        &self,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let driven = self.simulation.get().arrays(pose, None, offsets, None, colliders)?.to_owned();
        self.ask(move |simulation, _| simulation.reset_with(&driven.drive()));
        Ok(())
    }

    /// Asks for a cut, as `Simulation.cut`.
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn cut(
        &self,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let driven = self.simulation.get().arrays(pose, None, offsets, None, colliders)?.to_owned();
        self.ask(move |simulation, _| simulation.cut(&driven.drive()));
        Ok(())
    }

    /// Asks to go on in steady motion, as `Simulation.coast`.
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn coast(
        &self,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let driven = self.simulation.get().arrays(pose, None, offsets, None, colliders)?.to_owned();
        self.ask(move |simulation, _| simulation.coast(&driven.drive()));
        Ok(())
    }

    /// Asks to start a loose body anew, as `Simulation.place`.
    #[pyo3(signature = (place=None, velocity=None, spin=None))]
    fn place(
        &self,
        place: Option<&Bound<'_, PyAny>>,
        velocity: Option<[f64; 3]>,
        spin: Option<[f64; 3]>,
    ) -> PyResult<()> {
        let start = started(place, velocity, spin)?;
        self.ask(move |simulation, _| simulation.place(&start));
        Ok(())
    }

    /// How much of the rig's acceleration the flesh feels from the next step that is asked for, >= 0.
    #[getter]
    fn strength(&self) -> f64 {
        self.shared.lock().strength
    }

    #[setter]
    fn set_strength(&self, strength: f64) {
        self.shared.lock().strength = strength;
        self.ask(move |simulation, _| {
            simulation.set_params(method::SimulationParams { strength, ..*simulation.params() })
        });
    }

    /// Asks for other settings, as `Simulation.vary`.
    #[pyo3(signature = (stiffness=None, damping=None, gravity=None, pose_rest=None, contraction=None,
                        inflation=None, hold=None, stitching=None))]
    fn vary(
        &self,
        stiffness: Option<f64>,
        damping: Option<f64>,
        gravity: Option<[f64; 3]>,
        pose_rest: Option<f64>,
        contraction: Option<Contraction>,
        inflation: Option<f64>,
        hold: Option<f64>,
        stitching: Option<Stitching>,
    ) {
        let change =
            Change { stiffness, damping, gravity, pose_rest, contraction, inflation, hold, stitching };
        self.ask(move |simulation, _| simulation.set_params(change.of(simulation.params())));
    }

    /// Asks to start a cycle in the state that closes it, as `Simulation.settle_cycle`.
    #[pyo3(signature = (poses, strengths=None, forces=None, offsets=None, max_passes=6, tolerance=1e-5,
                        drags=None))]
    fn settle_cycle(
        &self,
        poses: &Bound<'_, PyAny>,
        strengths: Option<&Bound<'_, PyAny>>,
        forces: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        max_passes: i64,
        tolerance: f64,
        drags: Option<Vec<Option<Bound<'_, Drag>>>>,
    ) -> PyResult<()> {
        let max_passes = arrays::count(max_passes, "max_passes")?;
        let simulation = self.simulation.get();
        let cycle = simulation.cycle(poses, strengths, forces, offsets, drags.as_deref())?;
        let shared = Arc::downgrade(&self.shared);
        self.ask(move |simulation, progress| {
            let Some(shared) = shared.upgrade() else { return Ok(()) };
            shared.lock().report = None;
            let report = cycle.settle(simulation, max_passes, tolerance, progress)?;
            shared.lock().report = Some(report);
            Ok(())
        });
        Ok(())
    }

    /// Asks to keep the coefficients at this point, and the state as well for `state=True`.
    #[pyo3(signature = (state=false))]
    fn keep(&self, state: bool) {
        self.send(Request::Keep { state });
    }

    /// How many coefficients are kept by now.
    #[getter]
    fn kept(&self) -> usize {
        self.shared.lock().states.len()
    }

    /// How well the last cycle closes, as `Simulation.settle_cycle` returns it; None before that is known.
    #[getter]
    fn report(&self) -> Option<CycleReport> {
        self.shared.lock().report.map(CycleReport::from)
    }

    /// Waits until all that was asked for is done; raises what was refused. Ctrl+C ends the waiting.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        while !py.detach(|| self.shared.is_idle_within(BETWEEN_SIGNALS)) {
            py.check_signals()?;
        }
        self.raise_failure()
    }

    /// The coefficients kept by now, from number `start` on, (k, ...) float64; raises what was refused.
    #[pyo3(signature = (start=0))]
    fn coefficients<'py>(&self, py: Python<'py>, start: i64) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.raise_failure()?;
        let start: usize = arrays::count(start, "start")?;
        let size: usize = self.shape.iter().product();
        let values = {
            let ledger = self.shared.lock();
            let start = size.saturating_mul(start).min(ledger.coefficients.len());
            ledger.coefficients[start..].to_vec()
        };
        let shape: Vec<usize> = std::iter::once(values.len() / size).chain(self.shape.clone()).collect();
        arrays::owned(py, values, &shape)
    }

    /// The state kept with number `index`, None if it was kept without one or is not there yet.
    fn state(&self, index: i64) -> PyResult<Option<State>> {
        let index: usize = arrays::count(index, "index")?;
        Ok(self.shared.lock().states.get(index).cloned().flatten().map(State))
    }

    fn __repr__(&self) -> String {
        format!("MotionJob({} kept)", self.kept())
    }
}

impl MotionJob {
    fn ask(
        &self,
        advance: impl FnOnce(&mut method::Simulation, &Progress) -> jounce::Result<()> + Send + 'static,
    ) {
        self.send(Request::Advance(Box::new(advance)));
    }

    fn send(&self, request: Request) {
        self.shared.lock().waiting.push_back(request);
        self.shared.changed.notify_all();
    }

    fn raise_failure(&self) -> PyResult<()> {
        self.shared.lock().failure.clone().map_or(Ok(()), |failure| Err(failure.into()))
    }
}

impl Working for Shared {
    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn done(&self) -> bool {
        self.lock().idle()
    }

    fn cancel(&self) {
        self.lock().closed = true;
        self.progress.cancel();
        self.changed.notify_all();
    }
}
