//! Displacement limit: a potential that is zero up to half of the limit and grows without bound towards it.
//! Flesh stiffens before it reaches the limit.
//!
//! `U = sum over places s of mu_s kappa L^2 phi(|u_s| / L)`, `phi(x) = -t^2 ln(1 - t)`, `t = 2 x - 1` and 0
//! below `x = 1/2`, with L the limit, mu_s the effective mass of a place and kappa the lowest elastic
//! eigenvalue. The potential has two continuous derivatives, is in joules, and vanishes for calm motion.

use super::SkinningModel;
use crate::kinematics::points::Points;
use crate::material::growth::{KNEE, potential};
use crate::sampling::covering::norm2;

/// Share of the limit for the scaling of a state beyond the limit before a step.
const INSIDE: f64 = 0.9;

/// An active displacement limit: places, length, stiffness and scratch.
pub(super) struct Limit {
    moved: Vec<[f64; 3]>,
    /// Coordinates of the last measurement, and the largest displacement there, m.
    known: Vec<[f64; 3]>,
    furthest: f64,
    /// L, metres.
    length: f64,
    /// kappa, 1/s^2; 0 without a limit.
    stiffness: f64,
}

impl Limit {
    pub(super) fn new() -> Self {
        Self { moved: Vec::new(), known: Vec::new(), furthest: 0.0, length: 0.0, stiffness: 0.0 }
    }

    /// Sets the limit, a share of the diagonal, and the factor on the elastic energy; allocates the first
    /// time.
    pub(super) fn set(&mut self, model: &SkinningModel, limit: Option<f64>, stiffness: f64) {
        let Some(limit) = limit else {
            self.stiffness = 0.0;
            return;
        };
        self.moved.resize(model.limit_places().masses.len(), [0.0; 3]);
        self.known.resize(model.rank(), [0.0; 3]);
        self.length = limit * 2.0 * model.coordinates.size;
        let omega = std::f64::consts::TAU * model.frequency();
        // A body without stiffness has no lowest frequency; 1 Hz keeps the limit effective.
        let omega2 = if omega > 0.0 { omega * omega } else { std::f64::consts::TAU.powi(2) };
        self.stiffness = stiffness * omega2;
    }

    /// Largest displacement of a place as a share of the limit, or 0 if certainly below the knee.
    fn largest(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> f64 {
        if self.stiffness == 0.0 {
            return 0.0;
        }
        let places = model.limit_places();
        let apart =
            y.as_flattened().iter().zip(self.known.as_flattened()).map(|(y, known)| (y - known).powi(2));
        if self.furthest + places.reach * apart.sum::<f64>().sqrt() <= KNEE * self.length {
            return 0.0;
        }
        places.basis.displace(y, &mut self.moved);
        self.known.copy_from_slice(y);
        self.furthest = self.moved.iter().map(|u| norm2(u)).fold(0.0, f64::max).sqrt();
        self.furthest / self.length
    }

    /// Scales y down if it exceeds the limit, to make the potential finite.
    pub(super) fn enter(&mut self, model: &SkinningModel, y: &mut [[f64; 3]]) {
        let largest = self.largest(model, y);
        if largest > INSIDE {
            y.as_flattened_mut().iter_mut().for_each(|y| *y *= INSIDE / largest);
        }
    }

    /// Potential at y, J, infinite beyond the limit; adds the gradient.
    pub(super) fn evaluate(
        &mut self,
        model: &SkinningModel,
        y: &[[f64; 3]],
        gradient: &mut [[f64; 3]],
    ) -> f64 {
        let largest = self.largest(model, y);
        if largest <= KNEE {
            return 0.0;
        }
        if largest >= 1.0 {
            return f64::INFINITY;
        }
        let places = model.limit_places();
        let mut energy = 0.0;
        for (u, mass) in self.moved.iter_mut().zip(&places.masses) {
            let share = norm2(u).sqrt() / self.length;
            let (potential, slope) = potential(share);
            energy += self.stiffness * mass * self.length * self.length * potential;
            // Force along u, as a factor on u; the slope is zero below the knee.
            let factor = if share > KNEE { self.stiffness * mass * slope / share } else { 0.0 };
            u.iter_mut().for_each(|u| *u *= factor);
        }
        places.basis.pull_back(&self.moved, gradient);
        energy
    }
}
