//! Coordinates centred on the body and scaled to its size, for well-conditioned products.

use crate::mesh::{TetMesh, bounds, extent};

/// `X^ = (X - center) / size`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Coordinates {
    /// Centre of the bounding box, metres.
    pub(crate) center: [f64; 3],
    /// Half the diagonal of the bounding box, metres.
    pub(crate) size: f64,
}

impl Coordinates {
    pub(crate) fn of(points: &[[f64; 3]]) -> Self {
        let ((low, high), diagonal) = (bounds(points), extent(points));
        let size = if diagonal > 0.0 { diagonal / 2.0 } else { 1.0 };
        Self { center: std::array::from_fn(|c| 0.5 * (low[c] + high[c])), size }
    }

    pub(crate) fn of_mesh(mesh: &TetMesh) -> Self {
        Self::of(mesh.vertices())
    }

    /// `[X^; 1]`.
    pub(crate) fn homogeneous(&self, point: &[f64; 3]) -> [f64; 4] {
        let [x, y, z] = std::array::from_fn(|c| (point[c] - self.center[c]) / self.size);
        [x, y, z, 1.0]
    }

    /// Transposed 4x3 matrix in scaled coordinates of a transform (3x4, row-major) in world coordinates.
    pub(crate) fn enter(&self, transform: &[[f64; 4]; 3]) -> [[f64; 3]; 4] {
        let moved = |i: usize| {
            let row = &transform[i];
            (0..3).fold(row[3], |sum, d| sum + row[d] * self.center[d])
        };
        std::array::from_fn(|d| {
            std::array::from_fn(|i| if d < 3 { self.size * transform[i][d] } else { moved(i) })
        })
    }

    /// The inverse of [`Coordinates::enter`].
    pub(crate) fn leave(&self, rows: &[[f64; 3]]) -> [[f64; 4]; 3] {
        std::array::from_fn(|i| {
            let linear: [f64; 3] = std::array::from_fn(|d| rows[d][i] / self.size);
            let offset = (0..3).fold(rows[3][i], |sum, d| sum - linear[d] * self.center[d]);
            [linear[0], linear[1], linear[2], offset]
        })
    }

    /// The adjoint of [`Coordinates::leave`]: maps a force on a transform to the force on its rows, with
    /// equal work.
    pub(crate) fn enter_force(&self, force: &[[f64; 4]; 3]) -> [[f64; 3]; 4] {
        std::array::from_fn(|d| {
            std::array::from_fn(|i| {
                let [.., offset] = force[i];
                if d < 3 { (force[i][d] - self.center[d] * offset) / self.size } else { offset }
            })
        })
    }

    /// The adjoint of [`Coordinates::enter`].
    pub(crate) fn leave_force(&self, rows: &[[f64; 3]; 4]) -> [[f64; 4]; 3] {
        std::array::from_fn(|i| {
            std::array::from_fn(|d| {
                if d < 3 { self.size * rows[d][i] + self.center[d] * rows[3][i] } else { rows[3][i] }
            })
        })
    }
}
