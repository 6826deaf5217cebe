//! Contact of a body's faces: spots between contact points, where an obstacle is narrower than their
//! spacing.
//!
//! Each corner of a face is the start of a search for the point of the face nearest to a collider: one spot
//! for what is round, up to three for what is flat. A face is swept over the substep and its next step by
//! conservative advancement. The first plane that it meets stands for the rest of the substep, and its spot
//! is a point of contact like any other, with shares of the face's corners.

use std::collections::HashMap;

use nalgebra::{Matrix3, Vector3};

use super::near::{Bound, Course, Moved, ROUNDING, divided};
use super::points::{ContactPoints, Corners};
use super::shape::{Collider, Rounded};
use super::sweep::{self, entry, exit};

/// Most steps of a sweep, and of a search for the nearest point.
const STEPS: u32 = 32;
const SEARCH: u32 = 32;
/// Shortest step of a sweep, as a share of the motion, and of a search, as a share of the distance.
const SHORTEST: f64 = 1e-4;
/// Distance from a face within which its corners suffice, as a share of the body's diagonal, and the
/// smallest cosine between the normals there.
const SAG: f64 = 1e-3;
const SAME_SIDE: f64 = 0.9;
/// Distance in diagonals below which two spots count as one.
const SAME: f64 = 1e-3;
/// Share of the motion within which a face does not come near, against the precision of a search.
const REACHED: f64 = 1.01;
/// Depth within which a box is rounded, in diagonals: deeper than a face without spots may be.
const ROUND: f64 = 2e-3;

/// Corners of a face in a collider's own space.
pub(super) type Face = [Vector3<f64>; 3];
/// A normal and a place on the plane.
type Plane = (Vector3<f64>, Vector3<f64>);

/// Point of contact on a face.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    /// Number of the corner from which it was found, among the corners of all faces.
    pub(super) lane: u32,
    pub(super) collider: u32,
    pub(super) shares: [f64; 3],
    /// Plane of contact in the collider's own space.
    pub(super) plane: Plane,
}

/// A contact point added in a substep.
#[derive(Debug, Clone, Copy)]
pub(super) enum Added {
    /// Number of a spot on a face.
    Spot(usize),
    /// Number of a pair of the skin with itself.
    Pair(usize),
}

/// Faces between contact points, and the spots found in the current substep.
pub(super) struct Faces {
    pub(super) corners: Vec<[u32; 3]>,
    /// Faces close to each other at rest, and their points.
    pub(super) groups: Vec<(Vec<u32>, Vec<u32>)>,
    /// Faces at each point.
    pub(super) around: Vec<Vec<u32>>,
    /// -1 for faces turned inside out, else 1.
    pub(super) outward: f64,
    pub(super) spots: Vec<Spot>,
}

/// Starts of a substep by lane and collider, known once a search needs them.
pub(super) type FaceStarts = HashMap<(u32, u32), Begun>;

/// Start of a substep for the search of a spot: the same in all searches of the substep.
pub(super) enum Begun {
    /// Outside of the collider: a motion of the corners that does not reach it, and the shares of the nearest
    /// point.
    Outside(f64, [f64; 3]),
    /// At the collider or inside, with the spot there.
    Inside(Option<Spot>),
}

/// Bodies and obstacles of a search for spots.
pub(super) struct Scene<'a> {
    pub(super) courses: &'a [Course],
    pub(super) colliders: &'a [Collider],
    pub(super) placements: &'a [Moved],
    /// `true` for points of attached flesh.
    pub(super) held: &'a [bool],
    pub(super) diagonal: f64,
}

