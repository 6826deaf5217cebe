//! The incremental energy of a step in the coordinates of a basis.

use faer::Mat;

use super::ReducedModel;
use super::drag::ReducedDrag;
use super::elastic::Elastic;
use crate::Result;
use crate::math::rows::{Rows, combine};
use crate::potentials::contact::{Inverse, ReducedContact};
use crate::potentials::displacement_limit::Limit;
use crate::potentials::elastic::samples::Keep;
use crate::potentials::inertia::Inertia;
use crate::solve::{FAR, Lbfgs, Objective, Value, share_of_tolerance, take_lowest};

/// Constant terms of a step's energy; rows hold three coordinates each, padded with zeros.
pub(super) struct Terms {
    pub(super) inertia: Inertia,
    /// External force, k.
    pub(super) force: Vec<f64>,
    /// Factor on the elastic energy.
    pub(super) stiffness: f64,
    /// Displacement limit.
    pub(super) limit: Option<Limit>,
}

impl Terms {
    pub(super) fn new(rank: usize) -> Self {
        let inertia = Inertia::new(rank.div_ceil(3));
        Self { inertia, force: vec![0.0; rank], stiffness: 1.0, limit: None }
    }

    /// Factors of mass and Laplacian in the metric.
    pub(super) fn metric(&self) -> [f64; 2] {
        self.inertia.metric(self.stiffness)
    }
}

/// `inertia / 2 |y - target|^2 + stiffness E(y) - force.y`, and damping.
pub(super) struct Incremental<'a> {
    pub(super) model: &'a ReducedModel,
    pub(super) elastic: &'a mut Elastic,
    pub(super) terms: &'a Terms,
    /// Scratch of damping: motion and its resistance, k each.
    pub(super) damping: &'a mut [Vec<f64>; 2],
    /// Drag of the medium.
    pub(super) drag: &'a mut ReducedDrag,
    pub(super) contact: Option<&'a mut ReducedContact>,
    /// `sum of V k`, J: magnitude of the terms of a law that cancel near rest, which bounds the rounding
    /// error.
    pub(super) rounding: f64,
    pub(super) left: Left,
}

/// Course of a descent towards the minimum.
#[derive(Default)]
pub(super) struct Left {
    /// Largest distance in this substep, by the metric.
    farthest: f64,
    /// `true` after the first iteration.
    pub(super) has_begun: bool,
}

impl Incremental<'_> {
    /// Writes the Hessian at the last evaluation, k x k, with `keep` applied to the eigenvalues of each
    /// element.
    pub(super) fn write_hessian(&self, keep: Keep, sum: &mut Mat<f64>) {
        let (model, terms) = (self.model, self.terms);
        let Inertia { factor, held, viscous, .. } = &terms.inertia;
        for (j, column) in sum.col_iter_mut().enumerate() {
            for (i, number) in column.iter_mut().enumerate() {
                let own =
                    if i == j { factor + held } else { 0.0 } + viscous * model.data.damping.matrix.at(i, j);
                let whole: f64 = model.data.quadratics().map(|quadratic| quadratic.own.at(i, j)).sum();
                *number = own + terms.stiffness * (whole + model.unseen.at(i, j));
            }
        }
        let elastic = &self.elastic;
        elastic.add_hessian(model, (terms.stiffness, keep), sum);
        elastic.limits.add_stretch_hessian(model, (terms.stiffness, keep), sum);
        if let Some(limit) = &terms.limit {
            elastic.limits.add_displacement_hessian(model, limit, sum);
        }
        self.drag.add_hessian(model, sum);
    }

    /// Replaces a distant start by one of `others`, the last coordinates and zero, whichever has the lowest
    /// energy, as in the full space.
    pub(super) fn start(&mut self, others: [&Rows; 2], y: &mut Rows, scratch: &mut Rows) {
        combine(scratch, y, -1.0, others[0]);
        if self.length(scratch).max(self.length(others[0])) <= FAR {
            return;
        }
        take_lowest(self, y, others, scratch);
    }
}

