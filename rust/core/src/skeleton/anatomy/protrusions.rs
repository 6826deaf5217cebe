//! Ears, tails and fins without bones: thin pieces that stick out of the head, of the hind end, or of a fish.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, Vector3};

use super::axes::Axes;
use super::flesh::Flesh;
use super::paint::{Paint, step};
use crate::skeleton::part::Part;
use crate::skeleton::specks::pieces;

/// Largest radius of protrusions, and least of the bulk, as shares of the largest; of fins, and of others.
const SHEET: [f64; 2] = [0.25, 0.3];
const THIN: [f64; 2] = [0.5, 0.55];
/// Distances from the bulk from which on a piece of the head, of the hind end or of a fish sticks out, in
/// largest radii, and in cells: a layer of cells lies around everything.
const OUT: [f64; 3] = [0.45, 0.3, 0.1];
const LAYER: f64 = 1.2;
/// Largest radius of a single layer of cells, in cells.
const LAYER_RADIUS: f64 = 0.6;
/// Least vertices of a piece.
const LEAST: usize = 6;
/// Least volume share of a piece.
const SPECK: f64 = 0.00005;
/// Least length of an ear and of an arm, and largest width of their bases, in largest radii: the brim of a
/// hat goes around the head, an arm may lie along the trunk.
const EAR: [f64; 2] = [0.7, 1.9];
const ARM: [f64; 2] = [0.9, 3.0];
/// Least length of a tail and of a fin, in largest radii.
const TAIL: f64 = 0.6;
const FIN: f64 = 0.35;
/// Least breadth of a fin, in thicknesses, and of one on a bone of its own, in cells.
const FLAT: f64 = 2.0;
const BROAD: f64 = 3.3;
/// Least distance of an ear from the middle plane, and largest of a tail, in largest radii.
const ASIDE: f64 = 0.3;
const CENTRAL: f64 = 0.35;
/// Share of bone of arms without bones.
const STUMP: f64 = 0.9;
/// Largest relative differences of two ears in volume and length.
const ALIKE: [f64; 2] = [0.5, 0.35];

/// Share of a piece's length that is its base.
const BASE: f64 = 0.3;

/// Largest width of a tail's base, relative to its length: capes are wider.
const SLENDER: f64 = 1.2;

/// A piece that sticks out.
struct Piece {
    vertices: Vec<usize>,
    /// Distance of each vertex from the bulk, metres.
    far: Vec<f64>,
    volume: f64,
    /// Distance of the tip from the bulk, and width of the base, in largest radii.
    length: f64,
    width: f64,
    /// Largest radius of the flesh that the piece sticks out of, metres.
    largest: f64,
}

/// Frees pairs of thin pieces of the head. weight: of the head, n.
pub(super) fn ears(paint: &mut Paint, flesh: &Flesh<'_>, axes: &Axes, weight: &[f64]) {
    for ear in in_pairs(flesh, axes, weight, EAR) {
        ear.set_free(paint, Part::Ears, [0.08, 0.3]);
    }
}

/// Gives pairs of thin pieces of the trunk to the arms, as bone: they have none of their own. weight: of the
/// trunk, n.
pub(super) fn arms(paint: &mut Paint, flesh: &Flesh<'_>, axes: &Axes, weight: &[f64]) {
    for arm in in_pairs(flesh, axes, weight, ARM) {
        for &vertex in &arm.vertices {
            paint.lay(vertex, 1.0, STUMP);
            paint.take(Part::Arms, vertex, 1.0);
        }
    }
}

