//! Removal of constraint forces from gradients.

use faer::Mat;

use crate::Result;
use crate::math::Sparse;
use crate::math::dense::{product, symmetric_eigen};
use crate::math::rows::Rows;

/// Relative eigenvalue below which columns count as dependent.
const DEPENDENT: f64 = 1e-12;

/// Columns C of a constraint `C'u = 0` on each coordinate, on the moving rows.
pub(crate) struct Complement {
    columns: Sparse,
    /// The pseudo-inverse of `C'C`.
    inverse: Mat<f64>,
}

impl Complement {
    pub(crate) fn new(columns: Sparse) -> Result<Self> {
        let gram = columns.transpose().to_col_major().map(|transpose| (&transpose * &columns).to_dense());
        let gram = gram.expect("as large as it was");
        let (values, vectors) = symmetric_eigen(gram.as_ref())?;
        let least = DEPENDENT * values.iter().copied().fold(0.0, f64::max);
        let inverse = |k: usize| if values[k] > least { 1.0 / values[k] } else { 0.0 };
        let scaled = Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, k| vectors[(i, k)] * inverse(k));
        let inverse = product(scaled.as_ref(), vectors.transpose());
        Ok(Self { columns, inverse })
    }

    /// The columns C.
    pub(crate) fn columns(&self) -> &Sparse {
        &self.columns
    }

    /// `g -= C (C'C)^-1 C'g`. Products with admissible displacements do not change, and rounding errors in
    /// the constraint meet no large constraint force.
    pub(crate) fn purify(&self, gradient: &mut Rows) {
        let count = self.columns.ncols();
        let entries = |column: usize| {
            self.columns.row_idx_of_col_raw(column).iter().zip(self.columns.val_of_col(column))
        };
        let mut pulls = vec![[0.0; 3]; count];
        for (column, pull) in pulls.iter_mut().enumerate() {
            for (&row, value) in entries(column) {
                (0..3).for_each(|c| pull[c] += value * gradient[row as usize][c]);
            }
        }
        for column in 0..count {
            let share: [f64; 3] = std::array::from_fn(|c| {
                pulls.iter().enumerate().map(|(j, pull)| self.inverse[(column, j)] * pull[c]).sum()
            });
            for (&row, value) in entries(column) {
                (0..3).for_each(|c| gradient[row as usize][c] -= value * share[c]);
            }
        }
    }
}
