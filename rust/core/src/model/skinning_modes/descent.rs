//! Descent on the incremental energy for steps without an exact global step: quasi-Newton from a constant
//! diagonal metric, with a line search `[FastCD C.2]`.
//!
//! The metric is that of the global step plus the resistance to volume change at rest. The Hessian of this
//! resistance is `v (G dY)(G dY)'` traced over each cluster. For displacements fixed at the border, the
//! integral of a field's squared divergence is at most that of its squared gradient, therefore `v |G dY|^2`
//! is an upper bound, and its diagonal in the reduced coordinates costs nothing. For a uniform Poisson
//! ratio and fine clusters this is the spectrum times `1 + lambda / (2 mu)`, the Laplacian of conductivity
//! `2 mu + lambda`. L-BFGS corrects the difference from the last few gradients, above all that shear is
//! independent of lambda (as in `[QN]`). The stretch limit is stiff in few directions, which are added to
//! the metric at each iterate.

use super::SkinningModel;
use super::drag::DragForce;
use super::limit::Limit;
use super::local::LocalScratch;
use super::metric::Metric;
use super::opening::Opening;
use super::stretch::StretchLimit;
use crate::Result;

/// Number of stored curvature pairs.
const MEMORY: usize = 5;
/// Armijo constant: accepted share of the decrease predicted by the slope.
const SUFFICIENT: f64 = 1e-4;
/// Most trials along one direction.
const TRIALS: u32 = 20;
/// Smallest and largest shortening factor of a trial.
const SHORTEN: (f64, f64) = (0.05, 0.5);
/// Shortening factor of a trial beyond a limit.
const BEYOND: f64 = 0.25;
/// Relative size of energy differences that count as rounding; the slope then decides.
const ROUNDING: f64 = 1e-13;

/// The incremental energy `sum of d_i |Y_i|^2 / 2 - b_i . Y_i + s (misfit - Y . force)`, J.
pub(super) struct Objective<'a> {
    pub(super) model: &'a SkinningModel,
    /// d, r: inertia, damping and the quadratic part of the elastic energy.
    pub(super) diagonal: &'a [f64],
    /// b, r rows.
    pub(super) linear: &'a [[f64; 3]],
    /// s.
    pub(super) stiffness: f64,
    pub(super) pose_rest: f64,
    /// Displacement limit.
    pub(super) limit: &'a mut Limit,
    /// Stretch limit.
    pub(super) stretch: &'a mut StretchLimit,
    /// Drag.
    pub(super) drag: &'a mut DragForce,
    /// Quadratic terms of opened stitches.
    pub(super) opening: &'a Opening,
}

#[derive(Clone, Copy, Default)]
struct Value {
    energy: f64,
    /// Sum of the magnitudes of its terms.
    size: f64,
    misfit: f64,
}

impl Objective<'_> {
    /// Energy at y; writes the gradient and the clusters' force.
    fn evaluate(&mut self, local: &mut LocalScratch, y: &[[f64; 3]], at: &mut Derivatives) -> Value {
        let stretch = self.stretch.potential(self.model, y);
        if !stretch.is_finite() {
            return Value { energy: stretch, size: stretch, misfit: 0.0 };
        }
        let misfit = local.solve(self.model, y, self.pose_rest, &mut at.force);
        let (mut quadratic, mut linear, mut clusters) = (0.0, 0.0, misfit);
        for i in 0..y.len() {
            for c in 0..3 {
                let force = at.force[i][c];
                let stiff = self.diagonal[i] * y[i][c];
                quadratic += 0.5 * stiff * y[i][c];
                linear += self.linear[i][c] * y[i][c];
                clusters -= force * y[i][c];
                at.gradient[i][c] = stiff - self.linear[i][c] - self.stiffness * force;
            }
        }
        let clusters = self.stiffness * clusters;
        let limit = self.limit.evaluate(self.model, y, &mut at.gradient);
        self.stretch.add_gradient(self.model, &mut at.gradient);
        let drag = self.drag.evaluate(y, &mut at.gradient);
        let resisted = limit + stretch + drag;
        let opened = self.opening.evaluate(y, &mut at.gradient);
        let size = quadratic + linear.abs() + clusters.abs() + (self.stiffness * misfit).abs() + resisted;
        Value { energy: quadratic + opened - linear + clusters + resisted, size, misfit }
    }
}

