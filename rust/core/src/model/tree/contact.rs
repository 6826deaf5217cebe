//! Contact of a domain tree: candidate vertices from bounding spheres, and search directions with contact
//! forces.

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::Mat;
use nalgebra::{Matrix3, Vector3};

use super::articulated::Articulated;
use super::kinematics::Frame;
use super::path::DomainPath;
use super::station::{Node, Station, react};
use crate::math::rows::{Rows, add, dot};
use crate::potentials::contact::{
    Anchor, Collider, Compliance, ContactState, Course, HARD, HELD, LET_OUT, Mobility, Moved, NEAR, ROWS,
    SWALLOWED, Touch, entered, meet, mind, respond,
};
use crate::solve::{Compact, Lbfgs};

/// A contact of a domain's vertex with a collider.
#[derive(Clone)]
struct Meeting {
    domain: usize,
    vertex: usize,
    /// Point index among the vertices of all domains; stiffness 0 until computed.
    touch: Touch,
    course: Course,
    /// Contact force of the last search, N.
    force: Vector3<f64>,
}

impl Meeting {
    fn key(&self) -> (u32, u32) {
        (self.touch.point, self.touch.collider)
    }
}

/// A domain, a vertex, and a force on this vertex, N.
type Push = (usize, usize, Vector3<f64>);

/// The domains of a tree at their current placement.
pub(super) struct Standing<'a> {
    pub(super) nodes: &'a [Node],
    pub(super) stations: &'a mut [Station],
    /// Derivative of a free root's rotation by its angles.
    pub(super) turning: Option<Matrix3<f64>>,
}

impl Standing<'_> {
    /// Writes generalised forces from forces at vertices. `path` lists the domains in order, from the root,
    /// and is closed under parents.
    fn pull_back(&mut self, path: &[usize], forces: impl Iterator<Item = Push>, rows: &mut Rows) {
        for &number in path {
            self.nodes[number].part_mut(rows).fill(0.0);
            self.stations[number].push.fill(0.0);
        }
        for (number, vertex, force) in forces {
            self.nodes[number].domain.push(vertex, &force, &mut self.stations[number].push);
        }
        react(self.nodes, self.stations, path.iter().rev().copied(), self.turning.as_ref(), rows);
    }
}

/// A domain and its ancestors, from the root.
fn chain(nodes: &[Node], domain: usize) -> Vec<usize> {
    let above = |&number: &usize| nodes[number].interface.as_ref().map(|interface| interface.parent);
    let mut chain: Vec<usize> = std::iter::successors(Some(domain), above).collect();
    chain.reverse();
    chain
}

/// Colliders of a tree, and the contacts of the current search.
pub(super) struct TreeContact {
    colliders: Arc<[Collider]>,
    /// `true` if the root is attached.
    held: bool,
    /// First global vertex number of each domain, then the total number.
    firsts: Vec<u32>,
    /// Placements of each collider.
    placements: Vec<Moved>,
    /// Frame of each domain, and all coordinates, at the start of the substep.
    starts: Vec<Frame>,
    rows: Vec<[f64; 3]>,
    /// `true` for an attached domain that starts the substep deep inside a collider; its inner vertices
    /// then pass through. Indexed by domain, then collider.
    swallowed: Vec<bool>,
    /// Duration of the substep, s.
    h: f64,
    anchors: Vec<Anchor>,
    meetings: Vec<Meeting>,
    /// Domains in contact and their ancestors, in order.
    path: Vec<usize>,
    /// Gradient of the contact energy at the last evaluation.
    gradient: Vec<[f64; 3]>,
}

impl TreeContact {
    /// Contact of domains with `rows` rows of coordinates.
    pub(super) fn new(colliders: Arc<[Collider]>, nodes: &[Node], rows: usize, held: bool) -> Self {
        let mut firsts = vec![0];
        for (number, node) in nodes.iter().enumerate() {
            firsts.push(firsts[number] + node.domain.vertex_count() as u32);
        }
        Self {
            colliders,
            held,
            firsts,
            placements: Vec::new(),
            starts: Vec::new(),
            rows: vec![[0.0; 3]; rows],
            swallowed: Vec::new(),
            h: 0.0,
            anchors: Vec::new(),
            meetings: Vec::new(),
            path: Vec::new(),
            gradient: vec![[0.0; 3]; rows],
        }
    }

