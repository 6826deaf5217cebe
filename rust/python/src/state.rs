//! `State`: a simulation at one time, in memory and as bytes.

use jounce::{file, method};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::run;

/// The state of a simulation at one time; `restore_state` continues from it bit for bit.
#[pyclass(frozen, module = "jounce", name = "State")]
pub struct State(pub method::State);

#[pymethods]
impl State {
    /// The state as bytes; `from_bytes` of the same version of Jounce restores it bit for bit.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| file::encode_state(&self.0)))
    }

    /// The state in bytes made by `to_bytes`. `restore_state` checks the fit to a model.
    ///
    /// Raises ValueError for any other bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        run(py, || file::decode_state(data)).map(Self)
    }
}
