//! Contact between soft bodies that are stepped as one.
//!
//! The points of each body touch the [`SoftShape`] of each other one: a point is pulled back to where it is
//! in the other body at rest, which stands still there, so that it meets its shape as it does a rigid one.
//! Where it meets it, m, moves with that body, and the touch has its energy in `x - phi(m)`: the force on the
//! point and the one on the other body are opposite. All touches of the bodies, those of rigid colliders too,
//! answer to each other in one direction.

use std::collections::BTreeMap;
use std::ops::Range;

use faer::Mat;
use nalgebra::Vector3;

use super::directions::{HARD, HELD, NEAR};
use super::soft::SoftShape;
use super::{Anchor, Compliance, Contact, Course, Path, Touch, meet, respond};
use crate::math::rows::{Rows, add, combine};
use crate::solve::{Compact, Lbfgs, Value};

/// Distance of two points of two bodies, in diagonals, at which one that touches the other's body says
/// nothing new.
const SAME: f64 = 0.01;

/// A body of a joint substep.
pub(crate) struct Member<'a> {
    /// What it touches.
    pub(crate) contact: &'a mut Contact,
    /// What others touch of it.
    pub(crate) shape: &'a SoftShape,
    /// Its rows of those of all.
    pub(crate) rows: Range<usize>,
    /// By which anchors know it.
    pub(crate) number: u32,
}

/// What members touch, and the touches of the current search.
pub(crate) struct JointContact<'a> {
    members: Vec<Member<'a>>,
    pairs: Vec<Pair>,
    /// Where the nodes of members' shapes were at the start of the substep, where they are and where they go.
    fields: Vec<[Vec<Vector3<f64>>; 3]>,
    links: Vec<Link>,
    /// On the points of links, where the energy was evaluated last, N.
    forces: Vec<Vector3<f64>>,
}

/// A member whose points touch the shape of another.
struct Pair {
    member: usize,
    other: usize,
    /// How points began the substep, of those that have come near the other since.
    begun: BTreeMap<usize, Begun>,
}

/// How a point began the substep beside another body.
#[derive(Clone, Copy)]
struct Begun {
    /// Where in the other at rest it was, if it was anywhere.
    start: Option<Vector3<f64>>,
    /// Whether it says nothing new, as one of the other's points was where it was, and that comes first.
    is_spared: bool,
}

/// A touch with the place that is in it: `sum of entries y + beyond`, of a member against another or a rigid
/// collider.
struct Link {
    member: usize,
    other: Option<usize>,
    touch: Touch,
    friction: f64,
    entries: Vec<(u32, f64)>,
    beyond: Vector3<f64>,
    /// Where it met the other, at rest.
    met: Vector3<f64>,
    /// What the last search found to act in it, N.
    force: Vector3<f64>,
}

impl Link {
    /// Of a member whose rows begin somewhere against a rigid collider.
    fn rigid(member: usize, contact: &Contact, touch: &Touch, first: usize) -> Self {
        let point = touch.point as usize;
        let entry = |&(row, weight): &(u32, f64)| (row + first as u32, weight);
        Self {
            member,
            other: None,
            touch: *touch,
            friction: contact.friction(touch),
            entries: contact.points.of(point).iter().map(entry).collect(),
            beyond: contact.shift(point),
            met: Vector3::zeros(),
            force: Vector3::zeros(),
        }
    }

    /// Adds what a value in it is to the rows.
    fn spread(&self, value: &Vector3<f64>, rows: &mut Rows) {
        for &(row, weight) in &self.entries {
            (0..3).for_each(|c| rows[row as usize][c] += weight * value[c]);
        }
    }

    fn sum(&self, rows: &Rows) -> Vector3<f64> {
        let sum = |sum, &(row, weight): &(u32, f64)| sum + weight * Vector3::from(rows[row as usize]);
        self.entries.iter().fold(Vector3::zeros(), sum)
    }

    fn at(&self, rows: &Rows) -> Vector3<f64> {
        self.sum(rows) + self.beyond
    }

    /// Whether a force in one may move the other.
    fn shares_body(&self, link: &Self) -> bool {
        let is_own = |body| body == self.member || Some(body) == self.other;
        is_own(link.member) || link.other.is_some_and(is_own)
    }

    /// What it is told by.
    fn key(&self) -> (usize, u32, u32) {
        (self.member, self.touch.point, self.touch.collider)
    }
}

