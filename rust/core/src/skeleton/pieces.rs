//! Pieces of a surface: its loose parts, with their size, their creases and the evenness of their weights.

use std::collections::{BTreeMap, HashMap};

use nalgebra::Vector3;

use crate::math::Sets;
use crate::mesh::SurfaceMesh;
use crate::rig::Rig;

/// Cosine of the angle between two triangles from which their edge is a crease, 50 degrees.
const CREASE: f64 = 0.643;
/// Smallest weight of a bone at a held point.
const HOLDS: f64 = 0.95;

/// A loose part of a surface.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece {
    /// Number of its points.
    pub(super) points: usize,
    pub(super) area: f64,
    /// Length of the straight line with the same second moment; 1.7 times the diameter of a ball.
    pub(super) size: f64,
    /// Total length of its inner edges.
    pub(super) edges: f64,
    /// Total length of the creases.
    pub(super) creases: f64,
    /// `true` if a single bone holds all of its points.
    pub(super) is_held: bool,
    /// `true` if this bone, besides, shares no point of the surface with others.
    pub(super) is_alone: bool,
    /// Mean difference of its points' weights from their mean: 0 for equal weights, towards 1 for many bones.
    pub(super) spread: f64,
    /// Largest difference of weights between two of its points.
    pub(super) range: f64,
    /// Share of the skin of its bones.
    pub(super) share: f64,
}

/// All pieces of a surface.
pub(super) struct Pieces {
    /// Piece of each point, p.
    pub(super) of: Vec<usize>,
    pub(super) all: Vec<Piece>,
    /// Area around each point, p.
    pub(super) skin: Vec<f64>,
    /// Size of the whole surface.
    pub(super) size: f64,
}

impl Pieces {
    /// Splits a surface; coincident points are merged, because seams of exporters are no gaps.
    pub(super) fn new(surface: &SurfaceMesh, rig: &Rig) -> Self {
        let merged = merged(surface);
        let (of, count) = parts(surface, &merged);
        let mut all = vec![Piece::default(); count];
        of.iter().for_each(|&piece| all[piece].points += 1);
        let mut found = Self { skin: vec![0.0; of.len()], of, all, size: 0.0 };
        found.measure(surface);
        found.find_creases(surface, &merged);
        found.compare_weights(rig);
        found
    }

    /// `true` for each piece of which all points are chosen.
    pub(super) fn all_of(&self, chosen: &[bool]) -> Vec<bool> {
        let mut whole = vec![true; self.all.len()];
        self.of.iter().zip(chosen).for_each(|(&piece, chosen)| whole[piece] &= chosen);
        whole
    }

    /// `true` for each piece of which some points are chosen.
    pub(super) fn any_of(&self, chosen: &[bool]) -> Vec<bool> {
        let mut touched = vec![false; self.all.len()];
        self.of.iter().zip(chosen).for_each(|(&piece, chosen)| touched[piece] |= chosen);
        touched
    }

    /// Area of the skin of a bone, for the points that count.
    pub(super) fn skin_of(&self, rig: &Rig, bone: usize, counts: impl Fn(usize) -> bool) -> f64 {
        let own = rig.bone(bone).iter().map(|&(point, weight)| (point as usize, weight));
        own.filter(|&(point, _)| counts(point)).map(|(point, weight)| weight * self.skin[point]).sum()
    }

    /// Areas and sizes.
    fn measure(&mut self, surface: &SurfaceMesh) {
        // Moments about a point of the surface, as those of a small surface far away would cancel.
        let origin = Vector3::from(surface.points()[0]);
        let mut moments = vec![Moments::default(); self.all.len()];
        for &triangle in surface.triangles() {
            let corners = triangle.map(|v| Vector3::from(surface.points()[v as usize]) - origin);
            let own = Moments::of(corners);
            triangle.iter().for_each(|&v| self.skin[v as usize] += own.area / 3.0);
            moments[self.of[triangle[0] as usize]].add(&own);
        }
        let mut whole = Moments::default();
        for (piece, own) in self.all.iter_mut().zip(&moments) {
            (piece.area, piece.size) = (own.area, own.size());
            whole.add(own);
        }
        self.size = whole.size();
    }

    /// Lengths of the edges between two triangles, and of the creases among them.
    fn find_creases(&mut self, surface: &SurfaceMesh, merged: &[u32]) {
        let corners = surface.triangles().iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let ends = corners.map(|edge| edge.map(|v| merged[v as usize]));
        let sorted = |(side, [a, b]): (usize, [u32; 2])| ([a.min(b), a.max(b)], side, a < b);
        let mut sides: Vec<_> = ends.enumerate().map(sorted).collect();
        sides.sort_unstable();
        for edge in sides.chunk_by(|one, other| one.0 == other.0) {
            let &[([a, b], one, along), (_, other, back)] = edge else { continue };
            let place = |v: u32| Vector3::from(surface.points()[v as usize]);
            let [first, second] = [one, other].map(|side| normal(surface, side / 3));
            // Neighbours that go along their edge in the same direction face opposite sides.
            let cosine = if along == back { -first.dot(&second) } else { first.dot(&second) };
            let (piece, length) = (&mut self.all[self.of[a as usize]], (place(b) - place(a)).norm());
            piece.edges += length;
            piece.creases += if cosine < CREASE { length } else { 0.0 };
        }
    }

