//! The eigenproblem of small swings, of a body and of a surface alike.

use nalgebra::Matrix3;

use super::LinearModes;
use super::eigenpairs::lowest_eigenpairs;
use super::modes::check_count;
use crate::math::{COPY, Selection, Sparse, SparseCholesky, fix_bases, on_pool};
use crate::operators::BlockMatrix;
use crate::{Progress, Result};

/// `K psi = lambda M psi` of the coordinates that are not pinned, factored.
pub(super) struct Swings {
    /// The coordinates that are not pinned, of 3n; all that follows is of their size.
    pub(super) free: Selection,
    pub(super) stiffness: Sparse,
    /// Diagonal of M.
    pub(super) mass: Vec<f64>,
    /// Columns of the constraint.
    constraints: usize,
    /// What makes K definite, 1/s^2.
    pub(super) shift: f64,
    pub(super) factor: SparseCholesky,
}

impl Swings {
    /// Of K at the vertices that are free, the mass of all, n, and a constraint on each coordinate.
    pub(super) fn new(
        mut matrix: BlockMatrix,
        (vertices, lumped): (&Selection, &[f64]),
        shift: f64,
        (constraint, progress): (Option<&Sparse>, &Progress),
    ) -> Result<Self> {
        let stiffness = matrix.whole();
        let mass = vertices.values(lumped);
        for (row, mass) in mass.iter().enumerate() {
            matrix.add(row, row, &(shift * mass * Matrix3::identity()));
        }
        progress.report(0.2)?;
        let factor = on_pool(|| matrix.factor(constraint))?;
        progress.report(0.5)?;
        Ok(Self {
            free: Selection::new(3 * lumped.len(), |row| vertices.contains(row / 3)),
            stiffness,
            mass: mass.iter().flat_map(|&mass| [mass; 3]).collect(),
            constraints: 3 * constraint.map_or(0, |constraint| constraint.ncols()),
            shift,
            factor,
        })
    }

    /// The `count` lowest modes of all coordinates.
    pub(super) fn lowest(&self, count: usize, progress: &Progress) -> Result<LinearModes> {
        check_count(count, self.mass.len().saturating_sub(self.constraints))?;
        let problem = (&self.stiffness, self.mass.as_slice(), &self.factor);
        let report = |fraction: f32| progress.report(0.5 + 0.5 * fraction);
        let (mut eigenvalues, shapes) = lowest_eigenpairs(problem, count, report)?;
        let mut shapes = self.free.spread(shapes.as_ref());
        let shifted = |k: usize| eigenvalues[k] + self.shift;
        fix_bases(shapes.as_mut(), |k| shifted(k) - shifted(k - 1) <= COPY * shifted(k));
        eigenvalues.truncate(count);
        shapes.truncate(shapes.nrows(), count);
        Ok(LinearModes { shapes, eigenvalues })
    }
}
