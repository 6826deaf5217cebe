//! Energy and stress of principal-stretch laws, one tet a SIMD lane; avoids singular values if the law
//! permits.

use pulp::Simd;

use super::principal_stretch::{BARRIER, Jets, LEAST_VOLUME, PrincipalStretch};
use crate::math::polar::{cofactors, dot, dot3, multiply, rotations_in_lanes, transpose_product};
use crate::math::signed_svd_in_lanes;

/// Number of parameters of a law in a tet.
pub(crate) const PARAMETERS: usize = 3;
/// Terms of the logarithm's series, enough for quotients up to 1/3.
const TERMS: usize = 17;
/// Largest argument of the logarithm's series.
const MOST: f64 = 2.0;

/// Laws with one parameter set a lane.
#[derive(Clone, PartialEq, Eq, Debug, Copy)]
pub(crate) enum LaneLaw {
    /// mu, lambda.
    Corotated,
    /// mu, lambda.
    StVenantKirchhoff,
    /// mu, lambda.
    NeoHookean,
    /// c1, c2, lambda.
    MooneyRivlin,
    /// mu.
    Polynomial,
    /// Scale; the lanes share the curves of one law.
    Spline,
}

impl PrincipalStretch {
    /// Lane form of a law, and its parameters.
    pub(crate) fn in_lanes(&self) -> (LaneLaw, [f64; PARAMETERS]) {
        match *self {
            Self::Corotated { mu, lambda } => (LaneLaw::Corotated, [mu, lambda, 0.0]),
            Self::StVenantKirchhoff { mu, lambda } => (LaneLaw::StVenantKirchhoff, [mu, lambda, 0.0]),
            Self::NeoHookean { mu, lambda } => (LaneLaw::NeoHookean, [mu, lambda, 0.0]),
            Self::MooneyRivlin { c1, c2, lambda } => (LaneLaw::MooneyRivlin, [c1, c2, lambda]),
            Self::Polynomial { mu } => (LaneLaw::Polynomial, [mu, 0.0, 0.0]),
            Self::Spline { scale, .. } => (LaneLaw::Spline, [scale, 0.0, 0.0]),
        }
    }

    /// The law with unit scale; lanes apply the scale.
    pub(crate) fn scaled_to_one(&self) -> Self {
        match self {
            Self::Spline { curves, .. } => Self::Spline { curves: curves.clone(), scale: 1.0 },
            other => other.clone(),
        }
    }

    /// Weighted mean of laws that share lanes; energies are linear in the parameters.
    pub(crate) fn mean<'a>(laws: impl Iterator<Item = (&'a Self, f64)> + Clone) -> Option<Self> {
        let total: f64 = laws.clone().map(|(_, weight)| weight).sum();
        let part = |parameter: usize| {
            laws.clone().map(|(law, weight)| weight / total * law.in_lanes().1[parameter]).sum::<f64>()
        };
        let parameters = std::array::from_fn(part);
        let (first, _) = laws.clone().next()?;
        laws.clone().all(|(law, _)| law.shares_lanes(first)).then(|| first.with_parameters(parameters))
    }

    /// The same law with other lane parameters.
    pub(crate) fn with_parameters(&self, [p, q, r]: [f64; PARAMETERS]) -> Self {
        match self {
            Self::Corotated { .. } => Self::Corotated { mu: p, lambda: q },
            Self::StVenantKirchhoff { .. } => Self::StVenantKirchhoff { mu: p, lambda: q },
            Self::NeoHookean { .. } => Self::NeoHookean { mu: p, lambda: q },
            Self::MooneyRivlin { .. } => Self::MooneyRivlin { c1: p, c2: q, lambda: r },
            Self::Polynomial { .. } => Self::Polynomial { mu: p },
            Self::Spline { curves, .. } => Self::Spline { curves: curves.clone(), scale: p },
        }
    }

    /// `true` if two laws differ only in lane parameters.
    pub(crate) fn shares_lanes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Spline { curves: a, .. }, Self::Spline { curves: b, .. }) => std::sync::Arc::ptr_eq(a, b),
            _ => self.in_lanes().0 == other.in_lanes().0,
        }
    }
}

/// Energy density of each lane; writes the stress. Matrices as in [`crate::math::polar`].
pub(crate) trait Evaluate: Copy {
    fn evaluate<S: Simd>(
        self,
        simd: S,
        f: &[S::f64s; 9],
        parameters: &[S::f64s; PARAMETERS],
        stress: &mut [S::f64s; 9],
    ) -> S::f64s;
}

