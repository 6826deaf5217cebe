//! A tree of domains and its simulation.

use std::sync::Arc;

use nalgebra::Vector3;

use super::articulated::Articulated;
use super::contact::TreeContact;
use super::domain::Domain;
use super::interface::Interface;
use super::kinematics::Frame;
use super::state::TreeState;
use super::station::{Node, ROOT, Station, place};
use crate::inputs::settings::SimulationParams;
use crate::mesh::bounds;
use crate::model::reduced::elastic::Elastic;
use crate::potentials::contact::{Collider, Placement, ROWS};
use crate::solve::Descent;
use crate::{Error, Result};

/// Number of stored curvature pairs.
const PAIRS: usize = 8;

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

/// A simulated tree of attached domains.
///
/// The coordinates of all domains minimise the incremental energy of the whole tree: implicit, stable at
/// any step, and identical to a single body in as many displacements. The frame of a domain is the best-fit
/// rotation and the mean of its interface in the moving parent `[MOR sec. 4]`. Linear and angular momentum
/// change only by external forces.
///
/// With colliders, each vertex in contact adds a penalty energy, as in the other methods; bounding spheres
/// exclude distant vertices. The only rig is the place of the root, and domains do not touch each other.
pub struct DomainTree {
    pub(super) nodes: Vec<Node>,
    pub(super) stations: Vec<Station>,
    pub(super) elastic: Vec<Elastic>,
    pub(super) metric: Articulated,
    pub(super) descent: Descent,
    pub(super) params: SimulationParams,
    pub(super) free: bool,
    /// Rest place of the root.
    pub(super) stand: Placement,
    pub(super) rounding: f64,
    pub(super) unit: f64,
    pub(super) state: TreeState,
    pub(super) before: TreeState,
    /// Rows of coordinates: solution of the step, and scratch.
    pub(super) x: Vec<[f64; 3]>,
    pub(super) other: Vec<[f64; 3]>,
    pub(super) gradient: Vec<[f64; 3]>,
    pub(super) contact: Option<TreeContact>,
    /// Placements of colliders at the end of a substep and of a step, as rows.
    pub(super) colliders: Vec<[f64; 3]>,
    pub(super) collider_target: Vec<[f64; 3]>,
}

impl DomainTree {
    /// A tree at rest. free: the root is not attached; otherwise each step may place it.
    ///
    /// The settings used are `dt`, `substeps`, `integrator`, `max_iterations`, `tolerance`, `stiffness`,
    /// `gravity` and `damping`, the ratio in every mode of every domain.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Domain`] and [`Error::Index`] for an invalid tree and for an interface
    /// that does not fit, [`Error::Range`] and [`Error::NotFinite`] for placements and settings.
    pub fn new(members: &[Member], free: bool, params: SimulationParams) -> Result<Self> {
        Self::made(members, free, params, &[])
    }

    /// A tree at rest with colliders, at their initial places until a step moves them.
    ///
    /// # Errors
    /// As [`DomainTree::new`]; [`Error::Empty`] without a collider, [`Error::Unsupported`] for colliders
    /// that exclude points and for integrators other than backward Euler.
    pub fn among(
        members: &[Member],
        free: bool,
        params: SimulationParams,
        colliders: &[Collider],
    ) -> Result<Self> {
        if colliders.is_empty() {
            return Err(Error::Empty { what: "colliders" });
        }
        Self::made(members, free, params, colliders)
    }

    fn made(
        members: &[Member],
        free: bool,
        params: SimulationParams,
        colliders: &[Collider],
    ) -> Result<Self> {
        params.check_among(!colliders.is_empty())?;
        if colliders.iter().any(|collider| !collider.spared().is_empty()) {
            let why = "points that pass through one are those of a single body; leave them out among domains";
            return Err(Error::Unsupported { what: "colliders", why });
        }
        let places = members.iter().map(|member| Placement::checked("placements", &member.place));
        let places = places.collect::<Result<Vec<Placement>>>()?;
        let Some(stand) = places.first().copied() else { return Err(Error::Empty { what: "domains" }) };
        let (mut nodes, mut elastic) = (Vec::new(), Elastics::default());
        let mut row = ROOT;
        for (number, member) in members.iter().enumerate() {
            let domain = member.domain.clone();
            let interface = hung(members, &places, number)?;
            let elastic = elastic.of(&domain)?;
            let rows = domain.rank().div_ceil(3);
            nodes.push(Node { domain, elastic, interface, row });
            row += rows;
        }
        let mut stations: Vec<Station> = members.iter().map(|member| Station::new(&member.domain)).collect();
        let zeros = vec![[0.0; 3]; row];
        let root = standing(&nodes[0].domain, &stand);
        place(&nodes, &mut stations, root, &zeros);
        let flesh = nodes.iter().filter_map(|node| node.domain.flesh.as_ref());
        let places = Placement::made(ROWS * colliders.len());
        let contact = || TreeContact::new(colliders.into(), &nodes, row, !free);
        Ok(Self {
            contact: (!colliders.is_empty()).then(contact),
            rounding: flesh.map(|flesh| flesh.rounding()).sum(),
            unit: unit(&nodes, &stations),
            metric: Articulated::new(&nodes),
            descent: Descent::new(row, PAIRS),
            state: TreeState::new(&root, row, places.len()),
            before: TreeState::new(&root, row, places.len()),
            nodes,
            stations,
            elastic: elastic.made,
            params,
            free,
            stand,
            x: zeros.clone(),
            other: zeros.clone(),
            gradient: zeros,
            colliders: places.clone(),
            collider_target: places,
        })
    }

