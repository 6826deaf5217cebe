//! Share of each tet of a lattice inside of the surface.

use nalgebra::Vector3;

use super::{WindingNumber, cells::Cells, grid::Grid};
use crate::parallel::*;

/// Samples along each side of a touched cell.
const SIDE: usize = 4;

/// Samples in a cell.
pub(super) const SAMPLES: usize = SIDE.pow(3);

/// Share of a tet without an inside sample: sheets keep some mass, and nothing is singular.
const LEAST: f64 = 0.01;

/// Smallest variance of flesh in a cell, that of half a cell, to give vertices far from a sliver of flesh
/// some support.
const LEAST_SPREAD: f64 = 1.0 / 12.0;

/// Number of rays, of the six along the axes, that must see the surface from inside: half of them, as with
/// winding numbers.
const VOTES: u8 = 3;

/// Flesh in a cell: share of each tet, and distribution from -1 to 1 along each axis.
pub(super) struct Flesh<const TETS: usize> {
    pub(super) shares: [f64; TETS],
    pub(super) centre: [f64; 3],
    pub(super) spread: [f64; 3],
}

impl<const TETS: usize> Flesh<TETS> {
    fn full() -> Self {
        Self { shares: [1.0; TETS], centre: [0.0; 3], spread: [1.0 / 3.0; 3] }
    }

    /// Flesh from the inside share of each sample's cube, and the tet of each sample.
    fn new(inside: &[f64; SAMPLES], tet_of: &[u8; SAMPLES]) -> Self {
        let (mut sums, mut all) = ([0.0; TETS], [0.0; TETS]);
        let (mut first, mut second) = ([0.0; 3], [0.0; 3]);
        for (number, (&tet, share)) in tet_of.iter().zip(inside).enumerate() {
            all[tet as usize] += 1.0;
            sums[tet as usize] += share;
            for (axis, x) in sample(number).map(|x| 2.0 * x - 1.0).into_iter().enumerate() {
                first[axis] += share * x;
                second[axis] += share * x * x;
            }
        }
        let shares = std::array::from_fn(|tet| LEAST.max(sums[tet] / all[tet]));
        let total: f64 = sums.iter().sum();
        if total == 0.0 {
            return Self { shares, ..Self::full() };
        }
        let centre = first.map(|x| x / total);
        // A sample represents a small cube with its own variance.
        let own = (2.0 / SIDE as f64).powi(2) / 12.0;
        let spread = |axis: usize| second[axis] / total - centre[axis].powi(2) + own;
        Self { shares, centre, spread: std::array::from_fn(|axis| LEAST_SPREAD.max(spread(axis))) }
    }
}

/// Flesh of each kept cell, in order; `tet_of` gives the tet of each sample of a cell.
///
/// Untouched cells are full. In the others a sample is inside if at least half of the six rays along the
/// axes leave the surface more often than they enter. For a closed surface all six agree; only some of them
/// pass through the holes of an open surface.
pub(super) fn flesh<const TETS: usize>(
    cells: &Cells<'_>,
    kept: &[usize],
    tet_of: impl Fn([usize; 3]) -> [u8; SAMPLES] + Sync,
) -> Vec<Flesh<TETS>> {
    let rays: Vec<Rays> =
        (0..3).into_par_iter().map(|axis| Rays::new(&cells.grid, cells.winding(), axis)).collect();
    let flesh = |&cell: &usize| {
        if !cells.is_touched(cell) {
            return Flesh::full();
        }
        let position = cells.grid.cell(cell);
        Flesh::new(&inside(&rays, position), &tet_of(position))
    };
    kept.par_iter().map(flesh).collect()
}

/// Inside share of each sample's cube, z fastest.
///
/// For cubes crossed by the surface the share is the mean inside share of the crossing rays. Flat sides
/// along the cells are therefore located exactly, not half a sample off.
fn inside(rays: &[Rays], position: [usize; 3]) -> [f64; SAMPLES] {
    let mut votes = [0; SAMPLES];
    let mut cut = [(0.0, 0.0); SAMPLES];
    let strides = [SIDE * SIDE, SIDE, 1];
    for (axis, rays) in rays.iter().enumerate() {
        let [u, v] = others(axis);
        for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
            let crossings = rays.on(SIDE * position[u] + i, SIDE * position[v] + j);
            if crossings.is_empty() {
                continue;
            }
            for k in 0..SIDE {
                let depth = (SIDE * position[axis] + k) as f64;
                let sample = strides[axis] * k + strides[u] * i + strides[v] * j;
                votes[sample] += votes_at(crossings, depth);
                if let Some(share) = share_of_cut(crossings, depth) {
                    cut[sample].0 += share;
                    cut[sample].1 += 1.0;
                }
            }
        }
    }
    std::array::from_fn(|sample| match cut[sample] {
        (_, 0.0) => f64::from(u8::from(votes[sample] >= VOTES)),
        (sum, count) => sum / count,
    })
}

