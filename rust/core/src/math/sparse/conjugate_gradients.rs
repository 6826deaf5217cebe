//! An iterative solver for well-conditioned systems.

use crate::math::Sparse;
use crate::math::dense::products::dot;
use crate::parallel::*;
use crate::{Error, Result};

/// Accepted residual, relative to the right-hand side.
const TOLERANCE: f64 = 1e-14;
/// Largest number of iterations.
const MAX_ITERATIONS: usize = 5000;
/// Rows a task works on.
const CHUNK: usize = 4096;

/// Solves `K x = b` for a symmetric positive definite K, stored whole, by conjugate gradients with K's
/// diagonal as preconditioner: cheaper than a factorisation of a diagonally dominant matrix.
///
/// # Errors
/// [`Error::Numerical`] without convergence.
pub(crate) fn conjugate_gradients(matrix: &Sparse, rhs: &[f64]) -> Result<Vec<f64>> {
    let diagonal: Vec<f64> = (0..rhs.len()).map(|i| matrix.get(i, i).copied().unwrap_or(0.0)).collect();
    let precondition = |r: &[f64]| -> Vec<f64> { r.iter().zip(&diagonal).map(|(r, d)| r / d).collect() };
    let mut x = vec![0.0; rhs.len()];
    let mut residual = rhs.to_vec();
    let mut direction = precondition(&residual);
    let mut measure = dot(&residual, &direction);
    let target = TOLERANCE * TOLERANCE * dot(rhs, rhs);
    for _ in 0..MAX_ITERATIONS {
        if dot(&residual, &residual) <= target {
            return Ok(x);
        }
        let image = multiply(matrix, &direction);
        let step = measure / dot(&direction, &image);
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= step * i);
        let preconditioned = precondition(&residual);
        let next = dot(&residual, &preconditioned);
        direction.iter_mut().zip(&preconditioned).for_each(|(d, p)| *d = p + next / measure * *d);
        measure = next;
    }
    Err(Error::Numerical {
        what: "conjugate gradients",
        why: format!("no convergence in {MAX_ITERATIONS} iterations"),
    })
}

/// `K x` for a symmetric K, whose columns serve as rows.
fn multiply(matrix: &Sparse, x: &[f64]) -> Vec<f64> {
    let row = |i: usize| {
        let entries = matrix.row_idx_of_col_raw(i).iter().zip(matrix.val_of_col(i));
        entries.map(|(&j, value)| value * x[j as usize]).sum()
    };
    let mut product = vec![0.0; x.len()];
    product.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        out.iter_mut().enumerate().for_each(|(k, out)| *out = row(chunk * CHUNK + k));
    });
    product
}
