//! The incremental energy of a step in the coordinates of handles.

use std::cell::RefCell;

use super::ProjectiveModel;
use super::drag::HandleDrag;
use super::grip::PointSprings;
use super::system::System;
use crate::kinematics::rigid::RigidMotions;
use crate::math::rows::{Rows, add, combine, dot};
use crate::math::symmetric::Scratch;
use crate::potentials::contact::{Contact, Inverse};
use crate::potentials::elastic::body::BodyScratch;
use crate::solve::{Lbfgs, Objective, Value};

/// Constant terms of a step's energy.
pub(super) struct Terms {
    /// Inertial target of the coordinates.
    pub(super) target: Vec<[f64; 3]>,
    /// `stiffness D target`, with D the part of the stiffness outside of the clusters, plus the
    /// attachment's gradient at the target.
    pub(super) pull: Vec<[f64; 3]>,
    /// Energy of D at the target, J; an attachment's energy is relative to the target.
    pub(super) start: f64,
    /// External force, r x 3.
    pub(super) force: Vec<[f64; 3]>,
    /// Reference coordinates of damping by stiffness.
    pub(super) damped: Vec<[f64; 3]>,
    /// Rest length factor of the body.
    pub(super) inflation: f64,
}

/// `inertia / 2 |y - target|^2 + stiffness E(y) - force.y`, and the energies of an attachment, of gripped
/// points, of drag and of damping by stiffness.
///
/// With fixed rotations of the clusters, the metric's solution is the minimum: a step in the metric is one
/// local and one global step `[PD]`, and never raises the energy.
pub(super) struct Incremental<'a> {
    pub(super) model: &'a ProjectiveModel,
    pub(super) system: &'a System,
    pub(super) terms: &'a Terms,
    pub(super) elastic: &'a mut BodyScratch,
    pub(super) holds: &'a PointSprings,
    pub(super) medium: Option<&'a mut HandleDrag>,
    pub(super) rigid: &'a mut RigidMotions,
    pub(super) scratch: RefCell<&'a mut Scratch>,
    pub(super) contact: Option<&'a mut Contact>,
}

impl Incremental<'_> {
    /// Elastic energy at given coordinates, J.
    pub(super) fn elastic(
        model: &ProjectiveModel,
        (y, inflation): (&Rows, f64),
        elastic: &mut BodyScratch,
        (scratch, unused): (&mut Scratch, &mut Rows),
    ) -> f64 {
        model.packed_unseen.multiply(y, &mut scratch.rows, &mut scratch.spread);
        0.5 * dot(y, &scratch.rows) + model.body.evaluate(y, [0.0, inflation], unused, elastic)
    }

    /// Energy of damping by stiffness, which leaves rigid motion alone; adds its gradient.
    fn damp(&mut self, y: &Rows, gradient: &mut Rows) -> f64 {
        let Some(viscosity) = &self.system.viscosity else { return 0.0 };
        let Scratch { rows, spread } = self.scratch.get_mut();
        combine(rows, y, -1.0, &self.terms.damped);
        self.rigid.resist(rows, gradient, |motion, force| {
            viscosity.multiply(motion, force, spread);
            0.5 * dot(motion, force)
        })
    }
}

impl Objective for Incremental<'_> {
    fn evaluate(&mut self, y: &Rows, gradient: &mut Rows) -> Value {
        let (terms, stiffness) = (self.terms, self.system.factors.stiffness);
        let Scratch { rows, spread } = self.scratch.get_mut();
        combine(rows, y, -1.0, &terms.target);
        self.system.quadratic.multiply(rows, gradient, spread);
        let moved = 0.5 * dot(rows, gradient) + dot(rows, &terms.pull);
        add(gradient, 1.0, &terms.pull);
        let factors = [stiffness, terms.inflation];
        let apart = stiffness * self.model.body.evaluate(y, factors, gradient, self.elastic);
        let work = dot(&terms.force, y);
        add(gradient, -1.0, &terms.force);
        let touching =
            self.contact.as_mut().map_or(0.0, |contact| contact.evaluate(|points, i| points.at(i, y)));
        let dragged = self.medium.as_mut().map_or(0.0, |medium| medium.evaluate(y, gradient));
        let held = self.holds.evaluate(y, gradient) + dragged + self.damp(y, gradient);
        let energy = moved + terms.start + apart + touching + held - work;
        // F - R is a difference of numbers of size one, scaled by the inflation.
        let weight = stiffness * terms.inflation.powi(2) * self.model.body.scale();
        let rounding = (apart * weight).sqrt() + f64::EPSILON * weight;
        let size = moved.abs() + terms.start.abs() + apart + touching + held + work.abs() + rounding;
        Value { energy, size }
    }

    fn correct(&mut self, y: &Rows, memory: &mut Lbfgs, direction: &mut Rows, value: &mut Value) {
        if let Some(contact) = &mut self.contact {
            let (system, holds, scratch) = (self.system, self.holds, self.scratch.get_mut());
            let mut solve = |rows: &mut Rows| holds.solve(system, rows, scratch);
            contact.correct(&[], y, memory, direction, value, Inverse::even(&mut solve));
        }
    }

    fn further_slope(&self, direction: &Rows) -> f64 {
        self.contact.as_ref().map_or(0.0, |contact| contact.slope(direction))
    }

    fn solve(&mut self, rows: &mut Rows) {
        self.holds.solve(self.system, rows, self.scratch.get_mut());
    }

    fn length(&self, step: &Rows) -> f64 {
        let mut scratch = self.scratch.borrow_mut();
        let Scratch { rows, spread } = &mut **scratch;
        self.model.packed_mass.multiply(step, rows, spread);
        dot(step, rows).max(0.0).sqrt() / self.model.unit()
    }
}
