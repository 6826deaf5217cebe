//! What a tree touches: vertices that the spheres of its domains find near colliders, and the directions that mind them.

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::Mat;
use nalgebra::{Matrix3, Vector3};

use super::articulated::Articulated;
use super::kinematics::Frame;
use super::objective::{Node, Station, react};
use super::way::Way;
use crate::math::rows::{Rows, add, dot};
use crate::method::loads::contact::{
    Anchor, Collider, Compliance, ContactState, Course, HARD, HELD, LET_OUT, Mobility, Moved, NEAR,
    SWALLOWED, Touch, entered, meet, mind, respond,
};
use crate::solve::{Compact, Lbfgs};

/// A vertex of a domain at a collider.
#[derive(Clone)]
struct Meeting {
    domain: usize,
    vertex: usize,
    /// Its point is numbered among the vertices of all domains; its stiffness is 0 until that is found.
    touch: Touch,
    course: Course,
    /// What the last search found to act in it, N.
    force: Vector3<f64>,
}

impl Meeting {
    fn key(&self) -> (u32, u32) {
        (self.touch.point, self.touch.collider)
    }
}

/// A domain, one of its vertices, and a force on that, N.
type Push = (usize, usize, Vector3<f64>);

/// The domains of a tree, where they are.
pub(super) struct Standing<'a> {
    pub(super) nodes: &'a [Node],
    pub(super) stations: &'a mut [Station],
    /// How the angles of a free root turn it.
    pub(super) turning: Option<Matrix3<f64>>,
}

impl Standing<'_> {
    /// Writes what forces at vertices of domains on a path, which is in order and begins at the root, do to the coordinates of these.
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

/// A domain and all that it hangs on, in order.
fn chain(nodes: &[Node], domain: usize) -> Vec<usize> {
    let above = |&number: &usize| nodes[number].interface.as_ref().map(|interface| interface.parent);
    let mut chain: Vec<usize> = std::iter::successors(Some(domain), above).collect();
    chain.reverse();
    chain
}

/// Colliders of a tree, and the touches of the current search.
pub(super) struct TreeContact {
    colliders: Arc<[Collider]>,
    /// Whether its root is held.
    held: bool,
    /// The number of each domain's first vertex among those of all, and how many there are.
    firsts: Vec<u32>,
    /// Of each collider.
    placements: Vec<Moved>,
    /// Where each domain was at the start of the substep, and the coordinates of all.
    starts: Vec<Frame>,
    rows: Vec<[f64; 3]>,
    /// Whether a held domain has begun the substep deep inside a collider, so that what is in that passes through; domains first.
    swallowed: Vec<bool>,
    /// Duration of the substep, s.
    h: f64,
    anchors: Vec<Anchor>,
    meetings: Vec<Meeting>,
    /// The domains that touch and those that they hang on, in order.
    path: Vec<usize>,
    /// Of the touches' energy, where it was evaluated last.
    gradient: Vec<[f64; 3]>,
}

impl TreeContact {
    /// Of domains whose coordinates have so many rows.
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

    /// Number of vertices of all domains.
    pub(super) fn vertex_count(&self) -> usize {
        self.firsts[self.firsts.len() - 1] as usize
    }

    /// Begins a substep of a duration from where the domains stand at some coordinates, and colliders in a state, at whose end these are where
    /// rows say.
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