/// `psi = mu |F - R|^2 + lambda / 2 tr^2(R'F - I)`.
#[derive(Clone, Copy)]
pub(crate) struct Corotated;
/// `psi = mu |E|^2 + lambda / 2 tr^2 E`, with the barrier.
#[derive(Clone, Copy)]
pub(crate) struct StVenantKirchhoff;
/// `psi = mu / 2 (|F|^2 - 3)` and the logarithms.
#[derive(Clone, Copy)]
pub(crate) struct NeoHookean;
/// `psi = c1 (|F|^2 - 3) + c2 (|cof F|^2 - 3)` and the logarithms.
#[derive(Clone, Copy)]
pub(crate) struct MooneyRivlin;
/// `psi = mu sum_i (s_i - 1)^4`.
#[derive(Clone, Copy)]
pub(crate) struct Polynomial;
/// Scaled stress curves of the law.
#[derive(Clone, Copy)]
pub(crate) struct Spline<'a>(pub(crate) &'a PrincipalStretch);

// Plain loops only from here on, as in `polar`.

impl Evaluate for Corotated {
    #[inline(always)]
    fn evaluate<S: Simd>(
        self,
        simd: S,
        f: &[S::f64s; 9],
        &[mu, lambda, _]: &[S::f64s; PARAMETERS],
        stress: &mut [S::f64s; 9],
    ) -> S::f64s {
        let r = rotations_in_lanes(simd, *f);
        let stretch = simd.sub_f64s(dot(simd, &r, f), simd.splat_f64s(3.0));
        let mut apart = *f;
        for e in 0..9 {
            apart[e] = simd.sub_f64s(f[e], r[e]);
        }
        let (shear, volume) = (simd.add_f64s(mu, mu), simd.mul_f64s(lambda, stretch));
        for e in 0..9 {
            stress[e] = simd.mul_add_e_f64s(shear, apart[e], simd.mul_f64s(volume, r[e]));
        }
        let half = simd.mul_f64s(simd.splat_f64s(0.5), volume);
        simd.mul_add_e_f64s(mu, dot(simd, &apart, &apart), simd.mul_f64s(half, stretch))
    }
}

impl Evaluate for StVenantKirchhoff {
    #[inline(always)]
    fn evaluate<S: Simd>(
        self,
        simd: S,
        f: &[S::f64s; 9],
        &[mu, lambda, _]: &[S::f64s; PARAMETERS],
        stress: &mut [S::f64s; 9],
    ) -> S::f64s {
        let half = simd.splat_f64s(0.5);
        // E = (F'F - I) / 2.
        let mut green = transpose_product(simd, f, f);
        for e in 0..9 {
            let unit = simd.splat_f64s(if e % 4 == 0 { 1.0 } else { 0.0 });
            green[e] = simd.mul_f64s(half, simd.sub_f64s(green[e], unit));
        }
        let trace = simd.add_f64s(green[0], simd.add_f64s(green[4], green[8]));
        let (shear, volume) = (simd.add_f64s(mu, mu), simd.mul_f64s(lambda, trace));
        let bent = multiply(simd, f, &green);
        let (barrier, slope, cofactor) = barrier(simd, f, simd.mul_add_e_f64s(half, lambda, mu));
        for e in 0..9 {
            let elastic = simd.mul_add_e_f64s(shear, bent[e], simd.mul_f64s(volume, f[e]));
            stress[e] = simd.mul_add_e_f64s(slope, cofactor[e], elastic);
        }
        let stretch = simd.mul_add_e_f64s(simd.mul_f64s(half, volume), trace, barrier);
        simd.mul_add_e_f64s(mu, dot(simd, &green, &green), stretch)
    }
}

/// Barrier against inversion, its derivative by J, and the cofactors of F; `stiffness` is
/// `mu + lambda / 2`.
#[inline(always)]
fn barrier<S: Simd>(simd: S, f: &[S::f64s; 9], stiffness: S::f64s) -> (S::f64s, S::f64s, [S::f64s; 9]) {
    let cofactor = cofactors(simd, f);
    let j = determinant(simd, f, &cofactor);
    let missing = simd.max_f64s(simd.sub_f64s(simd.splat_f64s(1.0), j), simd.splat_f64s(0.0));
    let missing = simd.mul_f64s(missing, simd.splat_f64s(1.0 / 6.0));
    let squared = simd.mul_f64s(simd.mul_f64s(stiffness, missing), missing);
    let slope = simd.mul_f64s(simd.splat_f64s(-BARRIER / 24.0), squared);
    (simd.mul_f64s(simd.splat_f64s(BARRIER / 12.0), simd.mul_f64s(squared, missing)), slope, cofactor)
}

