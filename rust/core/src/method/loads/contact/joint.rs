//! Contact between soft bodies that are stepped as one.
//!
//! The points of each body touch the [`SoftShape`] of each other one: a point is pulled back to where it is
//! in the other body at rest, which stands still there, so that it meets its shape as it does a rigid one.
//! Where it meets it, m, moves with that body, and the touch has its energy in `x - phi(m)`: the force on the
//! point and the one on the other body are opposite. All touches of the bodies, those of rigid colliders too,
//! answer to each other in one direction.

use std::collections::BTreeMap;
use std::ops::Range;

use nalgebra::Vector3;

use super::directions::NEAR;
use super::links::{Link, Links, Metric, sum};
use super::soft::SoftShape;
use super::{Anchor, Contact, Course, Path, Touch, meet};
use crate::math::rows::Rows;
use crate::solve::{Lbfgs, Value};

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
    links: Links,
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
        Self { fields: fields.collect(), members, pairs, links: Links::default() }
    }

    /// The energy of what touches, J.
    pub(crate) fn evaluate(&mut self, y: &Rows) -> f64 {
        self.links.evaluate(y)
    }

    /// The slope of that along a direction, where it was evaluated last.
    pub(crate) fn slope(&self, direction: &Rows) -> f64 {
        self.links.slope(direction)
    }

    /// Finds anew what touches, and turns the free direction from y to where its forces lead; `solve` is the
    /// metric's inverse of a member.
    pub(crate) fn correct(
        &mut self,
        y: &Rows,
        memory: &mut Lbfgs,
        direction: &mut Rows,
        value: &mut Value,
        solve: impl FnMut(usize, &mut Rows),
    ) {
        let before = self.evaluate(y);
        self.find(y, direction);
        if self.links.are_idle(y, direction) {
            self.links.all.clear();
        } else {
            let ranges: Vec<Range<usize>> = self.members.iter().map(|member| member.rows.clone()).collect();
            self.links.turn(memory, direction, y, &mut Metric { ranges: &ranges, solve });
        }
        self.tell();
        let after = self.evaluate(y);
        value.energy += after - before;
        value.size += after - before;
    }

    /// Tells the members how stiff their own touches are, and how much these rub.
    fn tell(&mut self) {
        for (number, member) in self.members.iter_mut().enumerate() {
            let own = self.links.all.iter().filter(|link| link.member == number && link.other.is_none());
            member.contact.touches.clear();
            member.contact.touches.extend(own.map(|link| link.touch));
        }
    }

    /// The touches of points that are somewhere and would go a direction; bounds of friction stay those of
    /// the last, and so do forces and how stiff touches are.
    fn find(&mut self, y: &Rows, direction: &Rows) {
        let acted = |link: Link| (link.key(), (link.touch.bound, link.touch.stiffness, link.force));
        let known: BTreeMap<_, _> = self.links.all.drain(..).map(acted).collect();
        let ahead = sum(y, direction);
        for (number, (member, field)) in self.members.iter_mut().zip(&mut self.fields).enumerate() {
            let Member { contact, shape, rows, .. } = member;
            let own = &y[rows.clone()];
            contact.find(&[], |points, point| points.at(point, own), &direction[rows.clone()]);
            shape.enter(own, &mut field[1]);
            shape.enter(&ahead[rows.clone()], &mut field[2]);
            let rigid = |touch: &Touch| Link::rigid(number, contact, touch, rows.start);
            self.links.all.extend(contact.touches.iter().map(rigid));
        }
        let reaches: Vec<Reach> = self.fields.iter().map(Reach::of).collect();
        for pair in &mut self.pairs {
            let two = [pair.member, pair.other].map(|one| &self.members[one]);
            let (fields, reach) = (&self.fields[pair.other], &reaches[pair.other]);
            let Contact { body_points, courses, .. } = &*two[0].contact;
            for &point in body_points.iter().filter(|&&point| reach.holds(&courses[point])) {
                self.links.all.extend(pair.meet(point, two, fields));
            }
        }
        for link in &mut self.links.all {
            if let Some(&(bound, stiffness, force)) = known.get(&link.key()) {
                (link.touch.bound, link.touch.stiffness, link.force) = (bound, stiffness, force);
            }
        }
    }

    /// Where points stick once the bodies have come to rest at y.
    pub(crate) fn settle_anchors(mut self, y: &Rows) {
        for (member, [_, field, _]) in self.members.iter_mut().zip(&mut self.fields) {
            let own = &y[member.rows.clone()];
            member.contact.settle_anchors(&[], own);
            member.shape.enter(own, field);
        }
        for link in &self.links.all {
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
        let Contact { body_points, courses, .. } = &*other.contact;
        let is_spared = is_second && body_points.iter().any(|&point| is_same(&courses[point]));
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
