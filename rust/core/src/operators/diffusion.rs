//! Momentum leak, by diffusion from the surface inwards.

use faer::Mat;
use faer::prelude::Reborrow;

use super::extension::extend;
use super::laplacian;
use crate::math::{Sparse, add_diagonal, conjugate_gradients, multiply_symmetric};
use crate::mesh::TetMesh;
use crate::{Error, Result};

/// Diffusion time of the default leak, in squared lengths of the body: a reach of about 3 percent of the
/// length.
const LEAK_TIME: f64 = 1e-3;

/// Tolerance of the diffusion, and its largest number of iterations.
const ACCURACY: (f64, usize) = (1e-14, 5000);

/// Highest value of the default leak. At exactly 1, flesh of thin parts without inner vertices would be
/// tied to nothing; this close to 1 it follows its bones strictly, and other flesh is unchanged.
pub const HIGHEST_LEAK: f64 = 1.0 - 1e-6;

/// Default leak: 1 (minus a millionth) on the surface, falling to 0 at the deepest vertex.
///
/// One implicit step of diffusion from the surface, `(tau l^2 L + M) phi = 0` inside with `phi = 1` on it,
/// then `(phi - min) / (1 - min)`; l is the length of a bar with the body's largest second moment, for
/// independence of units, size and orientation. Shape n. A mesh without inner vertices leaks everywhere.
/// Source: `[FastCD sec. 8.1]`, where D is `1 - leak` and the time is absolute.
///
/// # Errors
/// [`Error::Numerical`](crate::Error::Numerical) if the factorisation fails.
pub fn momentum_leak(mesh: &TetMesh) -> Result<Vec<f64>> {
    let n = mesh.vertices().len();
    let mut known = vec![false; n];
    mesh.boundary_vertices().into_iter().for_each(|v| known[v as usize] = true);
    if known.iter().all(|&k| k) {
        return Ok(vec![HIGHEST_LEAK; n]);
    }
    let volume = super::vertex_volumes(mesh);
    let time = LEAK_TIME * squared_length(mesh, &volume);
    let matrix = add_diagonal(&laplacian(mesh, &vec![time; mesh.tets().len()])?, &volume, 1.0);
    let mut phi = Mat::from_fn(n, 1, |i, _| if known[i] { 1.0 } else { 0.0 });
    extend(&matrix, &known, &mut phi, |matrix, rhs| {
        let solution = diffused(matrix, rhs.rb().col(0).iter().copied().collect())?;
        rhs.col_mut(0).iter_mut().zip(solution).for_each(|(x, value)| *x = value);
        Ok(())
    })?;
    let lowest = phi.col(0).iter().copied().fold(f64::INFINITY, f64::min);
    let leak = |phi: f64| {
        if lowest < 1.0 { ((phi - lowest) / (1.0 - lowest)).clamp(0.0, HIGHEST_LEAK) } else { HIGHEST_LEAK }
    };
    Ok(phi.col(0).iter().map(|&phi| leak(phi)).collect())
}

/// Solution of a step of diffusion, by conjugate gradients with the diagonal as preconditioner: cheaper than
/// a factorisation of a diagonally dominant matrix.
fn diffused(matrix: &Sparse, rhs: Vec<f64>) -> Result<Vec<f64>> {
    let diagonal: Vec<f64> = (0..rhs.len()).map(|i| matrix.get(i, i).copied().unwrap_or(0.0)).collect();
    let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
    let multiply = |x: &[f64], out: &mut [f64]| multiply_symmetric(matrix, x, out);
    match conjugate_gradients(rhs, multiply, precondition, ACCURACY) {
        (solution, true) => Ok(solution),
        (_, false) => {
            let why = format!("no convergence in {} iterations", ACCURACY.1);
            Err(Error::Numerical { what: "momentum leak", why })
        }
    }
}

/// Squared length of a straight bar with the same largest second moment per volume: 12 times this moment.
pub(crate) fn squared_length(mesh: &TetMesh, volume: &[f64]) -> f64 {
    let total: f64 = volume.iter().sum();
    let points = || mesh.vertices().iter().map(|&p| nalgebra::Vector3::from(p)).zip(volume);
    let centre = points().map(|(p, v)| p * *v).sum::<nalgebra::Vector3<f64>>() / total;
    let moments = points().map(|(p, v)| (p - centre) * (p - centre).transpose() * *v);
    12.0 * moments.sum::<nalgebra::Matrix3<f64>>().symmetric_eigenvalues().max() / total
}