    /// Numbers of rows of the collider placements, and of vertices of all domains.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [ROWS * self.colliders.len(), self.firsts[self.firsts.len() - 1] as usize]
    }

    /// Sticking positions of vertices after the last substep.
    pub(super) fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// Begins a substep of duration h. `x` and the stations give the start; `state` and `colliders` give
    /// the colliders at start and end.
    pub(super) fn begin(
        &mut self,
        (nodes, stations): (&[Node], &[Station]),
        x: &Rows,
        (state, colliders): (&ContactState, &Rows),
        h: f64,
    ) {
        self.placements = Moved::all(&state.last, colliders, [&[0.0; 3]; 2]);
        self.starts.clear();
        self.starts.extend(stations.iter().map(|station| station.frame));
        self.rows.copy_from_slice(x);
        self.h = h;
        self.anchors.clone_from(&state.anchors);
        self.meetings.clear();
        self.path.clear();
        self.gradient.fill([0.0; 3]);
        self.swallowed = if self.held { self.swallows(nodes) } else { Vec::new() };
    }

    /// `true` for each domain with a vertex deep inside a collider; indexed by domain, then collider.
    fn swallows(&self, nodes: &[Node]) -> Vec<bool> {
        let mut found = Vec::new();
        let mut swallows = |number: usize, collider: usize| {
            let (node, shape) = (&nodes[number], self.colliders[collider].shape());
            let (y, placement) = (node.part(&self.rows), &self.placements[collider].before);
            let path = DomainPath::new(&node.domain, [self.starts[number]; 2], [y; 3], Default::default());
            let depth = SWALLOWED * node.domain.diagonal;
            let may = |part: usize| {
                let (centre, radius) = path.start(part);
                shape.least_distance(&placement.local(&centre)) - radius < -depth
            };
            found.clear();
            node.domain.spheres.search(may, &mut found);
            found.iter().any(|&vertex| {
                let place = self.starts[number].vertex(&node.domain, vertex as usize, y);
                shape.nearest(&placement.local(&place)).0 < -depth
            })
        };
        let pairs = (0..nodes.len()).flat_map(|number| (0..self.colliders.len()).map(move |c| (number, c)));
        pairs.map(|(number, collider)| swallows(number, collider)).collect()
    }

    /// Contact energy, J, with the domains placed at x; stores the gradient.
    pub(super) fn evaluate(&mut self, tree: &mut Standing<'_>, x: &Rows) -> f64 {
        if self.meetings.is_empty() {
            return 0.0;
        }
        let mut sum = 0.0;
        let slope = |meeting: &Meeting| {
            let (energy, force) = meeting.touch.evaluate(&meeting.place(tree, x));
            sum += energy;
            meeting.push(-force)
        };
        let slopes: Vec<Push> = self.meetings.iter().map(slope).collect();
        tree.pull_back(&self.path, slopes.into_iter(), &mut self.gradient);
        sum
    }

    /// Derivative of the contact energy along a direction.
    pub(super) fn slope(&self, direction: &Rows) -> f64 {
        if self.meetings.is_empty() { 0.0 } else { dot(&self.gradient, direction) }
    }

    /// Detects contacts from x along a direction, and adds the effect of contact forces to the direction.
    pub(super) fn correct(
        &mut self,
        tree: &mut Standing<'_>,
        metric: &mut Articulated,
        x: &Rows,
        memory: &mut Lbfgs,
        direction: &mut Rows,
    ) {
        self.find(tree, metric, x, direction);
        if self.is_idle() {
            self.meetings.clear();
        } else {
            self.turn(tree, metric, memory, direction);
        }
    }

    /// `true` if the straight motion to x enters a collider.
    pub(super) fn is_entered(&mut self, tree: &Standing<'_>, metric: &Articulated, x: &Rows) -> bool {
        let still = vec![[0.0; 3]; x.len()];
        self.find(tree, metric, x, &still);
        let (colliders, placements) = (&self.colliders, &self.placements);
        let mut meetings = self.meetings.drain(..);
        meetings.any(|Meeting { touch, course, .. }| {
            let collider = touch.collider as usize;
            let here = placements[collider].now.local(&course.here);
            colliders[collider].shape().nearest(&here).0 < 0.0
        })
    }

    /// `true` if all contacts stay open along the direction and no contact force can arise.
    fn is_idle(&self) -> bool {
        self.meetings.iter().all(|Meeting { touch, course, .. }| {
            touch.bound == 0.0 && touch.gap(&course.here) >= 0.0 && touch.gap(&course.ahead) >= 0.0
        })
    }

    /// Contacts of vertices at x that move along a direction; known contacts keep stiffness, friction bound
    /// and force.
    fn find(&mut self, tree: &Standing<'_>, metric: &Articulated, x: &Rows, direction: &Rows) {
        let Standing { nodes, stations, .. } = tree;
        metric.go(nodes, 0..nodes.len(), direction);
        let known = std::mem::take(&mut self.meetings);
        let mut found = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let frames = [self.starts[number], stations[number].frame];
            let y = [node.part(&self.rows), node.part(x), node.part(direction)];
            let path = DomainPath::new(&node.domain, frames, y, metric.moved(number));
            for collider in 0..self.colliders.len() {
                let (shape, moved) = (self.colliders[collider].shape(), &self.placements[collider]);
                let may = |part| path.bound(part).may_meet(shape, moved, NEAR * node.domain.diagonal);
                found.clear();
                node.domain.spheres.search(may, &mut found);
                let met =
                    found.iter().filter_map(|&vertex| self.meet(&path, (number, node), vertex, collider));
                self.meetings.extend(met.collect::<Vec<Meeting>>());
            }
        }
        self.meetings.sort_by_key(Meeting::key);
        for meeting in &mut self.meetings {
            if let Ok(at) = known.binary_search_by_key(&meeting.key(), Meeting::key) {
                let Meeting { touch: Touch { stiffness, bound, .. }, force, .. } = known[at];
                meeting.touch = Touch { stiffness, bound, ..meeting.touch };
                meeting.force = force;
            }
        }
        self.find_path(nodes);
    }

    /// Contact of a vertex with a collider, if any.
    fn meet(
        &self,
        path: &DomainPath<'_>,
        (number, node): (usize, &Node),
        vertex: u32,
        collider: usize,
    ) -> Option<Meeting> {
        let (shape, moved) = (self.colliders[collider].shape(), &self.placements[collider]);
        let (diagonal, course) = (node.domain.diagonal, path.course(vertex as usize));
        let key = (self.firsts[number] + vertex, collider as u32);
        let anchor = self.anchors.binary_search_by_key(&key, |anchor| (anchor.point, anchor.collider));
        let anchor = anchor.ok().map(|at| &self.anchors[at]);
        let path = moved.path(&course, anchor);
        let swallowed = self.held && self.swallowed[number * self.colliders.len() + collider];
        if swallowed && shape.nearest(&path.start).0 < -NEAR * diagonal {
            return None;
        }
        let met = meet(shape, &path, NEAR * diagonal)?;
        let touch = moved.touch(key, met, (&path.start, anchor), LET_OUT * diagonal * self.h);
        Some(Meeting { domain: number, vertex: vertex as usize, touch, course, force: Vector3::zeros() })
    }

    fn find_path(&mut self, nodes: &[Node]) {
        self.path.clear();
        let mut last = None;
        for Meeting { domain, .. } in &self.meetings {
            if last.replace(*domain) != Some(*domain) {
                self.path.extend(chain(nodes, *domain));
            }
        }
        self.path.sort_unstable();
        self.path.dedup();
        self.gradient.fill([0.0; 3]);
    }

    /// Adds the effect of contact forces to a direction. The working set starts with the contacts active in
    /// the last search.
    fn turn(
        &mut self,
        tree: &mut Standing<'_>,
        metric: &mut Articulated,
        memory: &mut Lbfgs,
        direction: &mut Rows,
    ) {
        let nodes = tree.nodes;
        self.stiffen(tree, metric);
        // The metric belongs to the current placement.
        memory.change_metric();
        let compact = memory.compact(|rows: &mut Rows| metric.solve(nodes, 0..nodes.len(), rows));
        let free = direction.to_vec();
        let acts = |&i: &usize| self.meetings[i].acts();
        let acting = (0..self.meetings.len()).filter(acts).collect();
        mind(acting, |minded| {
            if !minded.is_empty() {
                direction.copy_from_slice(&free);
                self.answer(minded, tree, metric, &compact, direction);
            }
            metric.go(nodes, self.path.iter().copied(), direction);
            let gap = |i: usize| self.meetings[i].gap_ahead(tree, metric, direction);
            self.in_turn(entered(self.meetings.len(), minded, gap))
        });
    }

    /// Contacts in round-robin order over domains, since contacts of one domain are nearly redundant.
    fn in_turn(&self, touches: Vec<usize>) -> Vec<usize> {
        let mut seen = BTreeMap::new();
        let rank = |i: usize| {
            let rank = seen.entry(self.meetings[i].domain).or_insert(0);
            *rank += 1;
            (*rank, i)
        };
        let mut ranked: Vec<(usize, usize)> = touches.into_iter().map(rank).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, i)| i).collect()
    }

    /// Adds to a direction the effect of the optimal forces in the working set.
    fn answer(
        &mut self,
        minded: &[usize],
        tree: &mut Standing<'_>,
        metric: &mut Articulated,
        compact: &Compact<'_>,
        direction: &mut Rows,
    ) {
        let compliance = Compliance {
            points: Mobility::Turning(self.images(minded, tree, metric)),
            columns: self.columns(minded, tree, metric, compact),
            matrix: compact.matrix.clone(),
        };
        let of = || minded.iter().map(|&i| &self.meetings[i]);
        let friction = |meeting: &Meeting| self.colliders[meeting.touch.collider as usize].friction();
        let friction: Vec<f64> = of().map(friction).collect();
        let free: Vec<Vector3<f64>> = of().map(|meeting| meeting.course.ahead).collect();
        let guess: Vec<Vector3<f64>> = of().map(|meeting| meeting.force).collect();
        let mut touches: Vec<Touch> = of().map(|meeting| meeting.touch).collect();
        let forces = respond(&mut touches, &friction, &free, &compliance, &guess);
        for ((&i, touch), force) in minded.iter().zip(touches).zip(&forces) {
            (self.meetings[i].touch, self.meetings[i].force) = (touch, *force);
        }
        let pushes = minded.iter().map(|&i| self.meetings[i].push(self.meetings[i].force));
        let mut rows = vec![[0.0; 3]; direction.len()];
        tree.pull_back(&self.path, pushes, &mut rows);
        metric.solve(tree.nodes, 0..tree.nodes.len(), &mut rows);
        add(direction, 1.0, &rows);
        for (column, share) in compact.columns.iter().zip(compliance.shares(&forces)) {
            add(direction, share, column);
        }
    }

    /// Computes missing contact stiffnesses, and drops contacts of immovable vertices.
    fn stiffen(&mut self, tree: &mut Standing<'_>, metric: &mut Articulated) {
        let mut rows = vec![[0.0; 3]; self.rows.len()];
        self.meetings.retain_mut(|meeting| {
            if meeting.touch.stiffness > 0.0 {
                return true;
            }
            let own = chain(tree.nodes, meeting.domain);
            let normal = meeting.touch.normal;
            tree.pull_back(&own, [meeting.push(normal)].into_iter(), &mut rows);
            metric.solve(tree.nodes, own.iter().copied(), &mut rows);
            let moves = normal.dot(&meeting.velocity(tree, metric, &rows));
            own.iter().for_each(|&number| tree.nodes[number].part_mut(&mut rows).fill(0.0));
            let (node, station) = (&tree.nodes[meeting.domain], &tree.stations[meeting.domain]);
            meeting.touch.stiffness = HARD / moves;
            moves * node.domain.total_mass() * station.inertia > HELD
        });
    }

    /// Compliance between contacts in the metric alone, 3 x 3 a pair.
    fn images(&self, minded: &[usize], tree: &mut Standing<'_>, metric: &mut Articulated) -> Mat<f64> {
        let mut images = Mat::zeros(3 * minded.len(), 3 * minded.len());
        let mut rows = vec![[0.0; 3]; self.rows.len()];
        for (j, &of) in minded.iter().enumerate() {
            for c in 0..3 {
                let unit = self.meetings[of].push(Vector3::ith(c, 1.0));
                tree.pull_back(&self.path, [unit].into_iter(), &mut rows);
                metric.solve(tree.nodes, self.path.iter().copied(), &mut rows);
                for (i, &other) in minded.iter().enumerate().skip(j) {
                    let moved = self.meetings[other].velocity(tree, metric, &rows);
                    for row in 0..3 {
                        images[(3 * i + row, 3 * j + c)] = moved[row];
                        images[(3 * j + c, 3 * i + row)] = moved[row];
                    }
                }
            }
        }
        images
    }

    /// Motion of each contact in each L-BFGS column.
    fn columns(
        &self,
        minded: &[usize],
        tree: &Standing<'_>,
        metric: &Articulated,
        compact: &Compact<'_>,
    ) -> Vec<Vec<Vector3<f64>>> {
        let mut columns = vec![Vec::with_capacity(compact.columns.len()); minded.len()];
        for column in &compact.columns {
            metric.go(tree.nodes, self.path.iter().copied(), column);
            let moved = minded.iter().map(|&i| self.meetings[i].velocity(tree, metric, column));
            columns.iter_mut().zip(moved).for_each(|(own, moved)| own.push(moved));
        }
        columns
    }

    /// Sets the sticking positions of vertices after the substep, at x.
    pub(super) fn settle_anchors(&mut self, tree: &Standing<'_>, x: &Rows) {
        self.anchors.clear();
        for meeting in &self.meetings {
            let moved = &self.placements[meeting.touch.collider as usize];
            self.anchors.extend(moved.anchor(&meeting.touch, &meeting.place(tree, x)));
        }
    }
}

