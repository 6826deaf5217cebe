//! `State`: a simulation at one time, in memory and as bytes.

use jounce::{file, stepping};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::run;
use crate::recipe::made_by;

/// The state of a simulation or a tree at one time; `restore_state` continues from it bit for bit.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> simulation = jounce.Simulation(body.model)
/// >>> simulation.reset(np.eye(3, 4)[None])
/// >>> kept = jounce.State.from_bytes(simulation.save_state().to_bytes())
/// >>> simulation.restore_state(kept)
#[pyclass(frozen, module = "jounce", name = "State")]
pub struct State(pub stepping::State);

#[pymethods]
impl State {
    /// The state as bytes; `from_bytes` of the same version of Jounce restores it bit for bit.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     The bytes.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> takes = []
    /// >>> for take in range(2):
    /// ...     simulation = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
    /// ...     report = simulation.step(np.eye(3, 4)[None])
    /// ...     takes.append(simulation.save_state().to_bytes())
    /// >>> takes[0] == takes[1]
    /// True
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| file::encode_state(&self.0)))
    }

    /// The state in bytes made by `to_bytes`. `restore_state` checks the fit to a model.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     Bytes from `to_bytes`.
    ///
    /// Returns
    /// -------
    /// State
    ///     The state.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For any other bytes.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> first, second = (jounce.Simulation(body.model, gravity=(0, 0, -9.81)) for _ in range(2))
    /// >>> report = first.step(np.eye(3, 4)[None])
    /// >>> second.restore_state(jounce.State.from_bytes(first.save_state().to_bytes()))
    /// >>> reports = [simulation.step(np.eye(3, 4)[None]) for simulation in (first, second)]
    /// >>> np.array_equal(first.coefficients, second.coefficients)
    /// True
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        run(py, || file::decode_state(data)).map(Self)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "from_bytes", (self.to_bytes(py),), None)
    }

    fn __repr__(&self) -> String {
        format!("State(time={})", self.0.time())
    }
}
