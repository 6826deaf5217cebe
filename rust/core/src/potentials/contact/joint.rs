//! Contact between soft bodies in a common step.
//!
//! The points of each body touch the [`SoftShape`] of every other body. A point is pulled back into the
//! rest space of the other body, where the other body is static, and meets its shape like a rigid collider.
//! The contact place m moves with the other body. The contact energy depends on `x - phi(m)`, which gives
//! opposite forces on the point and on the other body. One system yields the forces of all contacts of the
//! bodies, including rigid colliders.
//!
//! The plane by which a point first comes in stands for the substep, with its place in the other body and
//! its direction in the world. Crushed or turned bodies on the way to the solution change neither, and the
//! energy of all searches is the same.

use std::collections::BTreeMap;
use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::directions::NEAR;
use super::link::Link;
use super::links::{Links, Metric, sum};
use super::soft::SoftShape;
use super::sweep::{Path, SAME_SIDE, exit, side_of_entry};
use super::{Anchor, Contact, Course, Touch, meet};
use crate::math::rows::Rows;
use crate::solve::{Lbfgs, Value};

/// Distance in diagonals below which two opposite contact points of two bodies count as redundant.
const SAME: f64 = 0.01;

/// A body of a joint substep.
pub(crate) struct Member<'a> {
    /// Contact state of the body.
    pub(crate) contact: &'a mut Contact,
    /// The body's surface for the others.
    pub(crate) shape: &'a SoftShape,
    /// Range of the body's rows in the joint system.
    pub(crate) rows: Range<usize>,
    /// Number of the body in anchors.
    pub(crate) number: u32,
}

/// Contact between members, and the contacts of the current search.
pub(crate) struct JointContact<'a> {
    members: Vec<Member<'a>>,
    pairs: Vec<Pair>,
    /// Node positions of the members' shapes: at the start of the substep, at present, and after the next
    /// step.
    fields: Vec<[Vec<Vector3<f64>>; 3]>,
    links: Links,
}

/// Points of one member against the shape of another.
struct Pair {
    member: usize,
    other: usize,
    /// Start data of the points that have come near the other body in this substep.
    begun: BTreeMap<usize, Begun>,
}

/// Start of a substep for a point near another body.
#[derive(Clone, Copy)]
struct Begun {
    /// Rest-space position in the other body, if found.
    start: Option<Vector3<f64>>,
    /// Plane of the first contact in the other body, a normal and a place.
    plane: Option<(Vector3<f64>, Vector3<f64>)>,
    /// `true` for a redundant point: the other body has a contact point at the same place and a lower
    /// index.
    is_spared: bool,
}

impl<'a> JointContact<'a> {
    /// Begins a substep of members, each with its own contact already begun, from the last rows.
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

    /// Contact energy, J.
    pub(crate) fn evaluate(&mut self, y: &Rows) -> f64 {
        self.links.evaluate(y)
    }

    /// Derivative of the contact energy along a direction, at the last evaluation.
    pub(crate) fn slope(&self, direction: &Rows) -> f64 {
        self.links.slope(direction)
    }

    /// Detects contacts, and adds the effect of contact forces to the free direction from y; `solve`
    /// applies the inverse metric of a member.
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

    /// Passes stiffness and friction bounds of contacts with rigid colliders to the members.
    fn tell(&mut self) {
        for (number, member) in self.members.iter_mut().enumerate() {
            let own = self.links.all.iter().filter(|link| link.member == number && link.other.is_none());
            member.contact.touches.clear();
            member.contact.touches.extend(own.map(|link| link.touch));
        }
    }

    /// Contacts of points at y that move along a direction; known contacts keep friction bound, force and
    /// stiffness.
    fn find(&mut self, y: &Rows, direction: &Rows) {
        let mut known: BTreeMap<_, _> = self.links.all.drain(..).map(|link| (link.key(), link)).collect();
        let ahead = sum(y, direction);
        for (number, (member, field)) in self.members.iter_mut().zip(&mut self.fields).enumerate() {
            let Member { contact, shape, rows, .. } = member;
            let own = &y[rows.clone()];
            contact.find(&[], own, &direction[rows.clone()]);
            shape.enter(own, &mut field[1]);
            shape.enter(&ahead[rows.clone()], &mut field[2]);
            let rigid = |touch: &Touch| Link::rigid(number, contact, touch, rows);
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
            if let Some(before) = known.remove(&link.key()) {
                (link.touch.bound, link.touch.stiffness) = (before.touch.bound, before.touch.stiffness);
                link.force = before.force;
                if link.met == before.met {
                    link.image = before.image;
                }
            }
        }
    }

