//! Solver of a tree's substeps.

use nalgebra::Vector3;

use super::articulated::Articulated;
use super::build::{Elastics, Member, hung, unit};
use super::contact::{Standing, TreeContact};
use super::input::Wind;
use super::kinematics::{Frame, PLACE};
use super::objective::Incremental;
use super::station::{Node, ROOT, Station, coordinates, place, place_state};
use crate::inputs::settings::{HISTORY, SimulationParams, StepInput};
use crate::math::rows::{Rows, add, combine, dot};
use crate::model::reduced::elastic::Elastic;
use crate::potentials::contact::{Anchor, Collider, Placement};
use crate::potentials::inertia::modal_damping;
use crate::rig::Pose;
use crate::solve::{Descent, FAR, Objective, take_lowest};
use crate::stepping::method::{Method, OnIteration, RigState, last};
use crate::stepping::state::State;
use crate::{Error, Result};

/// Number of stored curvature pairs.
const PAIRS: usize = 8;

/// Solver of a tree's substeps, with its scratch.
///
/// A pose is the place of the root, in the rows of a [`Frame`]. Rows of a state are that place, then the
/// coordinates without the root's rows.
pub(super) struct TreeMethod {
    pub(super) nodes: Vec<Node>,
    pub(super) stations: Vec<Station>,
    elastic: Vec<Elastic>,
    metric: Articulated,
    descent: Descent,
    free: bool,
    /// Rest place of the root.
    rest: Frame,
    pub(super) rest_rows: [[f64; 3]; PLACE],
    rounding: f64,
    unit: f64,
    /// Velocity and rate of the medium at each domain in the next step; empty for none.
    wind: Vec<(Vector3<f64>, f64)>,
    /// Frame of the root at the start of the descent: fixed, or the free flight of a free root.
    start: Frame,
    /// Factor on the elastic energies.
    stiffness: f64,
    /// The last solution.
    found: Vec<[f64; 3]>,
    /// Rows of coordinates: of the descent, of the last substep, and scratch.
    x: Vec<[f64; 3]>,
    other: Vec<[f64; 3]>,
    gradient: Vec<[f64; 3]>,
    contact: Option<TreeContact>,
}

impl TreeMethod {
    pub(super) fn new(members: &[Member], free: bool, colliders: &[Collider]) -> Result<Self> {
        if colliders.iter().any(|collider| !collider.spared().is_empty()) {
            let why = "points that pass through one are those of a single body; leave them out among domains";
            return Err(Error::Unsupported { what: "colliders", why });
        }
        let places = members.iter().map(|member| Placement::checked("placements", &member.place));
        let places = places.collect::<Result<Vec<Placement>>>()?;
        let Some(first) = places.first() else { return Err(Error::Empty { what: "domains" }) };
        let centre = first.world(&members[0].domain.centre);
        let stand = Frame { rotation: *first.rotation(), centre };
        let (mut nodes, mut elastic, mut rows) = (Vec::new(), Elastics::default(), ROOT);
        for (number, member) in members.iter().enumerate() {
            let (domain, row) = (member.domain.clone(), rows);
            let interface = hung(members, &places, number)?;
            let elastic = elastic.of(&domain)?;
            rows += domain.rank().div_ceil(3);
            nodes.push(Node { domain, elastic, interface, row });
        }
        let zeros = vec![[0.0; 3]; rows];
        let mut stations: Vec<Station> = members.iter().map(|member| Station::new(&member.domain)).collect();
        place(&nodes, &mut stations, stand, &zeros);
        let flesh = nodes.iter().filter_map(|node| node.domain.flesh.as_ref());
        let contact = || TreeContact::new(colliders.into(), &nodes, rows, !free);
        Ok(Self {
            contact: (!colliders.is_empty()).then(contact),
            rounding: flesh.map(|flesh| flesh.rounding()).sum(),
            unit: unit(&nodes, &stations),
            metric: Articulated::new(&nodes),
            descent: Descent::new(rows, PAIRS),
            wind: Vec::with_capacity(nodes.len()),
            nodes,
            stations,
            elastic: elastic.made,
            free,
            rest: stand,
            rest_rows: stand.rows(),
            start: stand,
            stiffness: 1.0,
            found: vec![[0.0; 3]; PLACE + rows - ROOT],
            x: zeros.clone(),
            other: zeros.clone(),
            gradient: zeros,
        })
    }

    /// Stores the wind of the next step.
    pub(super) fn set_wind(&mut self, wind: Option<&Wind<'_>>) -> Result<()> {
        wind.map_or(Ok(()), |wind| wind.check(self.nodes.len()))?;
        self.wind.clear();
        if let Some(Wind { velocity, rate }) = wind {
            self.wind.extend(velocity.iter().map(|&v| Vector3::from(v)).zip(rate.iter().copied()));
        }
        Ok(())
    }

