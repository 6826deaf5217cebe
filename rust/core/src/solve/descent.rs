//! Quasi-Newton descent on an energy of many vertices.

use super::lbfgs::Lbfgs;
use super::line_search::{Start, Value, search};
use crate::Result;
use crate::math::rows::{Rows, dot};

/// An energy that is minimised, with the metric in which its descent directions are found.
pub(crate) trait Objective {
    /// The energy at x; its gradient is written.
    fn evaluate(&mut self, x: &Rows, gradient: &mut Rows) -> Value;

    /// Is told where the next direction starts; whether the energy has become another with that.
    fn visit(&mut self, _x: &Rows, _iteration: u32) -> Result<bool> {
        Ok(false)
    }

    /// Replaces a gradient by what the metric's inverse makes of it.
    fn solve(&mut self, rows: &mut Rows);

    /// Turns a direction from x as energy wants that neither gradient nor memory know of, whose `value` at x may
    /// change with that.
    fn correct(&mut self, _x: &Rows, _memory: &mut Lbfgs, _direction: &mut Rows, _value: &mut Value) {}

    /// The slope along a direction of energy that the gradient leaves out, where it was evaluated last.
    fn further_slope(&self, _direction: &Rows) -> f64 {
        0.0
    }

    /// How many times further than the last a search may begin: where flesh stiffens, directions are too long again and
    /// again.
    fn longer(&self) -> f64 {
        3.0
    }

    /// Length of a step, by which convergence is judged.
    fn length(&self, step: &Rows) -> f64;
}

/// Length of a direction above which one that does not lead down is more than rounding.
const STALLED: f64 = 1e-7;

/// What a descent came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub(crate) iterations: u32,
    /// Evaluations in line searches.
    pub(crate) trials: u32,
    /// Of the last step; 0 where rounding hides the way down, not a number where the energy is not one.
    pub(crate) length: f64,
    /// Whether it ended where no direction led down, though far from the tolerance.
    pub(crate) stalled: bool,
}

impl Outcome {
    /// What this and the descent after it came to.
    pub(crate) fn then(self, next: Self) -> Self {
        Self {
            iterations: self.iterations + next.iterations,
            trials: self.trials + next.trials,
            length: if next.iterations > 0 { next.length } else { self.length },
            stalled: next.stalled,
        }
    }
}

/// Memory of a descent; what is learnt stays from one to the next.
pub(crate) struct Descent {
    pub(crate) memory: Lbfgs,
    here: Vec<[f64; 3]>,
    there: Vec<[f64; 3]>,
    direction: Vec<[f64; 3]>,
    trial: Vec<[f64; 3]>,
}

impl Descent {
    /// On some rows, with as many pairs of curvature.
    pub(crate) fn new(rows: usize, pairs: usize) -> Self {
        let zeros = || vec![[0.0; 3]; rows];
        let memory = Lbfgs::new(rows, pairs);
        Self { memory, here: zeros(), there: zeros(), direction: zeros(), trial: zeros() }
    }

    /// Moves x downhill until a step is no longer than `tolerance`, or no direction leads down. `heard` is
    /// told the number of each iteration before it begins, and the energy there.
    pub(crate) fn minimise(
        &mut self,
        objective: &mut impl Objective,
        x: &mut Rows,
        (max_iterations, tolerance): (u32, f64),
        mut heard: impl FnMut(u32, f64) -> Result<()>,
    ) -> Result<Outcome> {
        let mut value = objective.evaluate(x, &mut self.here);
        let mut outcome = Outcome::default();
        let mut share = 1.0;
        while outcome.iterations < max_iterations && value.energy.is_finite() {
            heard(outcome.iterations, value.energy)?;
            if objective.visit(x, outcome.iterations)? {
                value = objective.evaluate(x, &mut self.here);
            }
            outcome.iterations += 1;
            let first = (objective.longer() * share).min(1.0);
            let found = self.advance(objective, x, first, &mut value, &mut outcome.trials);
            let Some(taken) = found else {
                let length = objective.length(&self.direction);
                outcome.stalled = length > tolerance.max(STALLED);
                outcome.length = if length.is_finite() && !outcome.stalled { 0.0 } else { length };
                break;
            };
            share = taken;
            outcome.length = share * objective.length(&self.direction);
            self.memory.learn([x, &self.trial], [&self.here, &self.there]);
            x.copy_from_slice(&self.trial);
            std::mem::swap(&mut self.here, &mut self.there);
            if outcome.length <= tolerance {
                break;
            }
        }
        if !value.energy.is_finite() {
            outcome.length = f64::NAN;
        }
        Ok(outcome)
    }

    /// Finds a trial that is lower enough, along the learnt direction or else along the metric's; returns the
    /// share of the direction taken, of which it tries `first` first.
    fn advance(
        &mut self,
        objective: &mut impl Objective,
        x: &Rows,
        first: f64,
        value: &mut Value,
        trials: &mut u32,
    ) -> Option<f64> {
        loop {
            let learnt = !self.memory.is_empty();
            self.memory.aim(&self.here, &mut self.direction, |rows| objective.solve(rows));
            objective.correct(x, &mut self.memory, &mut self.direction, value);
            let slope = dot(&self.here, &self.direction) + objective.further_slope(&self.direction);
            let start = Start { place: x, value: *value, slope, share: first, direction: &self.direction };
            let found = search(&start, objective, (&mut self.trial, &mut self.there), trials);
            if let Some(step) = found {
                *value = step.value;
                return Some(step.share);
            }
            if !learnt {
                return None;
            }
            self.memory.clear();
        }
    }
}
