//! Settings of a simulation, as Python arguments.

use jounce::inputs::{self, Integrator, Shares};
use jounce::material::Field;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::refused;

/// Change of settings between steps; None leaves a setting unchanged.
#[derive(Default)]
pub struct Change {
    pub stiffness: Option<f64>,
    pub damping: Option<f64>,
    pub gravity: Option<[f64; 3]>,
    pub pose_rest: Option<f64>,
    pub contraction: Option<Contraction>,
    pub inflation: Option<f64>,
    pub hold: Option<f64>,
    pub stitching: Option<Stitching>,
}

impl Change {
    /// Settings after this change.
    pub fn of(&self, params: &inputs::SimulationParams) -> inputs::SimulationParams {
        inputs::SimulationParams {
            stiffness: self.stiffness.unwrap_or(params.stiffness),
            damping: self.damping.unwrap_or(params.damping),
            gravity: self.gravity.unwrap_or(params.gravity),
            pose_rest: self.pose_rest.unwrap_or(params.pose_rest),
            contraction: self.contraction.map_or(params.contraction, |shares| shares.0),
            stitching: self.stitching.map_or(params.stitching, |shares| shares.0),
            inflation: self.inflation.unwrap_or(params.inflation),
            hold: self.hold.unwrap_or(params.hold),
            ..*params
        }
    }
}

/// Integrators by their names.
const INTEGRATORS: [(&str, Integrator); 2] =
    [("backward_euler", Integrator::BackwardEuler), ("bdf2", Integrator::Bdf2)];

/// Integrator with a given name.
pub fn integrator_named(name: &str) -> PyResult<Integrator> {
    INTEGRATORS.iter().find(|(known, _)| *known == name).map(|(_, integrator)| *integrator).ok_or_else(|| {
        let text = format!("integrator: expected \"backward_euler\" or \"bdf2\", got {name:?}");
        PyValueError::new_err(text)
    })
}

/// Settings that are one value each, by the names of the constructor of `Simulation`.
pub fn named<'py>(py: Python<'py>, params: &inputs::SimulationParams) -> PyResult<Bound<'py, PyDict>> {
    let integrator = INTEGRATORS.iter().find(|(_, it)| *it == params.integrator).map(|(name, _)| *name);
    let all = PyDict::new(py);
    all.set_item("dt", params.dt)?;
    all.set_item("substeps", params.substeps)?;
    all.set_item("max_iterations", params.max_iterations)?;
    all.set_item("tolerance", params.tolerance)?;
    all.set_item("damping", params.damping)?;
    all.set_item("gravity", PyTuple::new(py, params.gravity)?)?;
    all.set_item("pose_rest", params.pose_rest)?;
    all.set_item("stiffness", params.stiffness)?;
    all.set_item("integrator", integrator)?;
    all.set_item("strength", params.strength)?;
    all.set_item("limit", params.limit)?;
    all.set_item("stretch", params.stretch)?;
    all.set_item("inflation", params.inflation)?;
    all.set_item("hold", params.hold)?;
    Ok(all)
}

/// Contraction of muscles: one share for all, or (muscles,) float64.
#[derive(Clone, Copy)]
pub struct Contraction(pub Shares);

/// Active share of stitch stiffness: one share for all groups, or (groups,) float64.
#[derive(Clone, Copy)]
pub struct Stitching(pub Shares);

impl<'py> FromPyObject<'_, 'py> for Contraction {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        shares(&given, "contraction", "muscles").map(Self)
    }
}

impl<'py> FromPyObject<'_, 'py> for Stitching {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        shares(&given, "stitching", "groups").map(Self)
    }
}

fn shares(given: &Bound<'_, PyAny>, what: &'static str, axis: &'static str) -> PyResult<Shares> {
    match arrays::field(given, what, &[Axis::Any(axis)])? {
        Field::Uniform(share) => Ok(share.into()),
        Field::PerTet(shares) => Shares::of_each(what, &shares).map_err(refused),
    }
}
