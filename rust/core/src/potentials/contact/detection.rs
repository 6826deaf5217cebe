//! Detection of the contacts of a body's points.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::directions::{BROAD, GIVES};
use super::near::ROUNDING;
use super::sweep::{meet, meet_nearest};
use super::{Anchor, Collider, Contact, Course, Moved, NEAR, Shape, Touch};
use crate::math::rows::Rows;

/// Number of searches of a substep in which planes follow their points. In later ones they stand: a point
/// between narrow colliders would otherwise meet another side in each search, without end.
const FOLLOWING: u32 = 30;

/// A contact of the last search with its force.
pub(super) type Known = (Touch, Option<Vector3<f64>>);

impl Contact {
    /// Contacts of points at u that move along a direction; known contacts keep their friction bound.
    pub(super) fn find(&mut self, rig: &Rows, u: &Rows, direction: &Rows) {
        let [posed, moved, ahead] = [rig, u, direction].map(|rows| self.points.all_at(rows));
        for point in 0..self.points.len() {
            let here = posed[point] + moved[point] + self.shift(point);
            self.courses[point] = Course { here, ahead: here + ahead[point], ..self.courses[point] };
        }
        self.courses.truncate(self.points.len());
        self.searches += 1;
        let found = std::mem::take(&mut self.found).into_iter().chain(std::iter::repeat(None));
        let known: Vec<Known> = std::mem::take(&mut self.touches).into_iter().zip(found).collect();
        let is_point = |(touch, _): &Known| (touch.point as usize) < self.points.len();
        let (of_points, of_added) = known.split_at(known.partition_point(is_point));
        let (near, mut starts) = (self.near(), std::mem::take(&mut self.starts));
        for point in 0..self.points.len() {
            let posed = posed[point] + self.shift(point);
            for &collider in &near[self.groups.of(point)] {
                let key = (point as u32, collider);
                let start = &mut starts[point * self.placements.len() + collider as usize];
                if let Some(touch) = self.contact(key, start, &posed) {
                    self.enter(touch, of_points);
                }
            }
        }
        self.starts = starts;
        if self.let_out.is_some() && self.searches > FOLLOWING {
            self.keep(of_points);
        }
        self.find_added(rig, &posed, of_added);
    }

    /// Adds a contact, with the friction bound and the force of the same one among known contacts.
    pub(super) fn enter(&mut self, touch: Touch, known: &[Known]) {
        let old = known.binary_search_by_key(&touch.key(), |(touch, _)| touch.key());
        let old = old.ok().map(|found| &known[found]);
        self.touches.push(Touch { bound: old.map_or(0.0, |(old, _)| old.bound), ..touch });
        self.found.push(old.and_then(|(_, force)| *force));
    }

    /// Puts known contacts of points back, in place of those found for the same point and collider.
    fn keep(&mut self, known: &[Known]) {
        let found = self.touches.drain(..).zip(self.found.drain(..));
        let all: BTreeMap<_, _> =
            found.chain(known.iter().copied()).map(|contact| (contact.0.key(), contact)).collect();
        (self.touches, self.found) = all.into_values().unzip();
    }

    /// Contact of a point, posed by the rig alone at a place, with a collider. `start` has the bound on
    /// distances and the distance at the start of the substep, NaN before their first use.
    fn contact(&self, key: (u32, u32), start: &mut [f64; 2], posed: &Vector3<f64>) -> Option<Touch> {
        let (point, collider) = (key.0 as usize, key.1 as usize);
        if !self.may_touch[point * self.placements.len() + collider] {
            return None;
        }
        let (moved, shape) = (&self.placements[collider], self.colliders[collider].shape());
        let (anchor, margin) = (self.anchor(key), NEAR * self.diagonal);
        let path = moved.path(&self.courses[point], anchor);
        if start[0].is_nan() {
            *start = [shape.least_distance(&path.start), shape.nearest(&path.start).0];
        }
        let way = (path.here - path.start).norm() * (1.0 + ROUNDING);
        if start[0] - way > margin.max((path.ahead - path.here).norm()) {
            return None;
        }
        let has_entered = way > start[1];
        let (normal, met) = if has_entered { meet } else { meet_nearest }(shape, &path, margin)?;
        let is_swallowed = self.swallows[collider] && self.held[point] && start[1] < -margin;
        if is_swallowed || anchor.is_none() && self.is_engulfed(point, collider, &path.start) {
            return None;
        }
        let posed = moved.now.local(posed);
        if normal.dot(&(posed - met)) < -self.reach[point] && is_past(shape, &posed, &normal) {
            return None;
        }
        let gives = self.gives(collider, self.reach[point]) - normal.dot(&(path.start - posed));
        let let_out = self.let_out(self.reach[point]).min(gives);
        Some(moved.touch(key, (normal, met), (&path.start, anchor), let_out))
    }

    /// The last anchor of a point, or of a corner of a face, at a collider.
    pub(super) fn anchor(&self, key: (u32, u32)) -> Option<&Anchor> {
        let found = self.anchors.binary_search_by_key(&key, |anchor| (anchor.point, anchor.collider));
        found.ok().map(|at| &self.anchors[at])
    }

    /// Largest distance from its pose, metres, by which a collider pushes a point at some distance from the
    /// pinned vertices.
    pub(super) fn gives(&self, collider: usize, reach: f64) -> f64 {
        let (core, gives) = (self.colliders[collider].shape().core(), GIVES * reach);
        if core > gives && core < BROAD * self.diagonal { gives } else { f64::INFINITY }
    }

    /// `true` if a point of attached flesh begins the substep inside a collider and the skin there would
    /// close around it.
    fn is_engulfed(&self, point: usize, collider: usize, start: &Vector3<f64>) -> bool {
        let shape = self.colliders[collider].shape();
        let (distance, normal) = shape.nearest(start);
        if !self.held[point] || distance >= -NEAR * self.diagonal {
            return false;
        }
        let facing = self.faces.facing(point, &self.courses);
        let facing = facing.map(|facing| self.placements[collider].before.unturned(&facing));
        facing.is_some_and(|facing| shape.is_engulfed(distance, &normal, &facing))
    }

    /// Candidate colliders of each group of points.
    fn near(&self) -> Vec<Vec<u32>> {
        let shapes = self.colliders.iter().map(Collider::shape);
        let colliders: Vec<(&Shape, Moved)> = shapes.zip(self.placements.iter().copied()).collect();
        self.groups.near(&self.courses, &colliders, NEAR * self.diagonal)
    }
}

/// `true` if a place is outside a shape, on the side opposite to a normal.
pub(super) fn is_past(shape: &Shape, place: &Vector3<f64>, normal: &Vector3<f64>) -> bool {
    let (distance, side) = shape.nearest(place);
    distance > 0.0 && side.dot(normal) < 0.0
}
