//! Dents of a displayed skin: its points inside colliders, moved to their surfaces.
//!
//! A step keeps contact points out, and moves the body in its own coordinates. Few coordinates have no dent
//! of the size of a finger, and a fine skin has points between those in contact. Here each displayed point
//! moves by itself: out of the collider the nearest way, as far as the flesh below it gives way. The body
//! feels nothing of it.

use std::collections::{BTreeSet, HashMap};

use nalgebra::Vector3;

use super::directions::{GIVES, SWALLOWED, reach};
use super::placement::Placement;
use super::{Collider, Shape};
use crate::mesh::{Embedding, TetMesh, bounds, extent};
use crate::parallel::*;
use crate::{Result, check};

/// Rounds of averaging of the depths that give way: the held places are vertices of a coarse mesh.
const ROUNDS: usize = 16;
/// Number of neighbouring points that are tested together for colliders nearby.
const CHUNK: usize = 256;
/// Steps on the way out of a box.
const STEPS: usize = 6;
/// Share of a depth that is taken away. Layers of clothes keep their order in what is left.
const TAKEN: f64 = 0.98;
/// Cosine between skin and collider, beyond the limit of engulfed skin, from which a point moves all the way.
const FACING: f64 = 0.25;

/// The displayed skin of a body, pressed by colliders.
pub struct Dents {
    /// The first point at the place of each: meshes are split where textures are.
    welded: Vec<u32>,
    /// The other two corners of the triangles around each welded point.
    around: Vec<Vec<[u32; 2]>>,
    /// Depth of the flesh that gives way below each point, metres, and the points where there is any.
    gives: Vec<f64>,
    soft: Vec<u32>,
    /// Largest of these depths, metres.
    most: f64,
}

impl Dents {
    /// Skin of points in a mesh, and the triangles between them. `pinned` tells the vertices of the mesh (n)
    /// that do not give way.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for another mesh or other pinned vertices,
    /// [`Error::Index`](crate::Error::Index) for a triangle of unknown points.
    pub fn new(mesh: &TetMesh, skin: &Embedding, triangles: &[[u32; 3]], pinned: &[bool]) -> Result<Self> {
        let points = skin.points();
        check::length("pinned", mesh.vertices().len(), pinned.len())?;
        check::indices("triangles", triangles.as_flattened(), 3, points.len())?;
        let free: Vec<f64> = pinned.iter().map(|&is_pinned| f64::from(u8::from(!is_pinned))).collect();
        let free = skin.interpolate(mesh, &free, 1)?;
        let welded = welded(points);
        let around = around(&welded, triangles);
        let most = SWALLOWED * extent(points);
        let held = beside_free(mesh, pinned);
        let gives = points.into_par_iter().map(|place| most.min(GIVES * reach(place, &held))).collect();
        let gives = (0..ROUNDS).fold(gives, |gives: Vec<f64>, _| evened(&around, &gives));
        let gives: Vec<f64> =
            welded.iter().zip(free).map(|(&first, free)| free * gives[first as usize]).collect();
        let soft = (0..).zip(&gives).filter_map(|(point, give)| (*give > 0.0).then_some(point)).collect();
        Ok(Self { welded, around, gives, soft, most })
    }

    /// Depth of the flesh that gives way below each point, p, metres.
    pub fn depths(&self) -> &[f64] {
        &self.gives
    }

    /// Points whose places [`Dents::press`] reads, in order.
    pub fn read_points(&self) -> Vec<u32> {
        let firsts = self.soft.iter().map(|&point| self.welded[point as usize]);
        let beside = firsts.flat_map(|first| {
            std::iter::once(first).chain(self.around[first as usize].as_flattened().iter().copied())
        });
        let all: BTreeSet<u32> = beside.chain(self.soft.iter().copied()).collect();
        all.into_iter().collect()
    }

    /// Moves displaced points (p) out of colliders, each with its transform from its initial place. Points
    /// that a collider spares stay.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for another number of points or transforms,
    /// [`Error::NotFinite`](crate::Error::NotFinite) or [`Error::Range`](crate::Error::Range) for a transform
    /// that is not rigid; nothing changes then.
    pub fn press(
        &self,
        colliders: &[Collider],
        transforms: &[[[f64; 4]; 3]],
        points: &mut [[f64; 3]],
    ) -> Result<()> {
        check::length("points", self.gives.len(), points.len())?;
        check::length("transforms", colliders.len(), transforms.len())?;
        check::finite("points", points.as_flattened(), 3)?;
        let placed = |(collider, transform)| Ok((collider, Placement::checked("transforms", transform)?));
        let placed: Vec<_> = colliders.iter().zip(transforms).map(placed).collect::<Result<_>>()?;
        let chunks: Vec<&[u32]> = self.soft.chunks(CHUNK).collect();
        let moved: Vec<_> =
            chunks.into_par_iter().map(|chunk| self.pressed(chunk, &placed, points)).collect();
        moved.into_iter().flatten().for_each(|(point, place)| points[point as usize] = place.into());
        Ok(())
    }

