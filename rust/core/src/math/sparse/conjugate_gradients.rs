//! Conjugate gradients, for systems that a preconditioner makes well-conditioned.

use crate::math::Sparse;
use crate::math::dense::dot;
use crate::parallel::*;

/// Rows a task works on.
const CHUNK: usize = 4096;

/// The solution x of `K x = b` for a symmetric positive definite K, and `true` if its residual r has reached
/// a tolerance, `r'P r <= tolerance^2 b'P b`, within most iterations.
///
/// `multiply` writes K times a vector, `precondition` returns P times one.
pub(crate) fn conjugate_gradients(
    b: Vec<f64>,
    mut multiply: impl FnMut(&[f64], &mut [f64]),
    mut precondition: impl FnMut(&[f64]) -> Vec<f64>,
    (tolerance, most): (f64, usize),
) -> (Vec<f64>, bool) {
    let mut residual = b;
    let (mut x, mut image) = (vec![0.0; residual.len()], vec![0.0; residual.len()]);
    let mut direction = precondition(&residual);
    let mut left = dot(&residual, &direction);
    let target = tolerance * tolerance * left;
    for _ in 0..most {
        if left <= target {
            break;
        }
        multiply(&direction, &mut image);
        let resistance = dot(&direction, &image);
        if resistance <= 0.0 {
            break;
        }
        let step = left / resistance;
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= step * i);
        let preconditioned = precondition(&residual);
        let before = std::mem::replace(&mut left, dot(&residual, &preconditioned));
        direction.iter_mut().zip(&preconditioned).for_each(|(d, p)| *d = p + left / before * *d);
    }
    (x, left <= target)
}

/// Writes `K x` of a symmetric K, whose columns serve as rows.
pub(crate) fn multiply_symmetric(matrix: &Sparse, x: &[f64], out: &mut [f64]) {
    let row = |i: usize| -> f64 {
        let entries = matrix.row_idx_of_col_raw(i).iter().zip(matrix.val_of_col(i));
        entries.map(|(&j, value)| value * x[j as usize]).sum()
    };
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        out.iter_mut().enumerate().for_each(|(k, out)| *out = row(chunk * CHUNK + k));
    });
}
