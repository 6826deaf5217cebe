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
    /// The state as bytes, of which this version of Jounce makes it again with `from_bytes`, bit for bit.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| file::encode_state(&self.0)))
    }

    /// The state of bytes that `to_bytes` made. Whether it is one of a model, `restore_state` tells.
    ///
    /// Raises ValueError for any other bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        run(py, || file::decode_state(data)).map(Self)
    }
}