    /// Evenness of weights, and shares of the bones' skin.
    fn compare_weights(&mut self, rig: &Rig) {
        for bone in 0..rig.bone_count() {
            let mut held: BTreeMap<usize, Held> = BTreeMap::new();
            for &(point, weight) in rig.bone(bone) {
                let skin = self.skin[point as usize];
                held.entry(self.of[point as usize]).or_default().add(weight, skin);
            }
            for &(point, weight) in rig.bone(bone) {
                let number = self.of[point as usize];
                let mean = held[&number].weight / self.all[number].points as f64;
                self.all[number].spread += (weight - mean).abs();
            }
            let skin: f64 = held.values().map(|own| own.skin).sum();
            let is_alone = held.values().all(|own| own.least > HOLDS);
            for (number, own) in held {
                let piece = &mut self.all[number];
                let bare = piece.points - own.points;
                if bare == 0 && own.least > HOLDS {
                    (piece.is_held, piece.is_alone) = (true, is_alone);
                }
                piece.spread += own.weight / piece.points as f64 * bare as f64;
                piece.range = piece.range.max(own.most - if bare > 0 { 0.0 } else { own.least });
                piece.share += if skin > 0.0 { own.skin * own.skin / skin } else { 0.0 };
            }
        }
        for piece in &mut self.all {
            piece.spread /= 2.0 * piece.points as f64;
            piece.share /= piece.area.max(f64::MIN_POSITIVE);
        }
    }
}

/// Points of a piece that a bone moves.
struct Held {
    points: usize,
    /// Sum of the weights.
    weight: f64,
    least: f64,
    most: f64,
    /// Area of their skin, each part times its weight.
    skin: f64,
}

impl Default for Held {
    fn default() -> Self {
        Self { points: 0, weight: 0.0, least: f64::INFINITY, most: 0.0, skin: 0.0 }
    }
}

impl Held {
    fn add(&mut self, weight: f64, skin: f64) {
        (self.points, self.weight) = (self.points + 1, self.weight + weight);
        (self.least, self.most) = (self.least.min(weight), self.most.max(weight));
        self.skin += weight * skin;
    }
}

/// Moments of a surface: the area, and the integrals of position and squared distance.
#[derive(Clone, Default)]
struct Moments {
    area: f64,
    first: Vector3<f64>,
    second: f64,
}

impl Moments {
    fn of([a, b, c]: [Vector3<f64>; 3]) -> Self {
        let (area, sum) = (0.5 * (b - a).cross(&(c - a)).norm(), a + b + c);
        let squares = a.norm_squared() + b.norm_squared() + c.norm_squared() + sum.norm_squared();
        Self { area, first: area / 3.0 * sum, second: area / 12.0 * squares }
    }

    fn add(&mut self, other: &Self) {
        self.area += other.area;
        self.first += other.first;
        self.second += other.second;
    }

    /// Length of the straight line with the same mean squared distance from its centre.
    fn size(&self) -> f64 {
        if self.area > 0.0 {
            let square = self.second / self.area - (self.first / self.area).norm_squared();
            (12.0 * square.max(0.0)).sqrt()
        } else {
            0.0
        }
    }
}

/// First point at the place of each point, p.
fn merged(surface: &SurfaceMesh) -> Vec<u32> {
    let mut first: HashMap<[u64; 3], u32> = HashMap::with_capacity(surface.points().len());
    // Adding 0 gives both zeros the same bits.
    let key = |place: &[f64; 3]| place.map(|x| (x + 0.0).to_bits());
    (0..).zip(surface.points()).map(|(point, place)| *first.entry(key(place)).or_insert(point)).collect()
}

/// Piece of each point, p, and the number of pieces.
fn parts(surface: &SurfaceMesh, merged: &[u32]) -> (Vec<usize>, usize) {
    let mut sets = Sets::new(merged.len());
    (0..).zip(merged).for_each(|(point, &first)| sets.unite(first, point));
    for &[a, b, c] in surface.triangles() {
        sets.unite(a, b);
        sets.unite(a, c);
    }
    let mut numbers = HashMap::new();
    let mut number = |point| {
        let next = numbers.len();
        *numbers.entry(sets.root(point)).or_insert(next)
    };
    let of = (0..merged.len() as u32).map(&mut number).collect();
    (of, numbers.len())
}

/// Unit normal of a triangle; zero for one without area.
fn normal(surface: &SurfaceMesh, triangle: usize) -> Vector3<f64> {
    let [a, b, c] = surface.triangles()[triangle].map(|v| Vector3::from(surface.points()[v as usize]));
    (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default()
}
