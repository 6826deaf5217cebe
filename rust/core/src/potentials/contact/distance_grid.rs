//! Signed distances to a surface on a surrounding grid.

use nalgebra::Vector3;

use super::cuboid::of_box;
use crate::mesh::{ClosestPoint, SurfaceMesh, TriangleTree, WindingNumber, bounds, closest_points};
use crate::parallel::*;
use crate::{Error, Result};

/// Accepted numbers of cells along the longest side.
const RESOLUTIONS: std::ops::RangeInclusive<usize> = 8..=128;
/// Number of cells around the surface on each side.
const AROUND: usize = 2;
/// Largest distance of a place inside from a patch, as a multiple of the distance from the whole surface, for
/// which the place is behind the patch.
const BEHIND: f64 = 1.5;
/// Relative excess of a difference between neighbours over a cell, against rounding errors.
const ROUNDING: f64 = 1e-9;
/// Depth of the solid behind a patch at the grid's rim, as a share of the patch's longest side.
const THICK: f64 = 0.25;

/// Distances at the nodes of cubic cells, with trilinear interpolation.
#[derive(Debug)]
pub(super) struct DistanceGrid {
    origin: Vector3<f64>,
    spacing: f64,
    /// Nodes along each axis.
    nodes: [usize; 3],
    /// Distances and their slopes, x fastest.
    values: Vec<[f64; 4]>,
    /// Largest depth at a node, metres.
    deepest: f64,
    /// `true` if no distance outside grows faster than its way from the inside, as it does at holes.
    is_bound: bool,
    /// `true` for the solid behind a patch.
    is_patch: bool,
}

/// A surface prepared for distances from it.
pub(super) struct Whole<'a> {
    tree: TriangleTree<'a>,
    winding: WindingNumber,
    /// Longest side, metres.
    side: f64,
}

impl<'a> Whole<'a> {
    pub(super) fn new(surface: &'a SurfaceMesh) -> Self {
        let (low, high) = bounds(surface.points());
        let side = (Vector3::from(high) - Vector3::from(low)).max();
        Self { tree: TriangleTree::new(surface), winding: WindingNumber::new(surface), side }
    }

    /// Distance of each place, negative inside.
    fn distances(&self, places: &[[f64; 3]]) -> Result<Vec<f64>> {
        let nearest = self.tree.closest(places)?;
        let signed = |(place, near): (&[f64; 3], &ClosestPoint)| {
            if self.winding.at(*place) >= 0.5 { -near.distance } else { near.distance }
        };
        Ok(places.par_iter().zip(&nearest).map(signed).collect())
    }
}

impl DistanceGrid {
    /// Distances to a surface, with `resolution` cells along the longest side.
    pub(super) fn new(surface: &SurfaceMesh, resolution: usize) -> Result<Self> {
        let grid = Self::around(surface, resolution, 0.0)?;
        let distances = Whole::new(surface).distances(&grid.places())?;
        let grid = grid.filled(distances);
        if grid.deepest > 0.0 { Ok(grid) } else { Err(no_inside()) }
    }

    /// Distances to the solid behind a patch: the places inside the whole surface whose nearest point on it
    /// is in the patch or hardly nearer. The cells are those of a grid of the whole with this resolution, but
    /// never fewer than for any grid. A patch without an inside has a depth of 0.
    pub(super) fn behind(whole: &Whole<'_>, patch: &SurfaceMesh, resolution: usize) -> Result<Self> {
        let (low, high) = bounds(patch.points());
        let share = (1.0 + 2.0 * THICK) * (Vector3::from(high) - Vector3::from(low)).max() / whole.side;
        let cells = (share * resolution as f64).ceil() as usize;
        let grid = Self::around(patch, cells.clamp(*RESOLUTIONS.start(), *RESOLUTIONS.end()), THICK)?;
        let places = grid.places();
        let (whole, near) = (whole.distances(&places)?, closest_points(patch, &places)?);
        let beyond = |(place, (whole, near)): (&[f64; 3], (f64, &ClosestPoint))| {
            let rim = grid.distance_of_rim(&Vector3::from(*place)) + grid.spacing;
            behind(whole, near.distance).max(rim)
        };
        let distances = places.iter().zip(whole.into_iter().zip(&near)).map(beyond).collect();
        Ok(Self { is_patch: true, ..grid.filled(distances) })
    }

