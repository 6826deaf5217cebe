//! `MotionJob`: a simulation stepped on its own thread.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jounce::{Progress, inputs, simulation, stepping};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;
use crate::cycle::CycleReport;
use crate::errors::{BETWEEN_SIGNALS, Failure, attempt};
use crate::forces::Drag;
use crate::job::{self, Job, Working};
use crate::settings::Change;
use crate::simulation::Simulation;
use crate::simulation_starts::started;
use crate::state::State;

/// A change of the state.
type Advance = dyn FnOnce(&mut simulation::Simulation, &Progress) -> jounce::Result<()> + Send;

/// Requests to the thread, in order.
enum Request {
    /// Change the state.
    Advance(Box<Advance>),
    /// Keep the coefficients, and on request the state.
    Keep { state: bool },
}

/// Data shared by the caller and the thread.
#[derive(Default)]
struct Ledger {
    waiting: VecDeque<Request>,
    /// `true` while the thread works on a request taken from the queue.
    busy: bool,
    /// Strength of subsequently requested steps.
    strength: f64,
    coefficients: Vec<f64>,
    states: Vec<Option<stepping::State>>,
    /// `true` for kept coefficients after steps and settlings that all converged.
    converged: Vec<bool>,
    /// `true` if a step or settling since the last kept coefficients has not converged.
    rough: bool,
    /// Report of the last cycle.
    report: Option<simulation::CycleReport>,
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
    /// Progress of the current cycle or settling; also cancels any work.
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

    /// Thread body: answers requests in order until closed or until a request fails.
    fn work(&self, mut simulation: simulation::Simulation) {
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
                    let rough = std::mem::take(&mut ledger.rough);
                    ledger.converged.push(!rough);
                }
                Some(Request::Advance(advance)) => {
                    ledger.busy = true;
                    drop(ledger);
                    let outcome = attempt(|| advance(&mut simulation, &self.progress));
                    ledger = self.lock();
                    ledger.busy = false;
                    // Cancelling is no failure.
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

/// A copy of a simulation, stepped on a thread that never touches Python.
///
/// `reset`, `place`, `step`, `settle`, `settle_cycle`, `cut`, `coast`, `vary` and `strength` have the
/// meaning of the Simulation's methods. They return at once, and the thread executes them in order.
/// `keep()` stores the coefficients at its point of the order, bit for bit those of the Simulation.
/// Invalid arrays raise at once; `wait()` and `coefficients()` raise the error of a failed step, which
/// ends the queue. `progress` and `stage` belong to the last cycle or settling; `report` gives the
/// closing error of the last cycle. `cancel()` stops within an iteration of a step; kept results stay.
///
/// Parameters
/// ----------
/// simulation : Simulation
///     The simulation to copy.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> simulation = jounce.Simulation(body.model)
/// >>> job = jounce.MotionJob(simulation)
/// >>> job.reset(np.eye(3, 4)[None])
/// >>> for height in (0.1, 0.2):
/// ...     pose = np.eye(3, 4)[None].copy()
/// ...     pose[0, 2, 3] = height
/// ...     job.step(pose)
/// ...     job.keep()
/// >>> job.wait()
/// >>> job.coefficients().shape == (2, *body.model.coefficient_shape)
/// True
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

    /// Requests a step of `dt` to a pose; `report` then has its report.
    ///
    /// Parameters
    /// ----------
    /// pose : (b, 3, 4) array, optional
    ///     Transform of each bone, rest to posed, in world space; None without a rig. A loose projective
    ///     body takes (1, 3, 4), the target of `hold`; None is the modelled place.
    /// force : array, optional
    ///     Generalised force throughout the step, of `Model.coefficient_shape`, from `Model.reduce_forces`
    ///     or `ForceSamples.reduce`; None is none.
    /// offsets : (k, 3) array, optional
    ///     Difference of the rig from linear skinning in this pose, from `Body.reduce_offsets`, or at the
    ///     vertices in the full space; None is none.
    /// drag : Drag, optional
    ///     Drag from `ForceSamples.drag`, or at the vertices for full-space, reduced and projective models;
    ///     None is none.
    /// colliders : (c, 3, 4) array, optional
    ///     Rotation and translation of each from its initial place; None keeps the last ones. The first
    ///     step moves them from their initial places; `reset(colliders=)` places them without motion.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of a wrong shape; `wait` raises what else `Simulation.step` refuses.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
    /// >>> job = jounce.MotionJob(simulation)
    /// >>> job.step(pose)
    /// >>> job.keep()
    /// >>> job.wait()
    /// >>> report = simulation.step(pose)
    /// >>> np.array_equal(job.coefficients()[0], simulation.coefficients)
    /// True
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
        self.ask_reported(move |simulation, progress| simulation.step_with(&driven.input(), progress));
        Ok(())
    }

