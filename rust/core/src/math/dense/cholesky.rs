//! Small dense matrices, factored in place in reusable memory.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatMut, Par};

/// A symmetric matrix, stored in the lower half, or its Cholesky factor.
pub(crate) struct DenseCholesky {
    pub(crate) matrix: Mat<f64>,
    memory: MemBuffer,
}

impl DenseCholesky {
    /// A zero matrix.
    pub(crate) fn zeros(size: usize) -> Self {
        Self::of(Mat::zeros(size, size))
    }

    pub(crate) fn of(matrix: Mat<f64>) -> Self {
        let scratch = cholesky_in_place_scratch::<f64>(matrix.ncols(), Par::Seq, Default::default());
        Self { matrix, memory: MemBuffer::new(scratch) }
    }

    /// Replaces the matrix by its factor; `false` for a matrix that is not positive definite.
    pub(crate) fn factor(&mut self) -> bool {
        let (matrix, stack) = (self.matrix.as_mut(), MemStack::new(&mut self.memory));
        cholesky_in_place(matrix, Default::default(), Par::Seq, stack, Default::default()).is_ok()
    }

    /// Solves with the factor in place, for rows of `each` numbers.
    pub(crate) fn solve(&self, rows: &mut [f64], each: usize) {
        let factor = self.matrix.as_ref();
        let mut rows = MatMut::from_row_major_slice_mut(rows, factor.ncols(), each);
        solve_lower_triangular_in_place(factor, rows.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(factor.transpose(), rows, Par::Seq);
    }
}
