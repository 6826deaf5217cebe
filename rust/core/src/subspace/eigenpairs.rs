//! The lowest eigenpairs of `H w = lambda M w` with a diagonal mass, by a factor of the shifted Hessian.

use faer::{Mat, MatMut, MatRef};

use crate::Result;
use crate::math::dense::{inner, product, symmetric_eigen};
use crate::math::{Room, Sparse, SparseCholesky, largest_eigenvectors, multiply_columns, on_pool};

/// The `count` lowest eigenvalues, ascending, with all copies of the last, and their vectors, orthonormal in M.
///
/// `factor` is that of `H + shift M`, bordered where vectors are constrained.
///
/// # Errors
/// As [`largest_eigenvectors`].
pub(super) fn lowest_eigenpairs(
    (hessian, mass, factor): (&Sparse, &[f64], &SparseCholesky),
    count: usize,
    report: impl Fn(f32) -> Result<()>,
) -> Result<(Vec<f64>, Mat<f64>)> {
    let order = factor.order();
    let root: Vec<f64> = order.iter().map(|&row| mass[row as usize].sqrt()).collect();
    let mut room = Room::default();
    let apply = |x: MatMut<'_, f64>| factor.solve_ordered(&mut room, |row| root[row], x);
    let scaled = largest_eigenvectors(mass.len(), count, apply, report)?;
    let mut vectors = Mat::zeros(mass.len(), scaled.ncols());
    for (mut column, scaled) in vectors.col_iter_mut().zip(scaled.col_iter()) {
        for ((&row, x), root) in order.iter().zip(scaled.iter()).zip(&root) {
            column[row as usize] = x / root;
        }
    }
    on_pool(|| rayleigh_ritz(hessian, &scaled, vectors.as_ref()))
}

/// Eigenvalues and M-orthonormal eigenvectors of the Hessian itself among the columns of W, which do not suffer from
/// the shift. `scaled` is `M^1/2 W`, in any order of rows.
fn rayleigh_ritz(
    hessian: &Sparse,
    scaled: &Mat<f64>,
    weights: MatRef<'_, f64>,
) -> Result<(Vec<f64>, Mat<f64>)> {
    let (squares, mut basis) = symmetric_eigen(inner(scaled.as_ref(), scaled.as_ref()).as_ref())?;
    for (column, square) in basis.as_mut().col_iter_mut().zip(&squares) {
        column.iter_mut().for_each(|x| *x /= square.sqrt());
    }
    let projected = basis.transpose() * energy(hessian, weights) * &basis;
    let (eigenvalues, rotation) = symmetric_eigen(projected.as_ref())?;
    Ok((eigenvalues, product(weights, (&basis * &rotation).as_ref())))
}

/// `W' H W`.
pub(super) fn energy(hessian: &Sparse, weights: MatRef<'_, f64>) -> Mat<f64> {
    inner(weights, multiply_columns(hessian, weights).as_ref())
}
