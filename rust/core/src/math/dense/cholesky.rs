//! Small dense matrices, factored in place in reusable memory.

use faer::{Mat, MatMut};

use super::kernels::{self, Memory};

/// A symmetric matrix, stored in the lower half, or its Cholesky factor.
pub(crate) struct DenseCholesky {
    pub(crate) matrix: Mat<f64>,
    memory: Memory,
}

impl DenseCholesky {
    /// A zero matrix.
    pub(crate) fn zeros(size: usize) -> Self {
        Self::of(Mat::zeros(size, size))
    }

    pub(crate) fn of(matrix: Mat<f64>) -> Self {
        Self { memory: Memory::new(matrix.ncols()), matrix }
    }

    /// Replaces the matrix by its factor; `false` for a matrix that is not positive definite.
    pub(crate) fn factor(&mut self) -> bool {
        kernels::factor(self.matrix.as_mut(), &mut self.memory)
    }

    /// Solves with the factor in place, for rows of `each` numbers.
    pub(crate) fn solve(&self, rows: &mut [f64], each: usize) {
        let rows = MatMut::from_row_major_slice_mut(rows, self.matrix.ncols(), each);
        kernels::solve(self.matrix.as_ref(), rows);
    }
}
