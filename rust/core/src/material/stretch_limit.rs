//! Stretch limit as an energy: flesh stiffens before it tears.

use nalgebra::{Matrix3, SMatrix, SVector, Vector3};
use pulp::Simd;

use super::energy::{Energy, Hessian, Sealed};
use super::growth::{KNEE, continued, continued_in_lanes};
use super::lanes::{Evaluate, PARAMETERS};
use crate::math::SignedSvd;
use crate::math::polar::{cofactors, dot, dot3, rotations_in_lanes, transpose_product};

/// Below this sum, two principal stretches count as opposite, where the closest rotation jumps.
const JUMP: f64 = 1e-12;
/// Isotropic stiffness of a limit in a metric, as a share of the sum of its stiffnesses along and across
/// the stretch.
const FELT: f64 = 0.4;
/// Smallest divisor.
const LEAST: f64 = 1e-290;

/// Energy of the stretch limit, with the closest rotation R of F:
/// ```text
/// psi = k l^2 phi(|F - R| / l)
/// ```
/// phi is zero up to 1/2, with two continuous derivatives, and steep beyond.
/// `|F - R|^2 = sum_i (s_i - 1)^2`: no length changes by a larger share. The energy is like a law's
/// `a(s_i)` of all stretches at once, with equally simple second derivatives: phi'' along F - R, its slope
/// over the length for flips and for stretches perpendicular to F - R, and for twists the latter times
/// `1 - 2 / (s_i + s_j)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StretchLimit {
    /// k, Pa.
    pub stiffness: f64,
    /// l, a share of length.
    pub limit: f64,
}

impl StretchLimit {
    /// psi and its two derivatives by the distance from the closest rotation.
    fn along(&self, distance: f64) -> [f64; 3] {
        let [value, first, second] = continued(distance / self.limit);
        [self.limit * self.limit * value, self.limit * first, second].map(|jet| self.stiffness * jet)
    }

    /// Isotropic stiffness at a distance from the closest rotation, Pa. The limit is stiff along the
    /// stretch, and hardly so in most other directions.
    pub(crate) fn steepness(&self, distance: f64) -> f64 {
        let [_, first, second] = self.along(distance);
        if first == 0.0 { 0.0 } else { FELT * (second + first / distance) }
    }
}

impl Sealed for StretchLimit {}

impl Energy for StretchLimit {
    fn density(&self, f: &Matrix3<f64>) -> f64 {
        self.along(SignedSvd::new(f).sigma.add_scalar(-1.0).norm())[0]
    }

    fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64> {
        let SignedSvd { u, sigma, v } = SignedSvd::new(f);
        let apart = sigma.add_scalar(-1.0);
        let distance = apart.norm();
        let pull = if distance > 0.0 { self.along(distance)[1] / distance } else { 0.0 };
        u * Matrix3::from_diagonal(&(pull * apart)) * v.transpose()
    }

    fn filtered_hessian(&self, f: &Matrix3<f64>, keep: impl Fn(f64) -> f64) -> Hessian {
        let SignedSvd { u, sigma, v } = SignedSvd::new(f);
        let apart = sigma.add_scalar(-1.0);
        let distance = apart.norm();
        let [_, first, second] = self.along(distance);
        if first == 0.0 {
            return SMatrix::zeros();
        }
        let around = first / distance;
        let flat = |shape: Matrix3<f64>| {
            SVector::<f64, 9>::from_column_slice((u * shape * v.transpose()).as_slice())
        };
        let along = flat(Matrix3::from_diagonal(&(apart / distance)));
        let mut hessian = keep(around) * SMatrix::identity();
        hessian += (keep(second) - keep(around)) * along * along.transpose();
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let sum = sigma[i] + sigma[j];
            let twist = if sum.abs() > JUMP { keep(around * (1.0 - 2.0 / sum)) } else { 0.0 };
            let axis = Vector3::ith(k, std::f64::consts::FRAC_1_SQRT_2);
            let turn = flat(axis.cross_matrix());
            hessian += (twist - keep(around)) * turn * turn.transpose();
        }
        hessian
    }
}

/// [`StretchLimit`] with a stiffness and a limit a lane.
#[derive(Clone, Copy)]
pub(crate) struct LaneLimit;

// Plain loops only from here on, as in `polar`.

impl LaneLimit {
    /// `true` if `|F - R|` is certainly within a share of the limit in every lane, tested without
    /// rotations. With `J > 0` and `|F'F - I| <= e (2 - e)`, no `s_i` is below `1 - e`, and
    /// `(s_i^2 - 1)^2 >= (2 - e)^2 (s_i - 1)^2` gives `|F - R| <= e`; for `e > 1`, `|F'F - I| <= e` is
    /// enough.
    #[inline(always)]
    pub(crate) fn is_within<S: Simd>(
        simd: S,
        f: &[S::f64s; 9],
        &[_, limit, _]: &[S::f64s; PARAMETERS],
        share: f64,
    ) -> bool {
        let mut strain = transpose_product(simd, f, f);
        let one = simd.splat_f64s(1.0);
        for e in 0..3 {
            strain[4 * e] = simd.sub_f64s(strain[4 * e], one);
        }
        let edge = simd.mul_f64s(simd.splat_f64s(share), limit);
        let most = simd.mul_f64s(edge, simd.max_f64s(simd.sub_f64s(simd.splat_f64s(2.0), edge), one));
        let excess = simd.sub_f64s(dot(simd, &strain, &strain), simd.mul_f64s(most, most));
        let cofactor = cofactors(simd, f);
        let volume = dot3(simd, [f[0], f[1], f[2]], [cofactor[0], cofactor[1], cofactor[2]]);
        simd.reduce_max_f64s(excess) <= 0.0 && simd.reduce_min_f64s(volume) > 0.0
    }
}

/// `|F - R|` of each lane; writes the difference.
#[inline(always)]
pub(crate) fn distance_in_lanes<S: Simd>(simd: S, f: &[S::f64s; 9], apart: &mut [S::f64s; 9]) -> S::f64s {
    let r = rotations_in_lanes(simd, *f);
    for e in 0..9 {
        apart[e] = simd.sub_f64s(f[e], r[e]);
    }
    simd.sqrt_f64s(dot(simd, apart, apart))
}

impl Evaluate for LaneLimit {
    #[inline(always)]
    fn evaluate<S: Simd>(
        self,
        simd: S,
        f: &[S::f64s; 9],
        own @ &[stiffness, limit, _]: &[S::f64s; PARAMETERS],
        stress: &mut [S::f64s; 9],
    ) -> S::f64s {
        if Self::is_within(simd, f, own, KNEE) {
            *stress = [simd.splat_f64s(0.0); 9];
            return stress[0];
        }
        let distance = distance_in_lanes(simd, f, stress);
        let [value, slope] = continued_in_lanes(simd, simd.div_f64s(distance, limit));
        let scale = simd.mul_f64s(stiffness, limit);
        // Without a distance there is no slope either.
        let divisor = simd.max_f64s(simd.splat_f64s(LEAST), distance);
        let pull = simd.div_f64s(simd.mul_f64s(scale, slope), divisor);
        for e in 0..9 {
            stress[e] = simd.mul_f64s(pull, stress[e]);
        }
        simd.mul_f64s(simd.mul_f64s(scale, limit), value)
    }
}
