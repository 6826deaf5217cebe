//! Stitches of the full space that open while a body moves: its energy, its damping and its metric know how far.

use super::FullSpaceModel;
use super::quadratic::Quadratic;
use crate::math::Sparse;
use crate::method::Shares;

/// What follows from shares of the stiffness of stitch groups, in place of the model's own.
pub(super) struct Opened {
    pub(super) shares: Shares,
    pub(super) stitches: Quadratic,
    pub(super) viscosity: Quadratic,
    /// The metric's Laplacian.
    pub(super) stiffness: Sparse,
}

impl FullSpaceModel {
    /// Number of stitch groups that open each by itself.
    pub fn stitch_group_count(&self) -> usize {
        self.data.stitches.as_ref().map_or(0, |stitches| stitches.group_count())
    }

    /// The body with its stitches open, `None` where all are as built; `before` is of no use but to be kept.
    pub(super) fn opened(&self, shares: &Shares, before: Option<Opened>) -> Option<Opened> {
        let stitches = self.data.stitches.as_ref().filter(|_| !shares.are_all(1.0))?;
        if let Some(before) = before.filter(|before| before.shares == *shares) {
            return Some(before);
        }
        let mut place = vec![0; self.vertices.len()];
        (0..).zip(&self.vertices).for_each(|(row, &vertex)| place[vertex as usize] = row);
        let free_place: Vec<u32> =
            self.data.moving.rows().iter().map(|&vertex| place[vertex as usize]).collect();
        let change = stitches.scaled(&shares.each().map(|share| share - 1.0)).laplacian(1.0);
        let stiffness = &self.stiffness + &self.data.moving.square(&change);
        Some(Opened {
            shares: *shares,
            stitches: Quadratic::new(&stitches.scaled(shares.each()).laplacian(1.0), &place),
            viscosity: Quadratic::new(&stiffness, &free_place),
            stiffness,
        })
    }
}