impl<'a> JointContact<'a> {
    /// Begins a substep of members that have begun it each for itself, from where all rows were.
    pub(crate) fn new(members: Vec<Member<'a>>, last: &Rows) -> Self {
        let of = |other: usize| (0..members.len()).filter(move |&member| member != other);
        let pair = |other: usize| of(other).map(move |member| Pair { member, other, begun: BTreeMap::new() });
        let pairs = (0..members.len()).flat_map(pair).collect();
        let fields = members.iter().map(|Member { shape, rows, .. }| {
            let mut start = Vec::new();
            shape.enter(&last[rows.clone()], &mut start);
            [start, Vec::new(), Vec::new()]
        });
        Self { fields: fields.collect(), members, pairs, links: Vec::new(), forces: Vec::new() }
    }

    /// The energy of what touches, J.
    pub(crate) fn evaluate(&mut self, y: &Rows) -> f64 {
        self.forces.clear();
        let mut sum = 0.0;
        for link in &self.links {
            let (energy, force) = link.touch.evaluate(&link.at(y));
            self.forces.push(force);
            sum += energy;
        }
        sum
    }

    /// The slope of that along a direction, where it was evaluated last.
    pub(crate) fn slope(&self, direction: &Rows) -> f64 {
        self.links.iter().zip(&self.forces).map(|(link, force)| -force.dot(&link.sum(direction))).sum()
    }

    /// Finds anew what touches, and turns the free direction from y to where its forces lead; `solve` is the
    /// metric's inverse of a member.
    pub(crate) fn correct(
        &mut self,
        y: &Rows,
        memory: &mut Lbfgs,
        direction: &mut Rows,
        value: &mut Value,
        mut solve: impl FnMut(usize, &mut Rows),
    ) {
        let before = self.evaluate(y);
        self.find(y, direction);
        if self.is_idle(y, direction) {
            self.links.clear();
        } else {
            self.turn(memory, direction, y, &mut solve);
        }
        self.tell();
        let after = self.evaluate(y);
        value.energy += after - before;
        value.size += after - before;
    }

    fn is_idle(&self, y: &Rows, direction: &Rows) -> bool {
        self.links.iter().all(|link| {
            let here = link.at(y);
            let ahead = here + link.sum(direction);
            link.touch.bound == 0.0 && link.touch.gap(&here) >= 0.0 && link.touch.gap(&ahead) >= 0.0
        })
    }

    /// Tells the members how stiff their own touches are, and how much these rub.
    fn tell(&mut self) {
        for (number, member) in self.members.iter_mut().enumerate() {
            let own = self.links.iter().filter(|link| link.member == number && link.other.is_none());
            member.contact.touches.clear();
            member.contact.touches.extend(own.map(|link| link.touch));
        }
    }

    /// The touches of points that are somewhere and would go a direction; bounds of friction stay those of
    /// the last.
    fn find(&mut self, y: &Rows, direction: &Rows) {
        let acted = |link: Link| (link.key(), (link.touch.bound, link.force));
        let known: BTreeMap<_, _> = self.links.drain(..).map(acted).collect();
        let ahead = sum(y, direction);
        for (number, (member, field)) in self.members.iter_mut().zip(&mut self.fields).enumerate() {
            let Member { contact, shape, rows, .. } = member;
            let own = &y[rows.clone()];
            contact.find(&[], |points, point| points.at(point, own), &direction[rows.clone()]);
            shape.enter(own, &mut field[1]);
            shape.enter(&ahead[rows.clone()], &mut field[2]);
            let rigid = |touch: &Touch| Link::rigid(number, contact, touch, rows.start);
            self.links.extend(contact.touches.iter().map(rigid));
        }
        let reaches: Vec<Reach> = self.fields.iter().map(Reach::of).collect();
        for pair in &mut self.pairs {
            let two = [pair.member, pair.other].map(|one| &self.members[one]);
            let (fields, reach) = (&self.fields[pair.other], &reaches[pair.other]);
            let courses = two[0].contact.courses.iter().enumerate();
            for (point, _) in courses.filter(|(_, course)| reach.holds(course)) {
                self.links.extend(pair.meet(point, two, fields));
            }
        }
        for link in &mut self.links {
            if let Some(&(bound, force)) = known.get(&link.key()) {
                (link.touch.bound, link.force) = (bound, force);
            }
        }
    }

