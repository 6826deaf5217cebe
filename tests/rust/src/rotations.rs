//! Polar decompositions by faer's singular values, which are independent of the core's (nalgebra's own
//! errors exceed the test tolerance).

use faer::Mat;
use nalgebra::{Matrix3, Vector3};

/// The rotation R closest to a matrix F, the largest `tr(R'F)`, and the gap `s2 + s3` (signed), which makes
/// it unique.
pub fn decomposed(f: &Matrix3<f64>) -> (Matrix3<f64>, f64, f64) {
    let svd = Mat::from_fn(3, 3, |i, j| f[(i, j)]).svd().unwrap();
    let u = Matrix3::from_fn(|i, j| svd.U()[(i, j)]);
    let v_t = Matrix3::from_fn(|i, j| svd.V()[(j, i)]);
    let values = Vector3::from_fn(|i, _| svd.S()[i]);
    let sign = (u * v_t).determinant().signum();
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut signs = Vector3::repeat(1.0);
    signs[order[2]] = sign;
    let s = order.map(|i| values[i] * signs[i]);
    (u * Matrix3::from_diagonal(&signs) * v_t, s.iter().sum(), s[1] + s[2])
}

/// The rotation closest to F.
pub fn rotation(f: &Matrix3<f64>) -> Matrix3<f64> {
    decomposed(f).0
}
