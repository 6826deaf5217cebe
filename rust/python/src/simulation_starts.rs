//! Starts of a `Simulation`: at rest, in equilibrium, in a cycle, at a place, and across cuts.

use jounce::inputs::{Start, StepInput};
use jounce::simulation::Simulation as Core;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::cycle::CycleReport;
use crate::errors::{run, run_long};
use crate::forces::Drag;
use crate::simulation::Simulation;
use crate::step_report::StepReport;

#[pymethods]
impl Simulation {
    /// Restarts in static equilibrium: at rest in a pose, sagging under gravity and a generalised force.
    ///
    /// Motion without elastic energy, such as the place of a body without a rig, is unchanged.
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
    /// Returns
    /// -------
    /// StepReport
    ///     Iterations, residual and energy.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
    /// >>> report = simulation.settle(pose)
    /// >>> sag = simulation.displacement()
    /// >>> report = simulation.step(pose)
    /// >>> bool(sag[:, 2].min() < -1.0), bool(np.allclose(simulation.displacement(), sag, atol=1e-5))
    /// (True, True)
    #[pyo3(signature = (pose=None, force=None, max_iterations=1000, offsets=None, drag=None, colliders=None))]
    fn settle(
        &self,
        py: Python<'_>,
        pose: Option<&Bound<'_, PyAny>>,
        force: Option<&Bound<'_, PyAny>>,
        max_iterations: i64,
        offsets: Option<&Bound<'_, PyAny>>,
        drag: Option<&Bound<'_, Drag>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<StepReport> {
        let max_iterations = arrays::count(max_iterations, "max_iterations")?;
        let arrays = self.arrays(pose, force, offsets, drag, colliders)?;
        let input = arrays.input();
        let simulation = &mut *self.lock()?;
        run_long(py, |progress| simulation.settle(&input, max_iterations, progress)).map(StepReport::from)
    }

