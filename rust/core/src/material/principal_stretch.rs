//! Isotropic energies as sums of functions of one variable of the principal stretches.

use std::sync::Arc;

use nalgebra::{Matrix3, SMatrix, SVector, SymmetricEigen, Vector3};

use super::curves::{Jet, StressCurves};
use super::energy::{Energy, Hessian, Sealed};
use crate::math::SignedSvd;

/// Relative volume below which the logarithm of Neo-Hookean laws is continued as a parabola.
pub(super) const LEAST_VOLUME: f64 = 0.5;
/// Stiffness of the barrier against inversion of St. Venant-Kirchhoff flesh, in shares of
/// `mu + lambda / 2`. From 148 on, `864 x (3 - 2 sqrt 2)` with the barrier's scale of 6, the mirrored shape
/// is no equilibrium.
pub(super) const BARRIER: f64 = 200.0;
/// Principal stretches closer than this count as equal.
const EQUAL: f64 = 1e-5;
/// Below this sum, two principal stretches count as opposite, where the closest rotation jumps.
const JUMP: f64 = 1e-12;
/// Range of principal stretches for [`PrincipalStretch::slope`].
const EXPECTED: [f64; 2] = [0.5, 1.5];
/// Smallest slope of the metric, relative to the steepest slope in the range.
const LEAST_SLOPE: f64 = 1e-3;

/// An energy density of the principal stretches, the signed singular values of F `[QN eq. 9]`:
/// ```text
/// psi = sum_i a(s_i) + sum_(i < j) b(s_i s_j) + c(s_1 s_2 s_3)
/// ```
/// The smallest stretch is negative for an inverted F. All parameters are in Pa; psi and stress are zero at
/// rest.
#[derive(Debug, Clone)]
pub enum PrincipalStretch {
    /// Corotated linear elasticity, `psi = mu |F - R|^2 + lambda / 2 tr^2(R'F - I)`; as rigid as possible
    /// for lambda = 0.
    Corotated {
        /// Second Lamé parameter.
        mu: f64,
        /// First Lamé parameter: resistance to volume change.
        lambda: f64,
    },
    /// `psi = mu |E|^2 + lambda / 2 tr^2 E` of Green's strain E, and a barrier against mirrored shapes,
    /// invisible to E: `200 (mu + lambda / 2) / 12 ((1 - J) / 6)^3` for `J = det F < 1`. Softens under
    /// compression.
    StVenantKirchhoff {
        /// Second Lamé parameter.
        mu: f64,
        /// First Lamé parameter.
        lambda: f64,
    },
    /// `psi = mu / 2 (|F|^2 - 3) - mu ln J + lambda / 2 ln^2 J`; below `J = 0.5` the terms of J continue as
    /// a parabola.
    NeoHookean {
        /// Second Lamé parameter.
        mu: f64,
        /// First Lamé parameter.
        lambda: f64,
    },
    /// Neo-Hookean flesh with resistance to change of area, `psi = c1 (|F|^2 - 3) + c2 (|cof F|^2 - 3) - 2
    /// (c1 + 2 c2) ln J + lambda / 2 ln^2 J`; its Lamé parameters are `2 (c1 + c2)` and `lambda + 4 c2`.
    MooneyRivlin {
        /// Resistance to change of length.
        c1: f64,
        /// Resistance to change of area.
        c2: f64,
        /// Resistance to change of volume.
        lambda: f64,
    },
    /// `psi = mu sum_i (s_i - 1)^4`: almost no resistance to small strains, strong resistance to large
    /// ones.
    Polynomial {
        /// Stiffness.
        mu: f64,
    },
    /// Drawn curves of stress.
    Spline {
        /// Derivatives of a, b and c.
        curves: Arc<StressCurves>,
        /// Factor on the curves.
        scale: f64,
    },
}