/// Number of rays, of the two from a depth down and up, that leave the surface more often than they enter.
fn votes_at(crossings: &[Crossing], depth: f64) -> u8 {
    let (mut below, mut above) = (0, 0);
    for crossing in crossings {
        *(if crossing.depth < depth { &mut below } else { &mut above }) += crossing.leaves;
    }
    // A downward ray leaves where an upward ray enters.
    u8::from(below < 0) + u8::from(above > 0)
}

/// Inside share of a ray within half a sample of a depth; `None` without a crossing there.
fn share_of_cut(crossings: &[Crossing], depth: f64) -> Option<f64> {
    let (low, high) = (depth - 0.5, depth + 0.5);
    let within = |crossing: &&Crossing| crossing.depth > low && crossing.depth < high;
    let mut start = low;
    let mut share = 0.0;
    for end in crossings.iter().filter(within).map(|crossing| crossing.depth).chain([high]) {
        if votes_at(crossings, 0.5 * (start + end)) > 0 {
            share += end - start;
        }
        start = end;
    }
    crossings.iter().any(|crossing| within(&crossing)).then_some(share)
}

/// Position of a sample in its cell, in cells.
pub(super) fn sample(number: usize) -> [f64; 3] {
    [number / (SIDE * SIDE), number / SIDE % SIDE, number % SIDE].map(|i| (i as f64 + 0.5) / SIDE as f64)
}

fn others(axis: usize) -> [usize; 2] {
    [(axis + 1) % 3, (axis + 2) % 3]
}

/// A crossing of the surface by a ray along an axis.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    /// Position along the axis, in samples, ascending along a ray.
    depth: f64,
    /// 1 for leaving the surface, -1 for entering.
    leaves: i32,
}

/// Crossings of all sample rays along an axis.
struct Rays {
    /// Number of rays along the second of the other axes.
    row: usize,
    /// Start of each ray's crossings, rays + 1.
    starts: Vec<u32>,
    crossings: Vec<Crossing>,
}

impl Rays {
    fn new(grid: &Grid, winding: &WindingNumber, axis: usize) -> Self {
        let counts = others(axis).map(|other| SIDE * grid.counts[other]);
        let mut found: Vec<(u32, Crossing)> = Vec::new();
        for corners in winding.triangles() {
            let corners =
                corners.map(|corner| SIDE as f64 * grid.to_cells(corner.into()) - Vector3::repeat(0.5));
            cross(corners, axis, counts, &mut |ray, crossing| found.push((ray as u32, crossing)));
        }
        let mut starts = vec![0; counts[0] * counts[1] + 1];
        found.iter().for_each(|(ray, _)| starts[*ray as usize + 1] += 1);
        (1..starts.len()).for_each(|ray| starts[ray] += starts[ray - 1]);
        found.sort_by(|(a, x), (b, y)| a.cmp(b).then(x.depth.total_cmp(&y.depth)));
        Self { row: counts[1], starts, crossings: found.into_iter().map(|(_, crossing)| crossing).collect() }
    }

    fn on(&self, i: usize, j: usize) -> &[Crossing] {
        let ray = i * self.row + j;
        &self.crossings[self.starts[ray] as usize..self.starts[ray + 1] as usize]
    }
}

/// Finds the rays along an axis, at integers of the two others, that cross a triangle.
fn cross(
    corners: [Vector3<f64>; 3],
    axis: usize,
    counts: [usize; 2],
    found: &mut impl FnMut(usize, Crossing),
) {
    let [u, v] = others(axis);
    let flat = corners.map(|corner| [corner[u], corner[v]]);
    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
    if normal[axis] == 0.0 {
        return;
    }
    let leaves = if normal[axis] > 0.0 { 1 } else { -1 };
    let range = |c: usize| {
        let (low, high) =
            flat.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p[c]), h.max(p[c])));
        low.ceil().max(0.0) as usize..((high.floor() + 1.0).max(0.0) as usize).min(counts[c])
    };
    let (columns, rows) = (range(0), range(1));
    for i in columns {
        for j in rows.clone() {
            let at = [i as f64, j as f64];
            if (0..3).all(|side| is_left(flat[side], flat[(side + 1) % 3], at, leaves)) {
                let from = [at[0] - flat[0][0], at[1] - flat[0][1]];
                let depth = corners[0][axis] - (normal[u] * from[0] + normal[v] * from[1]) / normal[axis];
                found(i * counts[1] + j, Crossing { depth, leaves });
            }
        }
    }
}

/// `true` if a point is to the left of an edge (`turn` 1) or to its right (-1).
///
/// Two triangles at an edge compute the same number, and a point on the edge counts as moved by the same
/// infinitesimal step for all edges. A ray therefore never slips between triangles.
fn is_left(from: [f64; 2], to: [f64; 2], at: [f64; 2], turn: i32) -> bool {
    let ascends = from < to;
    let (low, high) = if ascends { (from, to) } else { (to, from) };
    let area = (high[0] - low[0]) * (at[1] - low[1]) - (high[1] - low[1]) * (at[0] - low[0]);
    (area >= 0.0) == (ascends == (turn > 0))
}