    /// Incremental energy of the next substep at six numbers of the root and the coordinates, J, and its
    /// gradient, without wind and contact.
    pub(super) fn incremental_energy(
        &mut self,
        state: &State,
        params: &SimulationParams,
        numbers: &[f64],
    ) -> (f64, Vec<f64>) {
        let (root, mut rest) = numbers.split_at(3 * ROOT);
        let mut x = vec![[0.0; 3]; self.x.len()];
        x[..ROOT].as_flattened_mut().copy_from_slice(root);
        for node in &self.nodes {
            let (own, others) = rest.split_at(node.domain.rank());
            node.part_mut(&mut x).copy_from_slice(own);
            rest = others;
        }
        self.wind.clear();
        self.begin_flight(state, &state.frames[1], params);
        self.predict(state, params, params.dt / f64::from(params.substeps));
        let mut gradient = vec![[0.0; 3]; x.len()];
        let (mut energy, ..) = self.split();
        energy.contact = None;
        let energy = energy.evaluate(&x, &mut gradient).energy;
        let parts = self.nodes.iter().flat_map(|node| node.part(&gradient));
        let slopes = gradient[..ROOT].as_flattened().iter().chain(parts).copied().collect();
        self.write_coefficients(last(state));
        (energy, slopes)
    }

    /// Sets stiffness and start: the root's place, or that of a free root after free flight.
    fn begin_flight(&mut self, state: &State, pose: &Rows, params: &SimulationParams) {
        let mut rows: [[f64; 3]; PLACE] = std::array::from_fn(|row| pose[row]);
        let [.., older, last] = &state.reduced;
        if self.free {
            for (row, place) in rows.iter_mut().enumerate() {
                (0..3).for_each(|c| place[c] = 2.0 * last[row][c] - older[row][c]);
            }
        }
        self.start = Frame::of(&rows);
        self.stiffness = params.stiffness;
    }

    /// Sets inertial targets, with gravity and wind, and damping of each domain.
    fn predict(&mut self, state: &State, params: &SimulationParams, h: f64) {
        let (integrator, gravity) = (params.integrator, Vector3::from(params.gravity));
        let (inertia, [speed, further]) = (integrator.acceleration()[0], integrator.velocity());
        let wind = &self.wind;
        let rates = |domain: usize| wind.get(domain).map_or(0.0, |(_, rate)| *rate);
        for (number, station) in self.stations.iter_mut().enumerate() {
            station.target.fill(0.0);
            station.inertia = inertia / (h * h) + rates(number) * speed / h;
        }
        for (rows, [inertia, speed]) in state.reduced.iter().rev().zip(integrator.recall()) {
            if [inertia, speed] == [0.0; 2] {
                continue;
            }
            place_state(&self.nodes, &mut self.stations, rows);
            for (number, station) in self.stations.iter_mut().enumerate() {
                let factor = (inertia / (h * h) + rates(number) * speed / h) / station.inertia;
                let Station { q, target, .. } = station;
                target.iter_mut().zip(q.iter()).for_each(|(target, q)| *target += factor * q);
            }
        }
        let [.., older, last] = &state.reduced;
        for (number, (node, station)) in self.nodes.iter().zip(&mut self.stations).enumerate() {
            let blows = wind.get(number).map_or(Vector3::zeros(), |(velocity, rate)| *rate * velocity);
            let push = (gravity + blows) / station.inertia;
            let s = node.domain.functions();
            (0..3).for_each(|row| station.target[row * s] += push[row]);
            let (older, last) = (node.part(coordinates(older)), node.part(coordinates(last)));
            for k in 0..node.domain.rank() {
                station.damped[k] = last[k] - further / speed * (last[k] - older[k]);
                station.damping[k] = modal_damping(node.domain.spectrum[k], params) * speed / h;
            }
        }
    }

    /// Begins a substep of contact from the end of the last one.
    fn begin_contact(&mut self, state: &State, colliders: &Rows, h: f64) {
        let Self { nodes, stations, contact, .. } = self;
        if let Some(contact) = contact {
            place_state(nodes, stations, last(state));
            let meets = (&state.contact, colliders);
            contact.begin((nodes, stations), coordinates(last(state)), meets, h);
        }
    }

    /// Energy and minimiser of a substep, and rows for coordinates and scratch.
    fn split(&mut self) -> (Incremental<'_>, &mut Descent, &mut Rows, &mut Rows, &mut Rows) {
        let energy = Incremental {
            nodes: &self.nodes,
            stations: &mut self.stations,
            elastic: &mut self.elastic,
            metric: &mut self.metric,
            start: self.start,
            free: self.free,
            stiffness: self.stiffness,
            rounding: self.rounding,
            unit: self.unit,
            contact: self.contact.as_mut(),
        };
        (energy, &mut self.descent, &mut self.x, &mut self.other, &mut self.gradient)
    }

    /// Takes the solution of a substep with its frame of the root.
    fn take(&mut self, root: &Frame) {
        let Self { nodes, stations, contact, found, x, .. } = self;
        found[..PLACE].copy_from_slice(&root.rows());
        found[PLACE..].copy_from_slice(&x[ROOT..]);
        if let Some(contact) = contact {
            place_state(nodes, stations, found);
            contact.settle_anchors(&Standing { nodes, stations, turning: None }, x);
        }
    }
}

