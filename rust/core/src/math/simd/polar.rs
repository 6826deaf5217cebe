//! The rotation of the polar decomposition of 3x3 matrices, several at once.
//!
//! With signed singular values `s1 >= s2 >= |s3|` (`s3 < 0` for an inverted F) the rotation R that
//! maximises `tr(R'F)` reaches `s1 + s2 + s3`. That sum is the largest root of
//! `x^4 - 2 |F|^2 x^2 - 8 det(F) x + |F|^4 - 4 |cof F|^2`, the characteristic polynomial of Davenport's 4x4
//! matrix. Given this sum, `R = ((i1^2 - i2) F + i1 cof F - F F'F) / (i1 i2 - det F)` with
//! `i1 = s1 + s2 + s3` and `i2 = (i1^2 - |F|^2) / 2`, by the theorem of Cayley and Hamilton for the stretch
//! `R'F`. The denominator is `(s1 + s2)(s2 + s3)(s1 + s3)`: the formula fails exactly where R is not
//! unique. One Newton step on the rotations then removes rounding errors. Unreliable lanes use the
//! eigenvector of Davenport's matrix instead, which always gives a rotation.

use nalgebra::{Matrix3, Matrix4, SymmetricEigen};
use pulp::{Arch, Simd, WithSimd};

/// A 3x3 matrix, row-major.
pub type Matrix = [f64; 9];

/// Newton steps on the quartic before a lane uses the fallback.
const MAX_ROOT_STEPS: usize = 12;
/// Step size towards the root, for a matrix of norm one, from which the next quadratic step is below
/// rounding.
const ROOT_TOLERANCE: f64 = 1e-8;
/// Smallest `(s1 + s2)(s2 + s3)(s1 + s3)`, for a matrix of norm one, for a reliable closed formula.
const SMALLEST_GAP: f64 = 1e-2;
/// Largest squared Newton correction, and squared distance from orthogonality, of a reliable result.
const LARGEST_CORRECTION: f64 = 1e-12;

/// Rotations R of the polar decompositions `F = R S`: maximisers of `tr(R'F)`, det R = +1.
///
/// Inverted F gives S a negative eigenvalue. For degenerate F, R is one of the maximisers, always the same
/// for the same F. F = 0, or F that is not finite, gives the identity. Accurate to rounding divided by the
/// gap `(s2 + s3) / s1`.
///
/// # Panics
/// If the slices differ in length.
pub fn rotations(matrices: &[Matrix], out: &mut [Matrix]) {
    struct Batch<'a> {
        matrices: &'a [Matrix],
        out: &'a mut [Matrix],
    }
    impl WithSimd for Batch<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let lanes = S::F64_LANES;
            for (matrices, out) in self.matrices.chunks(lanes).zip(self.out.chunks_mut(lanes)) {
                let mut f = [simd.splat_f64s(0.0); 9];
                let packed = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(&mut f);
                for (lane, matrix) in matrices.iter().enumerate() {
                    (0..9).for_each(|e| packed[e * lanes + lane] = matrix[e]);
                }
                let r = rotations_in_lanes(simd, f);
                let packed = pulp::bytemuck::cast_slice::<S::f64s, f64>(&r);
                for (lane, rotation) in out.iter_mut().enumerate() {
                    *rotation = std::array::from_fn(|e| packed[e * lanes + lane]);
                }
            }
        }
    }
    assert_eq!(matrices.len(), out.len());
    Arch::new().dispatch(Batch { matrices, out });
}

/// The rotation nearest to a matrix, as [`rotations`].
pub(crate) fn nearest_rotation(matrix: &Matrix3<f64>) -> Matrix3<f64> {
    let mut found = [[0.0; 9]];
    rotations(&[std::array::from_fn(|e| matrix[(e / 3, e % 3)])], &mut found);
    Matrix3::from_row_slice(&found[0])
}

/// Rotations of one matrix a lane; entry `3 i + j` of both is row i, column j.
#[inline(always)]
pub(crate) fn rotations_in_lanes<S: Simd>(simd: S, f: [S::f64s; 9]) -> [S::f64s; 9] {
    let (mut r, trusted) = closed_form(simd, f);
    if simd.reduce_min_f64s(trusted) < 1.0 {
        repair::<S>(&f, trusted, &mut r);
    }
    r
}

