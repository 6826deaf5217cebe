//! Points of a body: displacements linear in its coordinates, and forces back.

use crate::math::columns::Columns;
use crate::math::lanes::{PackedBoth, multiply_add};
use crate::math::rows::Rows;

/// Points with displacements `u = S y`, S the same along each axis or for all three together.
pub(crate) trait Points {
    /// Coordinates y of the body.
    type Coordinates: ?Sized;

    /// Writes S y.
    fn displace(&self, y: &Self::Coordinates, u: &mut Rows);

    /// Adds `S' f` of forces f on the points.
    fn pull_back(&self, forces: &Rows, gradient: &mut Self::Coordinates);
}

/// Rows of S and of its transpose, the same along each axis.
impl Points for PackedBoth {
    type Coordinates = Rows;

    fn displace(&self, y: &Rows, u: &mut Rows) {
        u.fill([0.0; 3]);
        multiply_add(&self.matrix, y, u);
    }

    fn pull_back(&self, forces: &Rows, gradient: &mut Rows) {
        multiply_add(&self.transpose, forces, gradient);
    }
}

/// Three rows a point.
impl Points for Columns {
    type Coordinates = [f64];

    fn displace(&self, y: &[f64], u: &mut Rows) {
        self.combine(y, u.as_flattened_mut());
    }

    fn pull_back(&self, forces: &Rows, gradient: &mut [f64]) {
        self.add_projection(forces.as_flattened(), gradient);
    }
}

/// Points that are sums of few rows each.
pub(crate) type SparsePoints = [Vec<(u32, f64)>];

impl Points for SparsePoints {
    type Coordinates = Rows;

    fn displace(&self, y: &Rows, u: &mut Rows) {
        for (u, entries) in u.iter_mut().zip(self) {
            *u = [0.0; 3];
            for &(row, value) in entries {
                (0..3).for_each(|c| u[c] += value * y[row as usize][c]);
            }
        }
    }

    fn pull_back(&self, forces: &Rows, gradient: &mut Rows) {
        for (force, entries) in forces.iter().zip(self) {
            for &(row, value) in entries {
                (0..3).for_each(|c| gradient[row as usize][c] += value * force[c]);
            }
        }
    }
}