/// Pairs of thin pieces that stick out to the sides.
fn in_pairs(flesh: &Flesh<'_>, axes: &Axes, weight: &[f64], [length, width]: [f64; 2]) -> Vec<Piece> {
    let found: Vec<(Piece, f64)> = sticking_out(flesh, weight, THIN, OUT[0])
        .into_iter()
        .flat_map(|piece| piece.halves(flesh, axes, weight))
        .map(|piece| (piece.side(flesh, axes), piece))
        .filter(|(side, piece)| piece.volume > SPECK && piece.length > length && side.abs() > ASIDE)
        .filter(|(_, piece)| piece.width < width)
        .map(|(side, piece)| (piece, side))
        .collect();
    let alike = |a: f64, b: f64, most: f64| (a - b).abs() < most * a.max(b);
    let has_mate = |(piece, side): &(Piece, f64)| {
        found.iter().any(|(other, other_side)| {
            other_side * side < 0.0
                && alike(other.volume, piece.volume, ALIKE[0])
                && alike(other.length, piece.length, ALIKE[1])
        })
    };
    let paired: Vec<bool> = found.iter().map(has_mate).collect();
    found.into_iter().zip(paired).filter_map(|((piece, _), paired)| paired.then_some(piece)).collect()
}

/// Frees a thin piece in the middle of the hind end. weight: of the hind end, n.
pub(super) fn tail(paint: &mut Paint, flesh: &Flesh<'_>, axes: &Axes, weight: &[f64]) {
    for piece in sticking_out(flesh, weight, THIN, OUT[1]) {
        let is_slender = piece.width < SLENDER * piece.length;
        let is_central = piece.side(flesh, axes).abs() < CENTRAL;
        if piece.volume > SPECK && piece.length > TAIL && is_central && is_slender {
            piece.set_free(paint, Part::Tail, [0.05, 0.25]);
        }
    }
}

/// Frees flat pieces of a body without legs. weight: of what may be fins, n.
pub(super) fn fins(paint: &mut Paint, flesh: &Flesh<'_>, weight: &[f64]) {
    for piece in sticking_out(flesh, weight, SHEET, OUT[2]) {
        if piece.length > FIN && is_flat(flesh, &piece.vertices) {
            piece.set_free(paint, Part::Fins, [0.05, 0.3]);
        }
    }
}

/// `true` if a bone moves a fin: a broad piece, most of it a single layer of cells.
pub(super) fn is_fin(flesh: &Flesh<'_>, bone: usize) -> bool {
    let weight = flesh.share(&[bone]);
    let own: Vec<usize> = (0..weight.len()).filter(|&vertex| weight[vertex] > 0.5).collect();
    let thin = own.iter().filter(|&&vertex| flesh.reached[vertex] < LAYER_RADIUS * flesh.cell).count();
    2 * thin > own.len() && extents(flesh, &own)[1] > BROAD * flesh.cell
}

/// `true` if the second largest extent of some flesh is well above its smallest one.
fn is_flat(flesh: &Flesh<'_>, vertices: &[usize]) -> bool {
    let [thickness, breadth, _] = extents(flesh, vertices);
    breadth > FLAT * thickness
}

/// Extents of some flesh along its principal axes, metres, the smallest first: those of an even spread with
/// the same variance.
fn extents(flesh: &Flesh<'_>, vertices: &[usize]) -> [f64; 3] {
    let places = vertices.iter().map(|&vertex| flesh.place(vertex));
    let count = vertices.len().max(1) as f64;
    let middle = places.clone().sum::<Vector3<f64>>() / count;
    let spread = places.map(|place| (place - middle) * (place - middle).transpose()).sum::<Matrix3<f64>>();
    let mut extents = spread.symmetric_eigenvalues().map(|sum| (12.0 * sum.max(0.0) / count).sqrt());
    extents.as_mut_slice().sort_by(f64::total_cmp);
    extents.into()
}

