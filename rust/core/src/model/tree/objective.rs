//! Incremental energy of a step in the coordinates of all domains.

use nalgebra::{Matrix3, Vector3};

use super::articulated::Articulated;
use super::contact::{Standing, TreeContact};
use super::kinematics::{Frame, turned, turning};
use super::station::{Node, Station, place, react};
use crate::math::rows::Rows;
use crate::model::reduced::elastic::Elastic;
use crate::solve::{Lbfgs, Objective, Value};
use crate::{Error, Result};

/// Everything needed to evaluate the energy of a tree.
pub(super) struct Incremental<'a> {
    pub(super) nodes: &'a [Node],
    pub(super) stations: &'a mut [Station],
    pub(super) elastic: &'a mut [Elastic],
    pub(super) metric: &'a mut Articulated,
    /// Frame of the root at the start of the step.
    pub(super) start: Frame,
    /// `true` if the root is not attached.
    pub(super) free: bool,
    /// Factor on the elastic energies.
    pub(super) stiffness: f64,
    /// `sum of V k` of all flesh, J.
    pub(super) rounding: f64,
    /// Mass norm of a displacement of the tree by one diagonal.
    pub(super) unit: f64,
    pub(super) contact: Option<&'a mut TreeContact>,
}

impl Incremental<'_> {
    /// Frame of the root at given coordinates.
    pub(super) fn root(&self, x: &Rows) -> Frame {
        let [shift, angles] = [x[0], x[1]].map(Vector3::from);
        let Frame { rotation, centre } = self.start;
        Frame { rotation: turned(&angles) * rotation, centre: centre + shift }
    }

    /// `true` if the straight motion from the start of the substep to x enters a collider.
    pub(super) fn enters(&mut self, x: &Rows) -> bool {
        let root = self.root(x);
        let Some(contact) = &mut self.contact else { return false };
        place(self.nodes, self.stations, root, x);
        let tree = Standing { nodes: self.nodes, stations: self.stations, turning: None };
        contact.is_entered(&tree, self.metric, x)
    }

    /// Inertia, elasticity and damping of each domain alone; writes the gradient of the coordinates.
    fn own(&mut self, x: &Rows, gradient: &mut Rows) -> Value {
        let mut value = Value { energy: 0.0, size: self.stiffness * self.rounding };
        for (node, station) in self.nodes.iter().zip(self.stations.iter_mut()) {
            let (y, gradient) = (node.part(x), node.part_mut(gradient));
            let mut energy = station.pull(&node.domain);
            energy += self.stiffness * station.elastic(node, self.elastic, y);
            for (k, gradient) in gradient.iter_mut().enumerate() {
                let moved = y[k] - station.damped[k];
                energy += 0.5 * station.damping[k] * moved * moved;
                *gradient = self.stiffness * station.gradient[k] + station.damping[k] * moved;
            }
            value.energy += energy;
            value.size += energy.abs();
        }
        value
    }

    /// Derivative of a free root's rotation by its angles at x.
    fn turning(&self, x: &Rows) -> Option<Matrix3<f64>> {
        self.free.then(|| turning(&x[1].into()))
    }
}

impl Objective for Incremental<'_> {
    fn evaluate(&mut self, x: &Rows, gradient: &mut Rows) -> Value {
        let root = self.root(x);
        place(self.nodes, self.stations, root, x);
        gradient.fill([0.0; 3]);
        let mut value = self.own(x, gradient);
        let turning = self.turning(x);
        react(self.nodes, self.stations, (0..self.nodes.len()).rev(), turning.as_ref(), gradient);
        if let Some(contact) = &mut self.contact {
            let mut tree = Standing { nodes: self.nodes, stations: self.stations, turning };
            let touching = contact.evaluate(&mut tree, x);
            value.energy += touching;
            value.size += touching;
        }
        value
    }

    /// Factors the metric at the current placement, the one of the last evaluation.
    fn visit(&mut self, x: &Rows, _: u32) -> Result<bool> {
        let turning = self.turning(x);
        if self.metric.factor(self.nodes, self.stations, self.stiffness, turning) {
            return Ok(false);
        }
        let why = "numbers have overflowed; look at what drives the tree".into();
        Err(Error::Numerical { what: "step", why })
    }

    fn solve(&mut self, rows: &mut Rows) {
        self.metric.solve(self.nodes, 0..self.nodes.len(), rows);
    }

    /// A failed search leaves the domains elsewhere, therefore they are placed again.
    fn correct(&mut self, x: &Rows, memory: &mut Lbfgs, direction: &mut Rows, value: &mut Value) {
        let (root, turning) = (self.root(x), self.turning(x));
        let Some(contact) = &mut self.contact else { return };
        place(self.nodes, self.stations, root, x);
        let mut tree = Standing { nodes: self.nodes, stations: self.stations, turning };
        let before = contact.evaluate(&mut tree, x);
        contact.correct(&mut tree, self.metric, x, memory, direction);
        let after = contact.evaluate(&mut tree, x);
        value.energy += after - before;
        value.size += after - before;
    }

    fn further_slope(&self, direction: &Rows) -> f64 {
        self.contact.as_ref().map_or(0.0, |contact| contact.slope(direction))
    }

    fn length(&self, step: &Rows) -> f64 {
        self.metric.length(self.nodes, step) / self.unit
    }
}
