//! Signed singular value decomposition of 3x3 matrices, several matrices at once.
//!
//! The polar decomposition gives `F = R S` with `det R = +1`, and the eigenvectors V of the symmetric S, by
//! Jacobi rotations, complete the decomposition: `F = (R V) diag(sigma) V'`. A decomposition of `F'F` would
//! lose half the digits of precision.

use nalgebra::{Matrix3, Vector3};
use pulp::{Scalar, Simd};

use super::polar::{multiply, rotations_in_lanes, transpose_product};

/// Largest number of sweeps over the three planes; with quadratic convergence five are rare.
const SWEEPS: usize = 8;
/// Squared off-diagonal norm at convergence, relative to the squared norm.
const NEGLIGIBLE: f64 = 1e-32;
/// Lower bound of divisors, to keep 0 / 0 finite.
const LEAST: f64 = 1e-290;

/// `F = U diag(sigma) V'` of one matrix, with rotations U and V.
#[derive(Debug, Clone, Copy)]
pub struct SignedSvd {
    /// Left singular vectors as columns, `det U = +1`.
    pub u: Matrix3<f64>,
    /// Singular values in no order; the smallest is negative for an inverted F.
    pub sigma: Vector3<f64>,
    /// Right singular vectors as columns, `det V = +1`.
    pub v: Matrix3<f64>,
}

impl SignedSvd {
    /// Decomposition of a finite matrix.
    pub fn new(f: &Matrix3<f64>) -> Self {
        let rows = std::array::from_fn(|e| f[(e / 3, e % 3)]);
        let [u, v] = [&mut [0.0; 9], &mut [0.0; 9]];
        let sigma = signed_svd_in_lanes(Scalar::new(), rows, u, v);
        Self { u: Matrix3::from_row_slice(u), sigma: sigma.into(), v: Matrix3::from_row_slice(v) }
    }
}

// Plain loops only from here on, as in `polar`.

/// Singular values of one matrix a lane; writes U and V. Entry `3 i + j` of matrices is row i, column j.
#[inline(always)]
pub(crate) fn signed_svd_in_lanes<S: Simd>(
    simd: S,
    f: [S::f64s; 9],
    u: &mut [S::f64s; 9],
    v: &mut [S::f64s; 9],
) -> [S::f64s; 3] {
    let r = rotations_in_lanes(simd, f);
    let stretch = transpose_product(simd, &r, &f);
    let sigma = symmetric_eigen(simd, &stretch, v);
    *u = multiply(simd, &r, v);
    sigma
}

/// Eigenvalues of a matrix symmetric up to rounding; writes the eigenvectors as columns of the rotation V.
#[inline(always)]
fn symmetric_eigen<S: Simd>(simd: S, a: &[S::f64s; 9], v: &mut [S::f64s; 9]) -> [S::f64s; 3] {
    let (zero, one, half) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0), simd.splat_f64s(0.5));
    *v = [one, zero, zero, zero, one, zero, zero, zero, one];
    let mut diagonal = [a[0], a[4], a[8]];
    // Off-diagonal entries by the axis outside of their plane.
    let mut beside = [
        simd.mul_f64s(half, simd.add_f64s(a[5], a[7])),
        simd.mul_f64s(half, simd.add_f64s(a[2], a[6])),
        simd.mul_f64s(half, simd.add_f64s(a[1], a[3])),
    ];
    let norm = sum_of_squares(simd, diagonal);
    let enough = simd.mul_f64s(simd.splat_f64s(NEGLIGIBLE), norm);
    for _ in 0..SWEEPS {
        if simd.reduce_max_f64s(simd.sub_f64s(sum_of_squares(simd, beside), enough)) <= 0.0 {
            break;
        }
        for [p, q, r] in [[0, 1, 2], [0, 2, 1], [1, 2, 0]] {
            turn(simd, &mut diagonal, &mut beside, v, [p, q, r]);
        }
    }
    diagonal
}

/// One Jacobi rotation in the plane of axes p and q, which zeroes the entry `(p, q)`; r is the third axis.
#[inline(always)]
fn turn<S: Simd>(
    simd: S,
    diagonal: &mut [S::f64s; 3],
    beside: &mut [S::f64s; 3],
    v: &mut [S::f64s; 9],
    [p, q, r]: [usize; 3],
) {
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    let twice = simd.add_f64s(beside[r], beside[r]);
    let apart = simd.sub_f64s(diagonal[q], diagonal[p]);
    let length = simd.sqrt_f64s(simd.mul_add_e_f64s(apart, apart, simd.mul_f64s(twice, twice)));
    let below = simd.add_f64s(simd.abs_f64s(apart), simd.max_f64s(length, simd.splat_f64s(LEAST)));
    let signed = simd.select_f64s(simd.less_than_f64s(apart, zero), simd.neg_f64s(twice), twice);
    let tangent = simd.div_f64s(signed, below);
    let cosine = simd.div_f64s(one, simd.sqrt_f64s(simd.mul_add_e_f64s(tangent, tangent, one)));
    let sine = simd.mul_f64s(tangent, cosine);
    diagonal[p] = simd.negate_mul_add_e_f64s(tangent, beside[r], diagonal[p]);
    diagonal[q] = simd.mul_add_e_f64s(tangent, beside[r], diagonal[q]);
    beside[r] = zero;
    (beside[q], beside[p]) = turned(simd, beside[q], beside[p], cosine, sine);
    for row in 0..3 {
        (v[3 * row + p], v[3 * row + q]) = turned(simd, v[3 * row + p], v[3 * row + q], cosine, sine);
    }
}

/// `(cosine x - sine y, sine x + cosine y)`.
#[inline(always)]
fn turned<S: Simd>(simd: S, x: S::f64s, y: S::f64s, cosine: S::f64s, sine: S::f64s) -> (S::f64s, S::f64s) {
    (
        simd.negate_mul_add_e_f64s(sine, y, simd.mul_f64s(cosine, x)),
        simd.mul_add_e_f64s(sine, x, simd.mul_f64s(cosine, y)),
    )
}

#[inline(always)]
fn sum_of_squares<S: Simd>(simd: S, a: [S::f64s; 3]) -> S::f64s {
    simd.mul_add_e_f64s(a[0], a[0], simd.mul_add_e_f64s(a[1], a[1], simd.mul_f64s(a[2], a[2])))
}
