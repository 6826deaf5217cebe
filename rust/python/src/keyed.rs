//! `Key`, `KeyedMotion` and `Tracking`: motion through keyed shapes with least effort.

use std::sync::Arc;

use jounce::Error;
use jounce::inputs::StepInput;
use jounce::simulation::keyed::{self, Aim, KeyedParams};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Axis, optional};
use crate::errors::{refused, run, run_long, unnamed};
use crate::recipe::{Recipe, made_by};
use crate::simulation::Simulation;
use crate::state::State;

/// Largest number of frames, to protect memory against typing errors.
const MOST_FRAMES: usize = 100_000;

/// Target shape or vertex position at the end of a frame; made by `Key.shape` or `Key.vertex`.
///
/// Examples
/// --------
/// >>> up = jounce.Key.vertex(12, vertex=5, displacement=(0.0, 0.0, 0.1))
#[pyclass(frozen, module = "jounce", name = "Key")]
pub struct Key(keyed::Key);

#[pymethods]
impl Key {
    /// Target coefficients, (r,) float64, after the step `frame`, counted from 0.
    ///
    /// Parameters
    /// ----------
    /// frame : int
    ///     Number of the frame, from 0.
    /// coefficients : array
    ///     Shape to reach, of `Model.coefficient_shape`.
    /// weight : float, default 1.0
    ///     Weight of the miss, > 0.
    ///
    /// Returns
    /// -------
    /// Key
    ///     The key.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For values that are not finite; `keyed_motion` checks the rest.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=mesh.vertices[:, 0] < 0.1)
    /// >>> simulation = jounce.Simulation(jounce.Model.reduced(mesh, jounce.Material(), modes.basis))
    /// >>> bent = [20.0, 0.0, 0.0, 0.0]
    /// >>> motion = jounce.keyed_motion(simulation, [jounce.Key.shape(5, bent)], 8)
    /// >>> bool(np.allclose(motion.coefficients[5], bent, atol=0.01))
    /// True
    #[staticmethod]
    #[pyo3(signature = (frame, coefficients, weight=1.0))]
    fn shape(frame: i64, coefficients: &Bound<'_, PyAny>, weight: f64) -> PyResult<Self> {
        let coefficients = arrays::array::<f64>(coefficients, "coefficients", &[Axis::Any("r")])?;
        let aim = Aim::Shape(coefficients.slice().to_vec());
        Ok(Self(keyed::Key { frame: arrays::count(frame, "frame")?, aim, weight }))
    }

    /// Target displacement of one vertex from its rig position, metres, after the step `frame`, counted
    /// from 0.
    ///
    /// Parameters
    /// ----------
    /// frame : int
    ///     Number of the frame, from 0.
    /// vertex : int
    ///     Vertex of the mesh.
    /// displacement : 3 floats
    ///     Displacement to reach, metres.
    /// weight : float, default 1.0
    ///     Weight of the miss, > 0.
    ///
    /// Returns
    /// -------
    /// Key
    ///     The key.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=mesh.vertices[:, 0] < 0.1)
    /// >>> simulation = jounce.Simulation(jounce.Model.reduced(mesh, jounce.Material(), modes.basis))
    /// >>> tip = int(np.argmax(mesh.vertices[:, 0]))
    /// >>> motion = jounce.keyed_motion(simulation, [jounce.Key.vertex(5, tip, (0.0, 0.0, 0.2))], 8)
    /// >>> reports = [simulation.step(force=force) for force in motion.forces[:6]]
    /// >>> bool(np.allclose(simulation.displacement()[tip], [0.0, 0.0, 0.2], atol=1e-3))
    /// True
    #[staticmethod]
    #[pyo3(signature = (frame, vertex, displacement, weight=1.0))]
    fn vertex(frame: i64, vertex: i64, displacement: [f64; 3], weight: f64) -> PyResult<Self> {
        let aim = Aim::Vertex { vertex: arrays::count(vertex, "vertex")?, displacement };
        Ok(Self(keyed::Key { frame: arrays::count(frame, "frame")?, aim, weight }))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let keyed::Key { frame, aim, weight } = &self.0;
        match aim {
            Aim::Shape(coefficients) => {
                let coefficients = arrays::owned(py, coefficients.clone(), &[coefficients.len()])?;
                made_by::<Self>(py, "shape", (*frame, coefficients, *weight), None)
            }
            Aim::Vertex { vertex, displacement } => {
                made_by::<Self>(py, "vertex", (*frame, *vertex, *displacement, *weight), None)
            }
            _ => Err(unnamed("aim")),
        }
    }

