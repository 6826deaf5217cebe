//! Contact of a body's skin with itself: thighs, arms at a belly, a chin on a chest.
//!
//! A pair is a point of the skin and the nearest place on a face opposite to it. Its contact point is their
//! difference `c = x_p - sum_k s_k x_k`, a sum of rows like any other, and its plane `n.c >= 0`, with the
//! skin's normal n at the place. Force and compliance therefore act on both sides, and either may be pinned.
//!
//! A pair found in a substep stands throughout. A point meets only faces that look
//! at it, so that the side of a deep point is that of its approach. Three kinds of pairs never touch: those
//! close to each other along the skin, as at an elbow; those that overlap or touch at rest, as layers of
//! clothes and both sides of an ear; and those of two pinned sides. Pairs have no friction, and so
//! no state from step to step.

use std::collections::HashSet;

use nalgebra::Vector3;

use super::faces::{Face, Faces, across, place, projected};
use super::near::{Course, PointGroups, ROUNDING};
use super::points::{ContactPoints, Corners};
use crate::mesh::geodesics::{Front, Geodesics};
use crate::parallel::*;

/// Distance along the skin below which a point and a face never touch, in diagonals.
const SPARED: f64 = 0.1;
/// Largest depth of a pair, in diagonals.
const DEEPEST: f64 = 0.02;
/// The same at the start of the substep: what is deeper has passed through.
const PASSED: f64 = 0.01;
/// Distance before a face at which a pair begins, in diagonals; more than flesh moves in a substep beyond its
/// expected motion.
pub(super) const BEFORE: f64 = 0.01;
/// Smallest cosine between the normal of a place and the direction to its point.
const ACROSS: f64 = 0.5;
/// Smallest cosine between the normals of two faces of smooth skin, not of an edge.
const SMOOTH: f64 = 0.7;

/// Contact of a body's skin with itself.
pub(super) struct SelfContact {
    /// Points close to each point along the skin, in order.
    near: Vec<Vec<u32>>,
    /// Groups of faces that each group of points may meet.
    groups: Vec<Vec<u32>>,
    /// Normals of the skin at rest.
    rest: Vec<Vector3<f64>>,
    /// Normals in the first search of the substep.
    pub(super) normals: Vec<Vector3<f64>>,
    /// Places of the points in the last search for pairs of the substep.
    pub(super) met: Vec<Vector3<f64>>,
    /// Pairs of the substep.
    pub(super) pairs: Vec<Pair>,
}

/// A point of the skin and the place opposite to it.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    /// The point, with weight 1, and the corners of the face, with their negative shares.
    pub(super) parts: Corners,
    /// Outward normal of the skin at the place.
    pub(super) normal: Vector3<f64>,
}

impl SelfContact {
    pub(super) fn new(points: &ContactPoints, groups: &PointGroups, faces: &Faces, diagonal: f64) -> Self {
        let geodesics = Geodesics::new(points.places(), &faces.corners);
        let around = |point: u32| {
            let mut near = Vec::new();
            geodesics.march(point, &mut Front::new(points.len()), |other, way| {
                let is_near = way < SPARED * diagonal;
                near.extend(is_near.then_some(other));
                is_near
            });
            near.sort_unstable();
            near
        };
        let near: Vec<Vec<u32>> = (0..points.len() as u32).into_par_iter().map(around).collect();
        let may_meet = |group: &Vec<u32>| {
            let mut count = vec![0; points.len()];
            let near = group.iter().flat_map(|&point| &near[point as usize]);
            near.for_each(|&point| count[point as usize] += 1);
            let is_far = |point: &u32| count[*point as usize] < group.len();
            let may = faces.groups.iter().map(|(_, points)| points.iter().any(is_far));
            (0..).zip(may).filter(|(_, may)| *may).map(|(face, _)| face).collect()
        };
        let groups = groups.all().iter().map(may_meet).collect();
        let across = faces_across(faces, |corner| points.places()[corner as usize].into());
        let rest = normals(points.len(), faces, &across);
        Self { near, groups, rest, normals: Vec::new(), met: Vec::new(), pairs: Vec::new() }
    }

    /// Forgets the pairs of a substep.
    pub(super) fn forget(&mut self) {
        self.met.clear();
        self.pairs.clear();
    }
}

/// The skin in a search for pairs.
pub(super) struct Scene<'a> {
    pub(super) points: &'a ContactPoints,
    pub(super) faces: &'a Faces,
    pub(super) courses: &'a [Course],
    /// Places of the points.
    pub(super) here: &'a [Vector3<f64>],
    /// Outward normal of each face, as long as twice its area.
    pub(super) across: Vec<Vector3<f64>>,
    pub(super) diagonal: f64,
}

impl Scene<'_> {
    /// Unit normal at a corner of a face, of the smooth skin around it up to its edges.
    fn smooth(&self, corner: u32, flat: &Vector3<f64>) -> Vector3<f64> {
        let around = self.faces.around[corner as usize].iter().map(|&face| self.across[face as usize]);
        let smooth = around.filter(|normal| normal.dot(flat) >= SMOOTH * normal.norm() * flat.norm());
        smooth.sum::<Vector3<f64>>().try_normalize(0.0).unwrap_or_else(Vector3::zeros)
    }
}