impl Faces {
    pub(super) fn new(points: &ContactPoints) -> Self {
        let corners = points.faces().to_vec();
        let place = |corner: u32| Vector3::from(points.places()[corner as usize]);
        let middle = |face: &[u32; 3]| face.iter().map(|&corner| place(corner)).sum::<Vector3<f64>>() / 3.0;
        let middles: Vec<[f64; 3]> = corners.iter().map(|face| middle(face).into()).collect();
        let with_points = |faces: Vec<u32>| {
            let mut points: Vec<u32> = faces.iter().flat_map(|&face| corners[face as usize]).collect();
            points.sort_unstable();
            points.dedup();
            (faces, points)
        };
        let groups = divided(&middles.iter().collect::<Vec<_>>()).into_iter().map(with_points).collect();
        let mut around = vec![Vec::new(); points.places().len()];
        for (number, face) in (0..).zip(&corners) {
            face.iter().for_each(|&corner| around[corner as usize].push(number));
        }
        let middle = points.places().iter().map(|place| Vector3::from(*place)).sum::<Vector3<f64>>()
            / points.places().len() as f64;
        let volume = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|corner| place(corner) - middle);
            a.dot(&b.cross(&c))
        };
        let outward = 1.0_f64.copysign(corners.iter().map(volume).sum());
        Self { corners, groups, around, outward, spots: Vec::new() }
    }

    /// Number of places for spots.
    pub(super) fn lanes(&self) -> usize {
        3 * self.corners.len()
    }

    /// Corners of a spot's face.
    pub(super) fn of(&self, spot: &Spot) -> &[u32; 3] {
        &self.corners[spot.lane as usize / 3]
    }

    /// Corners of a spot's face with its shares.
    pub(super) fn parts(&self, spot: &Spot) -> Corners {
        let [a, b, c] = *self.of(spot);
        let [of_a, of_b, of_c] = spot.shares;
        [(a, of_a), (b, of_b), (c, of_c), (a, 0.0)]
    }

    /// Outward direction of the skin at a point at the start of a substep; `None` without faces.
    pub(super) fn facing(&self, point: usize, courses: &[Course]) -> Option<Vector3<f64>> {
        let place = |corner: u32| courses[corner as usize].start;
        let faces = self.around.get(point)?.iter();
        let sum: Vector3<f64> = faces.map(|&face| across(&self.corners[face as usize].map(place))).sum();
        sum.try_normalize(0.0).map(|facing| self.outward * facing)
    }

    /// Value at a spot, interpolated between its corners.
    pub(super) fn at(&self, spot: &Spot, value: impl Fn(usize) -> Vector3<f64>) -> Vector3<f64> {
        self.of(spot).iter().zip(spot.shares).map(|(&corner, share)| share * value(corner as usize)).sum()
    }

    /// New spots that faces meet on their courses, or at which they are still inside. `may` tells the points
    /// and colliders that may touch, `side` the normal of a spot's last contact.
    pub(super) fn meet(
        &self,
        scene: &Scene<'_>,
        starts: &mut FaceStarts,
        may: impl Fn(u32, usize) -> bool,
        side: impl Fn(&Spot) -> Option<Vector3<f64>>,
    ) -> Vec<Spot> {
        let mut found: Vec<Spot> = Vec::new();
        let near = self.near(scene);
        if near.is_empty() {
            return found;
        }
        let course = |&point: &u32| &scene.courses[point as usize];
        let bounds = self.groups.iter().map(|(_, points)| Bound::of(points.iter().map(course)));
        let groups: Vec<_> = self.groups.iter().map(|(faces, _)| faces).zip(bounds).collect();
        for (number, rounded) in near {
            let moved = &scene.placements[number];
            for (faces, bound) in &groups {
                if !bound.may_meet(rounded.shape, moved, 0.0) {
                    continue;
                }
                for &face in *faces {
                    if !self.corners[face as usize].iter().all(|&corner| may(corner, number)) {
                        continue;
                    }
                    let (way, sag) = (self.way(face, scene.courses, moved), SAG * scene.diagonal);
                    if way[..2].iter().all(|face| sags(face, rounded.depth) < sag) || is_far(&way, &rounded) {
                        continue;
                    }
                    for lane in (3 * face..).take(3) {
                        let key = (lane, number as u32);
                        let met = self.spots.iter().find(|spot| (spot.lane, spot.collider) == key);
                        let spot = if let Some(met) = met {
                            deeper(key, &way, &rounded, sag, &met.plane.0)
                        } else {
                            let begin = || self.begin(key, &way[0], &rounded, scene, &side);
                            starts.entry(key).or_insert_with(begin).sweep(key, &way, &rounded, sag)
                        };
                        found.extend(spot.filter(|spot| self.is_new(spot, &found, scene)));
                    }
                }
            }
        }
        found
    }

    /// Start of a substep at a face. A face that starts inside keeps the normal of its last contact.
    fn begin(
        &self,
        (lane, collider): (u32, u32),
        start: &Face,
        rounded: &Rounded<'_>,
        scene: &Scene<'_>,
        side: &impl Fn(&Spot) -> Option<Vector3<f64>>,
    ) -> Begun {
        let near = Nearest::of(rounded, start, corner(lane));
        if self.is_engulfed(lane, start, &near, rounded, scene) {
            return Begun::Inside(None);
        }
        if near.distance < -rounded.depth {
            let near = Nearest::of(&rounded.to_the_core(), start, corner(lane));
            let spot = Spot { lane, collider, shares: near.shares, plane: (near.normal, near.place) };
            let normal = side(&spot).unwrap_or(near.normal);
            let place = exit(rounded.shape, &near.place, &normal);
            return Begun::Inside(place.map(|place| Spot { plane: (normal, place), ..spot }));
        }
        let nearer = Nearest::of(rounded, start, near.shares);
        if nearer.distance <= 0.0 {
            return Begun::Inside(nearer.spot((lane, collider), start, rounded, SAG * scene.diagonal));
        }
        let out_of_reach = if rounded.shape.is_exact() { nearer.distance } else { 0.0 };
        Begun::Outside(out_of_reach, near.shares)
    }

    /// Colliders that the body may meet, except for planes and patches, which its points alone meet.
    fn near<'a>(&self, scene: &Scene<'a>) -> Vec<(usize, Rounded<'a>)> {
        if self.corners.is_empty() {
            return Vec::new();
        }
        let bound = Bound::of(scene.courses.iter());
        let reached = |(number, collider): (usize, &'a Collider)| {
            let rounded = collider.shape().rounded(scene.diagonal * ROUND)?;
            let is_met = bound.may_meet(rounded.shape, &scene.placements[number], 0.0);
            is_met.then_some((number, rounded))
        };
        scene.colliders.iter().enumerate().filter_map(reached).collect()
    }

    /// Corners of a face at the start of the substep, now, and after the next step.
    fn way(&self, face: u32, courses: &[Course], moved: &Moved) -> [Face; 3] {
        let paths = self.corners[face as usize].map(|corner| moved.path(&courses[corner as usize], None));
        [
            paths.each_ref().map(|path| path.start),
            paths.each_ref().map(|path| path.here),
            paths.map(|path| path.ahead),
        ]
    }

    /// `true` if a face of attached flesh that starts inside a collider would close around it.
    fn is_engulfed(
        &self,
        lane: u32,
        start: &Face,
        near: &Nearest,
        rounded: &Rounded<'_>,
        scene: &Scene<'_>,
    ) -> bool {
        let facing = (self.outward * across(start)).try_normalize(0.0);
        let engulfs = |facing| rounded.shape.is_engulfed(near.distance, &near.normal, &facing);
        let held = scene.held[self.corners[lane as usize / 3][0] as usize];
        held && near.distance < -SAG * scene.diagonal && facing.is_some_and(engulfs)
    }

    /// `true` unless another spot is at the same place, or on attached flesh opposes the spot from a face
    /// with a common corner: two opposite pushes move a corner by far more than themselves.
    fn is_new(&self, spot: &Spot, found: &[Spot], scene: &Scene<'_>) -> bool {
        let place = |spot: &Spot| self.at(spot, |corner| scene.courses[corner].start);
        let corners = self.of(spot);
        let held = scene.held[corners[0] as usize];
        let excludes = |other: &Spot| {
            let opposes = || {
                other.plane.0.dot(&spot.plane.0) < 0.0
                    && self.of(other).iter().any(|corner| corners.contains(corner))
            };
            other.collider == spot.collider
                && ((place(other) - place(spot)).norm() < SAME * scene.diagonal || held && opposes())
        };
        !self.spots.iter().chain(found).any(excludes)
    }
}