impl PrincipalStretch {
    /// `a`, of a stretch.
    fn length(&self, x: f64) -> Jet {
        match *self {
            Self::Corotated { mu, lambda } => [
                mu * (x - 1.0).powi(2) + 0.5 * lambda * (x * x - 6.0 * x + 3.0),
                2.0 * mu * (x - 1.0) + lambda * (x - 3.0),
                2.0 * mu + lambda,
            ],
            Self::StVenantKirchhoff { mu, lambda } => {
                let x2 = x * x;
                [
                    0.25 * mu * (x2 - 1.0).powi(2) + 0.125 * lambda * (x2 * x2 - 6.0 * x2 + 3.0),
                    mu * x * (x2 - 1.0) + 0.5 * lambda * x * (x2 - 3.0),
                    mu * (3.0 * x2 - 1.0) + 1.5 * lambda * (x2 - 1.0),
                ]
            }
            Self::NeoHookean { mu, .. } => [0.5 * mu * (x * x - 1.0), mu * x, mu],
            Self::MooneyRivlin { c1, .. } => [c1 * (x * x - 1.0), 2.0 * c1 * x, 2.0 * c1],
            Self::Polynomial { mu } => {
                [mu * (x - 1.0).powi(4), 4.0 * mu * (x - 1.0).powi(3), 12.0 * mu * (x - 1.0).powi(2)]
            }
            Self::Spline { ref curves, scale } => curves.length(x).map(|value| scale * value),
        }
    }

    /// `b`, of the product of two stretches.
    fn area(&self, x: f64) -> Jet {
        match *self {
            Self::Corotated { lambda, .. } => [lambda * x, lambda, 0.0],
            Self::StVenantKirchhoff { lambda, .. } => [0.25 * lambda * x * x, 0.5 * lambda * x, 0.5 * lambda],
            Self::NeoHookean { .. } | Self::Polynomial { .. } => [0.0; 3],
            Self::MooneyRivlin { c2, .. } => [c2 * (x * x - 1.0), 2.0 * c2 * x, 2.0 * c2],
            Self::Spline { ref curves, scale } => curves.area(x).map(|value| scale * value),
        }
    }

    /// `c`, of the product of all three.
    fn volume(&self, j: f64) -> Jet {
        match *self {
            Self::Corotated { .. } | Self::Polynomial { .. } => [0.0; 3],
            Self::StVenantKirchhoff { mu, lambda } => {
                let (stiffness, missing) = (BARRIER * (mu + 0.5 * lambda), (1.0 - j).max(0.0) / 6.0);
                [
                    stiffness / 12.0 * missing.powi(3),
                    -stiffness / 24.0 * missing.powi(2),
                    stiffness / 72.0 * missing,
                ]
            }
            Self::NeoHookean { mu, lambda } => logarithmic(mu, lambda, j),
            Self::MooneyRivlin { c1, c2, lambda } => logarithmic(2.0 * (c1 + 2.0 * c2), lambda, j),
            Self::Spline { ref curves, scale } => curves.volume(j).map(|value| scale * value),
        }
    }

    /// `(2 mu + lambda) / 2 mu`: how much softer than its metric the law is in shear, 1 without volume
    /// stiffness.
    pub(crate) fn yielding(&self) -> f64 {
        let (lambda, mu) = self.lame();
        if mu > 0.0 { 1.0 + 0.5 * lambda / mu } else { 1.0 }
    }

    /// Lamé parameters lambda and mu for small strains, Pa: `lambda = b' + b'' + c' + c''` and
    /// `2 mu + lambda = a'' + 2 b'' + c''`, at 1.
    pub fn lame(&self) -> (f64, f64) {
        let [_, _, a2] = self.length(1.0);
        let [_, b1, b2] = self.area(1.0);
        let [_, c1, c2] = self.volume(1.0);
        let lambda = b1 + b2 + c1 + c2;
        (lambda, 0.5 * (a2 + 2.0 * b2 + c2 - lambda))
    }

