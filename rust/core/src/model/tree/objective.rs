//! Incremental energy of a step in the coordinates of all domains.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3, Vector6};

use super::articulated::Articulated;
use super::contact::{Standing, TreeContact};
use super::domain::Domain;
use super::interface::{Hinge, Interface};
use super::kinematics::{Frame, turned, turning, wrench};
use crate::math::dense::dot;
use crate::math::rows::Rows;
use crate::model::reduced::elastic::Elastic;
use crate::solve::{Lbfgs, Objective, Value};
use crate::{Error, Result};

/// Rows of the root among the coordinates: translation of its centre, and rotation angles, both from its
/// start.
pub(super) const ROOT: usize = 2;

/// Constant data of a domain in a tree.
pub(super) struct Node {
    pub(super) domain: Arc<Domain>,
    /// Index of its elastic energy; `None` for linear modes.
    pub(super) elastic: Option<usize>,
    /// Attachment to the parent; `None` for the root.
    pub(super) interface: Option<Interface>,
    /// First row among the coordinates.
    pub(super) row: usize,
}

impl Node {
    /// The domain's part of rows, padded with zeros.
    pub(super) fn part<'a>(&self, rows: &'a Rows) -> &'a [f64] {
        &rows[self.row..].as_flattened()[..self.domain.rank()]
    }

    pub(super) fn part_mut<'a>(&self, rows: &'a mut Rows) -> &'a mut [f64] {
        &mut rows[self.row..].as_flattened_mut()[..self.domain.rank()]
    }
}

/// Targets and current placement of a domain in a step.
pub(super) struct Station {
    pub(super) frame: Frame,
    pub(super) hinge: Option<Hinge>,
    /// Q, 3 x s.
    pub(super) q: Vec<f64>,
    /// Inertial target of Q, including gravity and wind.
    pub(super) target: Vec<f64>,
    /// Inertial stiffness, 1/s^2.
    pub(super) inertia: f64,
    /// Forces on Q.
    pub(super) push: Vec<f64>,
    /// Difference of Q from its target.
    off: Vec<f64>,
    /// Reference coordinates of damping, k.
    pub(super) damped: Vec<f64>,
    /// Damping factors, k, 1/s^2.
    pub(super) damping: Vec<f64>,
    gradient: Vec<f64>,
}

impl Station {
    pub(super) fn new(domain: &Domain) -> Self {
        let (k, q) = (domain.rank(), vec![0.0; 3 * domain.functions()]);
        Self {
            frame: Frame { rotation: Matrix3::identity(), centre: Vector3::zeros() },
            hinge: None,
            target: q.clone(),
            inertia: 0.0,
            push: q.clone(),
            off: q.clone(),
            q,
            damped: vec![0.0; k],
            damping: vec![0.0; k],
            gradient: vec![0.0; k],
        }
    }

    /// Inertial energy `a / 2 |x - target|^2_M`; writes the forces on Q.
    fn pull(&mut self, domain: &Domain) -> f64 {
        let s = domain.functions();
        let Self { q, target, push, off, inertia, .. } = self;
        off.iter_mut().zip(q.iter().zip(target.iter())).for_each(|(off, (q, target))| *off = q - target);
        for row in 0..3 {
            domain.gram.combine(&off[row * s..][..s], &mut push[row * s..][..s]);
        }
        push.iter_mut().for_each(|push| *push *= *inertia);
        0.5 * dot(off, push)
    }

    /// Elastic energy of a domain, J, with its gradient.
    pub(super) fn elastic(&mut self, node: &Node, energies: &mut [Elastic], y: &[f64]) -> f64 {
        if let (Some(model), Some(elastic)) = (&node.domain.flesh, node.elastic) {
            return energies[elastic].evaluate(model, y, &mut self.gradient);
        }
        let mut energy = 0.0;
        for ((slope, y), value) in self.gradient.iter_mut().zip(y).zip(&node.domain.spectrum) {
            *slope = value * y;
            energy += 0.5 * value * y * y;
        }
        energy
    }
}

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

/// Places all domains at given coordinates, from the root on.
pub(super) fn place(nodes: &[Node], stations: &mut [Station], root: Frame, x: &Rows) {
    for (number, node) in nodes.iter().enumerate() {
        let (before, own) = stations.split_at_mut(number);
        let station = &mut own[0];
        (station.hinge, station.frame) = match &node.interface {
            None => (None, root),
            Some(interface) => {
                let above = &before[interface.parent];
                let (hinge, frame) = interface.follow(&above.q, above.frame.rotation);
                (Some(hinge), frame)
            }
        };
        station.frame.place(node.part(x), &mut station.q);
    }
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

/// Adds generalised forces from the forces on Q of given domains, listed from the last to the root and
/// closed under parents. `turning` adds those of a free root.
pub(super) fn react(
    nodes: &[Node],
    stations: &mut [Station],
    which: impl Iterator<Item = usize>,
    turning: Option<&Matrix3<f64>>,
    rows: &mut Rows,
) {
    let mut wrenched = Vector6::zeros();
    for number in which {
        let node = &nodes[number];
        let (before, own) = stations.split_at_mut(number);
        let (station, s) = (&own[0], node.domain.functions());
        for (k, row) in node.part_mut(rows).iter_mut().enumerate() {
            *row += station.frame.work(&station.push, s, k);
        }
        wrenched = wrench(&station.q, &station.push, s);
        if let (Some(interface), Some(hinge)) = (&node.interface, &station.hinge) {
            interface.react(hinge, &wrenched, &mut before[interface.parent].push);
        }
    }
    if let Some(turning) = turning {
        rows[0] = [wrenched[0], wrenched[1], wrenched[2]];
        rows[1] = (turning.transpose() * Vector3::new(wrenched[3], wrenched[4], wrenched[5])).into();
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

    /// Factors the metric at the current placement, which is that of the last evaluation.
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