/// `true` if no point of a face comes near a collider on its way.
fn is_far([start, here, ahead]: &[Face; 3], rounded: &Rounded<'_>) -> bool {
    let middle = start.iter().sum::<Vector3<f64>>() / 3.0;
    let reach = far(&[middle; 3], start) + far(start, here) + far(here, ahead);
    rounded.nearest(&middle).0 > reach * (1.0 + ROUNDING)
}

/// Largest motion of a corner from one place of a face to another.
fn far(from: &Face, to: &Face) -> f64 {
    (0..3).map(|c| (to[c] - from[c]).norm()).fold(0.0, f64::max)
}

/// Depth of a round shape between the corners of a face that touch it, at most.
fn sags(face: &Face, radius: f64) -> f64 {
    let longest = (0..3).map(|c| (face[(c + 1) % 3] - face[c]).norm_squared()).fold(0.0, f64::max);
    longest / (6.0 * radius)
}

/// The corner from which the spot of a lane is found, alone.
fn corner(lane: u32) -> [f64; 3] {
    std::array::from_fn(|c| if c == lane as usize % 3 { 1.0 } else { 0.0 })
}

impl Begun {
    /// Spot of a face that meets a collider on its way.
    fn sweep(
        &self,
        key: (u32, u32),
        [start, here, ahead]: &[Face; 3],
        rounded: &Rounded<'_>,
        sag: f64,
    ) -> Option<Spot> {
        match self {
            Self::Inside(spot) => *spot,
            Self::Outside(out_of_reach, shares) => {
                // No point moves farther than the corners.
                let (way, next) = (far(start, here), far(here, ahead));
                let meets = |way: f64, faces| {
                    if *out_of_reach > REACHED * way { None } else { first_met(rounded, faces, *shares) }
                };
                let met = meets(way, [start, here]).or_else(|| meets(way + next, [here, ahead]));
                let (near, face) = met?;
                near.spot(key, &face, rounded, sag)
            }
        }
    }
}