struct Derivatives {
    force: Vec<[f64; 3]>,
    gradient: Vec<[f64; 3]>,
}

impl Derivatives {
    fn new(rank: usize) -> Self {
        Self { force: vec![[0.0; 3]; rank], gradient: vec![[0.0; 3]; rank] }
    }
}

/// Curvature pair: a step and its change of the gradient.
struct Pair {
    step: Vec<[f64; 3]>,
    change: Vec<[f64; 3]>,
    /// Product of step and change.
    curvature: f64,
}

/// Scratch of the descent; every call starts without curvature pairs.
pub(super) struct Descent {
    /// Constant except for the stiff directions of the stretch limit.
    pub(super) metric: Metric,
    /// Ring of pairs, older first; the last `known` are valid.
    pairs: Vec<Pair>,
    known: usize,
    here: Derivatives,
    there: Derivatives,
    direction: Vec<[f64; 3]>,
    trial: Vec<[f64; 3]>,
}

impl Descent {
    pub(super) fn new(rank: usize) -> Self {
        let rows = || vec![[0.0; 3]; rank];
        let pair = |_| Pair { step: rows(), change: rows(), curvature: 0.0 };
        Self {
            metric: Metric::new(rank),
            pairs: (0..MEMORY).map(pair).collect(),
            known: 0,
            here: Derivatives::new(rank),
            there: Derivatives::new(rank),
            direction: rows(),
            trial: rows(),
        }
    }

    /// Gradient at y; `None` for an energy that is not finite.
    pub(super) fn gradient(
        &mut self,
        objective: &mut Objective<'_>,
        local: &mut LocalScratch,
        y: &[[f64; 3]],
    ) -> Option<&[[f64; 3]]> {
        let value = objective.evaluate(local, y, &mut self.there);
        value.energy.is_finite().then_some(&self.there.gradient[..])
    }

    /// Moves `y` downhill until a step is no longer than `tolerance`, or rounding hides further descent.
    /// Returns iterations, the length of the last step and the misfit; writes the clusters' final force to
    /// `force`. `heard` receives the number of each iteration before its start.
    pub(super) fn minimise(
        &mut self,
        objective: &mut Objective<'_>,
        local: &mut LocalScratch,
        (y, force): (&mut [[f64; 3]], &mut [[f64; 3]]),
        (max_iterations, tolerance): (u32, f64),
        heard: impl Fn(u32) -> Result<()>,
    ) -> Result<(u32, f64, f64)> {
        self.known = 0;
        let mut value = objective.evaluate(local, y, &mut self.here);
        let (mut iterations, mut length) = (0, 0.0);
        while iterations < max_iterations && value.energy.is_finite() {
            heard(iterations)?;
            iterations += 1;
            objective.stretch.stiffen(objective.model, &mut self.metric);
            let Some(share) = self.advance(objective, local, y, &mut value) else {
                // A NaN direction is no descent direction either.
                length = if dot(&self.direction, &self.direction).is_finite() { 0.0 } else { f64::NAN };
                break;
            };
            length = share * dot(&self.direction, &self.direction).sqrt();
            self.learn(y);
            y.copy_from_slice(&self.trial);
            std::mem::swap(&mut self.here, &mut self.there);
            if length <= tolerance {
                break;
            }
        }
        force.copy_from_slice(&self.here.force);
        // An energy that is not finite fails the step, for any length.
        let length = if value.energy.is_finite() { length } else { f64::NAN };
        Ok((iterations, length, value.misfit))
    }