    /// Starts a cycle of poses in its periodic state: stepping through the other poses returns to the same
    /// position and velocity, and the motion loops.
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
    /// Returns
    /// -------
    /// CycleReport
    ///     Passes, seam and convergence.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For poses that are not cyclic; the state is then unchanged.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation = jounce.Simulation(body.model, damping=0.1)
    /// >>> poses = np.tile(np.eye(3, 4), (13, 1, 1, 1))
    /// >>> poses[:, 0, 2, 3] = 0.1 * np.sin(np.arange(13) * 2 * np.pi / 12)
    /// >>> report = simulation.settle_cycle(poses)
    /// >>> start = simulation.displacement()
    /// >>> reports = [simulation.step(pose) for pose in poses[1:]]
    /// >>> bool(np.abs(start).max() > 0.01), bool(np.allclose(simulation.displacement(), start, atol=1e-4))
    /// (True, True)
    #[pyo3(signature = (poses, strengths=None, forces=None, offsets=None, max_passes=6, tolerance=1e-5,
                        drags=None, colliders=None))]
    fn settle_cycle(
        &self,
        py: Python<'_>,
        poses: &Bound<'_, PyAny>,
        strengths: Option<&Bound<'_, PyAny>>,
        forces: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        max_passes: i64,
        tolerance: f64,
        drags: Option<Vec<Option<Bound<'_, Drag>>>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<CycleReport> {
        let max_passes = arrays::count(max_passes, "max_passes")?;
        let cycle = self.cycle(poses, strengths, forces, offsets, drags.as_deref(), colliders)?;
        let simulation = &mut *self.lock()?;
        run_long(py, |progress| cycle.settle(simulation, max_passes, tolerance, progress))
            .map(CycleReport::from)
    }

    /// Restarts a loose body, of `Model.projective` or `Model.full_space` without rig and pins, at a
    /// place, with a velocity and a spin about its centre of mass.
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
    ///     For other models, and for a matrix other than a rotation with a translation.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box()
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=6)
    /// >>> model = jounce.Model.projective(mesh, jounce.Material(young=2e4), handles=8, clusters=20)
    /// >>> simulation = jounce.Simulation(model, gravity=(0, 0, -9.81))
    /// >>> simulation.place(velocity=(1.0, 0.0, 2.0), spin=(0.0, 3.0, 0.0))
    /// >>> report = simulation.step()
    #[pyo3(signature = (place=None, velocity=None, spin=None))]
    fn place(
        &self,
        py: Python<'_>,
        place: Option<&Bound<'_, PyAny>>,
        velocity: Option<[f64; 3]>,
        spin: Option<[f64; 3]>,
    ) -> PyResult<()> {
        let start = started(place, velocity, spin)?;
        let simulation = &mut *self.lock()?;
        run(py, || simulation.place(&start))
    }

    /// Cut or teleport: at rest relative to a pose, with the displacement kept. The flesh feels no kick
    /// from the jump of the pose. The displacement turns with the body's overall rotation.
    ///
    /// `reset` and `settle` are the other two ways across a cut.
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
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
    /// >>> near, far = np.tile(np.eye(3, 4), (2, 1, 1, 1))
    /// >>> far[0, 0, 3] = 40.0
    /// >>> report = simulation.step(near)
    /// >>> bent = simulation.displacement()
    /// >>> simulation.cut(far)
    /// >>> bool(np.allclose(simulation.displacement(), bent))
    /// True
    /// >>> bool(np.allclose(simulation.velocity(), 0.0, atol=1e-6))
    /// True
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn cut(
        &self,
        py: Python<'_>,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.start(py, [pose, offsets, colliders], Core::cut)
    }

    /// Starts in steady motion: call it right after `reset` or `settle` with the next pose, then step to
    /// this pose. The rig's velocity to the next pose becomes the initial velocity, and the first step has
    /// no jolt.
    ///
    /// `x_(-1) = 2 x_0 - x_1` for the rig; the flesh moves along.
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
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation = jounce.Simulation(body.model)
    /// >>> pose = np.eye(3, 4)[None].copy()
    /// >>> simulation.reset(pose)
    /// >>> pose[0, 2, 3] = 0.1
    /// >>> simulation.coast(pose)
    /// >>> report = simulation.step(pose)
    /// >>> bool(np.abs(simulation.coefficients).max() < 1e-3)
    /// True
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn coast(
        &self,
        py: Python<'_>,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.start(py, [pose, offsets, colliders], Core::coast)
    }

    /// Puts the flesh at rest in a pose: no displacement, no velocity. Call it at cuts, when the pose
    /// jumps.
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
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
    /// >>> report = simulation.step(pose)
    /// >>> simulation.reset(pose)
    /// >>> bool(simulation.displacement().any()), bool(simulation.velocity().any()), simulation.time
    /// (False, False, 0.0)
    #[pyo3(signature = (pose=None, offsets=None, colliders=None))]
    fn reset(
        &self,
        py: Python<'_>,
        pose: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.start(py, [pose, offsets, colliders], Core::reset_with)
    }
}

impl Simulation {
    /// Starts in a pose in one of the ways of the core.
    fn start(
        &self,
        py: Python<'_>,
        [pose, offsets, colliders]: [Option<&Bound<'_, PyAny>>; 3],
        way: impl FnOnce(&mut Core, &StepInput<'_>) -> jounce::Result<()> + Send,
    ) -> PyResult<()> {
        let arrays = self.arrays(pose, None, offsets, None, colliders)?;
        let input = arrays.input();
        let simulation = &mut *self.lock()?;
        run(py, || way(simulation, &input))
    }
}

/// Initial place and velocity of a loose body.
pub fn started(
    place: Option<&Bound<'_, PyAny>>,
    velocity: Option<[f64; 3]>,
    spin: Option<[f64; 3]>,
) -> PyResult<Start> {
    let start = Start::default();
    let place = arrays::optional(place, "place", &[Axis::Is(3), Axis::Is(4)])?;
    let place = place.map_or(start.place, |place| arrays::transforms(place.slice())[0]);
    let (velocity, spin) = (velocity.unwrap_or(start.velocity), spin.unwrap_or(start.spin));
    Ok(Start { place, velocity, spin })
}
