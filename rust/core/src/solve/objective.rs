//! Interface of an energy to a descent.

use super::lbfgs::Lbfgs;
use crate::Result;
use crate::math::rows::Rows;

/// An energy with its magnitude.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Value {
    /// Energy, J.
    pub(crate) energy: f64,
    /// Sum of the magnitudes of its terms.
    pub(crate) size: f64,
}

/// Distance from which a start counts as far, root mean square as a share of the diagonal: far starts are
/// compared with others.
pub(crate) const FAR: f64 = 0.1;

/// Motion of a substep below which its tolerance shrinks in proportion, root mean square as a share of the
/// diagonal, and the least factor: small motions are as exact as large ones.
const CALM: f64 = 2e-4;
const FINEST: f64 = 1e-2;

/// Share of the tolerance for a substep that moves, or starts from its minimum, by a share of the diagonal.
pub(crate) fn share_of_tolerance(moved: f64) -> f64 {
    (moved / CALM).clamp(FINEST, 1.0)
}

/// Replaces x by the one of `others` with the lowest energy, if x has no lower one; `scratch` is overwritten.
pub(crate) fn take_lowest<const N: usize>(
    objective: &mut impl Objective,
    x: &mut Rows,
    others: [&Rows; N],
    scratch: &mut Rows,
) {
    let energies = others.map(|other| objective.evaluate(other, scratch).energy);
    // Evaluated last, since most descents begin there.
    let mut least = objective.evaluate(x, scratch).energy;
    for (other, energy) in others.into_iter().zip(energies) {
        if energy < least || least.is_nan() {
            least = energy;
            x.copy_from_slice(other);
        }
    }
}

/// An energy to minimise, and the metric of its descent directions.
pub(crate) trait Objective {
    /// Energy at x; writes the gradient.
    fn evaluate(&mut self, x: &Rows, gradient: &mut Rows) -> Value;

    /// Called when the descent moves to the last evaluated point.
    fn accept(&mut self) {}

    /// Called at the start of each iteration; returns `true` if the energy has changed.
    fn visit(&mut self, _x: &Rows, _iteration: u32) -> Result<bool> {
        Ok(false)
    }

    /// Applies the metric's inverse to a gradient, in place.
    fn solve(&mut self, rows: &mut Rows);

    /// Corrects a direction from x for energies outside of gradient and memory; may change their share of
    /// `value` at x.
    fn correct(&mut self, _x: &Rows, _memory: &mut Lbfgs, _direction: &mut Rows, _value: &mut Value) {}

    /// Derivative along a direction of the energies outside of the gradient, at the last evaluation.
    fn further_slope(&self, _direction: &Rows) -> f64 {
        0.0
    }

    /// Largest growth of the initial step share from one search to the next. In stiffening flesh, full
    /// directions are too long many times in a row.
    fn longer(&self) -> f64 {
        3.0
    }

    /// Length of a step.
    fn length(&self, step: &Rows) -> f64;

    /// Distance to the minimum, to compare with the tolerance, by the slope along the descent direction,
    /// infinite for a slope upwards; `None` if only the length of steps tells when to stop.
    fn left(&mut self, _slope: f64) -> Option<f64> {
        None
    }
}
