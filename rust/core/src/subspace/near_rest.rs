//! Third-order expansion of isotropic laws near rest.

use nalgebra::{Matrix3, Vector3};
use pulp::Simd;

use crate::material::{Energy, PrincipalStretch};

/// Strain step for the numerical differentiation of the stress.
const STEP: f64 = 3e-3;

/// An isotropic law near rest, in the strain `e = sqrt(F'F) - I`, J: `W = l/2 tr^2 e + m tr e^2 + c_0 tr^3
/// e + c_1 tr e tr e^2 + c_2 tr e^3`, multiplied by the volume.
#[derive(Default)]
pub(super) struct NearRest {
    lambda: f64,
    mu: f64,
    cubic: [f64; 3],
}

impl NearRest {
    pub(super) fn of(law: &PrincipalStretch, volume: f64) -> Self {
        let (lambda, mu) = law.lame();
        // Exact for the strain `E = e + e^2 / 2`, and without the barrier, which starts at rest on one side.
        if let PrincipalStretch::StVenantKirchhoff { .. } = law {
            let cubic = [0.0, 0.5 * volume * lambda, volume * mu];
            return Self { lambda: volume * lambda, mu: volume * mu, cubic };
        }
        let quadratic = |strain: [f64; 3]| {
            let stress =
                |h: f64| law.stress(&Matrix3::from_diagonal(&(h * Vector3::from(strain)).add_scalar(1.0)));
            let difference = |h: f64| (stress(h) + stress(-h)) / (2.0 * h * h);
            volume * (4.0 * difference(STEP) - difference(2.0 * STEP)) / 3.0
        };
        let (along, across) = (quadratic([1.0, 0.0, 0.0]), quadratic([1.0, -1.0, 0.0]));
        let second = across[(2, 2)] / 2.0;
        let first = (along[(1, 1)] - second) / 3.0;
        let cubic = [first, second, (along[(0, 0)] - 3.0 * (first + second)) / 3.0];
        Self { lambda: volume * lambda, mu: volume * mu, cubic }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.lambda += other.lambda;
        self.mu += other.mu;
        (0..3).for_each(|i| self.cubic[i] += other.cubic[i]);
    }

    /// `D^2 P(I) [A, B]` for as many B as a register has lanes: `e = sym A + (A'A - sym^2 A) / 2` up to
    /// third order.
    #[inline(always)]
    pub(super) fn bend<S: Simd>(&self, simd: S, a: &[f64; 9], b: &[S::f64s; 9]) -> [S::f64s; 9] {
        let (mut e, mut a_flipped) = ([0.0; 9], [0.0; 9]);
        let (mut d, mut b_flipped) = (*b, *b);
        for at in 0..9 {
            (a_flipped[at], b_flipped[at]) = (a[flipped(at)], b[flipped(at)]);
            e[at] = 0.5 * (a[at] + a_flipped[at]);
            d[at] = simd.mul_f64s(simd.splat_f64s(0.5), simd.add_f64s(b[at], b_flipped[at]));
        }
        let strained = product(simd, &e, &d);
        let squares = product(simd, &a_flipped, b);
        let pulled = product(simd, a, &d);
        // The transpose of `B e`.
        let turned = product(simd, &e, &b_flipped);
        let [first, second, third] = self.cubic;
        let (lambda, mu) = (simd.splat_f64s(self.lambda), simd.splat_f64s(self.mu));
        let of_e = e[0] + e[4] + e[8];
        let (of_d, of_both) = (trace(simd, &d), trace(simd, &strained));
        let spread = simd.mul_f64s(lambda, simd.sub_f64s(trace(simd, &squares), of_both));
        let pressure = simd.mul_add_e_f64s(simd.splat_f64s(6.0 * first * of_e), of_d, spread);
        let pressure = simd.mul_add_e_f64s(simd.splat_f64s(2.0 * second), of_both, pressure);
        let [of_strains, bulk, shear] = [-3.0 * (self.mu - third), self.lambda * of_e, 2.0 * second * of_e];
        let mut stress = [pressure; 9];
        for at in 0..9 {
            let flip = flipped(at);
            let once = simd.add_f64s(squares[at], squares[flip]);
            let turns = simd.add_f64s(pulled[at], turned[flip]);
            let turns = simd.mul_add_e_f64s(simd.splat_f64s(2.0), turns, once);
            let strains =
                simd.mul_f64s(simd.splat_f64s(of_strains), simd.add_f64s(strained[at], strained[flip]));
            let sum = simd.mul_add_e_f64s(mu, turns, strains);
            let sum = simd.mul_add_e_f64s(simd.splat_f64s(bulk), simd.sub_f64s(b[at], d[at]), sum);
            let sum = simd.mul_add_e_f64s(simd.splat_f64s(shear), d[at], sum);
            let along = simd.splat_f64s(self.lambda * (a[at] - e[at]) + 2.0 * second * e[at]);
            let sum = simd.mul_add_e_f64s(along, of_d, sum);
            stress[at] = if at % 4 == 0 { simd.add_f64s(sum, pressure) } else { sum };
        }
        stress
    }
}

/// Index of the transposed entry in a row-major 3 x 3 matrix.
#[inline(always)]
fn flipped(at: usize) -> usize {
    3 * (at % 3) + at / 3
}

#[inline(always)]
fn trace<S: Simd>(simd: S, x: &[S::f64s; 9]) -> S::f64s {
    simd.add_f64s(simd.add_f64s(x[0], x[4]), x[8])
}

/// Product of a scalar and a lane-wise 3 x 3 matrix.
#[inline(always)]
fn product<S: Simd>(simd: S, left: &[f64; 9], right: &[S::f64s; 9]) -> [S::f64s; 9] {
    let mut product = *right;
    for (at, entry) in product.iter_mut().enumerate() {
        let (row, column) = (at / 3 * 3, at % 3);
        let first = simd.mul_f64s(simd.splat_f64s(left[row]), right[column]);
        let second = simd.mul_add_e_f64s(simd.splat_f64s(left[row + 1]), right[3 + column], first);
        *entry = simd.mul_add_e_f64s(simd.splat_f64s(left[row + 2]), right[6 + column], second);
    }
    product
}
