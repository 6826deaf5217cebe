//! The lowest eigenpairs of `H w = lambda M w` with diagonal mass, from a factor of the shifted Hessian.

use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};

use super::openings::Openings;
use crate::math::dense::{inner, product, symmetric_eigen};
use crate::math::{
    COPY, Scratch, Selection, Sparse, SparseCholesky, fix_bases, largest_eigenvectors, multiply_columns,
};
use crate::parallel::on_pool;
use crate::{Error, Progress, Result};

/// Share of the shift below which an eigenvalue belongs to a rigid motion.
const RIGID: f64 = 1e-6;

/// The factored problem: weights with a row per vertex, or displacements with a row per coordinate.
pub(super) struct Eigenproblem {
    /// The rows that are not pinned; the fields below have their size.
    pub(super) free: Selection,
    /// H, including the stitches at the time of factorisation.
    pub(super) hessian: Sparse,
    /// Diagonal of M.
    pub(super) mass: Vec<f64>,
    /// Number of columns of the constraint.
    pub(super) constraints: usize,
    /// Shift that makes the Hessian definite, 1/s^2.
    pub(super) shift: f64,
    /// Factor of `H + shift M`, bordered by the constraint; of the uncut problem if there are openings.
    pub(super) factor: Arc<SparseCholesky>,
    /// Rows that a cut has added since the factorisation.
    pub(super) openings: Option<Openings>,
}

impl Eigenproblem {
    /// The `count` lowest eigenvalues, and their eigenvectors at all rows.
    ///
    /// # Errors
    /// [`Error::TooManyModes`](crate::Error::TooManyModes), [`Error::Range`](crate::Error::Range) for none;
    /// as [`largest_eigenvectors`].
    pub(super) fn lowest(&self, count: usize, progress: &Progress) -> Result<(Vec<f64>, Mat<f64>)> {
        check_count(count, self.limit())?;
        let report = |fraction: f32| progress.report(0.5 + 0.5 * fraction);
        let problem = (&self.hessian, self.mass.as_slice(), &*self.factor);
        let (mut eigenvalues, vectors) = lowest_eigenpairs(problem, count, report)?;
        let mut vectors = self.spread(vectors.as_ref(), &eigenvalues);
        eigenvalues.truncate(count);
        vectors.truncate(vectors.nrows(), count);
        Ok((eigenvalues, vectors))
    }

    /// Dimension of the space that satisfies the constraint.
    pub(super) fn limit(&self) -> usize {
        self.mass.len().saturating_sub(self.constraints)
    }

    /// Eigenvalue up to which a vector counts as a rigid motion.
    pub(super) fn rigid(&self) -> f64 {
        RIGID * self.shift
    }

    /// `true` if a vector of this eigenvalue deforms the body.
    pub(super) fn deforms(&self, eigenvalue: f64) -> bool {
        eigenvalue > self.rigid()
    }

    /// Expands vectors to all rows, after [`fix_bases`] within each group of repeated eigenvalues.
    pub(super) fn spread(&self, vectors: MatRef<'_, f64>, eigenvalues: &[f64]) -> Mat<f64> {
        let mut vectors = self.free.spread(vectors);
        let shifted = |k: usize| eigenvalues[k] + self.shift;
        fix_bases(vectors.as_mut(), |k| shifted(k) - shifted(k - 1) <= COPY * shifted(k));
        vectors
    }

    /// `M x`.
    pub(super) fn heavy(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut heavy = x.to_owned();
        for column in heavy.as_mut().col_iter_mut() {
            column.iter_mut().zip(&self.mass).for_each(|(x, mass)| *x *= mass);
        }
        heavy
    }
}

/// The `count` lowest eigenvalues, ascending, with all repetitions of the last one, and their M-orthonormal
/// eigenvectors.
///
/// `factor` is the factor of `H + shift M`, bordered if vectors are constrained.
///
/// # Errors
/// As [`largest_eigenvectors`].
fn lowest_eigenpairs(
    (hessian, mass, factor): (&Sparse, &[f64], &SparseCholesky),
    count: usize,
    report: impl Fn(f32) -> Result<()>,
) -> Result<(Vec<f64>, Mat<f64>)> {
    let order = factor.order();
    let root: Vec<f64> = order.iter().map(|&row| mass[row as usize].sqrt()).collect();
    let mut scratch = Scratch::default();
    let apply = |x: MatMut<'_, f64>| factor.solve_ordered(&mut scratch, |row| root[row], x);
    let scaled = largest_eigenvectors(mass.len(), count, apply, report)?;
    let mut vectors = Mat::zeros(mass.len(), scaled.ncols());
    for (mut column, scaled) in vectors.col_iter_mut().zip(scaled.col_iter()) {
        for ((&row, x), root) in order.iter().zip(scaled.iter()).zip(&root) {
            column[row as usize] = x / root;
        }
    }
    on_pool(|| rayleigh_ritz(hessian, &scaled, vectors.as_ref()))
}

/// Eigenvalues and M-orthonormal eigenvectors of the Hessian itself in the span of the columns of W, free
/// of the shift's rounding error. `scaled` is `M^1/2 W`, with rows in any order.
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

pub(super) fn check_count(asked: usize, available: usize) -> Result<()> {
    match asked {
        0 => Err(Error::Range { what: "count", expected: "at least one mode", got: 0.0 }),
        _ if asked > available => Err(Error::TooManyModes { asked, available }),
        _ => Ok(()),
    }
}