#[cold]
#[inline(never)]
fn repair<S: Simd>(f: &[S::f64s; 9], trusted: S::f64s, r: &mut [S::f64s; 9]) {
    let lanes = S::F64_LANES;
    let trusted = [trusted];
    let trusted = pulp::bytemuck::cast_slice::<S::f64s, f64>(&trusted);
    let f = pulp::bytemuck::cast_slice::<S::f64s, f64>(f);
    let r = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(r);
    for lane in (0..lanes).filter(|&lane| trusted[lane] < 1.0) {
        let rotation = davenport(std::array::from_fn(|e| f[e * lanes + lane]));
        (0..9).for_each(|e| r[e * lanes + lane] = rotation[e]);
    }
}

/// Rotation with the quaternion of the largest eigenvalue of Davenport's matrix.
fn davenport(f: Matrix) -> Matrix {
    let largest = f.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    if largest == 0.0 || !f.iter().all(|x| x.is_finite()) {
        return [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    }
    let [a, b, c, d, e, f, g, h, i] = f.map(|x| x / largest);
    #[rustfmt::skip]
    let matrix = Matrix4::new(
        a + e + i, h - f,     c - g,      d - b,
        h - f,     a - e - i, b + d,      c + g,
        c - g,     b + d,     e - a - i,  f + h,
        d - b,     c + g,     f + h,      i - a - e,
    );
    let eigen = SymmetricEigen::new(matrix);
    let q = eigen.eigenvectors.column(eigen.eigenvalues.imax()).normalize();
    let (w, x, y, z) = (q[0], q[1], q[2], q[3]);
    [
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    ]
}

// Plain loops and always-inlined functions only from here on: closures, `array::from_fn` and functions
// compiled on their own are not compiled for the instruction set of their caller.

/// Rotations by the closed formula, and 1 in each reliable lane, else 0.
#[inline(always)]
fn closed_form<S: Simd>(simd: S, f: [S::f64s; 9]) -> ([S::f64s; 9], S::f64s) {
    let one = simd.splat_f64s(1.0);
    let inverse_norm = simd.div_f64s(one, simd.sqrt_f64s(dot(simd, &f, &f)));
    let mut scaled = f;
    for e in 0..9 {
        scaled[e] = simd.mul_f64s(f[e], inverse_norm);
    }
    let f = scaled;
    let cofactor = cofactors(simd, &f);
    let det = dot3(simd, [f[0], f[1], f[2]], [cofactor[0], cofactor[1], cofactor[2]]);
    let (i1, last_step) = largest_root(simd, det, dot(simd, &cofactor, &cofactor));
    let half = simd.splat_f64s(0.5);
    let i2 = simd.mul_f64s(half, simd.sub_f64s(simd.mul_f64s(i1, i1), one));
    let gap = simd.sub_f64s(simd.mul_f64s(i1, i2), det);
    let inverse_gap = simd.div_f64s(one, gap);

    let cubic = multiply(simd, &f, &transpose_product(simd, &f, &f));
    let linear = simd.sub_f64s(simd.mul_f64s(i1, i1), i2);
    let mut r = cubic;
    for e in 0..9 {
        let sum =
            simd.mul_add_e_f64s(i1, cofactor[e], simd.mul_add_e_f64s(linear, f[e], simd.neg_f64s(cubic[e])));
        r[e] = simd.mul_f64s(sum, inverse_gap);
    }
    let (r, skewness) = orthogonalise(simd, r);
    let (r, correction) = newton_step(simd, r, &f, inverse_gap);

    let largest = simd.splat_f64s(LARGEST_CORRECTION);
    let fine = simd.and_m64s(
        simd.and_m64s(simd.less_than_f64s(skewness, largest), simd.less_than_f64s(correction, largest)),
        simd.and_m64s(
            simd.less_than_f64s(last_step, simd.splat_f64s(ROOT_TOLERANCE)),
            simd.less_than_f64s(simd.splat_f64s(SMALLEST_GAP), gap),
        ),
    );
    (r, simd.select_f64s(fine, one, simd.splat_f64s(0.0)))
}

/// The largest root of `x^4 - 2 x^2 - 8 det x + 1 - 4 cof2` by Newton's method from above, and the last
/// step's size.
#[inline(always)]
fn largest_root<S: Simd>(simd: S, det: S::f64s, cof2: S::f64s) -> (S::f64s, S::f64s) {
    let linear = simd.mul_f64s(simd.splat_f64s(-8.0), det);
    let constant = simd.mul_add_e_f64s(simd.splat_f64s(-4.0), cof2, simd.splat_f64s(1.0));
    let (two, four) = (simd.splat_f64s(2.0), simd.splat_f64s(4.0));
    let mut x = simd.splat_f64s(3.0_f64.sqrt());
    let mut step = simd.splat_f64s(1.0);
    for _ in 0..MAX_ROOT_STEPS {
        let x2 = simd.mul_f64s(x, x);
        // p = (x^2 - 2) x^2 + linear x + constant, p' = 4 (x^2 - 1) x + linear
        let value = simd.mul_add_e_f64s(simd.sub_f64s(x2, two), x2, simd.mul_add_e_f64s(linear, x, constant));
        let cubic = simd.mul_f64s(four, simd.sub_f64s(x2, simd.splat_f64s(1.0)));
        let slope = simd.mul_add_e_f64s(cubic, x, linear);
        step = simd.div_f64s(value, slope);
        x = simd.sub_f64s(x, step);
        step = simd.abs_f64s(step);
        if simd.reduce_max_f64s(step) < ROOT_TOLERANCE {
            break;
        }
    }
    (x, step)
}

/// One Newton-Schulz step `R (3 I - R'R) / 2`, and `|R'R - I|^2`.
#[inline(always)]
fn orthogonalise<S: Simd>(simd: S, r: [S::f64s; 9]) -> ([S::f64s; 9], S::f64s) {
    let mut excess = transpose_product(simd, &r, &r);
    for e in [0, 4, 8] {
        excess[e] = simd.sub_f64s(excess[e], simd.splat_f64s(1.0));
    }
    let change = multiply(simd, &r, &excess);
    let half = simd.splat_f64s(-0.5);
    let mut out = r;
    for e in 0..9 {
        out[e] = simd.mul_add_e_f64s(half, change[e], r[e]);
    }
    (out, dot(simd, &excess, &excess))
}

/// One Newton step of the maximisation of `tr(R'F)` over rotations: `R exp([w])`,
/// `(tr(S) I - S) w = axial(R'F)`; and `|w|^2`. `inverse_gap` is the inverse of the determinant of
/// `tr(S) I - S`.
#[inline(always)]
fn newton_step<S: Simd>(
    simd: S,
    r: [S::f64s; 9],
    f: &[S::f64s; 9],
    inverse_gap: S::f64s,
) -> ([S::f64s; 9], S::f64s) {
    let a = transpose_product(simd, &r, f);
    let (h01, h02, h12) =
        (negative_mean(simd, a[1], a[3]), negative_mean(simd, a[2], a[6]), negative_mean(simd, a[5], a[7]));
    let h = [
        simd.add_f64s(a[4], a[8]),
        h01,
        h02,
        h01,
        simd.add_f64s(a[0], a[8]),
        h12,
        h02,
        h12,
        simd.add_f64s(a[0], a[4]),
    ];
    let adjugate = cofactors(simd, &h);
    let axial = [simd.sub_f64s(a[7], a[5]), simd.sub_f64s(a[2], a[6]), simd.sub_f64s(a[3], a[1])];
    let mut w = axial;
    for i in 0..3 {
        let row = [adjugate[3 * i], adjugate[3 * i + 1], adjugate[3 * i + 2]];
        w[i] = simd.mul_f64s(inverse_gap, dot3(simd, row, axial));
    }
    let w2 = dot3(simd, w, w);
    let change = multiply(simd, &r, &exponential(simd, w, w2));
    let mut out = r;
    for e in 0..9 {
        out[e] = simd.add_f64s(r[e], change[e]);
    }
    (out, w2)
}

/// `[w] + [w]^2 / 2`, and `w2 = |w|^2`.
#[inline(always)]
fn exponential<S: Simd>(simd: S, w: [S::f64s; 3], w2: S::f64s) -> [S::f64s; 9] {
    let half = simd.splat_f64s(0.5);
    let signed = [w[0], w[1], w[2], simd.neg_f64s(w[0]), simd.neg_f64s(w[1]), simd.neg_f64s(w[2])];
    // Index into `signed` for each entry of the cross-product matrix of w; unused on the diagonal.
    const CROSS: [usize; 9] = [0, 5, 1, 2, 0, 3, 4, 0, 0];
    let mut out = [half; 9];
    for e in 0..9 {
        let (i, j) = (e / 3, e % 3);
        let product = simd.mul_f64s(w[i], w[j]);
        out[e] = if i == j {
            simd.mul_f64s(half, simd.sub_f64s(product, w2))
        } else {
            simd.mul_add_e_f64s(half, product, signed[CROSS[e]])
        };
    }
    out
}

/// `-(a + b) / 2`.
#[inline(always)]
fn negative_mean<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
    simd.neg_f64s(simd.mul_f64s(simd.splat_f64s(0.5), simd.add_f64s(a, b)))
}

