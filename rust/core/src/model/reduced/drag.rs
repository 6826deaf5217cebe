//! Drag in reduced coordinates: vertex drag, averaged over parts of a body.
//!
//! Linear drag `-c w` with a constant ratio `c / m` in each part is exact in the coordinates:
//! `D = sum_p (c_p / m_p) B_p'M_p B_p`. Quadratic drag, and the velocities of rig and medium, are evaluated
//! at the parts' centres of mass.

use faer::Mat;

use super::ReducedModel;
use super::parts::Parts;
use crate::Result;
use crate::inputs::drag::Drag;
use crate::inputs::settings::SimulationParams;
use crate::kinematics::history::{known_velocity, velocity};
use crate::kinematics::points::Points;
use crate::math::dense::{dot, product};
use crate::potentials::drag::{FOLLOWS, PointDrag, check_at_vertices, in_metric};
use crate::stepping::method::{RigState, last};
use crate::stepping::state::State;

/// Drag of a step, and scratch of its evaluation.
pub(super) struct ReducedDrag {
    /// Linear and quadratic coefficient of each part; empty without drag.
    given: Vec<[f64; 2]>,
    /// Velocity of the medium at each part, m/s.
    medium: Vec<[f64; 3]>,
    /// Quadratic drag.
    points: PointDrag,
    /// `c / m` of each part, bounded, and D, the lower half row by row.
    ratios: Vec<f64>,
    damping: Vec<f64>,
    /// `v_0 / h`.
    rate: f64,
    /// Velocity of the coordinates at the end of the substep without displacement, 1/s, and the drag force
    /// due to the rig's motion.
    known: Vec<f64>,
    pull: Vec<f64>,
    /// Velocity of the pose, 4 rows a handle; displacements of the parts, and forces on them.
    rig: Vec<[f64; 3]>,
    u: Vec<[f64; 3]>,
    forces: Vec<[f64; 3]>,
    /// Velocities of the coordinates, and forces on them.
    velocities: Vec<f64>,
    product: Vec<f64>,
}

impl ReducedDrag {
    pub(super) fn new(model: &ReducedModel) -> Self {
        let data = &model.data;
        let (count, rank) = (data.parts.masses.len(), data.rank());
        let (places, numbers) = (vec![[0.0; 3]; count], vec![0.0; rank]);
        Self {
            given: Vec::with_capacity(count),
            medium: places.clone(),
            points: PointDrag::new(data.parts.masses.clone(), data.mesh.diagonal()),
            ratios: vec![0.0; count],
            damping: vec![0.0; rank * (rank + 1) / 2],
            rate: 1.0,
            known: numbers.clone(),
            pull: numbers.clone(),
            rig: vec![[0.0; 3]; data.handle_rows()],
            u: places.clone(),
            forces: places,
            velocities: numbers.clone(),
            product: numbers,
        }
    }

    fn acts(&self) -> bool {
        !self.given.is_empty()
    }

    /// Stores the vertex drag of the next step: each part gets the sum of the coefficients, and the mean
    /// velocity of the medium.
    pub(super) fn enter(&mut self, model: &ReducedModel, drag: Option<&Drag>) -> Result<()> {
        self.given.clear();
        let Some(drag) = drag else { return Ok(()) };
        let (data, parts) = (&model.data, &model.data.parts);
        check_at_vertices(drag, data.mass.len())?;
        self.given.resize(parts.masses.len(), [0.0; 2]);
        self.medium.fill([0.0; 3]);
        for (vertex, &part) in parts.of.iter().enumerate() {
            let part = part as usize;
            self.given[part][0] += drag.linear()[vertex];
            self.given[part][1] += drag.quadratic()[vertex];
            let share = data.mass[vertex] / parts.masses[part];
            (0..3).for_each(|c| self.medium[part][c] += share * drag.velocity()[vertex][c]);
        }
        self.points.enter(std::iter::empty());
        if self.given.iter().any(|given| given[1] > 0.0) {
            let points = self.given.iter().zip(&self.medium).map(|([_, q], medium)| ([0.0, *q], *medium));
            self.points.enter(points);
        }
        Ok(())
    }