#[inline(always)]
fn determinant<S: Simd>(simd: S, f: &[S::f64s; 9], cofactor: &[S::f64s; 9]) -> S::f64s {
    dot3(simd, [f[0], f[1], f[2]], [cofactor[0], cofactor[1], cofactor[2]])
}

impl Evaluate for NeoHookean {
    #[inline(always)]
    fn evaluate<S: Simd>(
        self,
        simd: S,
        f: &[S::f64s; 9],
        &[mu, lambda, _]: &[S::f64s; PARAMETERS],
        stress: &mut [S::f64s; 9],
    ) -> S::f64s {
        let cofactor = cofactors(simd, f);
        let (volume, slope) = logarithmic(simd, mu, lambda, determinant(simd, f, &cofactor));
        for e in 0..9 {
            stress[e] = simd.mul_add_e_f64s(slope, cofactor[e], simd.mul_f64s(mu, f[e]));
        }
        let grown = simd.sub_f64s(dot(simd, f, f), simd.splat_f64s(3.0));
        simd.mul_add_e_f64s(simd.mul_f64s(simd.splat_f64s(0.5), mu), grown, volume)
    }
}

impl Evaluate for MooneyRivlin {
    #[inline(always)]
    fn evaluate<S: Simd>(
        self,
        simd: S,
        f: &[S::f64s; 9],
        &[c1, c2, lambda]: &[S::f64s; PARAMETERS],
        stress: &mut [S::f64s; 9],
    ) -> S::f64s {
        let (three, two) = (simd.splat_f64s(3.0), simd.splat_f64s(2.0));
        let cofactor = cofactors(simd, f);
        let pull = simd.mul_f64s(two, simd.mul_add_e_f64s(two, c2, c1));
        let (volume, slope) = logarithmic(simd, pull, lambda, determinant(simd, f, &cofactor));
        let squares = dot(simd, f, f);
        // d |cof F|^2 / dF = 2 (|F|^2 F - F F'F).
        let cubic = multiply(simd, f, &transpose_product(simd, f, f));
        let along = simd.mul_f64s(two, simd.mul_add_e_f64s(c2, squares, c1));
        let bent = simd.mul_f64s(two, c2);
        for e in 0..9 {
            let elastic = simd.negate_mul_add_e_f64s(bent, cubic[e], simd.mul_f64s(along, f[e]));
            stress[e] = simd.mul_add_e_f64s(slope, cofactor[e], elastic);
        }
        let areas = simd.sub_f64s(dot(simd, &cofactor, &cofactor), three);
        let lengths = simd.sub_f64s(squares, three);
        simd.mul_add_e_f64s(c1, lengths, simd.mul_add_e_f64s(c2, areas, volume))
    }
}

/// `-pull ln J + lambda / 2 ln^2 J` and its derivative, continued below [`LEAST_VOLUME`] as a parabola.
#[inline(always)]
fn logarithmic<S: Simd>(simd: S, pull: S::f64s, lambda: S::f64s, j: S::f64s) -> (S::f64s, S::f64s) {
    let half = simd.splat_f64s(0.5);
    let at = simd.max_f64s(j, simd.splat_f64s(LEAST_VOLUME));
    let log = logarithm(simd, at);
    let inverse = simd.div_f64s(simd.splat_f64s(1.0), at);
    let slope = simd.mul_f64s(simd.sub_f64s(simd.mul_f64s(lambda, log), pull), inverse);
    let bend = simd.negate_mul_add_e_f64s(lambda, log, simd.add_f64s(lambda, pull));
    let bend = simd.mul_f64s(simd.mul_f64s(bend, inverse), inverse);
    let beyond = simd.sub_f64s(j, at);
    let value = simd.mul_f64s(simd.sub_f64s(simd.mul_f64s(simd.mul_f64s(half, lambda), log), pull), log);
    let parabola = simd.mul_f64s(beyond, simd.mul_add_e_f64s(simd.mul_f64s(half, beyond), bend, slope));
    (simd.add_f64s(value, parabola), simd.mul_add_e_f64s(beyond, bend, slope))
}