/// Derivative of the determinant.
#[inline(always)]
pub(crate) fn cofactors<S: Simd>(simd: S, f: &[S::f64s; 9]) -> [S::f64s; 9] {
    // Each is `f_a f_b - f_c f_d`.
    const MINORS: [[usize; 4]; 9] = [
        [4, 8, 5, 7],
        [5, 6, 3, 8],
        [3, 7, 4, 6],
        [2, 7, 1, 8],
        [0, 8, 2, 6],
        [1, 6, 0, 7],
        [1, 5, 2, 4],
        [2, 3, 0, 5],
        [0, 4, 1, 3],
    ];
    let mut out = *f;
    for e in 0..9 {
        let [a, b, c, d] = MINORS[e];
        out[e] = simd.negate_mul_add_e_f64s(f[c], f[d], simd.mul_f64s(f[a], f[b]));
    }
    out
}

/// `A B`.
#[inline(always)]
pub(crate) fn multiply<S: Simd>(simd: S, a: &[S::f64s; 9], b: &[S::f64s; 9]) -> [S::f64s; 9] {
    let mut out = *a;
    for e in 0..9 {
        let (i, j) = (e / 3, e % 3);
        out[e] = dot3(simd, [a[3 * i], a[3 * i + 1], a[3 * i + 2]], [b[j], b[3 + j], b[6 + j]]);
    }
    out
}

