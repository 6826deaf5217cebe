//! Objective of the optimisation, and its Gauss-Newton metric.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

use super::course::Course;
use crate::math::dense::{add_product, inner};
use crate::math::rows::{Rows, dot};
use crate::solve::{Descent, Objective, Outcome, Value};
use crate::{Error, Result};

/// Number of curvature pairs stored on top of the Gauss-Newton metric.
const PAIRS: usize = 8;
/// Effort at the start of the continuation to smaller efforts, and the tolerance on the way.
const FIRST: f64 = 0.1;
const ON_THE_WAY: f64 = 1e-2;

/// Settings of a motion through keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyedParams {
    /// Weight of the effort relative to the misses; at least 1e-15. Effort is the mean square of the force
    /// over the frames, in units of the lowest deforming mode's pull at a displacement of one diagonal.
    /// Misses are shares of the diagonal.
    pub effort: f64,
    /// Most iterations.
    pub max_iterations: u32,
    /// Relative change of the forces, root mean square, at convergence.
    pub tolerance: f64,
}

impl Default for KeyedParams {
    fn default() -> Self {
        Self { effort: 1e-6, max_iterations: 200, tolerance: 1e-4 }
    }
}

/// A scalar target at the end of a frame: a linear function of the coordinates, as a share of the body's
/// size.
pub(super) struct Want {
    pub(super) frame: usize,
    /// Coefficients of the coordinates, k.
    pub(super) row: Vec<f64>,
    pub(super) goal: f64,
    /// Square root of the weight.
    pub(super) weight: f64,
}

/// `1/2 sum_i w_i (a_i.y - t_i)^2 + e / 2f sum_f |v_f|^2` over forces v in units of `push`.
pub(super) struct Plan<'a> {
    pub(super) course: Course<'a>,
    pub(super) wants: Vec<Want>,
    /// `e / f`.
    pub(super) effort: f64,
    /// Unit of forces: pull of the lowest mode at a displacement of the body's size, m kg^(1/2) / s^2.
    pub(super) push: f64,
    /// Error of a failed simulation, except for numerical overflow.
    pub(super) failure: Option<Error>,
    /// Derivatives of the targets by the forces, f k x w, and the factored `e / f + S'S`.
    sensitivity: Option<(Mat<f64>, Llt<f64>)>,
    played: Vec<f64>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(course: Course<'a>, wants: Vec<Want>, (effort, push): (f64, f64)) -> Self {
        let (sensitivity, played) = (None, Vec::new());
        Self { course, wants, effort, push, failure: None, sensitivity, played }
    }

    /// Minimises over the forces. At small efforts the keys are met closely, and the remaining freedom is a
    /// narrow curved valley. The continuation therefore starts at a larger effort and reduces it to a tenth
    /// each time.
    pub(super) fn descend(&mut self, forces: &mut Rows, params: &KeyedParams) -> Result<Outcome> {
        let (last, progress) = (self.effort, self.course.progress);
        let stages = (FIRST / params.effort).log10().ceil().max(0.0) as i32;
        let mut outcome = Outcome::default();
        for stage in (0..=stages).rev() {
            self.effort = last * 10.0_f64.powi(stage);
            let tolerance = if stage > 0 { params.tolerance.max(ON_THE_WAY) } else { params.tolerance };
            let begun = outcome.iterations;
            let budget = (params.max_iterations - begun, tolerance);
            let found = Descent::new(forces.len(), PAIRS).minimise(self, forces, budget, |iteration, _| {
                progress.report((begun + iteration) as f32 / params.max_iterations as f32)
            });
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            outcome = outcome.then(found?);
        }
        self.effort = last;
        Ok(outcome)
    }

    /// Number of force values, f k.
    pub(super) fn size(&self) -> usize {
        self.course.frames() * self.course.rank()
    }

    /// Simulates the shot under forces.
    pub(super) fn play(&mut self, forces: &[f64]) -> Result<()> {
        self.played.clear();
        self.played.extend_from_slice(forces);
        let pushes: Vec<f64> = forces.iter().map(|v| self.push * v).collect();
        self.course.play(&pushes)
    }

    /// Miss of each target in the simulated shot.
    pub(super) fn misses(&self) -> Vec<f64> {
        let miss = |want: &Want| -> f64 {
            let there = self.course.line.before(want.frame + 1, 0);
            want.row.iter().zip(there).map(|(a, y)| a * y).sum::<f64>() - want.goal
        };
        self.wants.iter().map(miss).collect()
    }

    /// Gradients of `sum_i s_i a_i.y` by the forces, for c sets of factors.
    fn slopes(&self, count: usize, factor: impl Fn(usize, usize) -> f64) -> Mat<f64> {
        let mut slopes = self.course.line.adjoint(count, |frame, pull| {
            for (i, want) in self.wants.iter().enumerate().filter(|(_, want)| want.frame == frame) {
                for c in 0..count {
                    let factor = factor(i, c);
                    if factor != 0.0 {
                        let pulled = pull.col_as_slice_mut(c).iter_mut().zip(&want.row);
                        pulled.for_each(|(sum, a)| *sum += factor * a);
                    }
                }
            }
        });
        slopes *= faer::Scale(self.push);
        slopes
    }
}

