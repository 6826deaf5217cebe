//! `Recipe`: the call that makes an object anew, by which it is pickled.

use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A call of a class, or of a method of a class or object, whose result is equal to the last bit.
pub struct Recipe {
    owner: Py<PyAny>,
    /// Name of the method; empty for a call of the owner itself.
    method: &'static str,
    arguments: Py<PyTuple>,
    settings: Py<PyDict>,
}

impl Recipe {
    /// A call with arguments and settings by name.
    pub fn new<'py>(
        owner: &Bound<'py, PyAny>,
        method: &'static str,
        arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
        settings: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let py = owner.py();
        Ok(Self {
            owner: owner.clone().unbind(),
            method,
            arguments: arguments.into_pyobject(py)?.unbind(),
            settings: settings.unwrap_or_else(|| PyDict::new(py)).unbind(),
        })
    }

    /// The same call.
    pub fn again(&self, py: Python<'_>) -> Self {
        let Self { owner, method, arguments, settings } = self;
        Self {
            owner: owner.clone_ref(py),
            method,
            arguments: arguments.clone_ref(py),
            settings: settings.clone_ref(py),
        }
    }

    /// The same call with more settings.
    pub fn with<'py>(&self, py: Python<'py>, more: &Bound<'py, PyDict>) -> PyResult<Self> {
        let settings = self.settings.bind(py).copy()?;
        settings.update(more.as_mapping())?;
        Ok(Self { settings: settings.unbind(), ..self.again(py) })
    }

    /// The value of `__reduce__`.
    pub fn reduced<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let called = py.import("jounce._pickling")?.getattr("called")?;
        let Self { owner, method, arguments, settings } = self;
        (called, (owner, *method, arguments, settings)).into_pyobject(py)
    }
}

/// The value of `__reduce__` for an object that a class makes of some arguments, by itself or by a method.
pub fn made_by<'py, T: PyTypeInfo>(
    py: Python<'py>,
    method: &'static str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyTuple>> {
    Recipe::new(py.get_type::<T>().as_any(), method, arguments, settings)?.reduced(py)
}