    /// Sets the known part of the velocities before a substep; returns the drag coefficient of the metric,
    /// 1/s^2.
    pub(super) fn prepare(
        &mut self,
        model: &ReducedModel,
        (state, rig): (&State, RigState<'_>),
        params: &SimulationParams,
        (inertia, h): (f64, f64),
    ) -> f64 {
        if !self.acts() {
            return 0.0;
        }
        let factors = params.integrator.velocity();
        let parts = &model.data.parts;
        self.rate = factors[0] / h;
        velocity(&state.path, rig.pose, factors, &mut self.rig);
        let [.., older, _] = &state.reduced;
        let (older, last) = (older.as_flattened(), last(state).as_flattened());
        for (k, known) in self.known.iter_mut().enumerate() {
            *known = known_velocity(older[k], last[k], factors) / h;
        }
        self.bound(parts, h);
        self.u.fill([0.0; 3]);
        parts.centers.add_posed(&self.rig, &mut self.u);
        for (part, (force, moved)) in self.forces.iter_mut().zip(&self.u).enumerate() {
            let c = self.ratios[part] * parts.masses[part];
            *force = std::array::from_fn(|axis| c * (moved[axis] / h - self.medium[part][axis]));
        }
        parts.centers.basis.project(self.forces.as_flattened(), &mut self.pull);
        let linear: f64 = self.ratios.iter().zip(&parts.masses).map(|(ratio, mass)| ratio * mass).sum();
        let mut steepness = self.rate * linear / model.data.total_mass;
        if self.points.acts() {
            parts.centers.basis.combine(&self.known, self.forces.as_flattened_mut());
            for (u, own) in self.u.iter_mut().zip(&self.forces) {
                (0..3).for_each(|c| u[c] += h * own[c]);
            }
            self.points.prepare(factors[0], h, |rows| rows.copy_from_slice(&self.u));
            steepness += self.points.steepness();
        }
        in_metric(steepness, inertia)
    }

    /// Sets the ratios, and D if they have changed.
    fn bound(&mut self, parts: &Parts, h: f64) {
        let mut changed = false;
        for ((ratio, [c, _]), mass) in self.ratios.iter_mut().zip(&self.given).zip(&parts.masses) {
            let now = if *mass > 0.0 { (c / mass).min(FOLLOWS / h) } else { 0.0 };
            changed |= now != std::mem::replace(ratio, now);
        }
        if changed {
            parts.inertias.combine(&self.ratios, &mut self.damping);
        }
    }

    /// Potential, J, without constant terms; adds the gradient.
    pub(super) fn evaluate(&mut self, model: &ReducedModel, y: &[f64], gradient: &mut [f64]) -> f64 {
        if !self.acts() {
            return 0.0;
        }
        for ((velocity, y), known) in self.velocities.iter_mut().zip(y).zip(&self.known) {
            *velocity = self.rate * y + known;
        }
        symmetric_product(&self.damping, &self.velocities, &mut self.product);
        let mut potential = 0.0;
        for (k, velocity) in self.velocities.iter().enumerate() {
            potential += (0.5 * self.product[k] + self.pull[k]) * velocity;
            gradient[k] += self.product[k] + self.pull[k];
        }
        potential / self.rate + self.points.evaluate(&model.data.parts.centers.basis, y, gradient)
    }

    /// Adds the force of the medium on a body at rest, then switches drag off.
    pub(super) fn rest(&mut self, model: &ReducedModel, h: f64, force: &mut [f64]) {
        if !self.acts() {
            return;
        }
        let parts = &model.data.parts;
        self.bound(parts, h);
        for (part, (force, medium)) in self.forces.iter_mut().zip(&self.medium).enumerate() {
            *force = medium.map(|u| self.ratios[part] * parts.masses[part] * u);
        }
        self.points.rest_at(h, &mut self.forces);
        parts.centers.basis.pull_back(&self.forces, force);
        self.given.clear();
    }

    /// Adds the second derivatives at the last evaluation.
    pub(super) fn add_hessian(&self, model: &ReducedModel, sum: &mut Mat<f64>) {
        if !self.acts() {
            return;
        }
        let lower = |i: usize, j: usize| self.damping[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
        *sum += Mat::from_fn(sum.nrows(), sum.ncols(), |i, j| self.rate * lower(i, j));
        if !self.points.acts() {
            return;
        }
        let basis = &model.data.parts.centers.basis;
        for (part, u) in self.points.moved().iter().enumerate() {
            let hessian = self.points.hessian(part, u);
            let own = Mat::from_fn(3, sum.ncols(), |c, k| basis.at(3 * part + c, k));
            let forces = product(Mat::from_fn(3, 3, |i, j| hessian[(i, j)]).as_ref(), own.as_ref());
            *sum += product(own.transpose(), forces.as_ref());
        }
    }
}

/// `out = A x` for a symmetric matrix, stored as its lower half row by row.
fn symmetric_product(lower: &[f64], x: &[f64], out: &mut [f64]) {
    let mut rest = lower;
    for i in 0..x.len() {
        let (row, further) = rest.split_at(i + 1);
        rest = further;
        out[i] = dot(row, &x[..=i]);
        out[..i].iter_mut().zip(row).for_each(|(out, entry)| *out += entry * x[i]);
    }
}
