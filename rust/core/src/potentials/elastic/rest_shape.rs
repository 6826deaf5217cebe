//! Rest shapes that follow the rig: `psi((F + a E) S_a^-1) det S_a` with the clamped stretch of the pose.
//!
//! With `F_rig = R S` and `S_c` its stretch with clamped lengths, `S_a = (1 - a) I + a S_c`. The surplus
//! `E = R S_c - F_rig` is what the rest shape has beyond the rig's: zero unless the clamp acts. Flesh in the
//! rig's shape is thus free of stress at `a = 1` in any pose, and as firm as the clamped shape is.

use pulp::{Arch, Simd, WithSimd};

use super::elements::{Chunk, Elements, TASK, deformation_in_lanes};
use crate::material::lanes::PARAMETERS;
use crate::math::polar::{dot3, multiply};
use crate::math::rows::Rows;
use crate::math::signed_svd_in_lanes;
use crate::parallel::*;

/// Range of rest shape stretches. Candy-wrapper artefacts of a rig have no volume, and their stretch cannot
/// be inverted; mirrored lengths count as lengths.
pub(crate) const STRETCHES: (f64, f64) = (0.3, 30.0);

impl Elements {
    /// Moves the rest shapes a share of the way from those of `rest` to the elements' shapes in the rig.
    ///
    /// `F S_a^-1 = sum_i x_i (S_a^-1 g_i)'`: gradients and volumes of elements change, and their surplus
    /// where the clamp acts. Limit elements receive the limit `limit`, a share of the rest length where the
    /// rig stretches.
    pub(crate) fn follow(&mut self, rest: &Self, rig: &Rows, share: f64, limit: f64) {
        let pairs = self.chunks_mut().par_iter_mut().zip(rest.chunks().par_iter());
        pairs.with_min_len(TASK).for_each(|(chunk, rest)| {
            if share > 0.0 {
                chunk.gather(rig);
                Arch::new().dispatch(Follow { chunk, rest, share, limit });
            } else {
                chunk.gradients.copy_from_slice(&rest.gradients);
                chunk.volumes.copy_from_slice(&rest.volumes);
                chunk.clamped.fill(false);
            }
        });
    }
}

/// Lets the elements of a chunk follow the rig, whose positions are gathered.
struct Follow<'a> {
    chunk: &'a mut Chunk,
    rest: &'a Chunk,
    share: f64,
    limit: f64,
}

impl WithSimd for Follow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.chunk.corners_each == 4 {
            follow::<S, 4>(simd, self);
        } else {
            follow::<S, 8>(simd, self);
        }
    }
}

// Plain loops only from here on, as in `elements`.

#[inline(always)]
fn follow<S: Simd, const CORNERS: usize>(simd: S, following: Follow<'_>) {
    let Follow { chunk, rest, share, limit } = following;
    let is_limit = chunk.is_limit();
    let Chunk { corners, gradients, volumes, surplus, clamped, parameters, places, .. } = chunk;
    let (known, _) = S::as_simd_f64s(&rest.gradients);
    let (known_volumes, _) = S::as_simd_f64s(&rest.volumes);
    let (gradients, _) = S::as_mut_simd_f64s(gradients);
    let (volumes, _) = S::as_mut_simd_f64s(volumes);
    let (beyond, _) = S::as_mut_simd_f64s(surplus);
    let (parameters, _) = S::as_mut_simd_f64s(parameters);
    let (zero, limit) = (simd.splat_f64s(0.0), simd.splat_f64s(limit));
    for block in 0..volumes.len() {
        let corners = &corners[block * CORNERS * S::F64_LANES..][..CORNERS * S::F64_LANES];
        let known = &known[block * 3 * (CORNERS - 1)..][..3 * (CORNERS - 1)];
        let mut x = [[zero; 3]; CORNERS];
        let f = deformation_in_lanes(simd, corners, known, &[zero; 9], places, &mut x);
        let RestStretch { inverse, growth, surplus, longest, missed } =
            rest_stretch_in_lanes(simd, f, share, STRETCHES);
        volumes[block] = simd.mul_f64s(known_volumes[block], growth);
        let gradients = &mut gradients[block * 3 * (CORNERS - 1)..][..3 * (CORNERS - 1)];
        for entry in 0..3 * (CORNERS - 1) {
            let (corner, i) = (entry / 3, entry % 3);
            let own = [known[3 * corner], known[3 * corner + 1], known[3 * corner + 2]];
            gradients[entry] = dot3(simd, [inverse[3 * i], inverse[3 * i + 1], inverse[3 * i + 2]], own);
        }
        if is_limit {
            parameters[block * PARAMETERS + 1] = simd.div_f64s(limit, longest);
        }
        clamped[block] = simd.reduce_max_f64s(missed) > 0.0;
        beyond[9 * block..][..9].copy_from_slice(&multiply(simd, &surplus, &inverse));
    }
}