/// `ln x` for numbers from 1/2 on: the series of `2 atanh((x - 1) / (x + 1))`, or scalar code if a lane is
/// above 2.
#[inline(always)]
fn logarithm<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    if simd.reduce_max_f64s(x) > MOST {
        let mut lanes = [x];
        for lane in pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(&mut lanes) {
            *lane = lane.ln();
        }
        return lanes[0];
    }
    let one = simd.splat_f64s(1.0);
    logarithm_of::<S, TERMS>(simd, simd.div_f64s(simd.sub_f64s(x, one), simd.add_f64s(x, one)))
}

/// `ln((1 + q) / (1 - q))` of a quotient q, by the first terms of its series.
#[inline(always)]
pub(super) fn logarithm_of<S: Simd, const TERMS: usize>(simd: S, quotient: S::f64s) -> S::f64s {
    let square = simd.mul_f64s(quotient, quotient);
    let mut sum = simd.splat_f64s(1.0 / (2 * TERMS + 1) as f64);
    for term in 0..TERMS {
        let factor = simd.splat_f64s(1.0 / (2 * (TERMS - term) - 1) as f64);
        sum = simd.mul_add_e_f64s(square, sum, factor);
    }
    simd.mul_f64s(simd.add_f64s(quotient, quotient), sum)
}

impl Evaluate for Polynomial {
    #[inline(always)]
    fn evaluate<S: Simd>(
        self,
        simd: S,
        f: &[S::f64s; 9],
        &[mu, _, _]: &[S::f64s; PARAMETERS],
        stress: &mut [S::f64s; 9],
    ) -> S::f64s {
        let (mut u, mut v) = (*f, *f);
        let sigma = signed_svd_in_lanes(simd, *f, &mut u, &mut v);
        let (one, four) = (simd.splat_f64s(1.0), simd.splat_f64s(4.0));
        let mut density = simd.splat_f64s(0.0);
        let mut pulls = sigma;
        for i in 0..3 {
            let strain = simd.sub_f64s(sigma[i], one);
            let cubed = simd.mul_f64s(simd.mul_f64s(mu, strain), simd.mul_f64s(strain, strain));
            density = simd.mul_add_e_f64s(cubed, strain, density);
            pulls[i] = simd.mul_f64s(four, cubed);
        }
        compose(simd, &mut u, &pulls, &v, stress);
        density
    }
}

impl Evaluate for Spline<'_> {
    #[inline(always)]
    fn evaluate<S: Simd>(
        self,
        simd: S,
        f: &[S::f64s; 9],
        &[scale, _, _]: &[S::f64s; PARAMETERS],
        stress: &mut [S::f64s; 9],
    ) -> S::f64s {
        let (mut u, mut v) = (*f, *f);
        let mut pulls = signed_svd_in_lanes(simd, *f, &mut u, &mut v);
        let mut density = [simd.splat_f64s(0.0)];
        curves(
            self.0,
            pulp::bytemuck::cast_slice_mut(&mut pulls),
            pulp::bytemuck::cast_slice_mut(&mut density),
        );
        for pull in &mut pulls {
            *pull = simd.mul_f64s(scale, *pull);
        }
        compose(simd, &mut u, &pulls, &v, stress);
        simd.mul_f64s(scale, density[0])
    }
}

/// Replaces stretches, three registers, by the derivatives of the energy density of a law of scale 1; writes
/// the latter.
#[inline(never)]
fn curves(law: &PrincipalStretch, stretches: &mut [f64], density: &mut [f64]) {
    let lanes = density.len();
    for lane in 0..lanes {
        let jets = Jets::new(law, &std::array::from_fn::<f64, 3, _>(|i| stretches[i * lanes + lane]).into());
        let gradient = jets.gradient();
        (0..3).for_each(|i| stretches[i * lanes + lane] = gradient[i]);
        density[lane] = jets.density();
    }
}

/// `U diag(p) V'`; overwrites U.
#[inline(always)]
fn compose<S: Simd>(
    simd: S,
    u: &mut [S::f64s; 9],
    pulls: &[S::f64s; 3],
    v: &[S::f64s; 9],
    stress: &mut [S::f64s; 9],
) {
    for e in 0..9 {
        u[e] = simd.mul_f64s(u[e], pulls[e % 3]);
    }
    for e in 0..9 {
        let (i, j) = (e / 3, e % 3);
        stress[e] =
            dot3(simd, [u[3 * i], u[3 * i + 1], u[3 * i + 2]], [v[3 * j], v[3 * j + 1], v[3 * j + 2]]);
    }
}