    /// Searches for a sufficient decrease along the quasi-Newton direction, else along the metric's;
    /// returns the accepted share of the direction.
    fn advance(
        &mut self,
        objective: &mut Objective<'_>,
        local: &mut LocalScratch,
        y: &[[f64; 3]],
        value: &mut Value,
    ) -> Option<f64> {
        loop {
            let learnt = self.known > 0;
            self.aim();
            let found = self.search(objective, local, y, value);
            if found.is_some() || !learnt {
                return found;
            }
            self.known = 0;
        }
    }

    /// Armijo backtracking to the minimum of the interpolating parabola.
    fn search(
        &mut self,
        objective: &mut Objective<'_>,
        local: &mut LocalScratch,
        y: &[[f64; 3]],
        value: &mut Value,
    ) -> Option<f64> {
        let slope = dot(&self.here.gradient, &self.direction);
        if !(slope < 0.0 && slope.is_finite()) {
            return None;
        }
        let mut share = 1.0;
        for _ in 0..TRIALS {
            for (row, trial) in self.trial.iter_mut().enumerate() {
                (0..3).for_each(|c| trial[c] = y[row][c] + share * self.direction[row][c]);
            }
            let next = objective.evaluate(local, &self.trial, &mut self.there);
            let rise = next.energy - value.energy;
            let flat = rise.is_finite() && rise.abs() <= ROUNDING * value.size.max(next.size);
            let downhill = || dot(&self.there.gradient, &self.direction) <= (2.0 * SUFFICIENT - 1.0) * slope;
            if rise <= SUFFICIENT * share * slope || (flat && downhill()) {
                *value = next;
                return Some(share);
            }
            let parabola = -0.5 * share * slope / (rise / share - slope);
            share = if parabola.is_finite() {
                parabola.clamp(SHORTEN.0 * share, SHORTEN.1 * share)
            } else {
                BEYOND * share
            };
        }
        None
    }

    /// Two-loop recursion of L-BFGS.
    fn aim(&mut self) {
        let pairs = &self.pairs[MEMORY - self.known..];
        let mut shares = [0.0; MEMORY];
        self.direction.copy_from_slice(&self.here.gradient);
        for (pair, share) in pairs.iter().zip(&mut shares).rev() {
            *share = dot(&pair.step, &self.direction) / pair.curvature;
            add(&mut self.direction, -*share, &pair.change);
        }
        self.metric.solve(&mut self.direction);
        self.direction.as_flattened_mut().iter_mut().for_each(|x| *x = -*x);
        for (pair, share) in pairs.iter().zip(&shares) {
            let correction = dot(&pair.change, &self.direction) / pair.curvature;
            add(&mut self.direction, -share - correction, &pair.step);
        }
    }

    /// Adds the pair of the step from y to the trial; discards all pairs if its curvature is not positive.
    fn learn(&mut self, y: &[[f64; 3]]) {
        self.pairs.rotate_left(1);
        let pair = &mut self.pairs[MEMORY - 1];
        for row in 0..y.len() {
            for c in 0..3 {
                pair.step[row][c] = self.trial[row][c] - y[row][c];
                pair.change[row][c] = self.there.gradient[row][c] - self.here.gradient[row][c];
            }
        }
        pair.curvature = dot(&pair.step, &pair.change);
        let least =
            f64::EPSILON * dot(&pair.step, &pair.step).sqrt() * dot(&pair.change, &pair.change).sqrt();
        if pair.curvature > least {
            self.known = (self.known + 1).min(MEMORY);
        } else {
            self.known = 0;
        }
    }
}

fn dot(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).sum()
}

fn add(out: &mut [[f64; 3]], factor: f64, x: &[[f64; 3]]) {
    out.iter_mut().zip(x).for_each(|(out, x)| (0..3).for_each(|c| out[c] += factor * x[c]));
}