impl Meeting {
    /// The force at the contact's vertex, N.
    fn push(&self, force: Vector3<f64>) -> Push {
        (self.domain, self.vertex, force)
    }

    /// `true` if the last search found a force or friction here.
    fn acts(&self) -> bool {
        self.touch.bound > 0.0 || self.force != Vector3::zeros()
    }

    /// Gap after a step; `metric` holds the twist of the domain for this step.
    fn gap_ahead(&self, tree: &Standing<'_>, metric: &Articulated, rows: &Rows) -> f64 {
        self.touch.gap(&(self.course.here + self.velocity(tree, metric, rows)))
    }

    /// Position of the vertex at x.
    fn place(&self, tree: &Standing<'_>, x: &Rows) -> Vector3<f64> {
        let node = &tree.nodes[self.domain];
        tree.stations[self.domain].frame.vertex(&node.domain, self.vertex, node.part(x))
    }

    /// Motion of the vertex in a step; `metric` holds the twist of the domain for this step.
    fn velocity(&self, tree: &Standing<'_>, metric: &Articulated, rows: &Rows) -> Vector3<f64> {
        let (node, frame) = (&tree.nodes[self.domain], &tree.stations[self.domain].frame);
        let at = (self.vertex, &self.course.here);
        frame.velocity(&node.domain, at, &metric.moved(self.domain), node.part(rows))
    }
}
