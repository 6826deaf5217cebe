//! Quasi-Newton descent on an energy of many vertices.

use super::lbfgs::Lbfgs;
use super::line_search::{Start, search};
use super::objective::{Objective, Value};
use crate::math::rows::{Rows, add, dot};
use crate::{Error, Result};

/// Length of a direction from which a failed search is more than rounding.
const STALLED: f64 = 1e-7;

/// Distance before the last step, in tolerances, from which the direction at the end is taken whole.
const SURE: f64 = 1.3;

/// Result of a descent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub(crate) iterations: u32,
    /// Energy evaluations in line searches.
    pub(crate) trials: u32,
    /// Distance to the minimum before the last step, or the length of that step for an objective that does
    /// not tell the distance; 0 if rounding hides further descent, NaN for an energy that is not finite.
    pub(crate) length: f64,
    /// `true` if no direction led downhill although the tolerance was not reached.
    pub(crate) stalled: bool,
    /// Share of the last direction for [`Descent::go_on`], if the minimum is within the tolerance.
    pub(crate) ahead: f64,
}

impl Outcome {
    /// Iterations and residual.
    pub(crate) fn solved(self) -> (u32, f64) {
        (self.iterations, self.length)
    }

    /// Combined result of this descent and the next.
    pub(crate) fn then(self, next: Self) -> Self {
        Self {
            iterations: self.iterations + next.iterations,
            trials: self.trials + next.trials,
            length: if next.iterations > 0 || next.length > 0.0 { next.length } else { self.length },
            stalled: next.stalled,
            ahead: next.ahead,
        }
    }
}

/// Scratch of a descent; curvature pairs persist between descents.
pub(crate) struct Descent {
    pub(crate) memory: Lbfgs,
    here: Vec<[f64; 3]>,
    there: Vec<[f64; 3]>,
    direction: Vec<[f64; 3]>,
    trial: Vec<[f64; 3]>,
}

impl Descent {
    /// Scratch for a number of rows and of curvature pairs.
    pub(crate) fn new(rows: usize, pairs: usize) -> Self {
        let zeros = || vec![[0.0; 3]; rows];
        let memory = Lbfgs::new(rows, pairs);
        Self { memory, here: zeros(), there: zeros(), direction: zeros(), trial: zeros() }
    }

    /// Moves x downhill until the minimum is near, or a step is no longer than `tolerance`, or no direction
    /// leads downhill. `on_iteration` receives the number of each iteration and the energy before it.
    pub(crate) fn minimise(
        &mut self,
        objective: &mut impl Objective,
        x: &mut Rows,
        (max_iterations, tolerance): (u32, f64),
        mut on_iteration: impl FnMut(u32, f64) -> Result<()>,
    ) -> Result<Outcome> {
        let mut value = objective.evaluate(x, &mut self.here);
        objective.accept();
        let mut outcome = Outcome::default();
        let mut share = 1.0;
        while outcome.iterations < max_iterations && value.energy.is_finite() {
            on_iteration(outcome.iterations, value.energy)?;
            if objective.visit(x, outcome.iterations)? {
                value = objective.evaluate(x, &mut self.here);
                objective.accept();
            }
            let slope = self.aim(objective, x, &mut value);
            let left = objective.left(slope);
            if let Some(left) = left {
                let before = std::mem::replace(&mut outcome.length, left);
                if left <= tolerance {
                    outcome.ahead = share * ((before / tolerance - 1.0) / (SURE - 1.0)).clamp(0.0, 1.0);
                    break;
                }
            }
            outcome.iterations += 1;
            let first = (objective.longer() * share).min(1.0);
            let found = self.advance(objective, x, (first, slope), &mut value, &mut outcome.trials);
            let Some(taken) = found else {
                let length = objective.length(&self.direction);
                outcome.stalled = length > tolerance.max(STALLED);
                outcome.length = if length.is_finite() && !outcome.stalled { 0.0 } else { length };
                break;
            };
            share = taken;
            objective.accept();
            self.memory.update([x, &self.trial], [&self.here, &self.there]);
            x.copy_from_slice(&self.trial);
            std::mem::swap(&mut self.here, &mut self.there);
            if left.is_none_or(f64::is_infinite) {
                outcome.length = share * objective.length(&self.direction);
            }
            if left.is_none() && outcome.length <= tolerance {
                break;
            }
        }
        if !value.energy.is_finite() {
            outcome.length = f64::NAN;
        }
        Ok(outcome)
    }

    /// Moves x along the direction at which a descent ended. It is no longer than the tolerance, and
    /// therefore taken without a look at the energy.
    ///
    /// If the descent could nearly have ended one step earlier, a smaller share is taken, and none at the
    /// border. A descent that ends a step earlier or later by rounding thus ends in the same place.
    pub(crate) fn go_on(&self, outcome: &Outcome, x: &mut Rows) {
        add(x, outcome.ahead, &self.direction);
    }

    /// Continues a stalled descent in another metric, that of Newton's method. Severely distorted elements
    /// prevent a factorisation; the result so far is then kept.
    pub(crate) fn rescue(
        &mut self,
        objective: &mut impl Objective,
        x: &mut Rows,
        (max_iterations, tolerance): (u32, f64),
        so_far: &Outcome,
        on_iteration: impl FnMut(u32, f64) -> Result<()>,
    ) -> Result<Outcome> {
        self.memory.clear();
        let left = (max_iterations - so_far.iterations, tolerance);
        let outcome = match self.minimise(objective, x, left, on_iteration) {
            Err(Error::Numerical { .. }) => Outcome::default(),
            outcome => outcome?,
        };
        self.memory.clear();
        Ok(outcome)
    }

    /// Writes the quasi-Newton direction from x; returns the slope along it.
    fn aim(&mut self, objective: &mut impl Objective, x: &Rows, value: &mut Value) -> f64 {
        self.memory.aim(&self.here, &mut self.direction, |rows| objective.solve(rows));
        objective.correct(x, &mut self.memory, &mut self.direction, value);
        dot(&self.here, &self.direction) + objective.further_slope(&self.direction)
    }

    /// Searches for a sufficient decrease along the direction with this slope, else along the metric's;
    /// returns the accepted share of the direction, starting with `first`.
    fn advance(
        &mut self,
        objective: &mut impl Objective,
        x: &Rows,
        (first, mut slope): (f64, f64),
        value: &mut Value,
        trials: &mut u32,
    ) -> Option<f64> {
        loop {
            let start = Start { place: x, value: *value, slope, share: first, direction: &self.direction };
            let rows = (&mut self.trial[..], &mut self.there[..]);
            let found = search(&start, objective, rows, trials);
            if let Some(step) = found {
                *value = step.value;
                return Some(step.share);
            }
            if self.memory.is_empty() {
                return None;
            }
            self.memory.clear();
            slope = self.aim(objective, x, value);
        }
    }
}
