//! Products of tall dense matrices: parallel over fixed chunks of rows, the same bits for any number of
//! threads.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Accum, Col, Mat, MatMut, MatRef, Par, Side};

use super::kernels;
use crate::parallel::*;
use crate::{Error, Result};

/// Rows a task works on.
pub(super) const CHUNK: usize = 4096;
/// Smallest singular value, relative to the largest, that a Gram matrix resolves.
const RESOLVED: f64 = 1e-6;

/// `a' b` of two tall matrices, n x p and n x q: p x q, summed chunk after chunk.
pub(crate) fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let parts: Vec<Mat<f64>> = a
        .par_row_chunks(CHUNK)
        .zip(b.par_row_chunks(CHUNK))
        .map(|(a, b)| {
            let mut part = Mat::zeros(a.ncols(), b.ncols());
            kernels::multiply(part.as_mut(), Accum::Replace, a.transpose(), b, 1.0);
            part
        })
        .collect();
    let mut total = Mat::zeros(a.ncols(), b.ncols());
    parts.iter().for_each(|part| total += part);
    total
}

/// `out = a`, of two tall matrices.
pub(crate) fn copy(out: MatMut<'_, f64>, a: MatRef<'_, f64>) {
    out.par_row_chunks_mut(CHUNK).zip(a.par_row_chunks(CHUNK)).for_each(|(mut out, a)| out.copy_from(a));
}

/// `out += factor * a b`, with a tall (n x p) and b small (p x q).
pub(crate) fn add_product(out: MatMut<'_, f64>, factor: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    out.par_row_chunks_mut(CHUNK)
        .zip(a.par_row_chunks(CHUNK))
        .for_each(|(out, a)| kernels::multiply(out, Accum::Add, a, b, factor));
}

/// Adds the lower half of `a b`, of a matrix that is symmetric.
pub(crate) fn add_lower_product(lower: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    kernels::add_lower(lower, a, b);
}

/// `a b`, with a tall (n x p) and b small (p x q).
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    add_product(out.as_mut(), 1.0, a, b);
    out
}

/// Eigenvalues of a small symmetric matrix (its lower triangle), ascending, and eigenvectors as columns.
pub(crate) fn symmetric_eigen(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let mut vectors = Mat::zeros(matrix.nrows(), matrix.nrows());
    let values = kernels::eigen(matrix, vectors.as_mut())?;
    Ok((values, vectors))
}

/// Left singular vectors as columns, as many as the shorter side of the matrix, and singular values,
/// descending.
pub(crate) fn left_singular(matrix: MatRef<'_, f64>) -> Result<(Mat<f64>, Vec<f64>)> {
    let (rows, columns) = matrix.shape();
    let count = rows.min(columns);
    let (mut values, mut vectors) = (Col::<f64>::zeros(count), Mat::zeros(rows, count));
    let (thin, none) = (ComputeSvdVectors::Thin, ComputeSvdVectors::No);
    let scratch = svd_scratch::<f64>(rows, columns, thin, none, Par::Seq, Default::default());
    let diagonal: DiagMut<'_, f64> = values.as_mut().as_diagonal_mut();
    let stack = &mut MemBuffer::new(scratch);
    svd(matrix, diagonal, Some(vectors.as_mut()), None, Par::Seq, MemStack::new(stack), Default::default())
        .map_err(|error| Error::Numerical { what: "singular values", why: format!("{error:?}") })?;
    Ok((vectors, values.iter().copied().collect()))
}

/// The first `count` left singular vectors of a tall matrix with values above [`RESOLVED`], and all
/// singular values, descending. Uses the Gram matrix, at a fraction of the cost of [`left_singular`].
pub(crate) fn leading_singular(matrix: MatRef<'_, f64>, count: usize) -> Result<(Mat<f64>, Vec<f64>)> {
    let (squares, vectors) = symmetric_eigen(inner(matrix, matrix).as_ref())?;
    let values: Vec<f64> = squares.iter().rev().map(|square| square.max(0.0).sqrt()).collect();
    let told = |value: &&f64| **value > RESOLVED * values[0];
    let kept = values.iter().take(count).take_while(told).count();
    let last = values.len().saturating_sub(1);
    let combine = Mat::from_fn(values.len(), kept, |i, j| vectors[(i, last - j)] / values[j]);
    let directions = product(matrix, combine.as_ref());
    // Orthonormal up to the accuracy of squares; the small remainder is removed with its own Gram matrix.
    let gram = inner(directions.as_ref(), directions.as_ref());
    let dependent =
        |_| Error::Numerical { what: "singular vectors", why: "they depend on each other".into() };
    let upper = gram.llt(Side::Lower).map_err(dependent)?.L().transpose().to_owned();
    let mut inverse = Mat::identity(kept, kept);
    upper.as_ref().solve_upper_triangular_in_place(&mut inverse);
    Ok((product(directions.as_ref(), inverse.as_ref()), values))
}
