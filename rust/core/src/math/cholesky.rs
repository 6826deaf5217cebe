//! Sparse direct solver for symmetric positive definite systems, with or without linear constraints.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Conj, Mat, MatMut, Par, Side};

use super::ordering::nested_dissection;
use crate::math::Sparse;
use crate::{Error, Result};

/// Right-hand sides that are solved for at once.
const BLOCK: usize = 32;

/// The factor of a sparse symmetric positive definite K, or of K bordered by constraints.
///
/// Bordered, it is the supernodal `L D L'` of `[K A; A' 0]`, K in nested-dissection order and the constraints
/// last. That order needs no pivoting (K positive definite, A of full column rank), and the sparsity of A is
/// used: a column of A only meets the parts of the factor above the vertices it touches.
#[derive(Debug)]
pub struct SparseCholesky {
    size: usize,
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
}

impl SparseCholesky {
    /// Factors a symmetric positive definite matrix, stored whole, n x n.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the matrix is not numerically positive definite or memory runs out.
    pub fn new(matrix: &Sparse) -> Result<Self> {
        let none = SymbolicSparseColMat::new_checked(matrix.nrows(), 0, vec![0], None, vec![]);
        Self::constrained(matrix, &SparseColMat::new(none, vec![]))
    }

    /// Factors `[K A; A' 0]`; K is n x n, symmetric positive definite, stored whole; A is n x c, of rank c.
    ///
    /// # Errors
    /// [`Error::Numerical`] if K is not positive definite, the columns of A are dependent, or memory runs out.
    pub fn constrained(matrix: &Sparse, constraint: &Sparse) -> Result<Self> {
        let size = matrix.ncols();
        let bordered = border(matrix, constraint);
        let order = constraints_last(nested_dissection(matrix)?, bordered.ncols());
        let symbolic = analyse(&bordered, &order)?;
        let mut values = vec![0.0; symbolic.len_val()];
        let scratch = symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| failed("out of memory"))?;
        symbolic
            .factorize_numeric_ldlt(
                &mut values,
                bordered.as_ref(),
                Side::Upper,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|error| failed(format!("{error:?}")))?;
        Ok(Self { size, symbolic, values })
    }

    /// Replaces each column b by the x of `K x + A y = b, A' x = 0` (by `K^-1 b` without constraints); n x k.
    pub fn solve_in_place(&self, mut rhs: MatMut<'_, f64>) {
        for first in (0..rhs.ncols()).step_by(BLOCK) {
            let width = BLOCK.min(rhs.ncols() - first);
            let mut part = rhs.rb_mut().subcols_mut(first, width);
            let mut full = Mat::zeros(self.symbolic.nrows(), width);
            full.as_mut().subrows_mut(0, self.size).copy_from(part.rb());
            let mut memory = MemBuffer::new(self.symbolic.solve_in_place_scratch::<f64>(width, Par::Seq));
            LdltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
                Conj::No,
                full.as_mut(),
                Par::Seq,
                MemStack::new(&mut memory),
            );
            part.copy_from(full.as_ref().subrows(0, self.size));
        }
    }
}

fn failed(why: impl Into<String>) -> Error {
    Error::Numerical { what: "sparse factorisation", why: why.into() }
}

/// The upper triangle of `[K A; A' 0]`, its zero diagonal stored.
fn border(matrix: &Sparse, constraint: &Sparse) -> Sparse {
    let n = matrix.ncols();
    let mut starts = vec![0];
    let mut rows = Vec::with_capacity(matrix.compute_nnz() / 2 + n + constraint.compute_nnz());
    let mut values = Vec::with_capacity(rows.capacity());
    for column in 0..n {
        for (&row, &value) in matrix.row_idx_of_col_raw(column).iter().zip(matrix.val_of_col(column)) {
            if row as usize <= column {
                rows.push(row);
                values.push(value);
            }
        }
        starts.push(rows.len() as u32);
    }
    for column in 0..constraint.ncols() {
        rows.extend_from_slice(constraint.row_idx_of_col_raw(column));
        values.extend_from_slice(constraint.val_of_col(column));
        rows.push((n + column) as u32);
        values.push(0.0);
        starts.push(rows.len() as u32);
    }
    let size = n + constraint.ncols();
    SparseColMat::new(SymbolicSparseColMat::new_checked(size, size, starts, None, rows), values)
}

fn constraints_last(mut order: Vec<u32>, size: usize) -> Vec<u32> {
    order.extend(order.len() as u32..size as u32);
    order
}

fn analyse(matrix: &Sparse, order: &[u32]) -> Result<SymbolicCholesky<u32>> {
    let mut position = vec![0; order.len()];
    for (place, &row) in order.iter().enumerate() {
        position[row as usize] = place as u32;
    }
    let permutation = PermRef::new_checked(order, &position, order.len());
    let params = CholeskySymbolicParams {
        supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
        ..Default::default()
    };
    let order = SymmetricOrdering::Custom(permutation);
    factorize_symbolic_cholesky(matrix.symbolic(), Side::Upper, order, params)
        .map_err(|error| failed(format!("{error:?}")))
}