    /// An empty grid around a surface, wider by a share of its longest side.
    fn around(surface: &SurfaceMesh, resolution: usize, wider: f64) -> Result<Self> {
        if !RESOLUTIONS.contains(&resolution) {
            let expected = "a whole number from 8 to 128";
            return Err(Error::Range { what: "resolution", expected, got: resolution as f64 });
        }
        let (low, high) = bounds(surface.points());
        let beside = wider * (Vector3::from(high) - Vector3::from(low)).max();
        let [low, high] = [Vector3::from(low).add_scalar(-beside), Vector3::from(high).add_scalar(beside)];
        let extent = high - low;
        let spacing = extent.max() / resolution as f64;
        if spacing <= 0.0 {
            return Err(no_inside());
        }
        let nodes = std::array::from_fn(|c| (extent[c] / spacing).ceil() as usize + 1 + 2 * AROUND);
        let origin = low.add_scalar(-(AROUND as f64) * spacing);
        Ok(Self {
            origin,
            spacing,
            nodes,
            values: Vec::new(),
            deepest: 0.0,
            is_bound: false,
            is_patch: false,
        })
    }

    /// Positions of all nodes.
    fn places(&self) -> Vec<[f64; 3]> {
        (0..self.nodes.iter().product()).map(|i| self.place(i)).collect()
    }

    /// The grid with distances at its nodes.
    fn filled(mut self, distances: Vec<f64>) -> Self {
        self.deepest = distances.iter().fold(0.0, |deepest: f64, distance| deepest.max(-distance));
        self.is_bound = self.grows_slowly(&distances);
        self.values = (0..distances.len()).map(|node| self.with_slope(&distances, node)).collect();
        self
    }

    /// `true` if between neighbours outside no distance grows by more than a cell, and no neighbour of a node
    /// inside is farther than that.
    fn grows_slowly(&self, distances: &[f64]) -> bool {
        let most = self.spacing * (1.0 + ROUNDING);
        let is_slow = |node: usize, next: usize| {
            let [low, high] = [distances[node].max(0.0), distances[next].max(0.0)];
            (high - low).abs() <= most
        };
        (0..distances.len()).all(|node| {
            let at = self.indices(node);
            (0..3).all(|c| at[c] + 1 == self.nodes[c] || is_slow(node, node + self.stride(c)))
        })
    }

    /// Side of a cell, metres.
    pub(super) fn spacing(&self) -> f64 {
        self.spacing
    }

    /// `true` for the solid behind a patch: neighbouring patches go on where it ends, so that its rim is no
    /// edge.
    pub(super) fn is_patch(&self) -> bool {
        self.is_patch
    }

    /// Largest depth, metres.
    pub(super) fn deepest(&self) -> f64 {
        self.deepest
    }

    /// Position of a node.
    fn place(&self, node: usize) -> [f64; 3] {
        let at = self.indices(node);
        std::array::from_fn(|c| self.origin[c] + self.spacing * at[c] as f64)
    }

    /// Indices of a node along the axes.
    fn indices(&self, node: usize) -> [usize; 3] {
        let [x, y, _] = self.nodes;
        [node % x, node / x % y, node / (x * y)]
    }

    /// Difference between the numbers of neighbours along an axis.
    fn stride(&self, axis: usize) -> usize {
        self.nodes[..axis].iter().product()
    }

    /// Distance at a node, and its gradient by differences in cells, one-sided at the rim.
    fn with_slope(&self, distances: &[f64], node: usize) -> [f64; 4] {
        let at = self.indices(node);
        let slope = |c: usize| {
            let ends = [at[c].saturating_sub(1), (at[c] + 1).min(self.nodes[c] - 1)];
            let [low, high] = ends.map(|end| distances[node + self.stride(c) * end - self.stride(c) * at[c]]);
            (high - low) / (ends[1] - ends[0]) as f64
        };
        [distances[node], slope(0), slope(1), slope(2)]
    }

    /// Half of the side lengths.
    fn half(&self) -> Vector3<f64> {
        0.5 * self.spacing * Vector3::from(self.nodes.map(|n| (n - 1) as f64))
    }

    /// Signed distance to the box of the whole grid, never above the distance to the surface.
    fn distance_of_rim(&self, point: &Vector3<f64>) -> f64 {
        let half = self.half();
        of_box(&(point - self.origin - half), &half).0
    }

