//! Candidate colliders of groups of neighbouring points, to skip colliders out of reach.

use nalgebra::{Matrix3, Vector3};

use super::placement::Placement;
use super::points::ContactPoints;
use super::shape::Shape;
use super::state::Anchor;
use super::sweep::Path;
use super::touch::Touch;
use crate::math::rows::Rows;
use crate::mesh::halves;

/// Largest number of points in a group.
const GROUP: usize = 16;
/// Relative widening of bounds against rounding errors.
pub(super) const ROUNDING: f64 = 1e-9;

/// Course of a point: start, present and next position, all in one space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    /// At the start of the substep.
    pub(crate) start: Vector3<f64>,
    pub(crate) here: Vector3<f64>,
    /// Next position.
    pub(crate) ahead: Vector3<f64>,
}

/// Placements of a collider at the start of a substep and at its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    pub(crate) before: Placement,
    pub(crate) now: Placement,
}

impl Moved {
    /// Placements of all colliders, from rows in spaces with the given origins.
    pub(crate) fn all(before: &Rows, now: &Rows, [first, second]: [&[f64; 3]; 2]) -> Vec<Self> {
        let [before, now] = [before, now].map(|rows| rows.as_chunks().0);
        let moved =
            |(before, now)| Self { before: Placement::of(before, first), now: Placement::of(now, second) };
        before.iter().zip(now).map(moved).collect()
    }

    /// The course in the collider's own space, of a point with its last anchor.
    pub(crate) fn path(&self, course: &Course, anchor: Option<&Anchor>) -> Path {
        let Course { start, here, ahead } = course;
        let side = anchor.map(|anchor| anchor.side.into());
        let (start, here, ahead) = (self.before.local(start), self.now.local(here), self.now.local(ahead));
        Path { side, start, here, ahead }
    }

    /// Contact of a point with the collider at a normal and a place. The anchor is the old one, or else the
    /// start position. A point that starts inside is pushed out by at most `let_out`. Stiffness and
    /// friction bound are still missing.
    pub(crate) fn touch(
        &self,
        (point, collider): (u32, u32),
        (normal, met): (Vector3<f64>, Vector3<f64>),
        (start, anchor): (&Vector3<f64>, Option<&Anchor>),
        let_out: f64,
    ) -> Touch {
        let sticks = anchor.map_or(*start, |anchor| anchor.place.into());
        let inside = (normal.dot(&(start - met)) + let_out).min(0.0);
        let inside = if inside.is_finite() { inside } else { 0.0 };
        Touch {
            point,
            collider,
            normal: self.now.turned(&normal),
            place: self.now.world(&(met + inside * normal)),
            anchor: self.now.world(&sticks),
            stiffness: 0.0,
            bound: 0.0,
        }
    }

    /// Anchor of a contact after the point's motion to a place; `None` without contact.
    pub(crate) fn anchor(&self, touch: &Touch, place: &Vector3<f64>) -> Option<Anchor> {
        let stuck = || self.now.local(&touch.dragged(place)).into();
        let side = || self.now.unturned(&touch.normal).into();
        let (point, collider) = (touch.point, touch.collider);
        (touch.gap(place) < 0.0).then(|| Anchor { point, collider, place: stuck(), side: side() })
    }
}

/// Groups of points close to each other at rest.
#[derive(Debug)]
pub(crate) struct PointGroups {
    groups: Vec<Vec<u32>>,
    /// Group of each point.
    group_of: Vec<u32>,
}

impl PointGroups {
    pub(crate) fn new(points: &ContactPoints) -> Self {
        let places: Vec<&[f64; 3]> = points.iter().map(|(_, place, _)| place).collect();
        let groups = divided(&places);
        let mut group_of = vec![0; places.len()];
        for (group, points) in (0..).zip(&groups) {
            points.iter().for_each(|&point| group_of[point as usize] = group);
        }
        Self { groups, group_of }
    }

    /// All groups.
    pub(super) fn all(&self) -> &[Vec<u32>] {
        &self.groups
    }

    /// The group of a point.
    pub(crate) fn of(&self, point: usize) -> usize {
        self.group_of[point] as usize
    }