impl SelfContact {
    /// New pairs of all points without one.
    pub(super) fn meet(&self, scene: &Scene<'_>, groups: &PointGroups) -> Vec<Pair> {
        let Scene { faces, here, diagonal, .. } = scene;
        let paired: HashSet<u32> = self.pairs.iter().map(|pair| pair.parts[0].0).collect();
        let ball = |points: &[u32]| Ball::of(points.iter().map(|&point| here[point as usize]));
        let balls: Vec<Ball> = faces.groups.iter().map(|(_, points)| ball(points)).collect();
        let of_group = |(group, may): (&Vec<u32>, &Vec<u32>)| -> Vec<Pair> {
            let own = ball(group);
            let reached = |face: &&u32| own.apart(&balls[**face as usize]) < DEEPEST * diagonal;
            let near: Vec<u32> = may.iter().filter(reached).copied().collect();
            let faces = || near.iter().flat_map(|&number| &faces.groups[number as usize].0).copied();
            let alone = group.iter().filter(|&point| !paired.contains(point));
            alone.filter_map(|&point| self.nearest(point, faces(), scene)).collect()
        };
        groups.all().iter().zip(&self.groups).flat_map(of_group).collect()
    }

    /// Pair of a point with the nearest of some faces, if any.
    fn nearest(&self, point: u32, faces: impl Iterator<Item = u32>, scene: &Scene<'_>) -> Option<Pair> {
        let Scene { points, diagonal, .. } = scene;
        let at = |point: u32| scene.here[point as usize];
        let (here, facing) = (at(point), self.normals[point as usize]);
        let (mut least, mut best) = (DEEPEST * diagonal, None);
        for face in faces {
            let (corners, normal) = (scene.faces.corners[face as usize], scene.across[face as usize]);
            let height = normal.dot(&(here - at(corners[0])));
            let before = if height > 0.0 { least.min(BEFORE * diagonal) } else { least };
            if normal.dot(&facing) >= 0.0 || height.abs() >= before * normal.norm() {
                continue;
            }
            let places: Face = corners.map(at);
            let shares = projected(&places, &here);
            let apart = (here - place(&places, &shares)).norm();
            let moves = || points.moves(point as usize) || corners.iter().any(|&c| points.moves(c as usize));
            let is_near =
                || corners.iter().any(|corner| self.near[point as usize].binary_search(corner).is_ok());
            if apart < before && moves() && !is_near() {
                let [a, b, c] = corners;
                let parts = [(point, 1.0), (a, -shares[0]), (b, -shares[1]), (c, -shares[2])];
                if !self.rests(&parts, scene) {
                    (least, best) = (apart, Some((parts, normal)));
                }
            }
        }
        let (parts, flat) = best?;
        let normal = -at_face(&parts, |corner| scene.smooth(corner, &flat)).try_normalize(0.0)?;
        let from = here + at_face(&parts, at);
        let begun: Vector3<f64> =
            parts.iter().map(|&(part, share)| share * scene.courses[part as usize].start).sum();
        let is_beside = normal.dot(&from).abs() < ACROSS * from.norm();
        let has_passed = normal.dot(&begun) < -PASSED * diagonal;
        (!is_beside && !has_passed).then_some(Pair { parts, normal })
    }

    /// `true` for a pair that overlaps or touches at rest.
    fn rests(&self, parts: &Corners, scene: &Scene<'_>) -> bool {
        let places = scene.points.places();
        let apart: Vector3<f64> =
            parts.iter().map(|&(part, share)| share * Vector3::from(places[part as usize])).sum();
        let outward = -at_face(parts, |corner| self.rest[corner as usize]);
        let behind = outward.dot(&apart) <= ROUNDING * scene.diagonal * outward.norm();
        behind && apart.norm() < SPARED * scene.diagonal
    }
}

/// Ball around places.
struct Ball {
    middle: Vector3<f64>,
    radius: f64,
}

impl Ball {
    fn of(places: impl Iterator<Item = Vector3<f64>> + Clone) -> Self {
        let middle = places.clone().sum::<Vector3<f64>>() / places.clone().count() as f64;
        Self { radius: places.map(|place| (place - middle).norm()).fold(0.0, f64::max), middle }
    }

    /// Lower bound on the distance between two places of two balls.
    fn apart(&self, other: &Self) -> f64 {
        (self.middle - other.middle).norm() - self.radius - other.radius
    }
}

/// Sum over the face of a pair of a value times the negative shares.
fn at_face(parts: &Corners, value: impl Fn(u32) -> Vector3<f64>) -> Vector3<f64> {
    parts[1..].iter().map(|&(corner, share)| share * value(corner)).sum()
}

/// Outward normal of each face, as long as twice its area.
pub(super) fn faces_across(faces: &Faces, at: impl Fn(u32) -> Vector3<f64>) -> Vec<Vector3<f64>> {
    faces.corners.iter().map(|corners| faces.outward * across(&corners.map(&at))).collect()
}

/// Outward normal at each point, the sum of those of the faces around it.
pub(super) fn normals(count: usize, faces: &Faces, across: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    let mut sums = vec![Vector3::zeros(); count];
    for (corners, normal) in faces.corners.iter().zip(across) {
        corners.iter().for_each(|&corner| sums[corner as usize] += normal);
    }
    sums
}