    /// Stiffness k of the metric of descent directions, Pa: slope of the least-squares line through the
    /// stress `a' + 2 b' + c'` of one stretch between 0.5 and 1.5 `[QN eq. 10]`, at least a thousandth of
    /// the steepest slope there.
    ///
    /// No upper bound for a single tet: the largest stiffness of corotated flesh, for volume change, is
    /// `2 mu + 3 lambda`.
    pub fn slope(&self) -> f64 {
        let [start, end] = EXPECTED;
        let middle = 0.5 * (start + end);
        let panel = (end - start) / PANELS as f64;
        let (mut slope, mut steepest) = (0.0, 0.0_f64);
        for place in 0..PANELS {
            for (node, weight) in GAUSS {
                let x = start + panel * (place as f64 + 0.5 + 0.5 * node);
                let [a, b, c] = [self.length(x), self.area(x), self.volume(x)];
                slope += 0.5 * panel * weight * (x - middle) * (a[1] + 2.0 * b[1] + c[1]);
                steepest = steepest.max((a[2] + 2.0 * b[2] + c[2]).abs());
            }
        }
        (12.0 / (end - start).powi(3) * slope).max(LEAST_SLOPE * steepest)
    }

    /// Resistance to bending, Pa: Young's modulus at rest, since the sides of a bent body contract freely.
    ///
    /// A law with little resistance to small strains, such as the polynomial, has the excess of
    /// [`slope`](Self::slope) over twice the slope at rest, `2 mu + lambda`. A law that is unstable at rest
    /// has a thousandth of `slope`.
    pub fn bending(&self) -> f64 {
        let ((lambda, mu), slope) = (self.lame(), self.slope());
        // `max` ignores NaN, the Young's modulus of a law without resistance to small strains.
        let stiffness = young_modulus(lambda, mu).max(slope - 2.0 * (2.0 * mu + lambda));
        if stiffness > 0.0 { stiffness } else { LEAST_SLOPE * slope }
    }
}

/// Panels of the quadrature, and the nodes and weights on `[-1, 1]` of each: five-point Gauss quadrature.
const PANELS: usize = 4;
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

/// `-pull ln J + lambda / 2 ln^2 J`, smoothly continued below [`LEAST_VOLUME`] as a parabola.
fn logarithmic(pull: f64, lambda: f64, j: f64) -> Jet {
    let at = j.max(LEAST_VOLUME);
    let log = at.ln();
    let first = (lambda * log - pull) / at;
    let second = (lambda * (1.0 - log) + pull) / (at * at);
    let beyond = j - at;
    [
        (0.5 * lambda * log - pull) * log + beyond * (first + 0.5 * beyond * second),
        first + beyond * second,
        second,
    ]
}

/// Functions at some principal stretches; `areas` and all pair quantities are indexed by the axis outside
/// of the pair.
pub(super) struct Jets<'a> {
    law: &'a PrincipalStretch,
    sigma: [f64; 3],
    lengths: [Jet; 3],
    areas: [Jet; 3],
    volume: Jet,
}

impl<'a> Jets<'a> {
    pub(super) fn new(law: &'a PrincipalStretch, sigma: &Vector3<f64>) -> Self {
        let [x, y, z] = [sigma.x, sigma.y, sigma.z];
        Self {
            law,
            sigma: [x, y, z],
            lengths: [x, y, z].map(|x| law.length(x)),
            areas: [y * z, x * z, x * y].map(|x| law.area(x)),
            volume: law.volume(x * y * z),
        }
    }

    pub(super) fn density(&self) -> f64 {
        let sum = |jets: &[Jet; 3]| jets.iter().map(|jet| jet[0]).sum::<f64>();
        sum(&self.lengths) + sum(&self.areas) + self.volume[0]
    }

