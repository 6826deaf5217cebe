//! Bounds of the stretch of places, by which a step leaves most of them unmeasured.

use pulp::Simd;

use crate::math::polar::{cofactors, dot3, multiply, transpose_product};

/// Range of rig stretches followed by the limit: skin folds at armpits and groins to a tenth of its length.
pub(super) const FOLLOWED: (f64, f64) = (0.1, 30.0);

// Plain loops only from here on, as in `polar`.

/// Square of the sum of the lengths of columns, each times that of its row of y.
#[inline(always)]
pub(super) fn longest_sum<S: Simd>(simd: S, columns: &[f64], lengths: &[f64]) -> S::f64s {
    let (columns, _) = S::as_simd_f64s(columns);
    let mut sums = [simd.splat_f64s(0.0); 4];
    for (j, (column, length)) in columns.iter().zip(lengths).enumerate() {
        sums[j % 4] = simd.mul_add_e_f64s(*column, simd.splat_f64s(*length), sums[j % 4]);
    }
    let sum = simd.add_f64s(simd.add_f64s(sums[0], sums[1]), simd.add_f64s(sums[2], sums[3]));
    simd.mul_f64s(sum, sum)
}

/// Squared norm of a matrix.
#[inline(always)]
pub(super) fn length2<S: Simd>(simd: S, a: &[S::f64s; 9]) -> S::f64s {
    let mut sum = simd.splat_f64s(0.0);
    for e in 0..9 {
        sum = simd.mul_add_e_f64s(a[e], a[e], sum);
    }
    sum
}

/// `true` if no place of a register is beyond a length by a displacement whose gradient `G B z` has at most
/// the square `moved2`.
///
/// The distance `|F S^-1 - R|` grows by `|G B z| |S^-1|` at most, and L is the limit by the largest stretch.
/// Both follow from norms of `F_rig`: `|A|_2^8 <= |A'A A'A|^2`.
#[inline(always)]
pub(super) fn is_far_below<S: Simd>(simd: S, length: f64, moved2: S::f64s, rig: &[S::f64s; 9]) -> bool {
    let cofactor = cofactors(simd, rig);
    let det = dot3(simd, [rig[0], rig[1], rig[2]], [cofactor[0], cofactor[1], cofactor[2]]);
    let det2 = simd.mul_f64s(det, det);
    // |S^-1|^8 >= 30^-8, and the largest stretch counts from 1 on.
    let (one, least) = (simd.splat_f64s(1.0), simd.splat_f64s(FOLLOWED.1.powi(-8)));
    let longest8 = simd.max_f64s(eighth_power(simd, rig), one);
    let det8 = simd.mul_f64s(simd.mul_f64s(det2, det2), simd.mul_f64s(det2, det2));
    let inverse8 = simd.max_f64s(eighth_power(simd, &cofactor), simd.mul_f64s(least, det8));
    let moved4 = simd.mul_f64s(moved2, moved2);
    let left = simd.mul_f64s(simd.mul_f64s(moved4, moved4), simd.mul_f64s(inverse8, longest8));
    let right = simd.mul_f64s(simd.splat_f64s(length.powi(8)), det8);
    let below = simd.select_f64s(simd.less_than_f64s(left, right), one, simd.splat_f64s(0.0));
    simd.reduce_min_f64s(below) > 0.0
}

/// Upper bound `|A'A A'A|^2` of the eighth power of the largest singular value.
#[inline(always)]
fn eighth_power<S: Simd>(simd: S, a: &[S::f64s; 9]) -> S::f64s {
    let square = transpose_product(simd, a, a);
    length2(simd, &multiply(simd, &square, &square))
}
