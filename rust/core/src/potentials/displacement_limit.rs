//! Displacement limit: flesh stiffens before it reaches the limit.
//!
//! `U = sum_i m_i s omega^2 L^2 phi(|u_i| / L)` over the moving vertices, with L the limit, omega the
//! lowest frequency of the metric and phi zero up to half of the limit. Its second derivatives are phi''
//! along u and phi' / |u| across u, both non-negative.

use nalgebra::{Matrix3, Vector3};

use crate::inputs::settings::SimulationParams;
use crate::material::growth::continued;
use crate::math::rows::Rows;

/// An active displacement limit.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// L, m.
    length: f64,
    /// `s omega^2`, 1/s^2.
    stiffness: f64,
}

impl Limit {
    /// Limit for given settings and a body of given frequency, Hz, and diagonal, m; `None` without a limit.
    pub(crate) fn new(frequency: f64, diagonal: f64, params: &SimulationParams) -> Option<Self> {
        let tau = std::f64::consts::TAU;
        // A body without a lowest frequency uses 1 Hz, to keep the limit effective.
        let known = frequency.is_finite() && frequency > 0.0;
        let omega = if known { tau * frequency } else { tau };
        params
            .limit
            .map(|limit| Self { length: limit * diagonal, stiffness: params.stiffness * omega * omega })
    }

    /// Potential, J; adds the gradient, N.
    pub(crate) fn evaluate(&self, mass: &[f64], u: &Rows, gradient: &mut Rows) -> f64 {
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

    /// Second derivatives for a vertex of given mass.
    pub(crate) fn hessian(&self, mass: f64, u: &[f64; 3]) -> Matrix3<f64> {
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