    /// `d psi / d s_i`.
    pub(super) fn gradient(&self) -> Vector3<f64> {
        Vector3::from_fn(|i, _| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let (sj, sk) = (self.sigma[j], self.sigma[k]);
            self.lengths[i][1] + sj * self.areas[k][1] + sk * self.areas[j][1] + sj * sk * self.volume[1]
        })
    }

    /// `d^2 psi / d s_i d s_j`.
    fn hessian(&self) -> Matrix3<f64> {
        let squared = |x: f64| x * x;
        Matrix3::from_fn(|i, j| {
            if i == j {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let (sj, sk) = (self.sigma[j], self.sigma[k]);
                self.lengths[i][2]
                    + squared(sj) * self.areas[k][2]
                    + squared(sk) * self.areas[j][2]
                    + squared(sj * sk) * self.volume[2]
            } else {
                let k = 3 - i - j;
                let (product, sk) = (self.sigma[i] * self.sigma[j], self.sigma[k]);
                self.areas[k][1]
                    + product * self.areas[k][2]
                    + sk * self.volume[1]
                    + squared(sk) * product * self.volume[2]
            }
        })
    }

    /// Eigenvalues of the twist and of the flip in the plane without axis k: `(psi_i + psi_j) / (s_i + s_j)`
    /// and `(psi_i - psi_j) / (s_i - s_j)`.
    fn in_plane(&self, k: usize) -> [f64; 2] {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let (si, sj, sk) = (self.sigma[i], self.sigma[j], self.sigma[k]);
        let shared = self.areas[k][1] + sk * self.volume[1];
        let (sum, difference) = (si + sj, si - sj);
        let twist = if sum.abs() > EQUAL {
            (self.lengths[i][1] + self.lengths[j][1] + sk * (self.areas[j][1] + self.areas[i][1])) / sum
        } else {
            over_opposite(|x| self.law.length(x), [si, sj], 1.0)
                + over_opposite(|x| self.law.area(x), [si, sj], sk)
        };
        let flip = if difference.abs() > EQUAL {
            (self.lengths[i][1] - self.lengths[j][1] + sk * (self.areas[j][1] - self.areas[i][1]))
                / difference
        } else {
            self.law.length(0.5 * sum)[2] + sk * sk * self.law.area(0.5 * sum * sk)[2]
        };
        [twist + shared, flip - shared]
    }
}

/// `c (f'(c x) + f'(c y)) / (x + y)` for a sum close to zero: `c^2 f''` for an odd f'; otherwise unbounded,
/// and left out at the jump itself.
fn over_opposite(f: impl Fn(f64) -> Jet, [x, y]: [f64; 2], c: f64) -> f64 {
    if f(c * x)[1] + f(-c * x)[1] == 0.0 {
        c * c * f(0.5 * c * (x - y))[2]
    } else if (x + y).abs() > JUMP {
        c * (f(c * x)[1] + f(c * y)[1]) / (x + y)
    } else {
        0.0
    }
}

impl Sealed for PrincipalStretch {}

/// By the singular value decomposition; eigenvectors of the Hessian in closed form: three of the Hessian in
/// the stretches, and a twist and a flip in each plane `[Eigensystems]`.
impl Energy for PrincipalStretch {
    fn density(&self, f: &Matrix3<f64>) -> f64 {
        Jets::new(self, &SignedSvd::new(f).sigma).density()
    }

    fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64> {
        let SignedSvd { u, sigma, v } = SignedSvd::new(f);
        u * Matrix3::from_diagonal(&Jets::new(self, &sigma).gradient()) * v.transpose()
    }

    fn filtered_hessian(&self, f: &Matrix3<f64>, keep: impl Fn(f64) -> f64) -> Hessian {
        let SignedSvd { u, sigma, v } = SignedSvd::new(f);
        let jets = Jets::new(self, &sigma);
        let mut hessian = SMatrix::zeros();
        let mut add = |value: f64, shape: Matrix3<f64>| {
            let vector = u * shape * v.transpose();
            let vector = SVector::<f64, 9>::from_column_slice(vector.as_slice());
            hessian += keep(value) * vector * vector.transpose();
        };
        let stretches = SymmetricEigen::new(jets.hessian());
        for (value, axis) in stretches.eigenvalues.iter().zip(stretches.eigenvectors.column_iter()) {
            add(*value, Matrix3::from_diagonal(&axis));
        }
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            for (value, sign) in jets.in_plane(k).into_iter().zip([-1.0, 1.0]) {
                let mut shape = Matrix3::zeros();
                shape[(i, j)] = std::f64::consts::FRAC_1_SQRT_2;
                shape[(j, i)] = sign * shape[(i, j)];
                add(value, shape);
            }
        }
        hessian
    }
}

/// Young's modulus `E = mu (3 lambda + 2 mu) / (lambda + mu)`, in a form that gives exactly `2 mu` for a
/// lambda of 0.
pub(super) fn young_modulus(lambda: f64, mu: f64) -> f64 {
    2.0 * mu + lambda - lambda * lambda / (lambda + mu)
}