    /// Turns a direction to where the forces of touches lead.
    fn turn(
        &mut self,
        memory: &mut Lbfgs,
        direction: &mut Rows,
        y: &Rows,
        solve: &mut impl FnMut(usize, &mut Rows),
    ) {
        let points = self.stiffen(direction.len(), solve);
        let ranges: Vec<Range<usize>> = self.members.iter().map(|member| member.rows.clone()).collect();
        let mut solve_all = |rows: &mut Rows| {
            ranges.iter().enumerate().for_each(|(member, own)| solve(member, &mut rows[own.clone()]));
        };
        let compact = memory.compact(&mut solve_all);
        let compliance = self.compliance(points, &compact);
        let ahead = sum(y, direction);
        let free: Vec<Vector3<f64>> = self.links.iter().map(|link| link.at(&ahead)).collect();
        let friction: Vec<f64> = self.links.iter().map(|link| link.friction).collect();
        let mut touches: Vec<Touch> = self.links.iter().map(|link| link.touch).collect();
        let guess: Vec<Vector3<f64>> = self.links.iter().map(|link| link.force).collect();
        let forces = respond(&mut touches, &friction, &free, &compliance, &guess);
        for (link, (touch, force)) in self.links.iter_mut().zip(touches.into_iter().zip(&forces)) {
            (link.touch, link.force) = (touch, *force);
        }
        let mut pushed = vec![[0.0; 3]; direction.len()];
        for (link, force) in self.links.iter().zip(&forces) {
            link.spread(force, &mut pushed);
        }
        solve_all(&mut pushed);
        add(direction, 1.0, &pushed);
        for (column, share) in compact.columns.iter().zip(compliance.shares(&forces)) {
            add(direction, share, column);
        }
    }

    /// What a force in one touch does in all, m/N, from which follows how stiff these are.
    fn stiffen(&mut self, rows: usize, solve: &mut impl FnMut(usize, &mut Rows)) -> Mat<f64> {
        let mut images = vec![Vec::new(); self.links.len()];
        for (links, images) in self.links.chunks(3).zip(images.chunks_mut(3)) {
            let mut moved = vec![[0.0; 3]; rows];
            for (c, link) in links.iter().enumerate() {
                link.spread(&Vector3::ith(c, 1.0), &mut moved);
            }
            for (number, member) in self.members.iter().enumerate() {
                if links.iter().any(|link| link.member == number || link.other == Some(number)) {
                    solve(number, &mut moved[member.rows.clone()]);
                }
            }
            for (c, image) in images.iter_mut().enumerate() {
                *image = moved.iter().map(|row| row[c]).collect::<Vec<f64>>();
            }
        }
        let moves = |link: &Link, image: &[f64]| -> f64 {
            link.entries.iter().map(|&(row, weight)| weight * image[row as usize]).sum()
        };
        let own: Vec<f64> = self.links.iter().zip(&images).map(|(link, image)| moves(link, image)).collect();
        let most = own.iter().copied().fold(0.0, f64::max);
        let kept: Vec<usize> = (0..own.len()).filter(|&i| own[i] > HELD * most).collect();
        let mut each = own.iter();
        self.links.retain(|_| each.next().is_some_and(|&own| own > HELD * most));
        for (link, &i) in self.links.iter_mut().zip(&kept) {
            link.touch.stiffness = HARD / own[i];
        }
        let links = &self.links;
        Mat::from_fn(kept.len(), kept.len(), |i, j| {
            if links[i].shares_body(&links[j]) { moves(&links[i], &images[kept[j]]) } else { 0.0 }
        })
    }

    fn compliance(&self, points: Mat<f64>, compact: &Compact<'_>) -> Compliance {
        let columns = |link: &Link| compact.columns.iter().map(|column| link.sum(column)).collect();
        let columns = self.links.iter().map(columns).collect();
        Compliance { points, columns, matrix: compact.matrix.clone() }
    }

    /// Where points stick once the bodies have come to rest at y.
    pub(crate) fn settle_anchors(mut self, y: &Rows) {
        for (member, [_, field, _]) in self.members.iter_mut().zip(&mut self.fields) {
            let own = &y[member.rows.clone()];
            member.contact.settle_anchors(&[], own);
            member.shape.enter(own, field);
        }
        for link in &self.links {
            let Some(other) = link.other.filter(|_| link.touch.gap(&link.at(y)) < 0.0) else { continue };
            let (shape, field) = (self.members[other].shape, &self.fields[other][1]);
            let stuck = shape.map(field, &link.met).0 + link.touch.dragged(&link.at(y));
            let Some(place) = shape.pull(field, &stuck, Some(link.met)) else { continue };
            let (point, collider) = (link.touch.point, link.touch.collider);
            let anchor = Anchor { point, collider, place: place.into() };
            self.members[link.member].contact.anchors.push(anchor);
        }
        for member in &mut self.members {
            member.contact.anchors.sort_by_key(|anchor| (anchor.point, anchor.collider));
        }
    }
}