/// Spot of a face inside a collider, beyond its earlier spots. As a point does, it keeps the side from which
/// it came, and without one that of the earlier spot, even if another side is nearer now.
fn deeper(
    (lane, collider): (u32, u32),
    [start, here, _]: &[Face; 3],
    rounded: &Rounded<'_>,
    sag: f64,
    met: &Vector3<f64>,
) -> Option<Spot> {
    let near = Nearest::of(rounded, here, corner(lane));
    let is_deeper = near.distance < -sag && near.distance >= -rounded.depth;
    if !is_deeper {
        return None;
    }
    let began = Nearest::at(rounded, start, near.shares);
    let side = if began.distance > 0.0 {
        entry(rounded.shape, &began.place, &near.place)
    } else {
        exit(rounded.shape, &near.place, met).map(|place| (*met, place))
    };
    let turns = |(normal, place): &Plane| {
        normal.dot(&near.normal) < sweep::SAME_SIDE && normal.dot(&(near.place - place)) < 0.0
    };
    if let Some(plane) = side.filter(turns) {
        return Some(Spot { lane, collider, shares: near.shares, plane });
    }
    near.spot((lane, collider), here, rounded, sag)
}

/// First contact of a face that moves from one place to another, and the face there.
fn first_met(rounded: &Rounded<'_>, [from, to]: [&Face; 2], mut shares: [f64; 3]) -> Option<(Nearest, Face)> {
    let most = far(from, to);
    let mut time = 0.0;
    for step in 1.. {
        let face: Face = std::array::from_fn(|c| from[c] + time * (to[c] - from[c]));
        let near = Nearest::of(rounded, &face, shares);
        // A face that slides along a shape comes no nearer.
        if near.distance <= SHORTEST * most || step == STEPS {
            return Some((near, face));
        }
        if near.distance.is_nan() || near.distance > most * (1.0 - time) {
            return None;
        }
        time += near.distance / most;
        shares = near.shares;
    }
    None
}

