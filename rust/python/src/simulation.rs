//! `Simulation`, its steps and states.

use std::sync::{Arc, Mutex, MutexGuard};

use jounce::simulation;
use jounce::{inputs, model};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays;
use crate::contact::Collider;
use crate::errors::{locked, refused, run, run_long};
use crate::forces::{Drag, ForceSamples};
use crate::grip::Pull;
use crate::mesh::Embedding;
use crate::model::{Model, flat};
use crate::recipe::made_by;
use crate::settings::{Change, by_name};
use crate::state::State;
use crate::step_report::StepReport;
use crate::surroundings::Surroundings;

/// Steps a model through time by implicit steps; the pose is given, the flesh follows.
///
/// Each step minimises `1/(2 h^2) |x - y|^2_M + stiffness * sum_t V_t psi(F_t) - f.x` over the modes,
/// with `y = 2 x_k - x_(k-1)` for backward Euler, by quasi-Newton descent.
///
/// Several threads may each have a Simulation of the same model; use of one Simulation by two threads
/// at once raises RuntimeError. Ctrl+C ends a step or any long call and leaves the state as before.
///
/// Parameters
/// ----------
/// model : Model
///     The model; several simulations may share it.
/// colliders : sequence of Collider, optional
///     Obstacles, with backward Euler. Skinning modes and reduced models touch with at most 256 points,
///     where their coordinates move the body.
/// contact_points : Embedding, optional
///     Contact points in the model's mesh, such as the skin `body.embedding`; points much closer
///     together than vertices are thinned to the first. None is the boundary of the mesh.
/// contact_weights : (p, b) array, optional
///     Skinning weights of these points as displayed; None interpolates the vertex weights. Skinning modes
///     and reduced models with bones need them.
/// contact_triangles : (q, 3) array of integers, optional
///     Triangles between these points, which touch what is narrower than the spacing of the points;
///     None for the points alone, or without `contact_points` for the triangles of the boundary.
/// self_collision : bool
///     True if the skin of a full-space body collides with itself, at its contact points and triangles and
///     without friction. Places close to each other along the skin, or that overlap at rest, do not.
/// shape : Collider, optional
///     Collision shape of a projective body of tets for other bodies in `step_together`, at the
///     modelled place: it deforms with the body and excludes no points. None for no contact with other
///     bodies.
/// settings : Settings
///     Keyword arguments; `Settings` has their defaults, and the property `settings` all values.
///
/// Raises
/// ------
/// ValueError
///     For a parameter out of range.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> simulation = jounce.Simulation(body.model, dt=1 / 24, substeps=4, damping=0.02)
/// >>> pose = np.eye(3, 4)[None].copy()
/// >>> simulation.reset(pose)
/// >>> pose[0, 2, 3] = 0.1
/// >>> report = simulation.step(pose)
/// >>> lag = body.model.displacement(simulation.coefficients, body.embedding)
/// >>> lag.shape, lag.dtype, bool(np.abs(lag).max() > 0.001)
/// ((8, 3), dtype('float32'), True)
#[pyclass(frozen, module = "jounce", name = "Simulation")]
pub struct Simulation {
    inner: Mutex<simulation::Simulation>,
    pub model: Py<Model>,
    pub bones: usize,
    /// Axes of the coefficients.
    pub shape: Vec<usize>,
    pub colliders: usize,
    surroundings: Arc<Surroundings>,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (model, *, colliders=None, contact_points=None, contact_weights=None,
                        contact_triangles=None, self_collision=false, shape=None, **settings))]
    fn new(
        py: Python<'_>,
        model: Bound<'_, Model>,
        colliders: Option<Vec<Bound<'_, Collider>>>,
        contact_points: Option<Bound<'_, Embedding>>,
        contact_weights: Option<&Bound<'_, PyAny>>,
        contact_triangles: Option<&Bound<'_, PyAny>>,
        self_collision: bool,
        shape: Option<Bound<'_, Collider>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let change = Change::of(settings)?;
        let mut params = change.applied(&inputs::SimulationParams::default());
        if !change.has("max_iterations") && matches!(model.get().inner, model::Model::FullSpace(_)) {
            params.max_iterations = FULL_SPACE_ITERATIONS;
        }
        let shared = model.get().inner.clone();
        let (bones, axes) = (shared.bone_count(), shared.coefficient_shape());
        let given = [contact_weights, contact_triangles];
        let surroundings =
            Surroundings::new(colliders.unwrap_or_default(), contact_points, given, self_collision, shape)?;
        let (obstacles, skin) = (surroundings.obstacles(), surroundings.skin(py)?);
        let (count, felt) = (obstacles.len(), surroundings.felt());
        let inner = run(py, || match (count, felt) {
            (_, Some(felt)) => simulation::Simulation::touching(shared, params, &obstacles, skin, felt),
            (0, None) if !self_collision => simulation::Simulation::new(shared, params),
            (_, None) => simulation::Simulation::among(shared, params, &obstacles, skin),
        })?;
        let (inner, model) = (Mutex::new(inner), model.unbind());
        Ok(Self { inner, model, bones, shape: axes, colliders: count, surroundings: surroundings.into() })
    }

    /// One step of `dt` to a pose.
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
    /// pull : Pull, optional
    ///     Springs from points of a projective body to targets, from `Grip.pull`; None is none.
    ///
    /// Returns
    /// -------
    /// StepReport
    ///     Iterations, residual, energy and convergence.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of a wrong shape or with values that are not finite; the state is then
    ///     unchanged.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model, damping=0.5), np.eye(3, 4)[None].copy()
    /// >>> simulation.reset(pose)
    /// >>> pose[0, 2, 3] = 0.1
    /// >>> lags = []
    /// >>> for frame in range(96):
    /// ...     report = simulation.step(pose)
    /// ...     lags.append(simulation.displacement()[:, 2].min())
    /// >>> bool(lags[0] < -0.05), bool(abs(lags[-1]) < 0.001)
    /// (True, True)
    #[pyo3(signature = (pose=None, force=None, offsets=None, drag=None, colliders=None, pull=None))]
    fn step(
        &self,
        py: Python<'_>,
        pose: Option<&Bound<'_, PyAny>>,
        force: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        drag: Option<&Bound<'_, Drag>>,
        colliders: Option<&Bound<'_, PyAny>>,
        pull: Option<&Pull>,
    ) -> PyResult<StepReport> {
        let arrays = self.arrays(pose, force, offsets, drag, colliders)?;
        let input = inputs::StepInput { pull: pull.map(|pull| &pull.0), ..arrays.input() };
        let simulation = &mut *self.lock()?;
        run_long(py, |progress| simulation.step_with(&input, progress)).map(StepReport::from)
    }

    /// Changes settings from the next step on; None leaves a setting unchanged.
    ///
    /// Parameters
    /// ----------
    /// settings : Settings
    ///     Keyword arguments, by the names of `Settings`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For invalid settings; all then keep their values.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model), np.eye(3, 4)[None]
    /// >>> simulation.reset(pose)
    /// >>> simulation.vary(gravity=(0.0, 0.0, -9.81), damping=0.2)
    /// >>> report = simulation.step(pose)
    /// >>> simulation.settings["damping"], bool(simulation.displacement()[:, 2].min() < -0.01)
    /// (0.2, True)
    #[pyo3(signature = (**settings))]
    fn vary(&self, settings: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let (change, mut simulation) = (Change::of(settings)?, self.lock()?);
        let changed = change.applied(simulation.params());
        simulation.set_params(changed).map_err(refused)
    }

    /// Factor on the rig's acceleration felt by the flesh, >= 0; may be set between steps.
    #[getter]
    fn strength(&self) -> PyResult<f64> {
        Ok(self.lock()?.params().strength)
    }

    #[setter]
    fn set_strength(&self, strength: f64) -> PyResult<()> {
        let mut simulation = self.lock()?;
        let params = inputs::SimulationParams { strength, ..*simulation.params() };
        simulation.set_params(params).map_err(refused)
    }

    /// Sample positions after the last step, (k, 3) float64, metres; rest positions before the first.
    ///
    /// Parameters
    /// ----------
    /// samples : ForceSamples
    ///     Samples of the same model.
    ///
    /// Returns
    /// -------
    /// (k, 3) array
    ///     Metres.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For samples of another model.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> samples = body.model.force_samples(20)
    /// >>> jounce.Simulation(body.model).sample_positions(samples).shape
    /// (20, 3)
    fn sample_positions<'py>(
        &self,
        py: Python<'py>,
        samples: &ForceSamples,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let simulation = &*self.lock()?;
        let positions = run(py, || simulation.sample_positions(&samples.inner))?;
        let count = positions.len();
        arrays::owned(py, flat(&positions), &[count, 3])
    }

    /// Secondary displacement of the mesh's vertices, metres, relative to the posed mesh.
    ///
    /// Parameters
    /// ----------
    /// out : array, optional
    ///     Array (n, 3) of float32 to write into; None makes a new one.
    ///
    /// Returns
    /// -------
    /// (n, 3) array
    ///     Displacements, metres; `out` itself if it is given.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
    /// >>> report = simulation.step(pose)
    /// >>> moved = body.rig.posed(body.mesh.vertices, pose) + simulation.displacement()
    /// >>> skin = body.embedding.interpolate(moved)
    /// >>> bool(np.allclose(skin, body.deformed(simulation, pose), atol=1e-6))
    /// True
    #[pyo3(signature = (out=None))]
    fn displacement<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let model = self.model.get();
        let projector = run(py, || model.projector(None))?;
        let simulation = self.lock()?;
        let coefficients = simulation.coefficients();
        arrays::filled(py, out, [projector.point_count(), 3], |u| {
            run(py, || projector.displacement(coefficients, u))
        })
    }

    /// Velocity of the secondary displacement, m/s, relative to the posed mesh; zeros at rest.
    ///
    /// By the backward difference of the integrator over the last substeps.
    ///
    /// Parameters
    /// ----------
    /// emb : Embedding, optional
    ///     Points in the model's mesh; None for its vertices.
    /// out : array, optional
    ///     Array (p, 3) of float32 to write into; None makes a new one.
    ///
    /// Returns
    /// -------
    /// (p, 3) array
    ///     Velocities, m/s; `out` itself if it is given.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation = jounce.Simulation(body.model)
    /// >>> simulation.reset(np.eye(3, 4)[None])
    /// >>> simulation.velocity(body.embedding).shape
    /// (8, 3)
    #[pyo3(signature = (emb=None, out=None))]
    fn velocity<'py>(
        &self,
        py: Python<'py>,
        emb: Option<&Embedding>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let model = self.model.get();
        let projector = run(py, || model.projector(emb))?;
        let rates = self.lock()?.coefficient_velocities();
        arrays::filled(py, out, [projector.point_count(), 3], |v| {
            // Displacements are linear in the coefficients.
            run(py, || projector.displacement(&rates, v))
        })
    }

    /// Seconds since the last start at rest: `reset`, `settle` or the first step.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.time())
    }

    /// The coefficients Z, (m, 3, 4) float64, read only; in the full space the vertex displacements, (n,
    /// 3).
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::read_only(arrays::owned(py, self.lock()?.coefficients().to_vec(), &self.shape)?)
    }

    /// Settings in effect, by the names of the constructor: keyword arguments of an equal Simulation.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, self.lock()?.params())
    }

    /// The arguments of the constructor about contact, by their names: colliders, contact_points,
    /// contact_weights, contact_triangles, self_collision and shape.
    #[getter]
    fn surroundings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.surroundings.by_name(py)
    }

    /// The simulated model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// A copy of the complete state behind the next step.
    ///
    /// Returns
    /// -------
    /// State
    ///     The state.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
    /// >>> report = simulation.step(pose)
    /// >>> state, ends = simulation.save_state(), []
    /// >>> for take in range(2):
    /// ...     simulation.restore_state(state)
    /// ...     report = simulation.step(pose)
    /// ...     ends.append(simulation.coefficients)
    /// >>> np.array_equal(ends[0], ends[1])
    /// True
    fn save_state(&self) -> PyResult<State> {
        Ok(State(self.lock()?.save_state()))
    }

    /// Restores a saved state.
    ///
    /// Parameters
    /// ----------
    /// state : State
    ///     A state of the same model.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a state of another model.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
    /// >>> report = simulation.settle(pose)
    /// >>> state, sag = simulation.save_state(), simulation.displacement()
    /// >>> simulation.reset(pose)
    /// >>> simulation.restore_state(state)
    /// >>> np.array_equal(simulation.displacement(), sag)
    /// True
    fn restore_state(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        let simulation = &mut *self.lock()?;
        run(py, || simulation.restore_state(&state.0))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, simulation) = (slf.py(), slf.get());
        let settings = simulation.settings(py)?;
        settings.update(simulation.surroundings(py)?.as_mapping())?;
        let made = made_by::<Self>(py, "", (simulation.model.clone_ref(py),), Some(settings))?;
        (made.get_item(0)?, made.get_item(1)?, simulation.save_state()?).into_pyobject(py)
    }

    fn __setstate__(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.restore_state(py, state)
    }

    pub fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self {
            inner: Mutex::new(self.duplicate()?),
            model: self.model.clone_ref(py),
            bones: self.bones,
            shape: self.shape.clone(),
            colliders: self.colliders,
            surroundings: self.surroundings.clone(),
        })
    }

    #[pyo3(signature = (_memo))]
    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__copy__(py)
    }

    fn __repr__(&self) -> PyResult<String> {
        let simulation = self.lock()?;
        let (params, time) = (simulation.params(), simulation.time());
        let inputs::SimulationParams { dt, substeps, .. } = params;
        let (size, bones) = (self.model.get().size(), self.bones);
        Ok(format!("Simulation({size}, {bones} bones, dt={dt:.5}, substeps={substeps}, time={time:.3})"))
    }
}

impl Simulation {
    /// Guard of the simulation, or an error if another thread uses it.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, simulation::Simulation>> {
        let used = "simulation: another thread is using it; wait for that, or give each thread its own";
        locked(&self.inner, used)
    }

    /// A copy with the same model, settings and state.
    pub fn duplicate(&self) -> PyResult<simulation::Simulation> {
        self.lock()?.duplicate().map_err(refused)
    }
}

/// Most iterations of a substep in the full space, unless given.
const FULL_SPACE_ITERATIONS: u32 = 200;
