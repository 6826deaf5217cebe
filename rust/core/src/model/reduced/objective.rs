//! The incremental energy of a step in the coordinates of a basis.

use faer::Mat;

use super::ReducedModel;
use super::drag::PartDrag;
use super::elastic::Elastic;
use crate::math::rows::{Rows, combine};
use crate::potentials::displacement_limit::Limit;
use crate::potentials::elastic::samples::Keep;
use crate::solve::{Objective, Value};

/// Distance from which a start counts as far, root mean square as a share of the diagonal.
pub(super) const FAR: f64 = 0.1;

/// Constant terms of a step's energy; rows hold three coordinates each, padded with zeros.
pub(super) struct Terms {
    /// Inertial target of the coordinates, with constant forces.
    pub(super) target: Vec<[f64; 3]>,
    /// Reference coordinates of damping.
    pub(super) damped: Vec<[f64; 3]>,
    /// External force, k.
    pub(super) force: Vec<f64>,
    /// `a_0 / h^2`, 1/s^2.
    pub(super) inertia: f64,
    /// Extra mass factor of the metric in statics, 1/s^2.
    pub(super) held: f64,
    /// Factor on the elastic energy.
    pub(super) stiffness: f64,
    /// Displacement limit.
    pub(super) limit: Option<Limit>,
    /// Mass damping, 1/s^2, and stiffness damping, as they enter the metric.
    pub(super) drag: [f64; 2],
    /// Drag coefficient of the metric, 1/s^2.
    pub(super) dragged: f64,
}

impl Terms {
    pub(super) fn new(rank: usize) -> Self {
        let zeros = || vec![[0.0; 3]; rank.div_ceil(3)];
        Self {
            target: zeros(),
            damped: zeros(),
            force: vec![0.0; rank],
            inertia: 0.0,
            held: 0.0,
            stiffness: 1.0,
            limit: None,
            drag: [0.0; 2],
            dragged: 0.0,
        }
    }

    /// Factors of mass and Laplacian in the metric.
    pub(super) fn metric(&self) -> [f64; 2] {
        [self.inertia + self.held + self.drag[0] + self.dragged, self.stiffness + self.drag[1]]
    }
}

/// `inertia / 2 |y - target|^2 + stiffness E(y) - force.y`, and damping.
pub(super) struct Incremental<'a> {
    pub(super) model: &'a ReducedModel,
    pub(super) elastic: &'a mut Elastic,
    pub(super) terms: &'a Terms,
    /// Drag of the medium.
    pub(super) drag: &'a mut PartDrag,
    /// `sum of V k`, J: magnitude of the terms of a law that cancel near rest, which bounds the rounding
    /// error.
    pub(super) rounding: f64,
}

impl Incremental<'_> {
    /// Writes the Hessian at the last evaluation, k x k, with `keep` applied to the eigenvalues of each
    /// element.
    pub(super) fn write_hessian(&self, keep: Keep, sum: &mut Mat<f64>) {
        let (model, terms) = (self.model, self.terms);
        let inertia = terms.inertia + terms.held + terms.drag[0];
        let spectrum = &model.data.spectrum;
        for (j, column) in sum.col_iter_mut().enumerate() {
            for (i, number) in column.iter_mut().enumerate() {
                let own = if i == j { inertia + terms.drag[1] * spectrum[i] } else { 0.0 };
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
    pub(super) fn start(&mut self, others: [&Rows; 2], y: &mut Rows, room: &mut Rows) {
        combine(room, y, -1.0, others[0]);
        if self.length(room).max(self.length(others[0])) <= FAR {
            return;
        }
        let energies = others.map(|other| self.evaluate(other, room).energy);
        // Evaluated last, since most descents begin there.
        let mut least = self.evaluate(y, room).energy;
        for (other, energy) in others.into_iter().zip(energies) {
            if energy < least || least.is_nan() {
                least = energy;
                y.copy_from_slice(other);
            }
        }
    }
}

impl Objective for Incremental<'_> {
    fn evaluate(&mut self, y: &Rows, gradient: &mut Rows) -> Value {
        let (terms, data) = (self.terms, &self.model.data);
        let (y, gradient) = (y.as_flattened(), gradient.as_flattened_mut());
        let rank = data.rank();
        gradient[rank..].fill(0.0);
        let gradient = &mut gradient[..rank];
        let mut energy = terms.stiffness * self.elastic.evaluate(self.model, &y[..rank], gradient);
        let mut work = 0.0;
        let (target, damped) = (terms.target.as_flattened(), terms.damped.as_flattened());
        for (k, gradient) in gradient.iter_mut().enumerate() {
            let (apart, moved) = (y[k] - target[k], y[k] - damped[k]);
            let drag = terms.drag[0] + terms.drag[1] * data.spectrum[k];
            energy += 0.5 * (terms.inertia * apart * apart + drag * moved * moved);
            work += terms.force[k] * y[k];
            *gradient = terms.stiffness * *gradient + terms.inertia * apart + drag * moved - terms.force[k];
        }
        if let Some(limit) = &terms.limit {
            energy += self.elastic.limits.displacement(self.model, limit, &y[..rank], gradient);
        }
        energy += self.drag.evaluate(self.model, &y[..rank], gradient);
        let size = energy.abs() + work.abs() + terms.stiffness * self.rounding;
        Value { energy: energy - work, size }
    }

    fn solve(&mut self, rows: &mut Rows) {
        let [inertia, stiffness] = self.terms.metric();
        for (row, value) in rows.as_flattened_mut().iter_mut().zip(&self.model.data.spectrum) {
            *row /= inertia + stiffness * value;
        }
    }

    fn length(&self, step: &Rows) -> f64 {
        let squares: f64 = step.as_flattened().iter().map(|x| x * x).sum();
        squares.sqrt() / self.model.unit()
    }
}
