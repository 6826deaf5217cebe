//! Settings of a simulation, as they are given.

use jounce::method::{self, Integrator};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Settings that change between steps; None leaves one as it is.
pub struct Change {
    pub stiffness: Option<f64>,
    pub damping: Option<f64>,
    pub gravity: Option<[f64; 3]>,
    pub pose_rest: Option<f64>,
    pub contraction: Option<f64>,
}

impl Change {
    /// Settings with this change.
    pub fn of(&self, params: &method::SimulationParams) -> method::SimulationParams {
        method::SimulationParams {
            stiffness: self.stiffness.unwrap_or(params.stiffness),
            damping: self.damping.unwrap_or(params.damping),
            gravity: self.gravity.unwrap_or(params.gravity),
            pose_rest: self.pose_rest.unwrap_or(params.pose_rest),
            contraction: self.contraction.unwrap_or(params.contraction),
            ..*params
        }
    }
}

/// The integrator of a name.
pub fn integrator_named(name: &str) -> PyResult<Integrator> {
    match name {
        "backward_euler" => Ok(Integrator::BackwardEuler),
        "bdf2" => Ok(Integrator::Bdf2),
        other => {
            let text = format!("integrator: expected \"backward_euler\" or \"bdf2\", got {other:?}");
            Err(PyValueError::new_err(text))
        }
    }
}
