//! Conversion of displacements after skinning to displacements before it, as corrective shape keys hold
//! them.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use crate::parallel::*;
use crate::{Result, check};

/// A 3x3 matrix, row-major.
type Linear = [[f64; 3]; 3];

/// Relative size below which a direction shrunk by skinning is dropped: its keys would explode.
const COLLAPSED: f64 = 1e-4;
/// Condition number up to which a matrix is inverted directly.
const WELL_CONDITIONED: f64 = 1e3;

/// Displacements d before skinning that become u after it: `M_i d_i = u_i`, p x 3, metres.
///
/// `M_i = sum over bones of w_ij T_j` is the linear part of linear-blend skinning at a point.
///
/// If `M_i` is singular, or shrinks a direction below a ten-thousandth of the others, d_i is the shortest
/// least-squares solution in the remaining directions.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) or [`Error::NotFinite`](crate::Error::NotFinite).
pub fn pull_back(displacement: &[f32], matrices: &[Linear]) -> Result<Vec<f32>> {
    check::shape("displacement", &[matrices.len(), 3], displacement.len())?;
    check::finite("displacement", displacement, 3)?;
    let numbers = matrices.as_flattened().as_flattened();
    check::finite("transforms", numbers, 9)?;
    let mut out = vec![0.0; displacement.len()];
    let places = out.as_chunks_mut::<3>().0.par_iter_mut();
    places.zip(displacement.as_chunks::<3>().0).zip(matrices).for_each(|((out, u), matrix)| {
        let matrix = Matrix3::from_fn(|i, j| matrix[i][j]);
        let solved = solve(&matrix, Vector3::from(u.map(f64::from)));
        *out = [solved.x as f32, solved.y as f32, solved.z as f32];
    });
    Ok(out)
}

fn solve(matrix: &Matrix3<f64>, u: Vector3<f64>) -> Vector3<f64> {
    let size = matrix.norm();
    if size == 0.0 {
        return Vector3::zeros();
    }
    if let Some(inverse) = matrix.try_inverse()
        && size * inverse.norm() < WELL_CONDITIONED
    {
        return inverse * u;
    }
    let scaled = matrix / size;
    let eigen = SymmetricEigen::new(scaled.transpose() * scaled);
    let limit = COLLAPSED * COLLAPSED * eigen.eigenvalues.max();
    let inverse = eigen.eigenvalues.map(|square| if square > limit { 1.0 / square } else { 0.0 });
    let projected = eigen.eigenvectors.transpose() * (scaled.transpose() * (u / size));
    eigen.eigenvectors * inverse.component_mul(&projected)
}
