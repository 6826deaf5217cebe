//! Members of a tree, and their parts of it.

use std::sync::Arc;

use nalgebra::Vector3;

use super::domain::Domain;
use super::interface::Interface;
use super::station::{Node, Station};
use crate::mesh::bounds;
use crate::model::reduced::elastic::Elastic;
use crate::potentials::contact::Placement;
use crate::{Error, Result};

/// A member of a tree.
#[derive(Clone)]
pub struct Member {
    /// The body, shareable with other members.
    pub domain: Arc<Domain>,
    /// Rest place of the body: rotation and translation from its modelled place.
    pub place: [[f64; 4]; 3],
    /// Index of the parent, an earlier member; `None` for the first, the root.
    pub parent: Option<usize>,
    /// Attachment vertices of the parent, three or more and not collinear; empty for the root.
    pub interface: Vec<u32>,
}

/// Scratch of elastic energies, one for each distinct flesh.
#[derive(Default)]
pub(super) struct Elastics {
    known: Vec<Arc<Domain>>,
    pub(super) made: Vec<Elastic>,
}

impl Elastics {
    pub(super) fn of(&mut self, domain: &Arc<Domain>) -> Result<Option<usize>> {
        let Some(flesh) = &domain.flesh else { return Ok(None) };
        if let Some(known) = self.known.iter().position(|known| Arc::ptr_eq(known, domain)) {
            return Ok(Some(known));
        }
        self.known.push(domain.clone());
        self.made.push(Elastic::unposed(flesh)?);
        Ok(Some(self.known.len() - 1))
    }
}

/// Attachment of a member; `None` for the root.
pub(super) fn hung(members: &[Member], places: &[Placement], number: usize) -> Result<Option<Interface>> {
    let why = match members[number].parent {
        None if number == 0 => return Ok(None),
        None => "only the first has no parent; simulate other roots as trees of their own",
        Some(parent) if parent >= number => {
            "its parent is not among the domains before it, so that this is no tree"
        }
        Some(parent) => {
            let (own, above) = (&members[number], &members[parent]);
            let (own_place, above_place) = (&places[number], &places[parent]);
            let body = (parent, (&*above.domain, above_place));
            return Interface::new(number, (&own.domain, own_place), body, &own.interface).map(Some);
        }
    };
    Err(Error::Domain { domain: number, why })
}

/// Mass norm of a displacement of the whole tree by one diagonal.
pub(super) fn unit(nodes: &[Node], stations: &[Station]) -> f64 {
    let all: Vec<[f64; 3]> = nodes
        .iter()
        .zip(stations)
        .flat_map(|(node, station)| node.domain.places(&station.q).as_chunks::<3>().0.to_vec())
        .collect();
    let (low, high) = bounds(&all);
    let mass: f64 = nodes.iter().map(|node| node.domain.total_mass()).sum();
    (Vector3::from(high) - Vector3::from(low)).norm() * mass.sqrt()
}