    /// Number of domains d.
    pub fn domain_count(&self) -> usize {
        self.nodes.len()
    }

    /// Number of coordinates of all domains, without those of a free root's frame.
    pub fn coordinate_count(&self) -> usize {
        self.nodes.iter().map(|node| node.domain.rank()).sum()
    }

    /// Number of colliders.
    pub fn collider_count(&self) -> usize {
        self.colliders.len() / ROWS
    }

    /// The settings.
    pub fn params(&self) -> &SimulationParams {
        &self.params
    }

    /// Changes settings between two steps.
    ///
    /// # Errors
    /// As [`DomainTree::new`] and [`DomainTree::among`].
    pub fn set_params(&mut self, params: SimulationParams) -> Result<()> {
        params.check_among(self.contact.is_some())?;
        self.params = params;
        Ok(())
    }

    /// Transforms of the frames, d: from the modelled place of a body to its current frame, the rigid part
    /// of the motion.
    pub fn frames(&self) -> Vec<[[f64; 4]; 3]> {
        let of = |(node, station): (&Node, &Station)| {
            let Frame { rotation, centre } = station.frame;
            let offset = centre - rotation * node.domain.centre;
            std::array::from_fn(|i| std::array::from_fn(|j| if j < 3 { rotation[(i, j)] } else { offset[i] }))
        };
        self.nodes.iter().zip(&self.stations).map(of).collect()
    }

    /// Coordinates of a domain, k, m kg^(1/2): amplitudes of the deforming modes, or coefficients of its
    /// flesh.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown domain.
    pub fn coordinates(&self, domain: usize) -> Result<&[f64]> {
        self.check_domain(domain)?;
        Ok(self.nodes[domain].part(self.state.last()))
    }

    /// Vertex positions of a domain, n x 3, m.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown domain.
    pub fn positions(&self, domain: usize) -> Result<Vec<f64>> {
        self.check_domain(domain)?;
        Ok(self.nodes[domain].domain.places(&self.stations[domain].q))
    }

    fn check_domain(&self, domain: usize) -> Result<()> {
        let count = self.nodes.len();
        if domain < count {
            return Ok(());
        }
        Err(Error::Index { what: "domain", element: 0, index: domain as i64, count })
    }
}

/// Scratch of elastic energies, one for each distinct flesh.
#[derive(Default)]
struct Elastics {
    known: Vec<Arc<Domain>>,
    made: Vec<Elastic>,
}

impl Elastics {
    fn of(&mut self, domain: &Arc<Domain>) -> Result<Option<usize>> {
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
fn hung(members: &[Member], places: &[Placement], number: usize) -> Result<Option<Interface>> {
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

/// Frame of a root moved by a placement from its modelled place.
pub(super) fn standing(domain: &Domain, place: &Placement) -> Frame {
    Frame { rotation: *place.rotation(), centre: place.world(&domain.centre) }
}

/// Mass norm of a displacement of the whole tree by one diagonal.
fn unit(nodes: &[Node], stations: &[Station]) -> f64 {
    let all: Vec<[f64; 3]> = nodes
        .iter()
        .zip(stations)
        .flat_map(|(node, station)| node.domain.places(&station.q).as_chunks::<3>().0.to_vec())
        .collect();
    let (low, high) = bounds(&all);
    let mass: f64 = nodes.iter().map(|node| node.domain.total_mass()).sum();
    (Vector3::from(high) - Vector3::from(low)).norm() * mass.sqrt()
}