    /// Sticking positions of points after the substep, at y.
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
            let place = shape.pull(field, &stuck, Some(link.met)).unwrap_or(link.met);
            let (point, collider) = (link.touch.point, link.touch.collider);
            let anchor = Anchor { point, collider, place: place.into(), side: link.side.into() };
            self.members[link.member].contact.anchors.push(anchor);
        }
        for member in &mut self.members {
            member.contact.anchors.sort_by_key(|anchor| (anchor.point, anchor.collider));
        }
    }
}

impl Pair {
    /// Contact of a point with the other body, if any.
    fn meet(
        &mut self,
        point: usize,
        [member, other]: [&Member<'_>; 2],
        [before, now, next]: &[Vec<Vector3<f64>>; 3],
    ) -> Option<Link> {
        let (contact, shape) = (&*member.contact, other.shape);
        let course = &contact.courses[point];
        let begin = || Begun::new(course, [member, other], before, self.other < self.member);
        let begun = self.begun.entry(point).or_insert_with(begin);
        if begun.is_spared {
            return None;
        }
        let collider = contact.colliders.len() as u32 + other.number;
        let key = (point as u32, collider);
        let anchor = contact.anchor(key);
        let (normal, met) = begun.meet(shape, course, anchor, [now, next], NEAR * contact.diagonal)?;
        let start = begun.start.unwrap_or(met);
        let (place, gradient) = shape.map(now, &met);
        let gradient = if begun.plane.is_some() { shape.map(before, &met).1 } else { gradient };
        // The normal of the deformed surface, even where the body below is turned inside out.
        let area = cofactor(&gradient) * normal;
        let (normal_now, stretch) = (area.try_normalize(0.0)?, gradient.determinant().abs() / area.norm());
        let sticks = anchor.map_or(start, |anchor| anchor.place.into());
        let inside = stretch * (normal.dot(&(start - met)) + contact.let_out(f64::INFINITY)).min(0.0);
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
            rows: [member.rows.clone(), other.rows.clone()],
            touch,
            friction: if contact.rubs { shape.collider.friction() } else { 0.0 },
            entries,
            beyond: contact.shift(point) - met,
            met,
            side: normal,
            force: Vector3::zeros(),
            image: Vec::new(),
        })
    }
}

impl Begun {
    /// Start data for a member's point beside another body with nodes at `before`; `is_second` selects the
    /// body that yields.
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
        Self { start, plane: None, is_spared }
    }

    /// Plane of the contact with a shape in its rest space, with nodes at `now` and, after the next step, at
    /// `next`. In a crushed body, a point without a place keeps the side of its last contact.
    fn meet(
        &mut self,
        shape: &SoftShape,
        course: &Course,
        anchor: Option<&Anchor>,
        [now, next]: [&[Vector3<f64>]; 2],
        margin: f64,
    ) -> Option<(Vector3<f64>, Vector3<f64>)> {
        if self.plane.is_some() {
            return self.plane;
        }
        let solid = shape.collider.shape();
        let last = anchor.map(|anchor| (Vector3::from(anchor.place), Vector3::from(anchor.side)));
        let Some(here) = shape.pull(now, &course.here, self.start) else {
            self.plane = last.and_then(|(place, side)| Some((side, exit(solid, &place, &side)?)));
            return self.plane;
        };
        let start = self.start.unwrap_or(here);
        // A side is kept until the nearest one is another one altogether.
        let nearest = solid.nearest(&start).1;
        let side = last.map(|(_, side)| if side.dot(&nearest) < SAME_SIDE { side } else { nearest });
        let ahead = shape.pull(next, &course.ahead, Some(here)).unwrap_or(here);
        let path = Path { side, start, here, ahead };
        self.plane = side_of_entry(solid, &path, margin);
        self.plane.or_else(|| meet(solid, &path, margin))
    }
}

/// Map of areas under a map of lengths.
fn cofactor(gradient: &Matrix3<f64>) -> Matrix3<f64> {
    let [a, b, c] = [0, 1, 2].map(|axis| Vector3::from(gradient.column(axis)));
    Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

/// Bounding box of a shape throughout the substep.
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

    /// `true` if the course of a point may enter the box.
    fn holds(&self, Course { start, here, ahead }: &Course) -> bool {
        (0..3).all(|c| {
            let low = start[c].min(here[c]).min(ahead[c]);
            let high = start[c].max(here[c]).max(ahead[c]);
            low <= self.0[1][c] && high >= self.0[0][c]
        })
    }
}