impl Method for TreeMethod {
    fn rows(&self) -> [usize; 3] {
        [PLACE, self.found.len(), 0]
    }

    /// Without a pose the root keeps its place.
    fn set_pose(&mut self, pose: Option<&Pose>, rows: &mut Rows) -> Result<()> {
        let Some(root) = pose.and_then(<[_]>::first) else { return Ok(()) };
        if self.free {
            let why = "nothing holds this tree, so that its root goes where forces take it; leave it out";
            return Err(Error::Unsupported { what: "root", why });
        }
        let moved = Placement::checked("root", root)?;
        let Frame { rotation, centre } = self.rest;
        let root = Frame { rotation: moved.rotation() * rotation, centre: moved.world(&centre) };
        rows.copy_from_slice(&root.rows());
        Ok(())
    }

    fn contact_sizes(&self) -> [usize; 2] {
        self.contact.as_ref().map_or([0; 2], TreeContact::sizes)
    }

    fn anchors(&self) -> &[Anchor] {
        self.contact.as_ref().map_or(&[], TreeContact::anchors)
    }

    fn set_loads(&mut self, _: &StepInput<'_>) -> Result<()> {
        Ok(())
    }

    fn prepare(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) -> Result<()> {
        self.begin_flight(state, rig.pose, params);
        self.predict(state, params, h);
        self.begin_contact(state, rig.colliders, h);
        Ok(())
    }

    fn minimise(
        &mut self,
        state: &State,
        params: &SimulationParams,
        max_iterations: u32,
        on_iteration: &mut OnIteration<'_>,
    ) -> Result<(u32, f64)> {
        let inertia = params.integrator.acceleration()[0];
        self.x.fill([0.0; 3]);
        for (rows, [factor, _]) in state.reduced.iter().rev().zip(params.integrator.recall()) {
            add(&mut self.x[ROOT..], factor / inertia, &rows[PLACE..]);
        }
        self.other[ROOT..].copy_from_slice(&last(state)[PLACE..]);
        let (mut energy, descent, x, other, gradient) = self.split();
        // Contact detection needs a start outside of the colliders to know the entry side.
        if energy.enters(x) {
            x.copy_from_slice(other);
            energy.start = if energy.free { Frame::of(last(state)) } else { energy.start };
        }
        combine(gradient, x, -1.0, other);
        if dot(gradient, gradient).sqrt() > FAR * energy.unit {
            take_lowest(&mut energy, x, [other], gradient);
        }
        descent.memory.clear();
        let budget = (max_iterations, params.tolerance);
        let outcome = descent.minimise(&mut energy, x, budget, |iteration, _| on_iteration(iteration))?;
        if !outcome.length.is_finite() {
            let why = "numbers have overflowed; look at what drives the tree".into();
            return Err(Error::Numerical { what: "step", why });
        }
        let root = energy.root(x);
        self.take(&root);
        Ok(outcome.solved())
    }

    fn prepare_rest(&mut self, _: RigState<'_>, _: &SimulationParams) -> Result<()> {
        let why = "a tree has no statics; take a few steps of 1e4 s";
        Err(Error::Unsupported { what: "settling", why })
    }

    fn solution(&mut self) -> &mut Rows {
        &mut self.found
    }

    /// Coordinates turn with the frames of their domains; a free root stays.
    fn carry_solution(&mut self, _: &Rows, to: &Rows) {
        if !self.free {
            self.found[..PLACE].copy_from_slice(to);
        }
    }

    fn begin(&self, pose: &Rows, coordinates: &mut Rows) {
        coordinates.fill([0.0; 3]);
        coordinates[..PLACE].copy_from_slice(if self.free { &self.rest_rows } else { pose });
    }

    fn reached<'a>(&'a self, _: &'a Rows) -> &'a Rows {
        &self.found[..PLACE]
    }

    fn coast(&mut self, reduced: &mut [Vec<[f64; 3]>; HISTORY], [from, to]: [&Rows; 2]) {
        if self.free {
            return;
        }
        let [older @ .., _] = reduced;
        for (back, rows) in older.iter_mut().rev().enumerate() {
            for (row, place) in rows[..PLACE].iter_mut().enumerate() {
                let factor = (back + 1) as f64;
                (0..3).for_each(|c| place[c] = from[row][c] - factor * (to[row][c] - from[row][c]));
            }
        }
    }

    fn elastic_energy(&mut self, params: &SimulationParams) -> f64 {
        let mut energy = 0.0;
        for (node, station) in self.nodes.iter().zip(&mut self.stations) {
            energy += station.elastic(node, &mut self.elastic, node.part(coordinates(&self.found)));
        }
        params.stiffness * energy
    }

    fn write_coefficients(&mut self, rows: &Rows) {
        self.found.copy_from_slice(rows);
        place_state(&self.nodes, &mut self.stations, rows);
    }

    fn coefficients(&self) -> &[f64] {
        self.found.as_flattened()
    }

    fn unit(&self) -> f64 {
        self.unit
    }
}
