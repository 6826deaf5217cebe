//! Signed distances to a surface on a surrounding grid.

use nalgebra::Vector3;

use super::cuboid::of_box;
use crate::mesh::{SurfaceMesh, WindingNumber, bounds, closest_points};
use crate::parallel::*;
use crate::{Error, Result};

/// Accepted numbers of cells along the longest side.
const RESOLUTIONS: std::ops::RangeInclusive<usize> = 8..=128;
/// Number of cells around the surface on each side.
const AROUND: usize = 2;

/// Distances at the nodes of cubic cells, with trilinear interpolation.
#[derive(Debug)]
pub(super) struct DistanceGrid {
    origin: Vector3<f64>,
    spacing: f64,
    /// Nodes along each axis.
    nodes: [usize; 3],
    /// Distances, x fastest.
    distances: Vec<f64>,
    /// Largest depth at a node, metres.
    deepest: f64,
}

impl DistanceGrid {
    pub(super) fn new(surface: &SurfaceMesh, resolution: usize) -> Result<Self> {
        if !RESOLUTIONS.contains(&resolution) {
            let expected = "a whole number from 8 to 128";
            return Err(Error::Range { what: "resolution", expected, got: resolution as f64 });
        }
        let (low, high) = bounds(surface.points());
        let extent = Vector3::from(high) - Vector3::from(low);
        let spacing = extent.max() / resolution as f64;
        if spacing <= 0.0 {
            return Err(no_inside());
        }
        let nodes = std::array::from_fn(|c| (extent[c] / spacing).ceil() as usize + 1 + 2 * AROUND);
        let origin = Vector3::from(low).add_scalar(-(AROUND as f64) * spacing);
        let mut grid = Self { origin, spacing, nodes, distances: Vec::new(), deepest: 0.0 };
        let places: Vec<[f64; 3]> = (0..nodes.iter().product()).map(|i| grid.place(i)).collect();
        let winding = WindingNumber::new(surface);
        let nearest = closest_points(surface, &places)?;
        let signed = |(place, near): (&[f64; 3], &crate::mesh::ClosestPoint)| {
            if winding.at(*place) >= 0.5 { -near.distance } else { near.distance }
        };
        grid.distances = places.par_iter().zip(&nearest).map(signed).collect();
        grid.deepest = grid.distances.iter().fold(0.0, |deepest: f64, distance| deepest.max(-distance));
        if grid.deepest > 0.0 { Ok(grid) } else { Err(no_inside()) }
    }

    /// Side of a cell, metres.
    pub(super) fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Largest depth, metres.
    pub(super) fn deepest(&self) -> f64 {
        self.deepest
    }

    /// Position of a node.
    fn place(&self, node: usize) -> [f64; 3] {
        let [x, y, _] = self.nodes;
        let at = [node % x, node / x % y, node / (x * y)];
        std::array::from_fn(|c| self.origin[c] + self.spacing * at[c] as f64)
    }

    fn at(&self, node: [usize; 3]) -> f64 {
        self.distances[node[0] + self.nodes[0] * (node[1] + self.nodes[1] * node[2])]
    }

    /// Gradient at a node by differences, one-sided at the rim.
    fn slope(&self, node: [usize; 3]) -> Vector3<f64> {
        Vector3::from_fn(|c, _| {
            let mut ends = [node, node];
            ends[0][c] = node[c].saturating_sub(1);
            ends[1][c] = (node[c] + 1).min(self.nodes[c] - 1);
            (self.at(ends[1]) - self.at(ends[0])) / (ends[1][c] - ends[0][c]) as f64
        })
    }

    /// Half of the side lengths.
    fn half(&self) -> Vector3<f64> {
        0.5 * self.spacing * Vector3::from(self.nodes.map(|n| (n - 1) as f64))
    }

    /// Signed distance to the box of the whole grid, never above the distance to the surface.
    pub(super) fn distance_of_rim(&self, point: &Vector3<f64>) -> f64 {
        let half = self.half();
        of_box(&(point - self.origin - half), &half).0
    }

    /// Distance and normal; outside the grid, the distance to the grid is added to the distance at its rim.
    pub(super) fn nearest(&self, point: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let half = self.half();
        let (away, outward) = of_box(&(point - self.origin - half), &half);
        let inside = (point - self.origin).zip_map(&(2.0 * half), |x, most| x.clamp(0.0, most));
        let place = inside / self.spacing;
        let low: [usize; 3] = std::array::from_fn(|c| (place[c] as usize).min(self.nodes[c] - 2));
        let (mut distance, mut normal) = (0.0, Vector3::zeros());
        for corner in 0..8 {
            let bits = [corner & 1, corner >> 1 & 1, corner >> 2];
            let node = std::array::from_fn(|c| low[c] + bits[c]);
            let share = |c: usize| place[c] - low[c] as f64;
            let weight: f64 = (0..3).map(|c| if bits[c] == 1 { share(c) } else { 1.0 - share(c) }).product();
            distance += weight * self.at(node);
            normal += weight * self.slope(node);
        }
        if away > 0.0 {
            // The nearest surface point is at least as far as the grid, and as the bound from the rim.
            return (away.max(distance - away), outward);
        }
        let length = normal.norm();
        (distance, if length > 0.0 { normal / length } else { outward })
    }
}

fn no_inside() -> Error {
    let expected = "a surface that encloses more than a cell of the grid";
    Error::Range { what: "mesh", expected, got: 0.0 }
}