    fn __repr__(&self) -> String {
        let keyed::Key { frame, aim, weight } = &self.0;
        format!("Key({aim}, frame={frame}, weight={weight})")
    }
}

/// A motion through keys and the forces behind it; made by `keyed_motion`.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
/// >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.basis)
/// >>> simulation = jounce.Simulation(model, damping=0.1)
/// >>> tip = int(np.argmax(mesh.vertices[:, 0]))
/// >>> motion = jounce.keyed_motion(simulation, [jounce.Key.vertex(6, tip, (0, 0, 0.1))], 8)
/// >>> motion.forces.shape, bool(motion.misses.max() < 0.01)
/// ((8, 4), True)
#[pyclass(frozen, module = "jounce", name = "KeyedMotion")]
pub struct KeyedMotion {
    inner: Arc<keyed::KeyedMotion>,
    frames: usize,
    recipe: Recipe,
}

#[pymethods]
impl KeyedMotion {
    /// Generalised control forces of the frames, (f, r) float64, as input for `Simulation.step`; the given
    /// forces come on top.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.rows(py, &self.inner.forces)
    }

    /// Coefficients at the ends of the frames, (f, r) float64.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.rows(py, &self.inner.coefficients)
    }

    /// Miss of each key, (k,) float64, as a share of the mesh's diagonal; root mean square over the mass
    /// for a shape.
    #[getter]
    fn misses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.inner.misses.clone(), &[self.inner.misses.len()])
    }

    /// Number of iterations.
    #[getter]
    fn iterations(&self) -> u32 {
        self.inner.iterations
    }

    /// Change of the forces in the last iteration, to compare with `tolerance`.
    #[getter]
    fn residual(&self) -> f64 {
        self.inner.residual
    }

    /// Feedback that returns disturbed flesh to this motion: a linear regulator along the trajectory.
    ///
    /// The gains minimise `sum_f |dx_f|^2 / size^2 + effort |du_f|^2 / push^2` for small disturbances, in
    /// the units of `keyed_motion`: less effort gives firmer tracking.
    ///
    /// Parameters
    /// ----------
    /// effort : float, default 0.01
    ///     Weight of the forces against the disturbance, > 0.
    ///
    /// Returns
    /// -------
    /// Tracking
    ///     The tracking forces.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an effort that is not positive.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=mesh.vertices[:, 0] < 0.1)
    /// >>> simulation = jounce.Simulation(jounce.Model.reduced(mesh, jounce.Material(), modes.basis))
    /// >>> motion = jounce.keyed_motion(simulation, [jounce.Key.shape(8, [20.0, 0.0, 0.0, 0.0])], 12)
    /// >>> gentle, firm = motion.tracking(effort=1.0), motion.tracking(effort=0.01)
    /// >>> bool(np.abs(firm.gains).max() > 2.0 * np.abs(gentle.gains).max())
    /// True
    #[pyo3(signature = (effort=0.01))]
    fn tracking(slf: &Bound<'_, Self>, effort: f64) -> PyResult<Tracking> {
        let motion = &slf.get().inner;
        let tracking = run(slf.py(), || motion.tracking(effort))?;
        let recipe = Recipe::new(slf.as_any(), "tracking", (effort,), None)?;
        Ok(Tracking { tracking, motion: motion.clone(), recipe })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.recipe.reduced(py)
    }

    fn __repr__(&self) -> String {
        format!("KeyedMotion({} frames, {} keys)", self.frames, self.inner.misses.len())
    }
}

