//! Small dense matrices by faer.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Col, MatMut, MatRef, Par};

use crate::{Error, Result};

/// Scratch of a factorisation.
pub(super) struct Memory(MemBuffer);

impl Memory {
    /// For a matrix of a size.
    pub(super) fn new(size: usize) -> Self {
        Self(MemBuffer::new(cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default())))
    }
}

/// `out = factor * a b`, or adds it.
pub(super) fn multiply(
    out: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    factor: f64,
) {
    matmul::matmul(out, accum, a, b, factor, Par::Seq);
}

/// Adds the lower half of `a b`.
pub(super) fn add_lower(lower: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    let (whole, half) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    triangular::matmul(lower, half, Accum::Add, a, whole, b, whole, 1.0, Par::Seq);
}

/// Eigenvalues of a symmetric matrix (its lower triangle), ascending, and eigenvectors as columns.
pub(super) fn eigen(matrix: MatRef<'_, f64>, mut vectors: MatMut<'_, f64>) -> Result<Vec<f64>> {
    let size = matrix.nrows();
    let mut values = Col::<f64>::zeros(size);
    let scratch =
        self_adjoint_evd_scratch::<f64>(size, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let diagonal: DiagMut<'_, f64> = values.as_mut().as_diagonal_mut();
    self_adjoint_evd(
        matrix,
        diagonal,
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|error| Error::Numerical { what: "dense eigensolver", why: format!("{error:?}") })?;
    Ok(values.iter().copied().collect())
}

/// Replaces the lower half of a symmetric matrix by its Cholesky factor; `false` if it is not positive
/// definite.
pub(super) fn factor(matrix: MatMut<'_, f64>, memory: &mut Memory) -> bool {
    let stack = MemStack::new(&mut memory.0);
    cholesky_in_place(matrix, Default::default(), Par::Seq, stack, Default::default()).is_ok()
}

/// Solves with a factor in place.
pub(super) fn solve(factor: MatRef<'_, f64>, mut rows: MatMut<'_, f64>) {
    solve_lower_triangular_in_place(factor, rows.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.transpose(), rows, Par::Seq);
}