    /// Candidate colliders of each group, in order: for all others `meet` finds no contact.
    pub(crate) fn near(
        &self,
        courses: &[Course],
        colliders: &[(&Shape, Moved)],
        margin: f64,
    ) -> Vec<Vec<u32>> {
        let near = |group: &Vec<u32>| {
            let bound = Bound::of(group.iter().map(|&point| &courses[point as usize]));
            let reached =
                |(_, (shape, moved)): &(u32, &(&Shape, Moved))| bound.may_meet(shape, moved, margin);
            (0..).zip(colliders).filter(reached).map(|(collider, _)| collider).collect()
        };
        self.groups.iter().map(near).collect()
    }

    /// `true` if a counted point is deeper inside a shape than a depth, at the start of a substep.
    pub(crate) fn any_deep(
        &self,
        courses: &[Course],
        (shape, before): (&Shape, &Placement),
        depth: f64,
        counts: impl Fn(usize) -> bool,
    ) -> bool {
        let deep = |point: usize| shape.nearest(&before.local(&courses[point].start)).0 < -depth;
        self.groups.iter().any(|group| {
            let bound = Bound::of(group.iter().map(|&point| &courses[point as usize]));
            shape.least_distance(&before.local(&bound.start)) - bound.around_start < -depth
                && group.iter().any(|&point| counts(point as usize) && deep(point as usize))
        })
    }
}

/// Groups of places close to each other.
pub(super) fn divided(places: &[&[f64; 3]]) -> Vec<Vec<u32>> {
    let mut groups = Vec::new();
    divide((0..places.len() as u32).collect(), places, &mut groups);
    groups
}

/// Recursive bisection of points along the longest side of their bounding box, down to the group size.
fn divide(points: Vec<u32>, places: &[&[f64; 3]], groups: &mut Vec<Vec<u32>>) {
    if points.len() <= GROUP {
        groups.extend((!points.is_empty()).then_some(points));
        return;
    }
    halves(points, |point| *places[point as usize]).into_iter().for_each(|half| divide(half, places, groups));
}

/// Bound on all courses of a group.
pub(crate) struct Bound {
    /// Mean places at the start and now.
    pub(crate) start: Vector3<f64>,
    pub(crate) here: Vector3<f64>,
    /// Largest distances of a point from the means.
    pub(crate) around_start: f64,
    pub(crate) around_here: f64,
    /// Largest deviation of a point's motion from the mean motion.
    pub(crate) beside: f64,
    /// Largest length of a next step.
    pub(crate) ahead: f64,
}

impl Bound {
    pub(crate) fn of<'a>(courses: impl Iterator<Item = &'a Course> + Clone) -> Self {
        let count = courses.clone().count() as f64;
        let start = courses.clone().map(|course| course.start).sum::<Vector3<f64>>() / count;
        let here = courses.clone().map(|course| course.here).sum::<Vector3<f64>>() / count;
        let most = |length: &dyn Fn(&Course) -> f64| courses.clone().map(length).fold(0.0, f64::max);
        Self {
            around_start: most(&|course| (course.start - start).norm()),
            around_here: most(&|course| (course.here - here).norm()),
            beside: most(&|course| (course.here - course.start - (here - start)).norm()),
            ahead: most(&|course| (course.ahead - course.here).norm()),
            start,
            here,
        }
    }

    /// `true` if any of the points may be within `margin` of a shape, within its next step, or may have
    /// passed the shape since the start. Distances are bounded below by the shape's bound minus the motion.
    pub(crate) fn may_meet(&self, shape: &Shape, moved: &Moved, margin: f64) -> bool {
        let (start, here) = (moved.before.local(&self.start), moved.now.local(&self.here));
        let turned: Matrix3<f64> = moved.now.rotation() - moved.before.rotation();
        let gone = (here - start).norm() + self.beside + turned.norm() * self.around_start;
        let slack = ROUNDING * (start.norm() + here.norm() + gone + self.around_here);
        let reach = margin.max(self.ahead) + self.around_here + slack;
        let sweep = gone + self.around_start + slack;
        // NaN counts as a candidate.
        !(shape.is_beyond(&here, reach) && shape.is_beyond(&start, sweep))
    }
}