    /// Lower bound: no point within a radius of this one is nearer than this bound minus the radius.
    pub(super) fn least_distance(&self, point: &Vector3<f64>) -> f64 {
        let rim = self.distance_of_rim(point);
        if !self.is_bound {
            return rim;
        }
        rim.max(self.least_inside(point, rim))
    }

    /// `true` if the lower bound is above a distance.
    pub(super) fn is_beyond(&self, point: &Vector3<f64>, distance: f64) -> bool {
        let rim = self.distance_of_rim(point);
        rim > distance || self.is_bound && self.least_inside(point, rim) > distance
    }

    /// Lower bound by the distances at the nodes; never above that of the rim for a place inside the surface.
    fn least_inside(&self, point: &Vector3<f64>, rim: f64) -> f64 {
        // Interpolation errs by less than a cell, at this point and at those around it.
        let least = self.interpolated(point).0 - rim.max(0.0) - 2.0 * self.spacing;
        if least > 0.0 { least } else { rim }
    }

    /// Distance and its gradient, in cells, at the point of the grid nearest to a point.
    fn interpolated(&self, point: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let inside = (point - self.origin).zip_map(&(2.0 * self.half()), |x, most| x.clamp(0.0, most));
        let place = inside / self.spacing;
        let low: [usize; 3] = std::array::from_fn(|c| (place[c] as usize).min(self.nodes[c] - 2));
        let strides = [1, self.nodes[0], self.nodes[0] * self.nodes[1]];
        let first: usize = (0..3).map(|c| strides[c] * low[c]).sum();
        let shares: [[f64; 2]; 3] = std::array::from_fn(|c| {
            let share = place[c] - low[c] as f64;
            [1.0 - share, share]
        });
        let (mut distance, mut slope) = (0.0, Vector3::zeros());
        for corner in 0..8 {
            let bits = [corner & 1, corner >> 1 & 1, corner >> 2];
            let node = first + bits[0] + strides[1] * bits[1] + strides[2] * bits[2];
            let weight = shares[0][bits[0]] * shares[1][bits[1]] * shares[2][bits[2]];
            let [value, x, y, z] = self.values[node];
            distance += weight * value;
            slope += weight * Vector3::new(x, y, z);
        }
        (distance, slope)
    }

    /// Distance and normal; outside the grid, the distance to the grid is added to the distance at its rim.
    pub(super) fn nearest(&self, point: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let half = self.half();
        let beside = point - self.origin - half;
        let (distance, normal) = self.interpolated(point);
        let length = normal.norm();
        if length > 0.0 && (0..3).all(|c| beside[c].abs() <= half[c]) {
            return (distance, normal / length);
        }
        // The nearest surface point is at least as far as the grid, and as the bound from the rim.
        let (away, outward) = of_box(&beside, &half);
        if away > 0.0 {
            return (away.max(distance - away), outward);
        }
        (distance, if length > 0.0 { normal / length } else { outward })
    }
}

/// Distance from the solid behind a patch, from the distances to the whole surface and to the patch.
///
/// It is continuous. Outside of the solid it is a lower bound, since both distances have slopes of at most 1;
/// right above and below the patch, where they are equal, it is exact.
fn behind(whole: f64, patch: f64) -> f64 {
    let beyond = patch + BEHIND * whole;
    if beyond > 0.0 { beyond / (1.0 + BEHIND) } else { whole.max(beyond / (BEHIND - 1.0)) }
}

pub(super) fn no_inside() -> Error {
    let expected = "a surface that encloses more than a cell of the grid";
    Error::Range { what: "mesh", expected, got: 0.0 }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A closed box, and one without a side, whose distances jump at the opening.
    #[test]
    fn no_place_is_nearer_than_the_bound_allows() {
        let closed = SurfaceMesh::cuboid([1.0, 0.6, 0.4]).unwrap();
        let open = SurfaceMesh::new(closed.points().to_vec(), closed.triangles()[2..].to_vec()).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (surface, is_bound) in [(closed, true), (open, false)] {
            let grid = DistanceGrid::new(&surface, 24).unwrap();
            assert_eq!(grid.is_bound, is_bound);
            for _ in 0..4000 {
                let mut place = || Vector3::from_fn(|_, _| rng.random_range(-0.5..1.5));
                let (center, other) = (place(), place());
                let bound = grid.least_distance(&center) - (center - other).norm();
                assert!(grid.nearest(&other).0 > bound, "{center} {other}: {bound}");
            }
        }
    }
}
