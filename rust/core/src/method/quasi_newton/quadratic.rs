//! Quadratic energies of vertices, the same for each coordinate.

use crate::math::Sparse;
use crate::math::rows::Rows;

/// `x'Q x / 2` with a symmetric Q, rows in the order of the body.
pub(super) struct Quadratic {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Quadratic {
    /// Of a matrix whose row i becomes row `place[i]`.
    pub(super) fn new(matrix: &Sparse, place: &[u32]) -> Self {
        let mut vertex = vec![0; place.len()];
        place.iter().enumerate().for_each(|(i, &row)| vertex[row as usize] = i);
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for &column in &vertex {
            let rows = matrix.row_idx_of_col_raw(column).iter().map(|&row| place[row as usize]);
            entries.extend(rows.zip(matrix.val_of_col(column).iter().copied()));
            starts.push(entries.len());
        }
        Self { starts, entries }
    }

    /// `factor x'Q x / 2`; adds its gradient to the first rows.
    pub(super) fn evaluate(&self, x: &Rows, factor: f64, gradient: &mut Rows) -> f64 {
        let mut energy = 0.0;
        for (row, own) in x.iter().enumerate() {
            let mut sum = [0.0; 3];
            for &(column, value) in &self.entries[self.starts[row]..self.starts[row + 1]] {
                (0..3).for_each(|c| sum[c] += value * x[column as usize][c]);
            }
            (0..3).for_each(|c| energy += 0.5 * factor * own[c] * sum[c]);
            if let Some(gradient) = gradient.get_mut(row) {
                (0..3).for_each(|c| gradient[c] += factor * sum[c]);
            }
        }
        energy
    }

    /// The entries of a row.
    pub(super) fn row(&self, row: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[row]..self.starts[row + 1]]
    }
}
