//! The rig's stretch of places, and bounds of their own, by which a step leaves most of them unmeasured.

use pulp::Simd;

use crate::math::polar::{cofactors, dot3, multiply, transpose_product};
use crate::potentials::elastic::rest_shape::{RestStretch, rest_stretch_in_lanes};

/// Range of rig stretches followed by the limit: skin folds at armpits and groins to a tenth of its length.
const FOLLOWED: (f64, f64) = (0.1, 30.0);

// Plain loops only from here on, as in `polar`.

/// Applies the rig's stretch to a register of places: `F_rig` becomes `R_rig`.
#[inline(always)]
pub(super) fn follow<S: Simd>(
    simd: S,
    limit: f64,
    rig: &mut [S::f64s; 9],
    back: &mut [S::f64s; 9],
    reach: &mut S::f64s,
) {
    let RestStretch { inverse, surplus, longest, .. } = rest_stretch_in_lanes(simd, *rig, 1.0, FOLLOWED);
    for e in 0..9 {
        rig[e] = simd.add_f64s(rig[e], surplus[e]);
    }
    (*rig, *back) = (multiply(simd, rig, &inverse), inverse);
    *reach = simd.div_f64s(simd.splat_f64s(limit), longest);
}

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

#[cfg(test)]
mod tests {
    use pulp::Scalar;

    use super::{follow, is_far_below, length2};
    use crate::math::polar::{multiply, rotations_in_lanes};

    /// Share of the limit.
    const NEAR: f64 = 0.4;

    /// Numbers spread over an interval, the same in every run.
    fn spread(seed: usize, low: f64, high: f64) -> f64 {
        let share = (12.9898 * seed as f64 + 4.1).sin() * 43758.5453;
        low + (high - low) * (share - share.floor())
    }

    /// Places left out of the measurement are below the share: in folded, stretched, mirrored and flat rigs.
    #[test]
    fn places_far_below_their_limit_are_below_it() {
        let (simd, limit, mut left_out, mut measured) = (Scalar::new(), 0.55, 0, 0);
        for case in 0..20_000 {
            let scale = 10.0_f64.powf(spread(3 * case, -2.5, 1.8));
            let size = 10.0_f64.powf(spread(3 * case + 1, -4.0, 0.5));
            let even = spread(3 * case + 2, 0.0, 1.5);
            let mut rig: [f64; 9] = std::array::from_fn(|e| {
                let straight = if e % 4 == 0 { even } else { 0.0 };
                scale * (straight + 0.5 * spread(31 * case + e, -1.0, 1.0))
            });
            let moved: [f64; 9] = std::array::from_fn(|e| size * spread(37 * case + e, -1.0, 1.0));
            if !is_far_below(simd, NEAR * limit, length2(simd, &moved), &rig) {
                measured += 1;
                continue;
            }
            left_out += 1;
            let (mut back, mut reach) = ([0.0; 9], 0.0);
            follow(simd, limit, &mut rig, &mut back, &mut reach);
            let own = multiply(simd, &moved, &back);
            let f: [f64; 9] = std::array::from_fn(|e| own[e] + rig[e]);
            let r = rotations_in_lanes(simd, f);
            let norm = f.iter().zip(r).map(|(f, r)| (f - r).powi(2)).sum::<f64>().sqrt();
            let share = norm / reach;
            assert!(share <= NEAR + 1e-9, "case {case}: {share} of the limit");
        }
        assert!(left_out > 2000 && measured > 2000, "{left_out} left out, {measured} measured");
    }
}
