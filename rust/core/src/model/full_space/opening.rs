//! Opening of full-space stitches during a motion: matrices of energy, damping and metric for given shares.

use super::FullSpaceModel;
use crate::Result;
use crate::inputs::shares::Shares;
use crate::math::{Sparse, SparseCholesky, add_diagonal};
use crate::potentials::quadratic::Quadratic;

/// Replacement matrices for given shares of the stitch groups' stiffness.
pub(super) struct Opened {
    pub(super) shares: Shares,
    pub(super) stitches: Quadratic,
    /// Laplacian of the metric, on the moving rows and in mesh order.
    pub(super) laplacian: Quadratic,
    pub(super) stiffness: Sparse,
}

impl FullSpaceModel {
    /// Number of stitch groups with separate opening.
    pub fn stitch_group_count(&self) -> usize {
        self.data.stitches.as_ref().map_or(0, |stitches| stitches.group_count())
    }

    /// Matrices for opened stitches, `None` if all are as built; `before` is reused if its shares are
    /// equal.
    pub(super) fn opened(&self, shares: &Shares, before: Option<Opened>) -> Option<Opened> {
        let stitches = self.data.stitches.as_ref().filter(|_| !shares.are_all(1.0))?;
        if let Some(before) = before.filter(|before| before.shares == *shares) {
            return Some(before);
        }
        let moving = self.data.moving.rows().iter();
        let rows_of_moving: Vec<u32> = moving.map(|&vertex| self.rows[vertex as usize]).collect();
        let change = stitches.scaled(&shares.each().map(|share| share - 1.0)).laplacian(1.0);
        let stiffness = &self.stiffness + &self.data.moving.square(&change);
        Some(Opened {
            shares: *shares,
            stitches: Quadratic::new(&stitches.scaled(shares.each()).laplacian(1.0), &self.rows),
            laplacian: Quadratic::new(&stiffness, &rows_of_moving),
            stiffness,
        })
    }

    /// Factor of `inertia M + stiffness L`, bordered by the constraint.
    pub(super) fn metric(&self, opened: Option<&Opened>, metric: [f64; 2]) -> Result<SparseCholesky> {
        self.metric_of(self.laplacian(opened), metric)
    }

    pub(super) fn laplacian(&self, opened: Option<&Opened>) -> Sparse {
        opened.map_or(&self.stiffness, |opened| &opened.stiffness).clone()
    }

    pub(super) fn metric_of(
        &self,
        mut matrix: Sparse,
        [inertia, stiffness]: [f64; 2],
    ) -> Result<SparseCholesky> {
        matrix.val_mut().iter_mut().for_each(|value| *value *= stiffness);
        let matrix = add_diagonal(&matrix, &self.vertex_mass, inertia);
        self.structure.factor(&matrix, self.data.constraint.as_ref())
    }
}
