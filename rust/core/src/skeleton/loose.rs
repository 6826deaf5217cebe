//! Loose parts of a surface bound to a single bone: helmets, horns, shoes, glasses, teeth, eyes.

use std::collections::HashMap;

use nalgebra::Vector3;

use crate::math::Sets;
use crate::mesh::SurfaceMesh;
use crate::rig::Rig;

/// Weight of a bone from which it holds a point.
const HOLDS: f64 = 0.95;
/// Size of a part, relative to the body's length, below which it lies on flesh and moves with it, like a
/// button, unless it has no flesh below.
const SMALL: f64 = 0.05;
/// Largest area share of a part; larger parts are bodies of their own.
const LARGE: f64 = 0.2;
/// Largest area share of all such parts; beyond this they make up the body.
const MOST: f64 = 0.5;

/// `true` for each point, p, of a hard loose part.
pub(super) fn held_whole(surface: &SurfaceMesh, rig: &Rig, length: f64) -> Vec<bool> {
    let part_of = parts(surface);
    let holders = holders(rig);
    let alone = alone(rig, &holders);
    let mut found: HashMap<u32, Part> = HashMap::new();
    for (point, &part) in part_of.iter().enumerate() {
        found.entry(part).or_default().add(surface.points()[point], holders[point]);
    }
    let mut whole = 0.0;
    for (triangle, area) in surface.triangles().iter().zip(areas(surface)) {
        whole += area;
        if let Some(part) = found.get_mut(&part_of[triangle[0] as usize]) {
            part.area += area;
        }
    }
    let hard = |part: &Part| {
        let holder = part.holder.filter(|_| !part.torn && part.area < LARGE * whole);
        holder.is_some_and(|bone| alone[bone as usize] || part.diagonal() > SMALL * length)
    };
    // Summed in the order of the points, for reproducible sums.
    let firsts = part_of.iter().enumerate().filter(|&(point, &part)| point == part as usize);
    let hard_area: f64 =
        firsts.map(|(_, part)| &found[part]).filter(|&part| hard(part)).map(|part| part.area).sum();
    let counts = hard_area < MOST * whole;
    part_of.iter().map(|part| counts && hard(&found[part])).collect()
}

/// Points of one loose part.
struct Part {
    low: [f64; 3],
    high: [f64; 3],
    /// Bone that holds the points seen so far.
    holder: Option<u32>,
    /// `true` if the points are not all held by one bone.
    torn: bool,
    area: f64,
}

impl Default for Part {
    fn default() -> Self {
        let (low, high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        Self { low, high, holder: None, torn: false, area: 0.0 }
    }
}

impl Part {
    fn add(&mut self, point: [f64; 3], holder: Option<u32>) {
        for (axis, x) in point.into_iter().enumerate() {
            self.low[axis] = self.low[axis].min(x);
            self.high[axis] = self.high[axis].max(x);
        }
        self.torn |= holder.is_none() || (self.holder.is_some() && self.holder != holder);
        self.holder = holder;
    }

    fn diagonal(&self) -> f64 {
        (Vector3::from(self.high) - Vector3::from(self.low)).norm()
    }
}

/// Part of each point, p, named by its first point; coincident points are merged, because seams of
/// exporters are no gaps.
fn parts(surface: &SurfaceMesh) -> Vec<u32> {
    let count = surface.points().len();
    let mut sets = Sets::new(count);
    let mut first: HashMap<[u64; 3], u32> = HashMap::with_capacity(count);
    for (point, place) in (0..).zip(surface.points()) {
        // Adding 0 gives both zeros the same bits.
        let seen = *first.entry(place.map(|x| (x + 0.0).to_bits())).or_insert(point);
        sets.unite(seen, point);
    }
    for &[a, b, c] in surface.triangles() {
        sets.unite(a, b);
        sets.unite(a, c);
    }
    (0..count as u32).map(|point| sets.root(point)).collect()
}

/// Bone that holds each point, p.
fn holders(rig: &Rig) -> Vec<Option<u32>> {
    let mut holders = vec![None; rig.vertex_count()];
    for bone in 0..rig.bone_count() {
        for &(point, _) in rig.bone(bone).iter().filter(|(_, weight)| *weight > HOLDS) {
            holders[point as usize] = Some(bone as u32);
        }
    }
    holders
}

/// `true` for each bone, b, without points shared with others.
fn alone(rig: &Rig, holders: &[Option<u32>]) -> Vec<bool> {
    let is_alone =
        |bone: usize| rig.bone(bone).iter().all(|&(point, _)| holders[point as usize] == Some(bone as u32));
    (0..rig.bone_count()).map(is_alone).collect()
}

fn areas(surface: &SurfaceMesh) -> impl Iterator<Item = f64> {
    surface.triangles().iter().map(|triangle| {
        let [a, b, c] = triangle.map(|v| Vector3::from(surface.points()[v as usize]));
        0.5 * (b - a).cross(&(c - a)).norm()
    })
}
