//! The limit of displacements: flesh stiffens before it gets there.
//!
//! `U = sum_i m_i s omega^2 L^2 phi(|u_i| / L)` over the vertices that move, with L the limit, omega the lowest frequency of
//! the metric and phi nothing up to half of the limit. Its second derivatives are those of phi along u and its slope over
//! |u| across it, neither ever negative.

use nalgebra::{Matrix3, Vector3};

use crate::material::growth::continued;
use crate::math::rows::Rows;
use crate::method::SimulationParams;

/// A limit in force.
#[derive(Clone, Copy)]
pub(in crate::method) struct Limit {
    /// L, m.
    length: f64,
    /// `s omega^2`, 1/s^2.
    stiffness: f64,
}

impl Limit {
    /// That of the settings for a body of a frequency, Hz, and a diagonal, m.
    pub(in crate::method) fn new(frequency: f64, diagonal: f64, params: &SimulationParams) -> Option<Self> {
        let tau = std::f64::consts::TAU;
        // A body without a frequency of its own: once a second keeps the limit a limit.
        let known = frequency.is_finite() && frequency > 0.0;
        let omega = if known { tau * frequency } else { tau };
        params
            .limit
            .map(|limit| Self { length: limit * diagonal, stiffness: params.stiffness * omega * omega })
    }

    /// The potential, J; its gradient, N, is added.
    pub(in crate::method) fn evaluate(&self, mass: &[f64], u: &Rows, gradient: &mut Rows) -> f64 {
        let mut energy = 0.0;
        for ((mass, u), gradient) in mass.iter().zip(u).zip(gradient) {
            let distance = Vector3::from(*u).norm();
            let [value, slope, _] = continued(distance / self.length);
            if slope > 0.0 {
                energy += mass * self.stiffness * self.length * self.length * value;
                let pull = mass * self.stiffness * self.length * slope / distance;
                (0..3).for_each(|c| gradient[c] += pull * u[c]);
            }
        }
        energy
    }

    /// Second derivatives for a vertex of some mass.
    pub(in crate::method) fn hessian(&self, mass: f64, u: &[f64; 3]) -> Matrix3<f64> {
        let u = Vector3::from(*u);
        let distance = u.norm();
        let [_, slope, second] = continued(distance / self.length);
        if slope == 0.0 {
            return Matrix3::zeros();
        }
        let along = u * u.transpose() / (distance * distance);
        let across = slope * self.length / distance;
        mass * self.stiffness * (across * Matrix3::identity() + (second - across) * along)
    }
}