/// `A'B`.
#[inline(always)]
pub(crate) fn transpose_product<S: Simd>(simd: S, a: &[S::f64s; 9], b: &[S::f64s; 9]) -> [S::f64s; 9] {
    let mut out = *a;
    for e in 0..9 {
        let (i, j) = (e / 3, e % 3);
        out[e] = dot3(simd, [a[i], a[3 + i], a[6 + i]], [b[j], b[3 + j], b[6 + j]]);
    }
    out
}

#[inline(always)]
pub(crate) fn dot3<S: Simd>(simd: S, a: [S::f64s; 3], b: [S::f64s; 3]) -> S::f64s {
    simd.mul_add_e_f64s(a[0], b[0], simd.mul_add_e_f64s(a[1], b[1], simd.mul_f64s(a[2], b[2])))
}

#[inline(always)]
pub(crate) fn dot<S: Simd>(simd: S, a: &[S::f64s; 9], b: &[S::f64s; 9]) -> S::f64s {
    let mut sum = simd.mul_f64s(a[0], b[0]);
    for e in 1..9 {
        sum = simd.mul_add_e_f64s(a[e], b[e], sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use pulp::Scalar;

    use super::*;

    #[test]
    fn one_lane_gives_what_many_give() {
        let matrices: Vec<Matrix> = (0..500)
            .map(|i| std::array::from_fn(|e| (0.37 * (9 * i + e) as f64 + 0.01 * (i * i) as f64).sin()))
            .collect();
        let mut wide = matrices.clone();
        rotations(&matrices, &mut wide);
        for (f, wide) in matrices.iter().zip(&wide) {
            let narrow = rotations_in_lanes(Scalar::new(), *f);
            narrow.iter().zip(wide).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b} for {f:?}"));
        }
    }
}
