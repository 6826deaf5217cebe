//! `StepReport`: iterations, accuracy and energy of one step.

use jounce::inputs;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::recipe::made_by;

/// Result of one step.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> simulation = jounce.Simulation(body.model)
/// >>> simulation.reset(np.eye(3, 4)[None])
/// >>> report = simulation.step(np.eye(3, 4)[None])
/// >>> report.iterations > 0, report.converged
/// (True, True)
#[pyclass(frozen, get_all, module = "jounce", name = "StepReport")]
pub struct StepReport {
    /// Iterations, summed over the substeps.
    iterations: u32,
    /// Distance to the solution in the full space, for skinning modes and in reduced bases, change in the
    /// last iteration for other models; the largest of the substeps, to compare with `tolerance`.
    residual: f64,
    /// True if every substep has reached `tolerance` within its iterations.
    converged: bool,
    /// Elastic energy at the end, J.
    energy: f64,
}

#[pymethods]
impl StepReport {
    #[staticmethod]
    fn _of(iterations: u32, residual: f64, converged: bool, energy: f64) -> Self {
        Self { iterations, residual, converged, energy }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Self { iterations, residual, converged, energy } = *self;
        made_by::<Self>(py, "_of", (iterations, residual, converged, energy), None)
    }

    fn __repr__(&self) -> String {
        let Self { iterations, residual, converged, energy } = self;
        let converged = if *converged { "True" } else { "False" };
        format!(
            "StepReport(iterations={iterations}, residual={residual:e}, converged={converged}, \
             energy={energy:e})"
        )
    }
}

impl From<inputs::StepReport> for StepReport {
    fn from(report: inputs::StepReport) -> Self {
        let inputs::StepReport { iterations, residual, converged, energy, .. } = report;
        Self { iterations, residual, converged, energy }
    }
}
