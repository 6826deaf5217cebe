//! The sparse matrix type that operators are written in.

/// A sparse matrix in compressed columns with 32-bit indices; symmetric ones are stored whole, not as a triangle.
pub type Sparse = faer::sparse::SparseColMat<u32, f64>;

/// `K + scale diag(d)`; every diagonal entry of K must be stored.
pub(crate) fn add_diagonal(matrix: &Sparse, diagonal: &[f64], scale: f64) -> Sparse {
    let mut sum = matrix.clone();
    for (column, d) in diagonal.iter().enumerate() {
        let place = matrix.row_idx_of_col_raw(column).partition_point(|row| (*row as usize) < column);
        sum.val_of_col_mut(column)[place] += scale * d;
    }
    sum
}