impl Objective for Incremental<'_> {
    fn evaluate(&mut self, y: &Rows, gradient: &mut Rows) -> Value {
        let (terms, data) = (self.terms, &self.model.data);
        let (rows, y, gradient) = (y, y.as_flattened(), gradient.as_flattened_mut());
        let rank = data.rank();
        gradient[rank..].fill(0.0);
        let gradient = &mut gradient[..rank];
        let mut energy = terms.stiffness * self.elastic.evaluate(self.model, &y[..rank], gradient);
        let mut work = 0.0;
        let Inertia { target, damped, factor, viscous, .. } = &terms.inertia;
        let (target, damped) = (target.as_flattened(), damped.as_flattened());
        let [moved, resistance] = &mut *self.damping;
        moved.iter_mut().zip(y.iter().zip(damped)).for_each(|(moved, (y, damped))| *moved = y - damped);
        data.damping.matrix.combine(moved, resistance);
        for (k, gradient) in gradient.iter_mut().enumerate() {
            let (apart, drag) = (y[k] - target[k], viscous * resistance[k]);
            energy += 0.5 * (factor * apart * apart + drag * moved[k]);
            work += terms.force[k] * y[k];
            *gradient = terms.stiffness * *gradient + factor * apart + drag - terms.force[k];
        }
        if let Some(limit) = &terms.limit {
            energy += self.elastic.limits.displacement(self.model, limit, &y[..rank], gradient);
        }
        energy += self.drag.evaluate(self.model, &y[..rank], gradient);
        energy += self.contact.as_mut().map_or(0.0, |contact| contact.evaluate(rows));
        let size = energy.abs() + work.abs() + terms.stiffness * self.rounding;
        Value { energy: energy - work, size }
    }

    fn visit(&mut self, _: &Rows, iteration: u32) -> Result<bool> {
        self.left.has_begun = iteration > 0;
        Ok(false)
    }

    fn solve(&mut self, rows: &mut Rows) {
        solve(self.model, self.terms.metric(), rows);
    }

    fn correct(&mut self, y: &Rows, memory: &mut Lbfgs, direction: &mut Rows, value: &mut Value) {
        if let Some(contact) = &mut self.contact {
            let (model, metric) = (self.model, self.terms.metric());
            let mut even = |rows: &mut Rows| solve(model, metric, rows);
            contact.correct(y, memory, (direction, value), Inverse::even(&mut even));
        }
    }

    fn further_slope(&self, direction: &Rows) -> f64 {
        self.contact.as_ref().map_or(0.0, |contact| contact.slope(direction))
    }

    /// As in the full space. A substep has one iteration at least, so that small swings keep their frequency
    /// however coarse the tolerance.
    fn left(&mut self, slope: f64) -> Option<f64> {
        if slope.is_nan() || slope > 0.0 {
            return Some(f64::INFINITY);
        }
        let (Inertia { factor, held, .. }, data) = (&self.terms.inertia, &self.model.data);
        let curvature = factor + held + self.terms.stiffness * data.spectrum[0].max(0.0);
        let left = (-slope / curvature).sqrt() / self.model.unit();
        self.left.farthest = self.left.farthest.max(left);
        let left = data.yielding.sqrt() * left / share_of_tolerance(self.left.farthest);
        Some(if self.left.has_begun { left } else { f64::INFINITY })
    }

    fn length(&self, step: &Rows) -> f64 {
        let squares: f64 = step.as_flattened().iter().map(|x| x * x).sum();
        squares.sqrt() / self.model.unit()
    }
}

/// Applies the inverse of the metric, with its factors of mass and Laplacian.
pub(super) fn solve(model: &ReducedModel, [inertia, stiffness]: [f64; 2], rows: &mut Rows) {
    for (row, value) in rows.as_flattened_mut().iter_mut().zip(&model.data.spectrum) {
        *row /= inertia + stiffness * value;
    }
}
