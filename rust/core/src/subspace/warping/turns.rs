//! Combinations of displacements, and the coefficients of a rotation.

use faer::Mat;

use crate::parallel::*;

/// Vertices per parallel task.
pub(super) const CHUNK: usize = 1024;

/// Columns, 3n x k with interleaved rows, combined with k factors: one vector per vertex.
pub(super) fn combined(columns: &Mat<f64>, factors: &[f64]) -> Vec<[f64; 3]> {
    let mut sums = vec![[0.0; 3]; columns.nrows() / 3];
    sums.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, sums)| {
        let (first, sums) = (3 * CHUNK * chunk, sums.as_flattened_mut());
        for (k, factor) in factors.iter().enumerate() {
            let numbers = &columns.col_as_slice(k)[first..][..sums.len()];
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += factor * number);
        }
    });
    sums
}

/// `sin t / t` and `(1 - cos t) / t^2` from the square of t: with W the cross product with a vector of
/// length t, its rotation is `exp(W) = I + a W + b W^2`.
pub(super) fn sines(square: f64) -> [f64; 2] {
    if square == 0.0 {
        return [1.0, 0.5];
    }
    let t = square.sqrt();
    let (sin, cos) = (0.5 * t).sin_cos();
    [2.0 * sin * cos / t, 2.0 * sin * sin / square]
}
