//! The sparse matrix type of operators.

use faer::{Mat, MatRef};

use crate::parallel::*;

/// Rows a task works on.
const CHUNK: usize = 4096;
/// Columns multiplied at once, to read the matrix only once for all of them.
const LANES: usize = 8;

/// A sparse matrix in compressed columns with 32-bit indices; symmetric ones are stored whole, not as a
/// triangle.
pub type Sparse = faer::sparse::SparseColMat<u32, f64>;

/// The same in compressed rows.
pub(super) type SparseRows = faer::sparse::SparseRowMat<u32, f64>;

/// `K + scale diag(d)`; every diagonal entry of K must be stored.
pub(crate) fn add_diagonal(matrix: &Sparse, diagonal: &[f64], scale: f64) -> Sparse {
    let mut sum = matrix.clone();
    for (column, d) in diagonal.iter().enumerate() {
        let place = matrix.row_idx_of_col_raw(column).partition_point(|row| (*row as usize) < column);
        sum.val_of_col_mut(column)[place] += scale * d;
    }
    sum
}

/// `K x` for several columns x, n x k, with a symmetric K, whose columns serve as rows.
pub(crate) fn multiply_columns(matrix: &Sparse, x: MatRef<'_, f64>) -> Mat<f64> {
    let mut products = Mat::zeros(x.nrows(), x.ncols());
    for first in (0..x.ncols()).step_by(LANES) {
        let width = LANES.min(x.ncols() - first);
        let lane = |i: usize, k: usize| if k < width { x[(i, first + k)] } else { 0.0 };
        let rows: Vec<[f64; LANES]> = (0..x.nrows()).map(|i| std::array::from_fn(|k| lane(i, k))).collect();
        let out = products.as_mut().subcols_mut(first, width);
        out.par_row_chunks_mut(CHUNK).enumerate().for_each(|(chunk, mut out)| {
            for i in 0..out.nrows() {
                let column = chunk * CHUNK + i;
                let mut sums = [0.0; LANES];
                for (&j, value) in matrix.row_idx_of_col_raw(column).iter().zip(matrix.val_of_col(column)) {
                    let row = &rows[j as usize];
                    (0..LANES).for_each(|k| sums[k] += value * row[k]);
                }
                (0..width).for_each(|k| out[(i, k)] = sums[k]);
            }
        });
    }
    products
}