impl Objective for Plan<'_> {
    fn evaluate(&mut self, forces: &Rows, gradient: &mut Rows) -> Value {
        let none = Value { energy: f64::NAN, size: f64::NAN };
        if self.failure.is_some() {
            return none;
        }
        let (size, effort) = (self.size(), self.effort);
        match self.play(&forces.as_flattened()[..size]) {
            Ok(()) => {}
            Err(Error::Numerical { .. }) => return none,
            Err(error) => {
                self.failure = Some(error);
                return none;
            }
        }
        let misses = self.misses();
        let pulls: Vec<f64> =
            self.wants.iter().zip(&misses).map(|(want, miss)| want.weight.powi(2) * miss).collect();
        let slopes = self.slopes(1, |want, _| pulls[want]);
        gradient.as_flattened_mut().fill(0.0);
        let numbers = gradient.as_flattened_mut().iter_mut().zip(slopes.col_as_slice(0));
        numbers.zip(forces.as_flattened()).for_each(|((out, slope), v)| *out = slope + effort * v);
        let missed: f64 = misses.iter().zip(&pulls).map(|(miss, pull)| miss * pull).sum();
        let energy = 0.5 * (missed + effort * dot(forces, forces));
        Value { energy, size: energy }
    }

    fn visit(&mut self, forces: &Rows, _: u32) -> Result<bool> {
        let (size, count) = (self.size(), self.wants.len());
        if self.played != forces.as_flattened()[..size] {
            self.play(&forces.as_flattened()[..size])?;
        }
        let sensitivity = self.slopes(count, |want, c| if want == c { self.wants[want].weight } else { 0.0 });
        let mut normal = inner(sensitivity.as_ref(), sensitivity.as_ref());
        (0..count).for_each(|i| normal[(i, i)] += self.effort);
        let factor = Llt::new(normal.as_ref(), Side::Lower)
            .map_err(|error| Error::Numerical { what: "keys", why: format!("{error:?}") })?;
        self.sensitivity = Some((sensitivity, factor));
        Ok(false)
    }

    /// `(e/f + S S')^-1 g = f/e (g - S (e/f + S'S)^-1 S'g)`.
    fn solve(&mut self, rows: &mut Rows) {
        let size = self.size();
        let mut wanted = Mat::from_fn(size, 1, |i, _| rows.as_flattened()[i]);
        if let Some((sensitivity, factor)) = &self.sensitivity {
            let mut shares = inner(sensitivity.as_ref(), wanted.as_ref());
            factor.solve_in_place(&mut shares);
            add_product(wanted.as_mut(), -1.0, sensitivity.as_ref(), shares.as_ref());
        }
        let numbers = rows.as_flattened_mut().iter_mut().zip(wanted.col_as_slice(0));
        numbers.for_each(|(row, number)| *row = number / self.effort);
    }

    /// Length relative to the forces.
    fn length(&self, step: &Rows) -> f64 {
        let square = dot(step, step);
        let all: f64 = self.played.iter().map(|v| v * v).sum();
        if square > 0.0 { (square / all).sqrt() } else { square }
    }
}
