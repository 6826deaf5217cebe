//! The paper's low-rank update, for comparison.

use faer::Mat;

use super::space::inverse_root;
use crate::Result;
use crate::math::dense::{add_product, inner, product, symmetric_eigen};
use crate::operators::Stitches;
use crate::subspace::modes::{ModesProblem, SkinningModes, check_truncation};

/// Share of a direction's squared mass norm below which its independent part is dropped.
const DEPENDENT: f64 = 1e-10;

impl ModesProblem {
    /// The paper's low-rank update, for comparison. It gives directions outside the modes no stiffness
    /// except that of the stitches, and misses eigenvalues by tens of percent if there are many stitches.
    ///
    /// Eigenvectors of `M W Lambda W' M + A k A'` in the span of W and `M^-1 A`. Source: `[IDSR eq. 8-12]`.
    ///
    /// # Errors
    /// As [`ModesProblem::update`].
    pub fn low_rank_update(
        &self,
        modes: &SkinningModes,
        stitches: &Stitches,
        count: usize,
    ) -> Result<SkinningModes> {
        check_truncation(count, modes.eigenvalues.len())?;
        let change = self.change(modes, stitches)?;
        let old = self.eigen.free.rows_of_dense(modes.weights.as_ref());
        let basis = self.extended(&old, self.lightest(change.columns.to_dense())?)?;
        let stretches = change.stretches(basis.as_ref());
        let mut stiffness = change.springs(&stretches, &stretches);
        modes.eigenvalues.iter().enumerate().for_each(|(k, value)| stiffness[(k, k)] += value);
        let (values, vectors) = symmetric_eigen(stiffness.as_ref())?;
        // Directions without stiffness are no modes, unless the body itself has some.
        let least = modes.eigenvalues[0] * 0.5;
        let first = values.iter().position(|&value| value >= least).unwrap_or(0).min(values.len() - count);
        let weights = product(basis.as_ref(), vectors.as_ref().subcols(first, count));
        let eigenvalues = values[first..first + count].to_vec();
        Ok(SkinningModes { weights: self.eigen.spread(weights.as_ref(), &eigenvalues), eigenvalues })
    }

    /// The modes with the columns appended, mass-orthonormal; linearly dependent columns are dropped.
    fn extended(&self, modes: &Mat<f64>, mut columns: Mat<f64>) -> Result<Mat<f64>> {
        let heavy = self.eigen.heavy(modes.as_ref());
        let remove = |columns: &mut Mat<f64>| {
            let along = inner(heavy.as_ref(), columns.as_ref());
            add_product(columns.as_mut(), -1.0, modes.as_ref(), along.as_ref());
        };
        for _ in 0..2 {
            remove(&mut columns);
            let gram = inner(columns.as_ref(), self.eigen.heavy(columns.as_ref()).as_ref());
            let scales: Vec<f64> = (0..gram.nrows()).map(|i| inverse_root(gram[(i, i)])).collect();
            let scaled =
                Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| scales[i] * gram[(i, j)] * scales[j]);
            let (values, vectors) = symmetric_eigen(scaled.as_ref())?;
            let largest = values.last().copied().unwrap_or(0.0);
            let kept: Vec<usize> = (0..values.len()).filter(|&i| values[i] > DEPENDENT * largest).collect();
            let combine = Mat::from_fn(gram.nrows(), kept.len(), |i, j| {
                scales[i] * vectors[(i, kept[j])] * inverse_root(values[kept[j]])
            });
            columns = product(columns.as_ref(), combine.as_ref());
        }
        let m = modes.ncols();
        Ok(Mat::from_fn(modes.nrows(), m + columns.ncols(), |i, j| {
            if j < m { modes[(i, j)] } else { columns[(i, j - m)] }
        }))
    }

    /// Columns of least mass with the same effect on displacements as the given ones: `M^-1 (a - A y)` with
    /// `A'x = 0`.
    fn lightest(&self, mut columns: Mat<f64>) -> Result<Mat<f64>> {
        let lighten = |columns: &mut Mat<f64>| {
            for column in columns.as_mut().col_iter_mut() {
                column.iter_mut().zip(&self.eigen.mass).for_each(|(x, m)| *x /= m);
            }
        };
        lighten(&mut columns);
        let Some(constraint) = &self.constraint else { return Ok(columns) };
        let constraint = constraint.to_dense();
        let mut light = constraint.clone();
        lighten(&mut light);
        let (values, vectors) = symmetric_eigen(inner(constraint.as_ref(), light.as_ref()).as_ref())?;
        let broken = product(vectors.transpose(), inner(constraint.as_ref(), columns.as_ref()).as_ref());
        let solved = Mat::from_fn(broken.nrows(), broken.ncols(), |i, j| broken[(i, j)] / values[i]);
        let multipliers = product(vectors.as_ref(), solved.as_ref());
        add_product(columns.as_mut(), -1.0, light.as_ref(), multipliers.as_ref());
        Ok(columns)
    }
}