    /// Points of a chunk that move, and their places.
    fn pressed(
        &self,
        chunk: &[u32],
        placed: &[(&Collider, Placement)],
        points: &[[f64; 3]],
    ) -> Vec<(u32, Vector3<f64>)> {
        let places: Vec<[f64; 3]> = chunk.iter().map(|&point| points[point as usize]).collect();
        let [low, high] = <[_; 2]>::from(bounds(&places)).map(Vector3::from);
        let (middle, radius) = (0.5 * (low + high), 0.5 * (high - low).norm());
        let is_near = |(collider, placement): &&(&Collider, Placement)| {
            !collider.shape().is_beyond(&placement.local(&middle), radius)
        };
        let near: Vec<_> = placed.iter().filter(is_near).collect();
        let moved = |&point: &u32| {
            let start = Vector3::from(points[point as usize]);
            let place = near.iter().fold(start, |place, pressing| self.out(point, &place, pressing, points));
            (place != start).then_some((point, place))
        };
        if near.is_empty() { Vec::new() } else { chunk.iter().filter_map(moved).collect() }
    }

    /// Place of a point after it has moved out of a collider.
    fn out(
        &self,
        point: u32,
        place: &Vector3<f64>,
        (collider, placement): &(&Collider, Placement),
        points: &[[f64; 3]],
    ) -> Vector3<f64> {
        let (shape, here) = (collider.shape(), placement.local(place));
        let Some((normal, way)) = way_out(shape, &here) else { return *place };
        if collider.spared().binary_search(&point).is_ok() {
            return *place;
        }
        let facing = self.facing(point, points).map(|facing| placement.unturned(&facing));
        let beyond = facing.map_or(-FACING, |facing| shape.engulfing(-way, &normal, &facing));
        let share = TAKEN * (-beyond / FACING).clamp(0.0, 1.0);
        place + placement.turned(&(share * self.pushed(point, way) * normal))
    }

    /// Distance by which a point at a depth moves: all of it for a small one, and no more than flesh gives
    /// way. Flesh far below the surface of a collider stays in place, so that nothing tears beside it.
    fn pushed(&self, point: u32, depth: f64) -> f64 {
        let give = self.gives[point as usize];
        let stays = (depth / self.most - 1.0).clamp(0.0, 1.0);
        (1.0 - stays) * depth / (1.0 + (depth / give).powi(8)).sqrt().sqrt().sqrt()
    }

    /// Outward direction of the skin at a point; `None` without triangles.
    fn facing(&self, point: u32, points: &[[f64; 3]]) -> Option<Vector3<f64>> {
        let at = |corner: u32| Vector3::from(points[corner as usize]);
        let own = self.welded[point as usize];
        let area = |[b, c]: &[u32; 2]| (at(*b) - at(own)).cross(&(at(*c) - at(own)));
        self.around[own as usize].iter().map(area).sum::<Vector3<f64>>().try_normalize(0.0)
    }
}

/// Direction away from the core of a shape at a place inside, and the distance to its surface along that;
/// `None` outside. At the edges of a box it is continuous.
fn way_out(shape: &Shape, place: &Vector3<f64>) -> Option<(Vector3<f64>, f64)> {
    let (distance, nearest) = shape.nearest(place);
    if distance >= 0.0 {
        return None;
    }
    let normal = shape.rounded(0.0).map_or(nearest, |rounded| rounded.to_the_core().nearest(place).1);
    let further = |way: f64, _| way - shape.nearest(&(place + way * normal)).0.min(0.0);
    Some((normal, (0..STEPS).fold(-distance, further)))
}

/// Rest positions of pinned vertices next to others, metres.
fn beside_free(mesh: &TetMesh, pinned: &[bool]) -> Vec<[f64; 3]> {
    let is_pinned = |&vertex: &u32| pinned[vertex as usize];
    let beside = mesh.tets().iter().filter(|tet| !tet.iter().all(is_pinned)).flatten();
    let held: BTreeSet<u32> = beside.copied().filter(is_pinned).collect();
    held.iter().map(|&vertex| mesh.vertices()[vertex as usize]).collect()
}

/// The first point at the place of each.
fn welded(points: &[[f64; 3]]) -> Vec<u32> {
    let mut known = HashMap::new();
    (0..).zip(points).map(|(index, place)| *known.entry(place.map(f64::to_bits)).or_insert(index)).collect()
}

/// The other two corners of the triangles around each welded point.
fn around(welded: &[u32], triangles: &[[u32; 3]]) -> Vec<Vec<[u32; 2]>> {
    let mut around = vec![Vec::new(); welded.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|corner| welded[corner as usize]);
        for (corner, others) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
            around[corner as usize].push(others);
        }
    }
    around
}

/// Half of the number of each point, and half of the mean of its neighbours'.
fn evened(around: &[Vec<[u32; 2]>], numbers: &[f64]) -> Vec<f64> {
    let mean = |(around, own): (&Vec<[u32; 2]>, &f64)| {
        let others = around.as_flattened();
        let sum: f64 = others.iter().map(|&other| numbers[other as usize]).sum();
        if others.is_empty() { *own } else { 0.5 * (own + sum / others.len() as f64) }
    };
    around.iter().zip(numbers).map(mean).collect()
}
