//! Settings of a simulation, as keyword arguments of Python.

use jounce::inputs::{Integrator, Minimiser, Setting, Shares, SimulationParams};
use jounce::material::Field;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::{refused, unnamed};
use crate::material;

/// Values of some settings by name.
#[derive(Default)]
pub struct Change {
    values: SimulationParams,
    names: Vec<&'static str>,
}

impl Change {
    /// Keyword arguments; None leaves a setting unchanged, and is no limit.
    pub fn of(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::among(given, |_| true)
    }

    /// The same for a method with some of the settings.
    pub fn among(given: Option<&Bound<'_, PyDict>>, has: impl Fn(&str) -> bool) -> PyResult<Self> {
        let mut change = Self::default();
        let settings: Vec<_> = change.values.by_name().into_iter().filter(|(name, _)| has(name)).collect();
        let known: Vec<_> = settings.iter().map(|(name, _)| *name).collect();
        let given = Named::among(given, &known)?;
        for (name, setting) in settings {
            let Some(value) = given.item(name)? else { continue };
            if !value.is_none() || matches!(setting, Setting::Limit(_)) {
                read(setting, &value, name).map_err(|error| with_name(value.py(), name, error))?;
                change.names.push(name);
            }
        }
        Ok(change)
    }

    /// `true` if a setting of this name has a value.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Settings after this change.
    pub fn applied(&self, params: &SimulationParams) -> SimulationParams {
        let (mut changed, mut values) = (*params, self.values);
        for ((name, own), (_, new)) in changed.by_name().into_iter().zip(values.by_name()) {
            if self.has(name) {
                own.assign(new);
            }
        }
        changed
    }
}

/// Settings of a call by name.
pub struct Named<'a, 'py>(Option<&'a Bound<'py, PyDict>>);

impl<'a, 'py> Named<'a, 'py> {
    /// Keyword arguments, all of them among the known names.
    pub fn among(given: Option<&'a Bound<'py, PyDict>>, known: &[&str]) -> PyResult<Self> {
        for name in given.into_iter().flat_map(|given| given.keys()) {
            let name: String = name.extract()?;
            if !known.contains(&name.as_str()) {
                let text = format!("{name} is no setting; the settings are {}", known.join(", "));
                return Err(PyTypeError::new_err(text));
            }
        }
        Ok(Self(given))
    }

    /// Value of a setting; `None` without one, or for Python's None.
    pub fn get<T: FromPyObjectOwned<'py>>(&self, name: &'static str) -> PyResult<Option<T>> {
        let Some(value) = self.item(name)?.filter(|value| !value.is_none()) else { return Ok(None) };
        value.extract().map(Some).map_err(|error: T::Error| with_name(value.py(), name, error.into()))
    }

    fn item(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.map_or(Ok(None), |given| given.get_item(name))
    }
}

/// Integrators by their names.
const INTEGRATORS: [(&str, Integrator); 2] =
    [("backward_euler", Integrator::BackwardEuler), ("bdf2", Integrator::Bdf2)];

/// Reads a value into a setting.
fn read(setting: Setting<'_>, value: &Bound<'_, PyAny>, name: &'static str) -> PyResult<()> {
    match setting {
        Setting::Number(own) => *own = value.extract()?,
        Setting::Count(own) => *own = arrays::count(value.extract()?, name)?,
        Setting::Limit(own) => *own = value.extract()?,
        Setting::Vector(own) => *own = value.extract()?,
        Setting::Integrator(own) => *own = integrator_named(value.extract()?)?,
        Setting::Minimiser(own) => *own = minimiser(value)?,
        Setting::Shares(own, parts) => {
            *own = match arrays::field(value, name, &[Axis::Any(parts)])? {
                Field::Uniform(share) => share.into(),
                Field::PerTet(shares) => Shares::of_each(name, &shares).map_err(refused)?,
            }
        }
        _ => return Err(unnamed(name)),
    }
    Ok(())
}

/// Error of a type that names the setting.
fn with_name(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyTypeError>(py) {
        return error;
    }
    PyTypeError::new_err(format!("argument '{name}': {}", error.value(py)))
}

/// Integrator with a given name.
fn integrator_named(name: &str) -> PyResult<Integrator> {
    INTEGRATORS.iter().find(|(known, _)| *known == name).map(|(_, integrator)| *integrator).ok_or_else(|| {
        let text = format!("integrator: expected \"backward_euler\" or \"bdf2\", got {name:?}");
        PyValueError::new_err(text)
    })
}

/// Name of Newton's method.
const NEWTON: &str = "newton";

/// Minimiser of a name or a number of curvature pairs.
fn minimiser(value: &Bound<'_, PyAny>) -> PyResult<Minimiser> {
    match value.extract::<&str>() {
        Ok(NEWTON) => Ok(Minimiser::Newton),
        Ok(name) => {
            let text = format!("minimiser: expected \"{NEWTON}\" or a number of pairs, got {name:?}");
            Err(PyValueError::new_err(text))
        }
        Err(_) => Ok(Minimiser::QuasiNewton { pairs: arrays::count(value.extract()?, "minimiser")? }),
    }
}

/// Settings by name.
pub fn by_name<'py>(py: Python<'py>, params: &SimulationParams) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, setting) in { *params }.by_name() {
        match setting {
            Setting::Number(own) => all.set_item(name, *own)?,
            Setting::Count(own) => all.set_item(name, *own)?,
            Setting::Limit(own) => all.set_item(name, *own)?,
            Setting::Vector(own) => all.set_item(name, PyTuple::new(py, *own)?)?,
            Setting::Integrator(own) => {
                let known = INTEGRATORS.iter().find(|(_, integrator)| integrator == own);
                all.set_item(name, known.map(|(name, _)| *name))?;
            }
            Setting::Minimiser(Minimiser::Newton) => all.set_item(name, NEWTON)?,
            Setting::Minimiser(Minimiser::QuasiNewton { pairs }) => all.set_item(name, *pairs)?,
            Setting::Shares(own, _) => all.set_item(name, material::field(py, &own.given())?)?,
            _ => return Err(unnamed(name)),
        }
    }
    Ok(all)
}
