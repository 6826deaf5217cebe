//! A tree of domains and its simulation.

use super::build::Member;
use super::input::TreeInput;
use super::kinematics::Frame;
use super::station::{Node, ROOT, Station, coordinates};
use super::step::TreeMethod;
use crate::inputs::settings::{SimulationParams, StepReport};
use crate::potentials::contact::{Collider, ROWS};
use crate::stepping::method::{Method, last};
use crate::stepping::state::State;
use crate::stepping::stepper::Stepper;
use crate::{Error, Progress, Result, check};

/// A simulated tree of attached domains.
///
/// The coordinates of all domains minimise the incremental energy of the whole tree: implicit, stable at
/// any step, and identical to a single body in as many displacements. The frame of a domain is the best-fit
/// rotation and the mean of its interface in the moving parent `[MOR sec. 4]`. Linear and angular momentum
/// change only by external forces.
///
/// With colliders, each vertex in contact adds a penalty energy, as in the other methods; bounding spheres
/// exclude distant vertices. The only rig is the place of the root, and domains do not touch each other.
///
/// ```
/// use std::sync::Arc;
///
/// use jounce::inputs::SimulationParams;
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::model::reduced::{ReducedExtras, ReducedModel};
/// use jounce::model::tree::{Domain, DomainTree, Member, TreeInput};
/// use jounce::operators::Stitches;
/// use jounce::subspace::{LinearProblem, Restraint};
/// use jounce::Progress;
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5])?, 8, &progress)?;
/// let [young, poisson, density] = [1e5, 0.3, 1000.0].map(Field::Uniform);
/// let rubber = Material::new(Law::NeoHookean, young, poisson, density)?;
/// let held: Vec<bool> = mesh.vertices().iter().map(|vertex| vertex[0] < 0.1).collect();
/// let restraint = Restraint { pinned: Some(&held), ..Restraint::default() };
/// let none = Stitches::none(&mesh);
/// let problem = LinearProblem::new(&mesh, &rubber, &restraint, &none, &progress)?;
/// let basis = problem.lowest(4, &progress)?.basis();
/// let flesh = ReducedModel::new(&mesh, &rubber, &basis, &ReducedExtras::default(), &progress)?;
///
/// let at = |z| [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, z]];
/// let domain = Arc::new(Domain::of_flesh(&flesh.into())?);
/// let root = Member { domain, place: at(0.0), parent: None, interface: vec![] };
/// let mut tree = DomainTree::new(&[root], false, SimulationParams::default())?;
/// for place in [at(0.0), at(0.1)] {
///     tree.step(&TreeInput { root: Some(&place), ..TreeInput::default() }, &progress)?;
/// }
/// assert!(tree.coordinates(0)?.iter().any(|y| *y != 0.0));
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct DomainTree {
    stepper: Stepper<TreeMethod>,
    params: SimulationParams,
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
        let method = TreeMethod::new(members, free, colliders)?;
        let mut tree = Self { stepper: Stepper::new(Box::new(method)), params };
        tree.reset();
        Ok(tree)
    }

    /// Advances by `dt`.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`] and [`Error::Range`] for the input, [`Error::Unsupported`]
    /// for the place of a free root, [`Error::Numerical`] for overflow, [`Error::Cancelled`]. The state is
    /// then unchanged.
    pub fn step(&mut self, input: &TreeInput<'_>, progress: &Progress) -> Result<StepReport> {
        self.stepper.method.set_wind(input.wind)?;
        let (input, starts) = (input.rig(), !self.stepper.state().started);
        if starts {
            self.stepper.reset(&input)?;
        }
        let found = self.stepper.step(&input, &self.params, progress);
        if found.is_err() && starts {
            self.reset();
        }
        found
    }

    /// Cut or teleport: at rest at a place of the root, with the deformation kept. A free root stays where it
    /// is.
    ///
    /// # Errors
    /// As [`DomainTree::step`].
    pub fn cut(&mut self, input: &TreeInput<'_>) -> Result<()> {
        self.stepper.cut(&input.rig())
    }

    /// Starts in steady motion, right after a start at rest: the root gets the velocity towards its `next`
    /// place, and the first step has no jolt. No effect before the first step.
    ///
    /// # Errors
    /// As [`DomainTree::step`].
    pub fn coast(&mut self, next: &TreeInput<'_>) -> Result<()> {
        self.stepper.coast(&next.rig(), &self.params)
    }

    /// The complete state before a step.
    pub fn save_state(&self) -> State {
        self.stepper.state().clone()
    }

    /// Restores a saved state.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for a state of another tree.
    pub fn restore_state(&mut self, state: &State) -> Result<()> {
        self.stepper.restore(state)
    }

    /// Resets the tree to rest at its initial place.
    pub fn reset(&mut self) {
        let place = self.stepper.method().rest_rows;
        self.stepper.stand(&place);
    }

    /// Incremental energy of the next substep, J, and its gradient. `numbers` are six for a free root,
    /// shift and angles from its free flight, then the coordinates domain by domain.
    ///
    /// Excludes wind and contact; the root keeps its last place. For tests and tools only.
    ///
    /// # Errors
    /// [`Error::Shape`] for another count of numbers.
    pub fn incremental_energy(&mut self, numbers: &[f64]) -> Result<(f64, Vec<f64>)> {
        check::length("coordinates", 3 * ROOT + self.coordinate_count(), numbers.len())?;
        let (method, state) = self.stepper.parts();
        Ok(method.incremental_energy(state, &self.params, numbers))
    }

    /// Number of domains d.
    pub fn domain_count(&self) -> usize {
        self.stepper.method().nodes.len()
    }

    /// Number of coordinates of all domains, without those of a free root's frame.
    pub fn coordinate_count(&self) -> usize {
        self.stepper.method().nodes.iter().map(|node| node.domain.rank()).sum()
    }

    /// Number of colliders.
    pub fn collider_count(&self) -> usize {
        self.stepper.method().contact_sizes()[0] / ROWS
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
        params.check_among(self.collider_count() > 0)?;
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
        self.stepper.method().nodes.iter().zip(&self.stepper.method().stations).map(of).collect()
    }

    /// Coordinates of a domain, k, m kg^(1/2): amplitudes of the deforming modes, or coefficients of its
    /// flesh.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown domain.
    pub fn coordinates(&self, domain: usize) -> Result<&[f64]> {
        self.check_domain(domain)?;
        Ok(self.stepper.method().nodes[domain].part(coordinates(last(self.stepper.state()))))
    }

    /// Vertex positions of a domain, n x 3, m.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown domain.
    pub fn positions(&self, domain: usize) -> Result<Vec<f64>> {
        self.check_domain(domain)?;
        Ok(self.stepper.method().nodes[domain].domain.places(&self.stepper.method().stations[domain].q))
    }

    fn check_domain(&self, domain: usize) -> Result<()> {
        let count = self.stepper.method().nodes.len();
        if domain < count {
            return Ok(());
        }
        Err(Error::Index { what: "domain", element: 0, index: domain as i64, count })
    }
}
