//! Common substep of bodies in contact with each other.

use std::cell::RefCell;

use super::objective::Incremental;
use super::step::{PAIRS, ProjectiveMethod};
use crate::Result;
use crate::inputs::settings::HISTORY;
use crate::math::rows::Rows;
use crate::potentials::contact::{JointContact, Member};
use crate::solve::{Descent, Lbfgs, Objective, Value};
use crate::stepping::state::State;

/// A body of a common substep with its state, and its number in anchors.
pub(crate) struct Joined<'a> {
    pub(crate) body: &'a mut ProjectiveMethod,
    pub(crate) state: &'a State,
    pub(crate) number: u32,
}

/// Sum of the incremental energies of several bodies and of the contact between them; rows are
/// concatenated.
struct Joint<'a> {
    bodies: Vec<Incremental<'a>>,
    /// First row of each body, then the total number of rows.
    starts: Vec<usize>,
    contact: JointContact<'a>,
}

/// Solves prepared substeps of bodies with shapes as one system; returns iterations and residual.
///
/// Curvature pairs are discarded, both those of the single bodies and those of the common system.
pub(crate) fn solve_joint(joined: &mut [Joined<'_>], budget: (u32, f64)) -> Result<(u32, f64)> {
    let (mut starts, mut y, mut last) = (vec![0], Vec::new(), Vec::new());
    let (mut bodies, mut members, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for Joined { body, state, number } in joined {
        let ProjectiveMethod {
            model,
            system: Some(system),
            terms,
            elastic,
            holds,
            medium,
            rigid,
            scratch,
            descent,
            y: own,
            contact: Some(contact),
            shape: Some(shape),
            ..
        } = &mut **body
        else {
            continue;
        };
        descent.memory.clear();
        let begin = y.len();
        y.extend_from_slice(own);
        last.extend_from_slice(&state.reduced[HISTORY - 1]);
        starts.push(y.len());
        let (medium, scratch) = (medium.as_mut(), RefCell::new(scratch));
        bodies.push(Incremental {
            model,
            system,
            terms,
            elastic,
            holds,
            medium,
            rigid,
            scratch,
            contact: None,
        });
        members.push(Member { contact, shape, rows: begin..y.len(), number: *number });
        ends.push(own);
    }
    let contact = JointContact::new(members, &last);
    let (mut descent, mut joint) = (Descent::new(y.len(), PAIRS), Joint { bodies, starts, contact });
    let outcome = descent.minimise(&mut joint, &mut y, budget, |_, _| Ok(()))?;
    let Joint { starts, contact, .. } = joint;
    contact.settle_anchors(&y);
    for (end, rows) in ends.into_iter().zip(starts.windows(2)) {
        end.copy_from_slice(&y[rows[0]..rows[1]]);
    }
    Ok((outcome.iterations, outcome.length))
}

impl Objective for Joint<'_> {
    fn evaluate(&mut self, y: &Rows, gradient: &mut Rows) -> Value {
        let energy = self.contact.evaluate(y);
        let mut sum = Value { energy, size: energy };
        for (body, ends) in self.bodies.iter_mut().zip(self.starts.windows(2)) {
            let own = body.evaluate(&y[ends[0]..ends[1]], &mut gradient[ends[0]..ends[1]]);
            sum.energy += own.energy;
            sum.size += own.size;
        }
        sum
    }

    fn correct(&mut self, y: &Rows, memory: &mut Lbfgs, direction: &mut Rows, value: &mut Value) {
        let bodies = &mut self.bodies;
        self.contact.correct(y, memory, direction, value, |body, rows| bodies[body].solve(rows));
    }

    fn further_slope(&self, direction: &Rows) -> f64 {
        self.contact.slope(direction)
    }

    fn solve(&mut self, rows: &mut Rows) {
        for (body, ends) in self.bodies.iter_mut().zip(self.starts.windows(2)) {
            body.solve(&mut rows[ends[0]..ends[1]]);
        }
    }

    /// Length of the step of the body with the largest motion.
    fn length(&self, step: &Rows) -> f64 {
        let own = self.bodies.iter().zip(self.starts.windows(2));
        let lengths = own.map(|(body, ends)| body.length(&step[ends[0]..ends[1]]));
        // `f64::max` would ignore NaN.
        lengths.fold(0.0, |most, length| if length <= most || most.is_nan() { most } else { length })
    }
}