impl KeyedMotion {
    fn rows<'py>(&self, py: Python<'py>, numbers: &[f64]) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, numbers.to_vec(), &[self.frames, numbers.len() / self.frames])
    }
}

/// Feedback from disturbed flesh to a motion; made by `KeyedMotion.tracking`.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
/// >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.basis)
/// >>> simulation = jounce.Simulation(model, damping=0.1)
/// >>> motion = jounce.keyed_motion(simulation, [jounce.Key.shape(6, np.full(4, 0.1))], 8)
/// >>> simulation.reset()
/// >>> motion.tracking().force(0, simulation.save_state()).shape
/// (4,)
#[pyclass(frozen, module = "jounce", name = "Tracking")]
pub struct Tracking {
    tracking: keyed::Tracking,
    motion: Arc<keyed::KeyedMotion>,
    recipe: Recipe,
}

#[pymethods]
impl Tracking {
    /// Gains G of the frames, (f, r, m r) float64: `force = forces - G dx`. dx is the error of the
    /// coefficients of the last m substeps, newest first; m is 2 for "backward_euler", 4 for "bdf2".
    #[getter]
    fn gains<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let gains = &self.tracking.gains;
        let (rows, columns) = gains.first().map_or((0, 0), |gain| gain.shape());
        let entries = (0..gains.len() * rows * columns).map(|i| {
            let (entry, frame) = (i % (rows * columns), i / (rows * columns));
            gains[frame][(entry / columns, entry % columns)]
        });
        arrays::owned(py, entries.collect(), &[gains.len(), rows, columns])
    }

    /// The force of a frame for `Simulation.step`, (r,) float64, from the state before the frame
    /// (`Simulation.save_state`).
    ///
    /// Parameters
    /// ----------
    /// frame : int
    ///     Number of the frame, from 0.
    /// state : State
    ///     State before the frame.
    ///
    /// Returns
    /// -------
    /// array
    ///     Force to pass to `Simulation.step` in this frame, of `Model.coefficient_shape`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a frame out of range, and for a state of another model or other substeps.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=mesh.vertices[:, 0] < 0.1)
    /// >>> simulation = jounce.Simulation(jounce.Model.reduced(mesh, jounce.Material(), modes.basis))
    /// >>> motion = jounce.keyed_motion(simulation, [jounce.Key.shape(8, [20.0, 0.0, 0.0, 0.0])], 12)
    /// >>> tracking, misses, kick = motion.tracking(), [], 2000.0
    /// >>> for frame in range(12):
    /// ...     report = simulation.step(force=tracking.force(frame, simulation.save_state()) + kick)
    /// ...     misses.append(np.abs(simulation.coefficients - motion.coefficients[frame]).max())
    /// ...     kick = 0.0
    /// >>> bool(misses[0] > 1.0), bool(misses[-1] < 0.1)
    /// (True, True)
    #[pyo3(signature = (frame, state))]
    fn force<'py>(
        &self,
        py: Python<'py>,
        frame: i64,
        state: &State,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let frame = arrays::count(frame, "frame")?;
        let force = self.motion.tracked_force(&self.tracking, frame, &state.0).map_err(refused)?;
        let count = force.len();
        arrays::owned(py, force, &[count])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.recipe.reduced(py)
    }

    fn __repr__(&self) -> String {
        format!("Tracking({} frames)", self.tracking.gains.len())
    }
}

