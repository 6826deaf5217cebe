//! The eigenproblem of small vibrations, of a body and of a surface alike.

use std::sync::Arc;

use nalgebra::Matrix3;

use super::LinearModes;
use super::eigenpairs::Eigenproblem;
use crate::math::{Selection, Sparse, SparseCholesky};
use crate::operators::{BlockMatrix, for_each_coordinate};
use crate::parallel::on_pool;
use crate::{Progress, Result};

impl Eigenproblem {
    /// `K psi = lambda M psi` with K at the free vertices, the mass of all vertices, n, and a constraint on
    /// each coordinate. `like` is a factor of the same sparsity, whose order of elimination is taken over.
    pub(super) fn of_swings(
        mut matrix: BlockMatrix,
        (vertices, lumped): (&Selection, &[f64]),
        shift: f64,
        (constraint, like): (Option<&Sparse>, Option<&SparseCholesky>),
        progress: &Progress,
    ) -> Result<Self> {
        let hessian = matrix.whole();
        let mass = vertices.values(lumped);
        for (row, mass) in mass.iter().enumerate() {
            matrix.add(row, row, &(shift * mass * Matrix3::identity()));
        }
        progress.report(0.2)?;
        let factor = on_pool(|| match like {
            Some(like) => {
                like.structure().factor(&matrix.whole(), constraint.map(for_each_coordinate).as_ref())
            }
            None => matrix.factor(constraint),
        })?;
        progress.report(0.5)?;
        Ok(Self {
            free: Selection::new(3 * lumped.len(), |row| vertices.contains(row / 3)),
            hessian,
            mass: mass.iter().flat_map(|&mass| [mass; 3]).collect(),
            constraints: 3 * constraint.map_or(0, |constraint| constraint.ncols()),
            shift,
            factor: Arc::new(factor),
            openings: None,
        })
    }

    /// The `count` lowest modes at all coordinates.
    pub(super) fn lowest_swings(&self, count: usize, progress: &Progress) -> Result<LinearModes> {
        let (eigenvalues, shapes) = self.lowest(count, progress)?;
        Ok(LinearModes { shapes, eigenvalues })
    }
}