impl Pair {
    /// How a point meets the other body, if it does.
    fn meet(
        &mut self,
        point: usize,
        [member, other]: [&Member<'_>; 2],
        [before, now, next]: &[Vec<Vector3<f64>>; 3],
    ) -> Option<Link> {
        let (contact, shape) = (&*member.contact, other.shape);
        let course = &contact.courses[point];
        let begin = || Begun::new(course, [member, other], before, self.other < self.member);
        let begun = *self.begun.entry(point).or_insert_with(begin);
        if begun.is_spared {
            return None;
        }
        let here = shape.pull(now, &course.here, begun.start)?;
        let start = begun.start.unwrap_or(here);
        let ahead = shape.pull(next, &course.ahead, Some(here)).unwrap_or(here);
        let path = Path { start, here, ahead };
        let (normal, met) = meet(shape.collider.shape(), &path, NEAR * contact.diagonal)?;
        let (place, gradient) = shape.map(now, &met);
        let turned = gradient.try_inverse()?.transpose() * normal;
        let (normal_now, stretch) = (turned.normalize(), 1.0 / turned.norm());
        let collider = contact.colliders.len() as u32 + other.number;
        let key = (point as u32, collider);
        let anchor = contact.anchors.binary_search_by_key(&key, |anchor| (anchor.point, anchor.collider));
        let sticks = anchor.map_or(start, |found| contact.anchors[found].place.into());
        let inside = stretch * (normal.dot(&(start - met)) + contact.let_out).min(0.0);
        let touch = Touch {
            point: key.0,
            collider,
            normal: normal_now,
            place: if inside.is_finite() { inside * normal_now } else { Vector3::zeros() },
            anchor: shape.map(now, &sticks).0 - place,
            stiffness: 0.0,
            bound: 0.0,
        };
        let own = contact.points.of(point).iter().map(|&(row, weight)| (row, weight, member.rows.start));
        let mut entries: Vec<(u32, f64)> =
            own.map(|(row, weight, first)| (row + first as u32, weight)).collect();
        shape.subtract(&met, other.rows.start as u32, &mut entries);
        Some(Link {
            member: self.member,
            other: Some(self.other),
            touch,
            friction: if contact.rubs { shape.collider.friction() } else { 0.0 },
            entries,
            beyond: contact.shift(point) - met,
            met,
            force: Vector3::zeros(),
        })
    }
}

impl Begun {
    /// Of a member's point beside another, whose nodes were somewhere, and which comes first or not.
    fn new(
        course: &Course,
        [member, other]: [&Member<'_>; 2],
        before: &[Vector3<f64>],
        is_second: bool,
    ) -> Self {
        let near = SAME * member.contact.diagonal;
        let is_same = |at: &Course| (at.start - course.start).norm() < near;
        let is_spared = is_second && other.contact.courses.iter().any(is_same);
        let start = if is_spared { None } else { other.shape.pull(before, &course.start, None) };
        Self { start, is_spared }
    }
}

/// A box around all places of a shape in the time of a substep.
struct Reach([[f64; 3]; 2]);

impl Reach {
    fn of(fields: &[Vec<Vector3<f64>>; 3]) -> Self {
        let mut reach = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for place in fields.iter().flatten() {
            (0..3).for_each(|c| reach[0][c] = reach[0][c].min(place[c]));
            (0..3).for_each(|c| reach[1][c] = reach[1][c].max(place[c]));
        }
        Self(reach)
    }

    /// Whether a point comes into it.
    fn holds(&self, Course { start, here, ahead }: &Course) -> bool {
        (0..3).all(|c| {
            let low = start[c].min(here[c]).min(ahead[c]);
            let high = start[c].max(here[c]).max(ahead[c]);
            low <= self.0[1][c] && high >= self.0[0][c]
        })
    }
}

fn sum(a: &Rows, b: &Rows) -> Vec<[f64; 3]> {
    let mut sum = vec![[0.0; 3]; a.len()];
    combine(&mut sum, a, 1.0, b);
    sum
}