/// Point of a face nearest to a shape.
struct Nearest {
    shares: [f64; 3],
    place: Vector3<f64>,
    distance: f64,
    normal: Vector3<f64>,
}

impl Nearest {
    /// Searches from shares of the corners, by projections onto the shape's core and back onto the face, of
    /// growing length while they succeed.
    fn of(rounded: &Rounded<'_>, face: &Face, shares: [f64; 3]) -> Self {
        let mut best = Self::at(rounded, face, shares);
        let (mut reach, inverse) = (1.0, inverse_frame(face));
        let projected = |place| projected_by(&inverse, face, &place);
        for _ in 0..SEARCH {
            let core = best.distance + rounded.depth;
            let step = place(face, &projected(best.place - core * best.normal)) - best.place;
            if step.norm() <= SHORTEST * core.abs() {
                break;
            }
            let next = Self::at(rounded, face, projected(best.place + reach * step));
            if next.distance < best.distance {
                best = next;
                reach *= 2.0;
            } else if reach > 1.0 {
                reach = 1.0;
            } else {
                break;
            }
        }
        best
    }

    /// The point as a spot; `None` if a corner within `sag` suffices.
    fn spot(
        &self,
        (lane, collider): (u32, u32),
        face: &Face,
        rounded: &Rounded<'_>,
        sag: f64,
    ) -> Option<Spot> {
        let suffices = |corner: &Vector3<f64>| {
            let (distance, normal) = rounded.nearest(corner);
            distance - self.distance < sag && normal.dot(&self.normal) > SAME_SIDE
        };
        let plane = (self.normal, self.place - self.distance * self.normal);
        (!face.iter().any(suffices)).then_some(Spot { lane, collider, shares: self.shares, plane })
    }

    fn at(rounded: &Rounded<'_>, face: &Face, shares: [f64; 3]) -> Self {
        let place = place(face, &shares);
        let (distance, normal) = rounded.nearest(&place);
        Self { shares, place, distance, normal }
    }
}

/// Normal of a face, as long as twice its area.
pub(super) fn across(face: &Face) -> Vector3<f64> {
    (face[1] - face[0]).cross(&(face[2] - face[0]))
}

pub(super) fn place(face: &Face, shares: &[f64; 3]) -> Vector3<f64> {
    face.iter().zip(shares).map(|(corner, share)| *share * corner).sum()
}

/// Shares of the corners in the point of a face nearest to a place.
pub(super) fn projected(face: &Face, place: &Vector3<f64>) -> [f64; 3] {
    projected_by(&inverse_frame(face), face, place)
}

/// Inverse of the frame of two edges and the normal; `None` for a face without area.
fn inverse_frame(face: &Face) -> Option<Matrix3<f64>> {
    Matrix3::from_columns(&[face[1] - face[0], face[2] - face[0], across(face)]).try_inverse()
}

/// As [`projected`], with the inverse of the face's frame.
fn projected_by(inverse: &Option<Matrix3<f64>>, face: &Face, place: &Vector3<f64>) -> [f64; 3] {
    if let Some(inverse) = inverse {
        let [b, c]: [f64; 2] = (inverse * (place - face[0])).fixed_rows::<2>(0).into_owned().into();
        if b >= 0.0 && c >= 0.0 && b + c <= 1.0 {
            return [1.0 - b - c, b, c];
        }
    }
    let on_edge = |edge: usize| {
        let (one, two) = (edge, (edge + 1) % 3);
        let along = face[two] - face[one];
        let share = (place - face[one]).dot(&along) / along.norm_squared();
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        let mut shares = [0.0; 3];
        (shares[one], shares[two]) = (1.0 - share, share);
        ((face[one] + share * along - place).norm_squared(), shares)
    };
    let nearer = |a: (f64, [f64; 3]), b: (f64, [f64; 3])| if b.0 < a.0 { b } else { a };
    nearer(nearer(on_edge(0), on_edge(1)), on_edge(2)).1
}