/// Rest stretches under the rig, one a lane.
pub(crate) struct RestStretch<V> {
    /// `S_a^-1`.
    pub(crate) inverse: [V; 9],
    /// `det S_a`.
    pub(crate) growth: V,
    /// `a E`, the gradient of the rest shape beyond the rig's.
    pub(crate) surplus: [V; 9],
    /// Largest clamped stretch of the rig, at least 1.
    pub(crate) longest: V,
    /// `|S S_c^-1 - I|`, the rig's stretch beyond the clamp.
    pub(crate) missed: V,
}

/// Rest stretches of a block from the rig's deformation gradients; rest shapes follow by a share, clamped
/// to a range of stretches.
#[inline(always)]
pub(crate) fn rest_stretch_in_lanes<S: Simd>(
    simd: S,
    f: [S::f64s; 9],
    share: f64,
    (least, most): (f64, f64),
) -> RestStretch<S::f64s> {
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    let (least, most) = (simd.splat_f64s(least), simd.splat_f64s(most));
    let share = simd.splat_f64s(share);
    let (mut u, mut v) = (f, f);
    let sigma = signed_svd_in_lanes(simd, f, &mut u, &mut v);
    let (mut growth, mut scales, mut gaps) = (one, sigma, sigma);
    let (mut longest, mut missed) = (one, zero);
    for i in 0..3 {
        let followed = simd.min_f64s(simd.max_f64s(simd.abs_f64s(sigma[i]), least), most);
        let blended = simd.mul_add_e_f64s(share, simd.sub_f64s(followed, one), one);
        scales[i] = simd.div_f64s(one, blended);
        gaps[i] = simd.mul_f64s(share, simd.sub_f64s(followed, sigma[i]));
        growth = simd.mul_f64s(growth, blended);
        longest = simd.max_f64s(longest, followed);
        let beyond = simd.sub_f64s(simd.div_f64s(sigma[i], followed), one);
        missed = simd.mul_add_e_f64s(beyond, beyond, missed);
    }
    RestStretch {
        inverse: spectral(simd, &v, &scales, &v),
        growth,
        surplus: spectral(simd, &u, &gaps, &v),
        longest,
        missed: simd.sqrt_f64s(missed),
    }
}

/// `A diag(d) V'`.
#[inline(always)]
pub(super) fn spectral<S: Simd>(
    simd: S,
    a: &[S::f64s; 9],
    diagonal: &[S::f64s; 3],
    v: &[S::f64s; 9],
) -> [S::f64s; 9] {
    let (mut scaled, mut product) = (*a, *a);
    for e in 0..9 {
        scaled[e] = simd.mul_f64s(a[e], diagonal[e % 3]);
    }
    for e in 0..9 {
        let (i, j) = (3 * (e / 3), 3 * (e % 3));
        product[e] = dot3(simd, [scaled[i], scaled[i + 1], scaled[i + 2]], [v[j], v[j + 1], v[j + 2]]);
    }
    product
}