/// Motion of a reduced simulation from its current state through keys with least effort [MOR sec. 5].
///
/// Finds one generalised force a frame that minimises `1/2 sum_keys w |x - x*|^2 / size^2 + effort / 2f
/// sum_f |u_f|^2 / push^2`. Misses are in the mass norm, or at a vertex, as shares of the mesh's
/// diagonal. `|u|^2 = f' M^-1 f` for the vertex forces f of u. `push` is the pull of the lowest
/// deforming mode at a displacement of one diagonal.
///
/// A small effort meets the keys closely; weights decide between conflicting keys. The motion equals
/// `Simulation.step` under `forces + KeyedMotion.forces`. The simulation's state is unchanged.
///
/// Parameters
/// ----------
/// simulation : Simulation
///     Simulation of a reduced model, at the start of the motion.
/// keys : sequence of Key
///     Keys, from `Key.shape` and `Key.vertex`.
/// frames : int
///     Number f of steps of dt, at most 100000.
/// poses : (f, b, 3, 4) array, optional
///     Pose of each frame; None without a rig.
/// forces : (f, r) array, optional
///     Additional force of each frame; None is none.
/// effort : float, default 1e-06
///     Weight of the forces against the misses, at least 1e-15.
/// max_iterations : int, default 200
///     Largest number of iterations.
/// tolerance : float, default 0.0001
///     Relative change of the forces at which the iterations end.
///
/// Returns
/// -------
/// KeyedMotion
///     Forces and motion.
///
/// Raises
/// ------
/// ValueError
///     For other models, and for keys that do not fit.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
/// >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.basis)
/// >>> simulation = jounce.Simulation(model, damping=0.1)
/// >>> key = jounce.Key.shape(6, np.full(4, 0.1))
/// >>> jounce.keyed_motion(simulation, [key], 8).coefficients.shape
/// (8, 4)
#[pyfunction]
#[pyo3(signature = (simulation, keys, frames, *, poses=None, forces=None, effort=1e-6, max_iterations=200,
                    tolerance=1e-4))]
pub fn keyed_motion(
    py: Python<'_>,
    simulation: &Simulation,
    keys: Vec<Bound<'_, Key>>,
    frames: i64,
    poses: Option<&Bound<'_, PyAny>>,
    forces: Option<&Bound<'_, PyAny>>,
    effort: f64,
    max_iterations: i64,
    tolerance: f64,
) -> PyResult<KeyedMotion> {
    let frames: usize = arrays::count(frames, "frames")?;
    if frames > MOST_FRAMES {
        let expected = "at most 100000";
        return Err(refused(Error::Range { what: "frames", expected, got: frames as f64 }));
    }
    let axes = [Axis::Is(frames), Axis::Is(simulation.bones), Axis::Is(3), Axis::Is(4)];
    let numbers = |given, what, axes: &[Axis]| {
        optional(given, what, axes).map(|array| array.map_or(Vec::new(), |array| array.slice().to_vec()))
    };
    let coefficients: Vec<Axis> =
        std::iter::once(frames).chain(simulation.shape.iter().copied()).map(Axis::Is).collect();
    let (poses, forces) = (numbers(poses, "poses", &axes)?, numbers(forces, "forces", &coefficients)?);
    let settings = PyDict::new(py);
    let kept = |numbers: &[f64], axes: &[usize]| {
        let some = (!numbers.is_empty()).then(|| arrays::owned(py, numbers.to_vec(), axes));
        some.transpose()
    };
    settings.set_item("poses", kept(&poses, &[frames, simulation.bones, 3, 4])?)?;
    settings.set_item("forces", kept(&forces, &[&[frames], &*simulation.shape].concat())?)?;
    settings.set_item("effort", effort)?;
    settings.set_item("max_iterations", max_iterations)?;
    settings.set_item("tolerance", tolerance)?;
    let parts = (simulation.__copy__(py)?, &keys, frames);
    let recipe = Recipe::new(&py.import("jounce")?.getattr("keyed_motion")?, "", parts, Some(settings))?;
    let keys: Vec<keyed::Key> = keys.iter().map(|key| key.get().0.clone()).collect();
    let max_iterations = arrays::count(max_iterations, "max_iterations")?;
    let params = KeyedParams { effort, max_iterations, tolerance };
    let input = |frame: usize| StepInput {
        pose: arrays::frame(&poses, frames, frame).map(arrays::transforms),
        force: arrays::frame(&forces, frames, frame),
        ..StepInput::default()
    };
    let inputs: Vec<StepInput<'_>> = (0..frames).map(input).collect();
    let simulation = &*simulation.lock()?;
    let motion = run_long(py, |progress| simulation.keyed(&inputs, &keys, &params, progress))?;
    Ok(KeyedMotion { inner: Arc::new(motion), frames, recipe })
}