    /// Whether each domain has a vertex deep inside of each collider, domains first.
    fn swallows(&self, nodes: &[Node]) -> Vec<bool> {
        let mut found = Vec::new();
        let mut swallows = |number: usize, collider: usize| {
            let (node, shape) = (&nodes[number], self.colliders[collider].shape());
            let (y, placement) = (node.part(&self.rows), &self.placements[collider].before);
            let way = Way::new(&node.domain, [self.starts[number]; 2], [y; 3], Default::default());
            let depth = SWALLOWED * node.domain.diagonal;
            let may = |part: usize| {
                let (centre, radius) = way.start(part);
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

    /// The energy of what touches, J, with the domains where they are at x; its gradient is kept.
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

    /// The slope of that along a direction.
    pub(super) fn slope(&self, direction: &Rows) -> f64 {
        if self.meetings.is_empty() { 0.0 } else { dot(&self.gradient, direction) }
    }

    /// Finds anew what touches from x along a direction, and turns that to where the forces of touches lead.
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

    /// Whether anything has been entered on the straight way to where the domains are at x.
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

    /// Whether no touch does anything on the way: no force follows then.
    fn is_idle(&self) -> bool {
        self.meetings.iter().all(|Meeting { touch, course, .. }| {
            touch.bound == 0.0 && touch.gap(&course.here) >= 0.0 && touch.gap(&course.ahead) >= 0.0
        })
    }

    /// The touches of vertices that are somewhere and would go a direction; those there were keep what was found of them.
    fn find(&mut self, tree: &Standing<'_>, metric: &Articulated, x: &Rows, direction: &Rows) {
        let Standing { nodes, stations, .. } = tree;
        metric.go(nodes, 0..nodes.len(), direction);
        let known = std::mem::take(&mut self.meetings);
        let mut found = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let frames = [self.starts[number], stations[number].frame];
            let y = [node.part(&self.rows), node.part(x), node.part(direction)];
            let way = Way::new(&node.domain, frames, y, metric.moved(number));
            for collider in 0..self.colliders.len() {
                let (shape, moved) = (self.colliders[collider].shape(), &self.placements[collider]);
                let may = |part| way.bound(part).may_meet(shape, moved, NEAR * node.domain.diagonal);
                found.clear();
                node.domain.spheres.search(may, &mut found);
                let met =
                    found.iter().filter_map(|&vertex| self.meet(&way, (number, node), vertex, collider));
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

    /// How a vertex of a domain meets a collider, if it does.
    fn meet(
        &self,
        way: &Way<'_>,
        (number, node): (usize, &Node),
        vertex: u32,
        collider: usize,
    ) -> Option<Meeting> {
        let (shape, moved) = (self.colliders[collider].shape(), &self.placements[collider]);
        let (diagonal, course) = (node.domain.diagonal, way.course(vertex as usize));
        let path = moved.path(&course);
        let swallowed = self.held && self.swallowed[number * self.colliders.len() + collider];
        if swallowed && shape.nearest(&path.start).0 < -NEAR * diagonal {
            return None;
        }
        let met = meet(shape, &path, NEAR * diagonal)?;
        let key = (self.firsts[number] + vertex, collider as u32);
        let anchor = self.anchors.binary_search_by_key(&key, |anchor| (anchor.point, anchor.collider));
        let anchor = anchor.ok().map(|at| &self.anchors[at]);
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

    /// Turns a direction to where the forces of touches lead; those that acted in the last search are minded first.
    fn turn(
        &mut self,
        tree: &mut Standing<'_>,
        metric: &mut Articulated,
        memory: &mut Lbfgs,
        direction: &mut Rows,
    ) {
        let nodes = tree.nodes;
        self.stiffen(tree, metric);
        // The metric is that of where the domains are.
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

    /// Of touches the first of each domain, then the second of each: those of one domain say much the same.
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

    /// Adds to a direction what the forces do that minimise with those that are minded.
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

    /// Finds how stiff touches are of which that is not known, and drops those that nothing moves.
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

    /// How touches move under unit forces at each other, in the metric alone, 3 x 3 for two.
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

    /// How each touch moves with each column of what was learnt.
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

    /// Where vertices stick once the domains have come to where they are at x.
    pub(super) fn settle_anchors(&mut self, tree: &Standing<'_>, x: &Rows) -> &[Anchor] {
        self.anchors.clear();
        for meeting in &self.meetings {
            let moved = &self.placements[meeting.touch.collider as usize];
            self.anchors.extend(moved.anchor(&meeting.touch, &meeting.place(tree, x)));
        }
        &self.anchors
    }
}

impl Meeting {
    /// A force at its vertex, N.
    fn push(&self, force: Vector3<f64>) -> Push {
        (self.domain, self.vertex, force)
    }

    /// Whether the last search found a force in it, or friction.
    fn acts(&self) -> bool {
        self.touch.bound > 0.0 || self.force != Vector3::zeros()
    }

    /// Its gap where it would go along rows by which the metric has moved its domain.
    fn gap_ahead(&self, tree: &Standing<'_>, metric: &Articulated, rows: &Rows) -> f64 {
        self.touch.gap(&(self.course.here + self.velocity(tree, metric, rows)))
    }

    /// Where its vertex is at x.
    fn place(&self, tree: &Standing<'_>, x: &Rows) -> Vector3<f64> {
        let node = &tree.nodes[self.domain];
        tree.stations[self.domain].frame.vertex(&node.domain, self.vertex, node.part(x))
    }

    /// How that moves along rows of coordinates by which the metric has moved its domain.
    fn velocity(&self, tree: &Standing<'_>, metric: &Articulated, rows: &Rows) -> Vector3<f64> {
        let (node, frame) = (&tree.nodes[self.domain], &tree.stations[self.domain].frame);
        let at = (self.vertex, &self.course.here);
        frame.velocity(&node.domain, at, &metric.moved(self.domain), node.part(rows))
    }
}
