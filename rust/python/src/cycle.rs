//! The arguments and the report of `Simulation.settle_cycle`.

use jounce::inputs::{self, StepInput};
use jounce::{Progress, simulation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis, optional};
use crate::forces::Drag;
use crate::recipe::made_by;
use crate::simulation::Simulation;

/// Closing error of a cycle.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> simulation = jounce.Simulation(body.model, damping=0.1)
/// >>> poses = np.tile(np.eye(3, 4), (12, 1, 1, 1))
/// >>> poses[:, 0, 2, 3] = 0.1 * np.sin(np.arange(12) * 2 * np.pi / 12)
/// >>> simulation.reset(poses[0])
/// >>> report = simulation.settle_cycle(poses)
/// >>> report.passes <= 6
/// True
#[pyclass(frozen, get_all, module = "jounce", name = "CycleReport")]
pub struct CycleReport {
    /// Number of simulated passes through the cycle.
    passes: u32,
    /// Position difference between end and start: root mean square over the mass, as a share of the body's
    /// diagonal.
    position: f64,
    /// Velocity difference between end and start, in the same measure a frame.
    velocity: f64,
}

#[pymethods]
impl CycleReport {
    #[staticmethod]
    fn _of(passes: u32, position: f64, velocity: f64) -> Self {
        Self { passes, position, velocity }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Self { passes, position, velocity } = *self;
        made_by::<Self>(py, "_of", (passes, position, velocity), None)
    }

    fn __repr__(&self) -> String {
        let Self { passes, position, velocity } = self;
        format!("CycleReport(passes={passes}, position={position:e}, velocity={velocity:e})")
    }
}

impl From<simulation::CycleReport> for CycleReport {
    fn from(report: simulation::CycleReport) -> Self {
        Self { passes: report.passes, position: report.position, velocity: report.velocity }
    }
}

/// Per-frame input of a cycle, free of Python.
pub struct Cycle {
    frames: usize,
    poses: Vec<f64>,
    strengths: Vec<f64>,
    forces: Vec<f64>,
    offsets: Vec<f64>,
    /// One a frame, or none.
    drags: Vec<Option<inputs::Drag>>,
    colliders: Vec<f64>,
}

impl Cycle {
    /// As [`simulation::Simulation::settle_cycle`].
    pub fn settle(
        &self,
        simulation: &mut simulation::Simulation,
        max_passes: u32,
        tolerance: f64,
        progress: &Progress,
    ) -> jounce::Result<simulation::CycleReport> {
        let input = |frame: usize| StepInput {
            pose: arrays::frame(&self.poses, self.frames, frame).map(arrays::transforms),
            force: arrays::frame(&self.forces, self.frames, frame),
            offsets: arrays::frame(&self.offsets, self.frames, frame),
            drag: self.drags.get(frame).and_then(Option::as_ref),
            colliders: arrays::frame(&self.colliders, self.frames, frame).map(arrays::transforms),
            pull: None,
        };
        let inputs: Vec<StepInput<'_>> = (0..self.frames).map(input).collect();
        simulation.settle_cycle(&inputs, &self.strengths, max_passes, tolerance, progress)
    }
}

impl Simulation {
    /// Checks the arguments of `settle_cycle`.
    pub fn cycle(
        &self,
        poses: &Bound<'_, PyAny>,
        strengths: Option<&Bound<'_, PyAny>>,
        forces: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        drags: Option<&[Option<Bound<'_, Drag>>]>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Cycle> {
        let [three, four] = [Axis::Is(3), Axis::Is(4)];
        let axes = [Axis::Any("f"), Axis::Is(self.bones), three, four];
        let poses = arrays::array::<f64>(poses, "poses", &axes)?;
        let frames = Axis::Is(poses.len(0));
        if let Some(got) = drags.map(<[_]>::len).filter(|&got| got != poses.len(0)) {
            let text = format!("drags: expected one for each of {} poses, got {got}", poses.len(0));
            return Err(PyValueError::new_err(text));
        }
        let drags = drags.unwrap_or_default();
        let coefficients: Vec<Axis> =
            std::iter::once(frames).chain(self.shape.iter().copied().map(Axis::Is)).collect();
        let numbers = |given, what, axes: &[Axis]| {
            optional(given, what, axes).map(|array| array.map_or(Vec::new(), |array| array.slice().to_vec()))
        };
        Ok(Cycle {
            frames: poses.len(0),
            poses: poses.slice().to_vec(),
            strengths: numbers(strengths, "strengths", &[frames])?,
            forces: numbers(forces, "forces", &coefficients)?,
            offsets: numbers(offsets, "offsets", &[frames, Axis::Any("k"), three])?,
            colliders: numbers(colliders, "colliders", &[frames, Axis::Any("c"), three, four])?,
            drags: drags.iter().map(|drag| drag.as_ref().map(|drag| drag.get().0.clone())).collect(),
        })
    }
}
