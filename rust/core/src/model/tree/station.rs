//! Domains of a tree in a step: constant data, and the current placement of each.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3, Vector6};

use super::domain::Domain;
use super::interface::{Hinge, Interface};
use super::kinematics::{Frame, PLACE, wrench};
use crate::math::dense::dot;
use crate::math::rows::Rows;
use crate::model::reduced::elastic::Elastic;

/// Rows of the root among the coordinates: translation of its centre, and rotation angles, both from its
/// start.
pub(super) const ROOT: usize = 2;

/// Coordinates in the rows of a state, preceded by as many rows as the root has; the root's place comes first
/// in a state.
pub(super) fn coordinates(rows: &Rows) -> &Rows {
    &rows[PLACE - ROOT..]
}

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
    pub(super) gradient: Vec<f64>,
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
    pub(super) fn pull(&mut self, domain: &Domain) -> f64 {
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

/// Places all domains at the rows of a state.
pub(super) fn place_state(nodes: &[Node], stations: &mut [Station], rows: &Rows) {
    place(nodes, stations, Frame::of(rows), coordinates(rows));
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
