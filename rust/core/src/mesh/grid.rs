//! The box of cubic cells around a surface.

use nalgebra::Vector3;

use super::tet_mesh::bounds;
use crate::{Error, Result};

/// Largest number of cells of a grid, to protect memory.
const MAX_CELLS: f64 = (1 << 25) as f64;

/// Relative enlargement of the box, to keep all points off its outside.
const SLACK: f64 = 1e-6;

/// Points must spread over more than this share of their distance from the origin to be told apart.
const SMALLEST: f64 = 1e-9;

/// Cubic cells around points, with a corner plane through the centre of their bounding box.
///
/// Cell numbers run fastest along z. The count along each axis is even, so a mirror image of the points,
/// about any axis plane through the centre of their box, has the mirror image of this grid.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    centre: Vector3<f64>,
    /// Side of a cell, metres.
    pub(super) spacing: f64,
    /// Cells along x, y and z.
    pub(super) counts: [usize; 3],
}

impl Grid {
    /// `resolution` cells along the longest side of the points' box, one more for an odd number.
    pub(super) fn new(points: &[[f64; 3]], resolution: usize) -> Result<Self> {
        let (low, high) = bounds(points);
        let (low, high) = (Vector3::from(low), Vector3::from(high));
        let sides = high - low;
        let longest = sides.max();
        let reach = low.abs().max().max(high.abs().max());
        // The negated form also catches an overflow to infinity.
        if !(longest > SMALLEST * reach && longest > SMALLEST && longest < 1.0 / SMALLEST) {
            return Err(Error::Range {
                what: "longest side of the surface's bounding box in metres",
                expected: "between 1e-9 and 1e9, and above 1e-9 of the distance from the origin",
                got: longest,
            });
        }
        let spacing = longest * (1.0 + SLACK) / resolution as f64;
        let counts: [usize; 3] =
            std::array::from_fn(|a| 2 * ((sides[a] / 2.0 / spacing).ceil() as usize).max(1));
        if counts.iter().map(|&n| n as f64).product::<f64>() > MAX_CELLS {
            return Err(Error::Range {
                what: "resolution",
                expected: "no more than 33 million cells in the bounding box",
                got: resolution as f64,
            });
        }
        Ok(Self { centre: (low + high) / 2.0, spacing, counts })
    }

    pub(super) fn len(&self) -> usize {
        self.counts.iter().product()
    }

    /// Number of cells in a plane of constant x.
    pub(super) fn slab(&self) -> usize {
        self.counts[1] * self.counts[2]
    }

    /// Distance of neighbours along each axis in cell numbers.
    pub(super) fn strides(&self) -> [usize; 3] {
        [self.slab(), self.counts[2], 1]
    }

    pub(super) fn index(&self, cell: [usize; 3]) -> usize {
        (cell[0] * self.counts[1] + cell[1]) * self.counts[2] + cell[2]
    }

    pub(super) fn cell(&self, index: usize) -> [usize; 3] {
        let [_, ny, nz] = self.counts;
        [index / (ny * nz), index / nz % ny, index % nz]
    }

    /// Metres to cells, counted from the grid's lowest corner.
    pub(super) fn to_cells(&self, point: [f64; 3]) -> Vector3<f64> {
        let middle = Vector3::from(self.counts.map(|n| (n / 2) as f64));
        (Vector3::from(point) - self.centre) / self.spacing + middle
    }

    /// Cells to metres; exactly mirror symmetric about the centre.
    pub(super) fn to_metres(&self, at: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.centre[a] + (at[a] - (self.counts[a] / 2) as f64) * self.spacing)
    }
}
