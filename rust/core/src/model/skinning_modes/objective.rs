//! The incremental energy of a step and the metric of its descent, mostly a constant diagonal.
//!
//! With the metric of `[FastCD]`'s global step alone, the first step of a descent is one local and one global
//! step. That metric resists all changes of the gradients, the energy only those that are no rotations. The
//! elastic part is therefore multiplied by the share of these. The resistance to volume change at rest is
//! added. Its Hessian is `v (G dY)(G dY)'` traced over each cluster. For displacements fixed at the border,
//! the integral of a field's squared divergence is at most that of its squared gradient, therefore
//! `v |G dY|^2` is an upper bound, and its diagonal in the reduced coordinates costs nothing. For a uniform
//! Poisson ratio and fine clusters this is the spectrum times `1 + lambda / (2 mu)`, the Laplacian of
//! conductivity `2 mu + lambda`. L-BFGS corrects the difference from the last few gradients, above all that
//! shear is independent of lambda (as in `[QN]`). An active stretch limit adds its stiffness for
//! all changes of the gradients, which couples the coordinates.

use faer::prelude::ReborrowMut;

use super::SkinningModel;
use super::contact::Touching;
use super::drag::DragForce;
use super::limit::Limit;
use super::local::LocalScratch;
use super::metric::Metric;
use super::opening::Opening;
use super::stretch::StretchLimit;
use crate::Result;
use crate::math::rows::{Rows, dot};
use crate::solve::{Lbfgs, Objective, Value};

/// Number of stored curvature pairs.
pub(super) const PAIRS: usize = 5;
/// Number of iterations after which an active stretch limit is renewed in the metric.
const RENEWED: u32 = 8;

/// The incremental energy `sum of d_i |Y_i|^2 / 2 - b_i . Y_i + s (misfit - Y . force)`, J.
pub(super) struct Incremental<'a> {
    pub(super) model: &'a SkinningModel,
    /// d, r: inertia, damping and the quadratic part of the elastic energy.
    pub(super) diagonal: &'a [f64],
    /// b, r rows.
    pub(super) linear: &'a Rows,
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
    pub(super) touching: Option<&'a mut Touching>,
    pub(super) local: &'a mut LocalScratch,
    /// Constant except for the stretch limit.
    pub(super) metric: &'a mut Metric,
    /// `true` if the metric has the stretch limit.
    pub(super) is_stretched: &'a mut bool,
    /// Misfit, J, and the clusters' force at the accepted point.
    pub(super) misfit: &'a mut f64,
    pub(super) force: &'a mut Rows,
    /// The same at the last evaluation.
    pub(super) tried: (f64, &'a mut Rows),
    /// Smallest curvature, 1/s^2, and the share of the tolerance for this motion.
    pub(super) least: f64,
    pub(super) exact: f64,
    /// `true` in the first iteration.
    pub(super) is_first: bool,
}

impl Incremental<'_> {
    /// Sets what couples coordinates in the metric: opened stitches, drag at y and, if `stretches`, the
    /// stretch limit at the last evaluation.
    pub(super) fn couple(&mut self, y: &Rows, stretches: bool) {
        let Self { model, metric, opening, drag, stretch, .. } = self;
        *self.is_stretched = stretches;
        metric.uncouple();
        if stretches || drag.acts() || opening.acts() {
            metric.couple(|mut lower| {
                opening.add_metric(lower.rb_mut());
                drag.add_metric(y, lower.rb_mut());
                if stretches {
                    stretch.add_metric(model, lower);
                }
            });
        }
    }
}

impl Objective for Incremental<'_> {
    fn evaluate(&mut self, y: &Rows, gradient: &mut Rows) -> Value {
        let stretch = self.stretch.potential(self.model, y);
        if !stretch.is_finite() {
            self.tried.0 = 0.0;
            return Value { energy: stretch, size: stretch };
        }
        let (misfit, force) = &mut self.tried;
        *misfit = self.local.solve(self.model, y, self.pose_rest, force);
        let (mut quadratic, mut linear, mut clusters) = (0.0, 0.0, *misfit);
        for i in 0..y.len() {
            for c in 0..3 {
                let force = force[i][c];
                let stiff = self.diagonal[i] * y[i][c];
                quadratic += 0.5 * stiff * y[i][c];
                linear += self.linear[i][c] * y[i][c];
                clusters -= force * y[i][c];
                gradient[i][c] = stiff - self.linear[i][c] - self.stiffness * force;
            }
        }
        let clusters = self.stiffness * clusters;
        let limit = self.limit.evaluate(self.model, y, gradient);
        self.stretch.add_gradient(self.model, gradient);
        let drag = self.drag.evaluate(y, gradient);
        let resisted = limit + stretch + drag;
        let opened = self.opening.evaluate(y, gradient);
        let contact = self.touching.as_mut().map_or(0.0, |touching| touching.contact.evaluate(y));
        let resisted = resisted + contact;
        let size = quadratic + linear.abs() + clusters.abs() + (self.stiffness * *misfit).abs() + resisted;
        Value { energy: quadratic + opened - linear + clusters + resisted, size }
    }

    fn accept(&mut self) {
        *self.misfit = self.tried.0;
        self.force.copy_from_slice(self.tried.1);
    }

    fn visit(&mut self, y: &Rows, iteration: u32) -> Result<bool> {
        self.is_first = iteration == 0;
        let is_due = !*self.is_stretched || iteration.is_multiple_of(RENEWED);
        if is_due && self.stretch.was_felt_widely() {
            self.couple(y, true);
        }
        Ok(false)
    }

    fn solve(&mut self, rows: &mut Rows) {
        self.metric.solve(rows);
    }

    fn correct(&mut self, y: &Rows, memory: &mut Lbfgs, direction: &mut Rows, value: &mut Value) {
        if let Some(touching) = &mut self.touching {
            touching.correct(self.metric, y, memory, (direction, value));
        }
    }

    fn further_slope(&self, direction: &Rows) -> f64 {
        self.touching.as_ref().map_or(0.0, |touching| touching.contact.slope(direction))
    }

    /// By the slope, which is twice the energy above the minimum in the metric, and the smallest curvature.
    /// A substep has one iteration at least, so that flesh comes to rest however coarse the tolerance.
    fn left(&mut self, slope: f64) -> Option<f64> {
        if slope.is_nan() || slope > 0.0 || self.is_first {
            return Some(f64::INFINITY);
        }
        Some((-slope / self.least).sqrt() / (self.exact * self.model.unit()))
    }

    fn length(&self, step: &Rows) -> f64 {
        length(step) / self.model.unit()
    }
}

/// Mass norm of a difference of coordinates.
pub(super) fn length(step: &Rows) -> f64 {
    dot(step, step).sqrt()
}