    /// Requests a start in static equilibrium; `report` then has its report.
    ///
    /// Parameters
    /// ----------
    /// pose : array, optional
    ///     Pose as in `step`.
    /// force : array, optional
    ///     Force as in `step`.
    /// max_iterations : int, default 1000
    ///     Largest number of iterations; too few if the report's residual is above `tolerance`.
    /// offsets : array, optional
    ///     Offsets as in `step`.
    /// drag : Drag, optional
    ///     Drag as in `step`, on a body at rest.
    /// colliders : array, optional
    ///     Places as in `step`; friction is left out.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of a wrong shape; `wait` raises what else `Simulation.settle` refuses.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
    /// >>> job = jounce.MotionJob(simulation)
    /// >>> job.settle(np.eye(3, 4)[None])
    /// >>> job.keep()
    /// >>> job.wait()
    /// >>> report = simulation.settle(np.eye(3, 4)[None])
    /// >>> np.array_equal(job.coefficients()[0], simulation.coefficients)
    /// True
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
        self.ask_reported(move |simulation, progress| {
            simulation.settle(&driven.input(), max_iterations, progress)
        });
        Ok(())
    }

    /// Requests a start at rest in a pose: no displacement, no velocity.
    ///
    /// Parameters
    /// ----------
    /// pose : array, optional
    ///     Pose as in `step`.
    /// offsets : array, optional
    ///     Offsets as in `step`.
    /// colliders : array, optional
    ///     Places as in `step`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of a wrong shape; `wait` raises what else `Simulation.reset` refuses.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81)))
    /// >>> job.step(np.eye(3, 4)[None])
    /// >>> job.reset(np.eye(3, 4)[None])
    /// >>> job.keep()
    /// >>> job.wait()
    /// >>> bool(job.coefficients().any())
    /// False
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn reset(
        &self,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let driven = self.simulation.get().arrays(pose, None, offsets, None, colliders)?.to_owned();
        self.ask(move |simulation, _| simulation.reset_with(&driven.input()));
        Ok(())
    }

    /// Requests a cut: at rest relative to a pose, with the displacement kept.
    ///
    /// Parameters
    /// ----------
    /// pose : array, optional
    ///     Pose as in `step`.
    /// offsets : array, optional
    ///     Offsets as in `step`.
    /// colliders : array, optional
    ///     Places as in `step`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of a wrong shape; `wait` raises what else `Simulation.cut` refuses.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81)))
    /// >>> near, far = np.tile(np.eye(3, 4), (2, 1, 1, 1))
    /// >>> far[0, 0, 3] = 40.0
    /// >>> job.step(near)
    /// >>> job.keep()
    /// >>> job.cut(far)
    /// >>> job.keep()
    /// >>> job.wait()
    /// >>> before, after = job.coefficients()
    /// >>> bool(np.allclose(before, after))
    /// True
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn cut(
        &self,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let driven = self.simulation.get().arrays(pose, None, offsets, None, colliders)?.to_owned();
        self.ask(move |simulation, _| simulation.cut(&driven.input()));
        Ok(())
    }

    /// Requests steady motion: call it after `reset` or `settle` with the next pose, then step to it.
    ///
    /// Parameters
    /// ----------
    /// pose : array, optional
    ///     Pose as in `step`.
    /// offsets : array, optional
    ///     Offsets as in `step`.
    /// colliders : array, optional
    ///     Places as in `step`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of a wrong shape; `wait` raises what else `Simulation.coast` refuses.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model))
    /// >>> pose = np.eye(3, 4)[None].copy()
    /// >>> job.reset(pose)
    /// >>> pose[0, 2, 3] = 0.1
    /// >>> job.coast(pose)
    /// >>> job.step(pose)
    /// >>> job.wait()
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn coast(
        &self,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let driven = self.simulation.get().arrays(pose, None, offsets, None, colliders)?.to_owned();
        self.ask(move |simulation, _| simulation.coast(&driven.input()));
        Ok(())
    }

    /// Requests a new start of a loose body at a place, with a velocity and a spin.
    ///
    /// Parameters
    /// ----------
    /// place : (3, 4) array, optional
    ///     Rotation and translation from the modelled place; None is the identity.
    /// velocity : 3 floats, optional
    ///     Initial velocity, m/s; None is zero.
    /// spin : 3 floats, optional
    ///     Initial angular velocity, rad/s; None is zero.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of a wrong shape; `wait` raises what else `Simulation.place` refuses.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box()
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=6)
    /// >>> model = jounce.Model.projective(mesh, jounce.Material(young=2e4), handles=8, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(model))
    /// >>> job.place(velocity=(1.0, 0.0, 2.0))
    /// >>> job.step()
    /// >>> job.wait()
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

    /// Factor on the rig's acceleration from the next requested step on, >= 0.
    #[getter]
    fn strength(&self) -> f64 {
        self.shared.lock().strength
    }

    #[setter]
    fn set_strength(&self, strength: f64) {
        self.shared.lock().strength = strength;
        self.ask(move |simulation, _| {
            simulation.set_params(inputs::SimulationParams { strength, ..*simulation.params() })
        });
    }

    /// Requests other settings from the next step on; None leaves a setting unchanged.
    ///
    /// Parameters
    /// ----------
    /// settings : Settings
    ///     Keyword arguments, by the names of `Settings`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For unknown settings and other types; `wait` raises what else `Simulation.vary` refuses.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model))
    /// >>> for gravity in (0.0, -9.81):
    /// ...     job.vary(gravity=(0.0, 0.0, gravity))
    /// ...     job.step(np.eye(3, 4)[None])
    /// ...     job.keep()
    /// >>> job.wait()
    /// >>> [bool(np.abs(kept).max() > 0.001) for kept in job.coefficients()]
    /// [False, True]
    #[pyo3(signature = (**settings))]
    fn vary(&self, settings: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let change = Change::of(settings)?;
        self.ask(move |simulation, _| simulation.set_params(change.applied(simulation.params())));
        Ok(())
    }

    /// Requests a start in the closed state of a cycle; `report` then has its report.
    ///
    /// Parameters
    /// ----------
    /// poses : (f, b, 3, 4) array
    ///     Pose of each frame; the last is like the first up to a common translation.
    /// strengths : (f,) array, optional
    ///     Strength of each frame, as in `vary`; None keeps the present one.
    /// forces : (f, ...) array, optional
    ///     Force of each frame, as in `step`; None is none.
    /// offsets : (f, k, 3) array, optional
    ///     Offsets of each frame, as in `step`; None is none.
    /// max_passes : int, default 6
    ///     Largest number of passes through the cycle.
    /// tolerance : float, default 1e-05
    ///     Seam, relative to the motion, at which the passes end.
    /// drags : sequence of Drag, optional
    ///     Drag of each frame, as in `step`, or None; None is none.
    /// colliders : (f, c, 3, 4) array, optional
    ///     Placements of each frame, as in `step`; None leaves them in place. Each ends where it began, or
    ///     moved along with the body; a plane may stay below a walk.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of a wrong shape; `wait` raises what else `Simulation.settle_cycle` refuses.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model, damping=0.1))
    /// >>> poses = np.tile(np.eye(3, 4), (13, 1, 1, 1))
    /// >>> poses[:, 0, 2, 3] = 0.1 * np.sin(np.arange(13) * 2 * np.pi / 12)
    /// >>> job.settle_cycle(poses)
    /// >>> job.wait()
    /// >>> job.report.passes <= 6, job.report.position < 1e-5
    /// (True, True)
    #[pyo3(signature = (poses, strengths=None, forces=None, offsets=None, max_passes=6, tolerance=1e-5,
                        drags=None, colliders=None))]
    fn settle_cycle(
        &self,
        poses: &Bound<'_, PyAny>,
        strengths: Option<&Bound<'_, PyAny>>,
        forces: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        max_passes: i64,
        tolerance: f64,
        drags: Option<Vec<Option<Bound<'_, Drag>>>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let max_passes = arrays::count(max_passes, "max_passes")?;
        let simulation = self.simulation.get();
        let cycle = simulation.cycle(poses, strengths, forces, offsets, drags.as_deref(), colliders)?;
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

    /// Requests to keep the coefficients at this point, and for `state=True` the state too.
    ///
    /// Parameters
    /// ----------
    /// state : bool, default False
    ///     True keeps the state too.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model))
    /// >>> for frame in range(3):
    /// ...     job.step(np.eye(3, 4)[None])
    /// ...     job.keep(state=frame == 2)
    /// >>> job.wait()
    /// >>> job.kept, job.state(0) is None, job.state(2) is None
    /// (3, True, False)
    #[pyo3(signature = (state=false))]
    fn keep(&self, state: bool) {
        self.send(Request::Keep { state });
    }

    /// Number of kept coefficients so far.
    #[getter]
    fn kept(&self) -> usize {
        self.shared.lock().states.len()
    }

    /// Closing error of the last cycle, as returned by `Simulation.settle_cycle`; None until available.
    #[getter]
    fn report(&self) -> Option<CycleReport> {
        self.shared.lock().report.map(CycleReport::from)
    }

    /// Waits until all requests are done, or until Ctrl+C; raises the error of a failed request.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model))
    /// >>> for frame in range(12):
    /// ...     job.step(np.eye(3, 4)[None])
    /// ...     job.keep()
    /// >>> job.wait()
    /// >>> job.done, job.kept
    /// (True, 12)
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        while !py.detach(|| self.shared.is_idle_within(BETWEEN_SIGNALS)) {
            py.check_signals()?;
        }
        self.raise_failure()
    }

    /// Kept coefficients from number `start` on, (k, ...) float64; raises the error of a failed request.
    ///
    /// Parameters
    /// ----------
    /// start : int, default 0
    ///     Number of the first kept coefficients.
    ///
    /// Returns
    /// -------
    /// (k, ...) array
    ///     Kept coefficients.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model))
    /// >>> for frame in range(3):
    /// ...     job.step(np.eye(3, 4)[None])
    /// ...     job.keep()
    /// >>> job.wait()
    /// >>> len(job.coefficients()), len(job.coefficients(start=2))
    /// (3, 1)
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

    /// For each kept coefficients from number `start` on, true if all solves up to them converged.
    ///
    /// Parameters
    /// ----------
    /// start : int, default 0
    ///     Number of the first kept coefficients.
    ///
    /// Returns
    /// -------
    /// list of bool
    ///     True for frames whose steps all reached the tolerance.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> job = jounce.MotionJob(jounce.Simulation(body.model))
    /// >>> job.step(np.eye(3, 4)[None])
    /// >>> job.keep(state=True)
    /// >>> job.wait()
    /// >>> job.converged(), job.state(0) is not None
    /// ([True], True)
    #[pyo3(signature = (start=0))]
    fn converged(&self, start: i64) -> PyResult<Vec<bool>> {
        let start: usize = arrays::count(start, "start")?;
        Ok(self.shared.lock().converged.get(start..).unwrap_or_default().to_vec())
    }

    /// Kept state number `index`; None if no state was kept or the thread is not there yet.
    ///
    /// Parameters
    /// ----------
    /// index : int
    ///     Number of the kept state, from 0.
    ///
    /// Returns
    /// -------
    /// State, optional
    ///     The state; None if it was not kept.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
    /// >>> job = jounce.MotionJob(simulation)
    /// >>> job.step(np.eye(3, 4)[None])
    /// >>> job.keep(state=True)
    /// >>> job.wait()
    /// >>> simulation.restore_state(job.state(0))
    /// >>> np.array_equal(simulation.coefficients, job.coefficients()[0])
    /// True
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
        advance: impl FnOnce(&mut simulation::Simulation, &Progress) -> jounce::Result<()> + Send + 'static,
    ) {
        self.send(Request::Advance(Box::new(advance)));
    }

    /// As `ask`; notes a report without convergence.
    fn ask_reported(
        &self,
        advance: impl FnOnce(&mut simulation::Simulation, &Progress) -> jounce::Result<inputs::StepReport>
        + Send
        + 'static,
    ) {
        let shared = Arc::downgrade(&self.shared);
        self.ask(move |simulation, progress| {
            let report = advance(simulation, progress)?;
            if let Some(shared) = shared.upgrade().filter(|_| !report.converged) {
                shared.lock().rough = true;
            }
            Ok(())
        });
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
