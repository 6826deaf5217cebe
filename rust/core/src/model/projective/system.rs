//! Constant matrices of a substep.

use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Scale};

use super::ProjectiveModel;
use super::frequency::factored;
use crate::Result;
use crate::math::rows::Rows;
use crate::math::symmetric::{Scratch, Symmetric};

/// Factors of inertia, tether, drag, proximity (in the metric alone), stiffness, and damping by stiffness:
/// everything the matrices depend on.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Factors {
    pub(super) inertia: f64,
    pub(super) hold: f64,
    pub(super) dragged: f64,
    pub(super) near: f64,
    pub(super) stiffness: f64,
    pub(super) viscous: f64,
}

/// Matrices for one setting.
pub(super) struct System {
    pub(super) factors: Factors,
    /// `(inertia + hold) M + stiffness D` plus the attachment, with D the part of the stiffness outside of
    /// the clusters.
    pub(super) quadratic: Symmetric,
    /// `((inertia + hold + near) M + dragged P + (stiffness + viscous) K)^-1` with the attachment, a strain
    /// limit, and P the mass of the drag parts.
    pub(super) inverse: Symmetric,
    /// `viscous K`, if not zero.
    pub(super) viscosity: Option<Symmetric>,
}

impl Factors {
    /// Factors of mass (with drag) and of stiffness in the metric: its identity for caches.
    pub(super) fn metric(&self) -> [f64; 2] {
        [self.inertia + self.hold + self.dragged + self.near, self.stiffness + self.viscous]
    }
}

impl System {
    pub(super) fn new(model: &ProjectiveModel, factors: Factors, parts: Option<&Mat<f64>>) -> Result<Self> {
        let Factors { inertia, hold, dragged, near, stiffness, viscous } = factors;
        let sum = |mass: f64, (firm, other): (f64, &Mat<f64>)| {
            let mut sum = Scale(firm) * other;
            sum += Scale(mass) * &model.mass;
            model.attachment.iter().for_each(|attachment| sum += &attachment.hold);
            sum
        };
        let mut metric = sum(inertia + hold + near, (stiffness + viscous, &model.stiffness));
        if model.firmness > 0.0 {
            // Second derivative of the limit with fixed projections, and a little more: of springs, bending.
            metric += Scale(stiffness * model.firmness) * (&model.stiffness - &model.unseen);
        }
        if let Some(parts) = parts.filter(|_| dragged > 0.0) {
            metric += Scale(dragged) * parts;
        }
        let inverse = factored(&metric)?.inverse();
        Ok(Self {
            factors,
            quadratic: model.coordinates.packed(&sum(inertia + hold, (stiffness, &model.unseen))),
            inverse: model.coordinates.packed(&inverse),
            viscosity: (viscous > 0.0)
                .then(|| model.coordinates.packed(&(Scale(viscous) * &model.stiffness))),
        })
    }
}

impl System {
    /// Applies the metric's inverse to a gradient, in place.
    pub(super) fn solve(&self, rows: &mut Rows, scratch: &mut Scratch) {
        self.inverse.multiply(rows, &mut scratch.rows, &mut scratch.spread);
        rows.copy_from_slice(&scratch.rows);
    }
}