/// Thin pieces of a part, far from the bulk. thin, thick: largest radius of them and least of the bulk.
fn sticking_out(flesh: &Flesh<'_>, weight: &[f64], [thin, thick]: [f64; 2], out: f64) -> Vec<Piece> {
    let own: Vec<usize> = (0..weight.len()).filter(|&vertex| weight[vertex] > 0.5).collect();
    let largest = own.iter().map(|&vertex| flesh.reached[vertex]).fold(0.0, f64::max);
    let [thin, thick] = [thin, thick].map(|share| (share * largest).max(LAYER_RADIUS * flesh.cell));
    let bulk: Vec<Vector3<f64>> = own
        .iter()
        .filter(|&&vertex| flesh.reached[vertex] > thick)
        .map(|&vertex| flesh.place(vertex))
        .collect();
    let mut far = vec![0.0; weight.len()];
    for &vertex in own.iter().filter(|&&vertex| flesh.reached[vertex] < thin) {
        let place = flesh.place(vertex);
        let squared = bulk.iter().map(|other| (other - place).norm_squared()).fold(f64::INFINITY, f64::min);
        far[vertex] = squared.sqrt();
    }
    let beyond = (out * largest).max(LAYER * flesh.cell);
    let sticks = |vertex: usize| far[vertex].is_finite() && far[vertex] > beyond;
    let roots = pieces(flesh.mesh, sticks);
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for vertex in (0..far.len()).filter(|&vertex| sticks(vertex)) {
        found.entry(roots[vertex]).or_default().push(vertex);
    }
    let made = found.into_values().map(|vertices| Piece::new(flesh, vertices, &far, largest));
    made.filter(|piece| piece.vertices.len() >= LEAST).collect()
}

impl Piece {
    fn new(flesh: &Flesh<'_>, vertices: Vec<usize>, far: &[f64], largest: f64) -> Self {
        let whole: f64 = flesh.volume.iter().sum();
        let far: Vec<f64> = vertices.iter().map(|&vertex| far[vertex]).collect();
        let longest = far.iter().copied().fold(0.0, f64::max);
        let nearest = far.iter().copied().fold(f64::INFINITY, f64::min);
        let at_base = |&(_, &far): &(&usize, &f64)| far <= nearest + BASE * (longest - nearest);
        let base: Vec<Vector3<f64>> =
            vertices.iter().zip(&far).filter(at_base).map(|(&vertex, _)| flesh.place(vertex)).collect();
        let middle = base.iter().sum::<Vector3<f64>>() / base.len() as f64;
        let width = 2.0 * base.iter().map(|place| (place - middle).norm()).fold(0.0, f64::max);
        Self {
            volume: vertices.iter().map(|&vertex| flesh.volume[vertex]).sum::<f64>() / whole,
            length: longest / largest,
            width: width / largest,
            largest,
            vertices,
            far,
        }
    }

    /// Distance of the middle from the middle plane, in largest radii; negative on one side.
    fn side(&self, flesh: &Flesh<'_>, axes: &Axes) -> f64 {
        let sides = self.vertices.iter().map(|&vertex| axes.place(flesh.place(vertex))[1]).sum::<f64>();
        sides / self.vertices.len() as f64 * axes.length / self.largest
    }

    /// The piece, or its two sides if it lies across the middle plane, as two ears joined by hair do.
    fn halves(self, flesh: &Flesh<'_>, axes: &Axes, weight: &[f64]) -> Vec<Self> {
        if self.side(flesh, axes).abs() > ASIDE {
            return vec![self];
        }
        let largest = self.largest;
        let mut far = vec![0.0; weight.len()];
        self.vertices.iter().zip(&self.far).for_each(|(&vertex, &distance)| far[vertex] = distance);
        let half = |sign: f64| {
            let beside =
                |&vertex: &usize| sign * axes.place(flesh.place(vertex))[1] * axes.length > 0.15 * largest;
            let vertices: Vec<usize> = self.vertices.iter().copied().filter(beside).collect();
            (vertices.len() >= LEAST).then(|| Self::new(flesh, vertices, &far, largest))
        };
        [1.0, -1.0].into_iter().filter_map(half).collect()
    }

    fn set_free(&self, paint: &mut Paint, part: Part, [firm, free]: [f64; 2]) {
        let longest = self.far.iter().copied().fold(0.0, f64::max);
        for (&vertex, distance) in self.vertices.iter().zip(&self.far) {
            let at = distance / longest;
            paint.share[vertex] = paint.share[vertex].min(1.0 - step(at, firm, free));
            paint.take(part, vertex, step(at, firm, free + 0.12));
        }
    }
}
