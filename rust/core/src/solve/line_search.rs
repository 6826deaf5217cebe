//! Backtracking line search with sufficient decrease `[QN alg. 1]`.

use super::objective::{Objective, Value};
use crate::math::rows::{Rows, combine, dot};

/// Armijo constant: accepted share of the decrease predicted by the slope.
const SUFFICIENT: f64 = 0.3;
/// Most trials along one direction.
const TRIALS: u32 = 40;
/// Relative size of energy differences that count as rounding; the slope then decides.
const ROUNDING: f64 = 1e-14;
/// Smallest and largest shortening factor of a trial.
const SHORTEN: (f64, f64) = (0.1, 0.5);

/// Start of a search: position and energy, direction and slope.
pub(super) struct Start<'a> {
    pub(crate) place: &'a Rows,
    pub(crate) value: Value,
    pub(crate) slope: f64,
    /// Initial share of the direction.
    pub(crate) share: f64,
    pub(crate) direction: &'a Rows,
}

/// Accepted step: share of the direction, and energy.
pub(super) struct Step {
    pub(crate) share: f64,
    pub(crate) value: Value,
}

/// Shortens the step along a direction until the energy decreases enough. `trial` and its gradient `there`
/// then hold the accepted point. `None` for a direction that does not lead downhill; `trials` counts
/// evaluations.
pub(super) fn search(
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
        share = shortened(share, slope, rise);
    }
    None
}

/// The minimum of the interpolating parabola, within a range of shares.
fn shortened(share: f64, slope: f64, rise: f64) -> f64 {
    let least = -0.5 * slope * share * share / (rise - slope * share);
    share * if least.is_finite() { (least / share).clamp(SHORTEN.0, SHORTEN.1) } else { SHORTEN.0 }
}
