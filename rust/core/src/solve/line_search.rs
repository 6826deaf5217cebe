//! Backtracking along a direction until the energy falls enough `[QN alg. 1]`.

use super::descent::Objective;
use crate::math::rows::{Rows, combine, dot};

/// Share of the decrease that the slope promises, at which a step is taken (Armijo).
const SUFFICIENT: f64 = 0.3;
/// What a step that is too long is multiplied by, at least and at most.
const SHORTEN: (f64, f64) = (0.1, 0.5);
/// Most trials along one direction.
const TRIALS: u32 = 40;
/// Differences of energy below this share of its parts are rounding; then the slope decides.
const ROUNDING: f64 = 1e-14;

/// An energy somewhere.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Value {
    /// J.
    pub(crate) energy: f64,
    /// Sum of the magnitudes of its parts.
    pub(crate) size: f64,
}

/// Where a search starts: a place with its energy, and a direction with the slope along it.
pub(crate) struct Start<'a> {
    pub(crate) place: &'a Rows,
    pub(crate) value: Value,
    pub(crate) slope: f64,
    /// Of the direction, to begin with.
    pub(crate) share: f64,
    pub(crate) direction: &'a Rows,
}

/// A step that is taken: the share of the direction, and the energy there.
pub(crate) struct Step {
    pub(crate) share: f64,
    pub(crate) value: Value,
}

/// Goes along a direction, shorter and shorter until the energy falls enough, each time to where the parabola through what
/// is known is least; `trial` and its gradient `there` are
/// then where it ended. `None` where the direction does not lead down; `trials` counts evaluations.
pub(crate) fn search(
    start: &Start<'_>,
    objective: &mut impl Objective,
    (trial, there): (&mut Rows, &mut Rows),
    trials: &mut u32,
) -> Option<Step> {
    let slope = start.slope;
    if !(slope < 0.0 && slope.is_finite()) {
        return None;
    }
    let mut share = start.share;
    for _ in 0..TRIALS {
        combine(trial, start.place, share, start.direction);
        let value = objective.evaluate(trial, there);
        *trials += 1;
        let rise = value.energy - start.value.energy;
        let flat = rise.is_finite() && rise.abs() <= ROUNDING * value.size.max(start.value.size);
        let downhill = || {
            let slope_there = dot(there, start.direction) + objective.further_slope(start.direction);
            slope_there <= (2.0 * SUFFICIENT - 1.0) * slope
        };
        if rise <= SUFFICIENT * share * slope || (flat && downhill()) {
            return Some(Step { share, value });
        }
        let least = -0.5 * slope * share * share / (rise - slope * share);
        share *= if least.is_finite() { (least / share).clamp(SHORTEN.0, SHORTEN.1) } else { SHORTEN.0 };
    }
    None
}
