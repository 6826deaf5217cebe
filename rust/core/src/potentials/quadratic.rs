//! Quadratic energies of vertices, the same for each coordinate.

use nalgebra::Matrix3;
use pulp::{Arch, Simd, WithSimd};

use crate::math::Sparse;
use crate::math::rows::Rows;
use crate::operators::BlockMatrix;

/// Rows padded to four numbers to fill a register.
pub(crate) type Wide = [f64; 4];

/// `out = a + factor b`.
pub(crate) fn combine_wide(out: &mut [Wide], a: &Rows, factor: f64, b: &Rows) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        (0..3).for_each(|c| out[c] = a[c] + factor * b[c]);
    }
}

/// `x'Q x / 2` with a symmetric Q, rows in the order of the body.
pub(crate) struct Quadratic {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Quadratic {
    /// Quadratic of a matrix whose row i becomes row `place[i]`.
    pub(crate) fn new(matrix: &Sparse, place: &[u32]) -> Self {
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

    /// `factor x'Q x / 2`; adds the gradient to the first rows.
    pub(crate) fn evaluate(&self, x: &[Wide], factor: f64, gradient: &mut Rows) -> f64 {
        Arch::new().dispatch(Evaluate { quadratic: self, x, factor, gradient })
    }

    /// Adds a multiple of the second derivative by the first rows to a matrix of these.
    pub(crate) fn add_hessian(&self, factor: f64, matrix: &mut BlockMatrix) {
        for row in 0..matrix.rows() {
            for &(column, value) in self.row(row) {
                if (column as usize) < matrix.rows() {
                    matrix.add(row, column as usize, &(factor * value * Matrix3::identity()));
                }
            }
        }
    }

    /// The entries of a row.
    pub(crate) fn row(&self, row: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[row]..self.starts[row + 1]]
    }
}

struct Evaluate<'a> {
    quadratic: &'a Quadratic,
    x: &'a [Wide],
    factor: f64,
    gradient: &'a mut Rows,
}

impl WithSimd for Evaluate<'_> {
    type Output = f64;

    // Plain loops only: a closure would not be compiled for the instruction set of its caller.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self { quadratic, x, factor, gradient } = self;
        let mut energy = 0.0;
        for row in 0..x.len() {
            let own = x[row];
            // Neither energy nor a requested gradient.
            if row >= gradient.len() && own == [0.0; 4] {
                continue;
            }
            let mut sum = [0.0; 4];
            for &(column, value) in quadratic.row(row) {
                let other = x[column as usize];
                for c in 0..4 {
                    sum[c] += value * other[c];
                }
            }
            for c in 0..3 {
                energy += 0.5 * factor * own[c] * sum[c];
            }
            if row < gradient.len() {
                for c in 0..3 {
                    gradient[row][c] += factor * sum[c];
                }
            }
        }
        energy
    }
}
