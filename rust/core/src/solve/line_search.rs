//! Backtracking line search with sufficient decrease `[QN alg. 1]`.

use super::objective::{Objective, Value};
use super::rules::Rules;
use crate::math::rows::{Rows, combine};

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
    rules: &Rules,
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
    for _ in 0..rules.trials {
        combine(trial, start.place, share, start.direction);
        let value = objective.evaluate(trial, there);
        *trials += 1;
        let rise = value.energy - start.value.energy;
        let flat = rise.is_finite() && rise.abs() <= rules.rounding * value.size.max(start.value.size);
        let downhill = || {
            let slope_there = (rules.dot)(there, start.direction) + objective.further_slope(start.direction);
            slope_there <= (2.0 * rules.sufficient - 1.0) * slope
        };
        if rise <= rules.sufficient * share * slope || (flat && downhill()) {
            return Some(Step { share, value });
        }
        share = (rules.shortened)(share, slope, rise);
    }
    None
}
