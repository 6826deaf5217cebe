//! Which colliders groups of neighbouring points may come near, so that points far from a collider cost nothing.

use nalgebra::{Matrix3, Vector3};

use super::placement::Placement;
use super::points::ContactPoints;
use super::shape::Shape;

/// Most points of a group.
const GROUP: usize = 16;
/// What bounds are widened by against rounding, as a share of what they are made of.
const ROUNDING: f64 = 1e-9;

/// Where a point is on its way, all in one space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    /// At the start of the substep.
    pub(crate) start: Vector3<f64>,
    pub(crate) here: Vector3<f64>,
    /// Where it would go next.
    pub(crate) ahead: Vector3<f64>,
}

/// A collider's placements at the start of a substep and at its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    pub(crate) before: Placement,
    pub(crate) now: Placement,
}

/// Points that are near each other at rest.
#[derive(Debug)]
pub(crate) struct PointGroups {
    groups: Vec<Vec<u32>>,
    /// The group of each point.
    group_of: Vec<u32>,
}

impl PointGroups {
    pub(crate) fn new(points: &ContactPoints) -> Self {
        let places: Vec<&[f64; 3]> = points.iter().map(|(_, place, _)| place).collect();
        let mut groups = Vec::new();
        halve((0..places.len() as u32).collect(), &places, &mut groups);
        let mut group_of = vec![0; places.len()];
        for (group, points) in (0..).zip(&groups) {
            points.iter().for_each(|&point| group_of[point as usize] = group);
        }
        Self { groups, group_of }
    }

    /// The group of a point.
    pub(crate) fn of(&self, point: usize) -> usize {
        self.group_of[point] as usize
    }

    /// For each group the colliders, in order, that one of its points may touch: for all others `meet` finds nothing.
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

    /// Whether a shape has one of some points deeper inside than a depth, at the start of a substep.
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

/// Parts of points along the longest side of what they fill, until they are groups.
fn halve(mut points: Vec<u32>, places: &[&[f64; 3]], groups: &mut Vec<Vec<u32>>) {
    if points.len() <= GROUP {
        groups.extend((!points.is_empty()).then_some(points));
        return;
    }
    let side = |c: usize| {
        let along = points.iter().map(|&point| places[point as usize][c]);
        let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        high - low
    };
    let [x, y, z] = [0, 1, 2].map(side);
    let axis = if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    };
    points.sort_by(|&a, &b| places[a as usize][axis].total_cmp(&places[b as usize][axis]).then(a.cmp(&b)));
    let rest = points.split_off(points.len() / 2);
    halve(points, places, groups);
    halve(rest, places, groups);
}

/// What is known of all courses of a group.
struct Bound {
    /// Mean places at the start and now.
    start: Vector3<f64>,
    here: Vector3<f64>,
    /// Most distances of a point from those.
    around_start: f64,
    around_here: f64,
    /// How far any has gone at most beside the mean.
    beside: f64,
    /// How far any would go on at most.
    ahead: f64,
}

impl Bound {
    fn of<'a>(courses: impl Iterator<Item = &'a Course> + Clone) -> Self {
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

    /// Whether any of the points may meet a shape: be no further than `margin` or than it would go on, or have gone further
    /// since the start than it then was away. No distance is less than the bound of a shape, which grows by no more than the way.
    fn may_meet(&self, shape: &Shape, moved: &Moved, margin: f64) -> bool {
        let (start, here) = (moved.before.local(&self.start), moved.now.local(&self.here));
        let turned: Matrix3<f64> = moved.now.rotation() - moved.before.rotation();
        let gone = (here - start).norm() + self.beside + turned.norm() * self.around_start;
        let slack = ROUNDING * (start.norm() + here.norm() + gone + self.around_here);
        let reach = margin.max(self.ahead) + self.around_here + slack;
        let sweep = gone + self.around_start + slack;
        // What is not a number may.
        !(shape.least_distance(&here) > reach && shape.least_distance(&start) > sweep)
    }
}
