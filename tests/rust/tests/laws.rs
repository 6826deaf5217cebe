//! Elastic laws against manual calculation: stress in uniaxial stretch, shear and dilation, moduli at rest,
//! the metric's stiffness, curves.

use std::sync::Arc;

use jounce::Error;
use jounce::material::{Energy, PrincipalStretch, StressCurve, StressCurves};
use jounce::math::SignedSvd;
use jounce_tests::laws::laws;
use nalgebra::{Matrix3, Rotation3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MU: f64 = 1.3;
const LAMBDA: f64 = 2.1;
const C1: f64 = 0.5;
const C2: f64 = 0.4;

const COROTATED: PrincipalStretch = PrincipalStretch::Corotated { mu: MU, lambda: LAMBDA };
const VENANT: PrincipalStretch = PrincipalStretch::StVenantKirchhoff { mu: MU, lambda: LAMBDA };
const HOOKEAN: PrincipalStretch = PrincipalStretch::NeoHookean { mu: MU, lambda: LAMBDA };
const RIVLIN: PrincipalStretch = PrincipalStretch::MooneyRivlin { c1: C1, c2: C2, lambda: LAMBDA };
const POLYNOMIAL: PrincipalStretch = PrincipalStretch::Polynomial { mu: MU };

/// Compares all entries of P.
fn expect(name: &str, law: &PrincipalStretch, f: Matrix3<f64>, stress: Matrix3<f64>) {
    let error = (law.stress(&f) - stress).norm();
    assert!(error < 1e-13 * (1.0 + stress.norm()), "{name} at {f}: {} instead of {stress}", law.stress(&f));
}

fn diagonal(x: f64, y: f64, z: f64) -> Matrix3<f64> {
    Matrix3::from_diagonal(&Vector3::new(x, y, z))
}

#[test]
fn stress_of_a_stretch_along_one_axis() {
    for s in [0.55, 0.8, 1.0, 1.3, 2.0] {
        let (f, log) = (diagonal(s, 1.0, 1.0), s.ln());
        let (along, across) = ((2.0 * MU + LAMBDA) * (s - 1.0), LAMBDA * (s - 1.0));
        expect("corotated", &COROTATED, f, diagonal(along, across, across));
        let green = 0.5 * (s * s - 1.0);
        let barrier =
            if s < 1.0 { 200.0 * (MU + 0.5 * LAMBDA) / 24.0 * ((1.0 - s) / 6.0).powi(2) } else { 0.0 };
        let across = LAMBDA * green - barrier * s;
        let along = s * (2.0 * MU + LAMBDA) * green - barrier;
        expect("St. Venant-Kirchhoff", &VENANT, f, diagonal(along, across, across));
        let (along, across) = (MU * (s - 1.0 / s) + LAMBDA * log / s, LAMBDA * log);
        expect("Neo-Hookean", &HOOKEAN, f, diagonal(along, across, across));
        let along = 2.0 * C1 * s + 4.0 * C2 * s + (LAMBDA * log - 2.0 * (C1 + 2.0 * C2)) / s;
        let across = 2.0 * C1 + 2.0 * C2 * (1.0 + s * s) + LAMBDA * log - 2.0 * (C1 + 2.0 * C2);
        expect("Mooney-Rivlin", &RIVLIN, f, diagonal(along, across, across));
        expect("polynomial", &POLYNOMIAL, f, diagonal(4.0 * MU * (s - 1.0).powi(3), 0.0, 0.0));
    }
}

#[test]
fn stress_of_a_simple_shear() {
    for amount in [-0.7_f64, 0.01, 0.4, 1.5] {
        let f = Matrix3::new(1.0, amount, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
        // The closest rotation is by half the shear, atan(amount / 2).
        let angle = -(0.5 * amount).atan();
        let r = Rotation3::from_axis_angle(&Vector3::z_axis(), angle).into_inner();
        let stretch: f64 = (r.transpose() * f).trace() - 3.0;
        expect("corotated", &COROTATED, f, 2.0 * MU * (f - r) + LAMBDA * stretch * r);
        let green = 0.5 * (f.transpose() * f - Matrix3::identity());
        expect(
            "St. Venant-Kirchhoff",
            &VENANT,
            f,
            f * (2.0 * MU * green + LAMBDA * green.trace() * Matrix3::identity()),
        );
        let inverse = Matrix3::new(1.0, 0.0, 0.0, -amount, 1.0, 0.0, 0.0, 0.0, 1.0);
        expect("Neo-Hookean", &HOOKEAN, f, MU * (f - inverse));
        let right = f.transpose() * f;
        let area = f * (right.trace() * Matrix3::identity() - right);
        let stress = 2.0 * C1 * f + 2.0 * C2 * area - 2.0 * (C1 + 2.0 * C2) * inverse;
        expect("Mooney-Rivlin", &RIVLIN, f, stress);
    }
}

#[test]
fn stress_of_a_dilation() {
    for s in [0.85, 1.0, 1.2, 1.8] {
        let (f, log) = (s * Matrix3::identity(), 3.0 * f64::ln(s));
        let all = |p: f64| p * Matrix3::identity();
        expect("corotated", &COROTATED, f, all((2.0 * MU + 3.0 * LAMBDA) * (s - 1.0)));
        let barrier = 200.0 * (MU + 0.5 * LAMBDA) / 24.0 * ((1.0 - s * s * s).max(0.0) / 6.0).powi(2);
        let green = (MU + 1.5 * LAMBDA) * s * (s * s - 1.0);
        expect("St. Venant-Kirchhoff", &VENANT, f, all(green - barrier * s * s));
        expect("Neo-Hookean", &HOOKEAN, f, all(MU * (s - 1.0 / s) + LAMBDA * log / s));
        let stress = 2.0 * C1 * s + 4.0 * C2 * s.powi(3) + (LAMBDA * log - 2.0 * (C1 + 2.0 * C2)) / s;
        expect("Mooney-Rivlin", &RIVLIN, f, all(stress));
        expect("polynomial", &POLYNOMIAL, f, all(4.0 * MU * (s - 1.0).powi(3)));
    }
}

/// Crushed and everted flesh resists with a force that grows at most like the compression: c is continued
/// as a parabola, c'(J) as a straight line.
#[test]
fn logarithms_go_on_as_parabolas_where_flesh_is_crushed() {
    let slope = (MU + LAMBDA * (1.0 - 0.5_f64.ln())) / 0.25;
    let start = (LAMBDA * 0.5_f64.ln() - MU) / 0.5;
    for j in [0.5, 0.3, 0.0, -1.0, -5.0] {
        let volume = start + slope * (j - 0.5);
        expect(
            "Neo-Hookean",
            &HOOKEAN,
            diagonal(1.0, 1.0, j),
            diagonal(MU + j * volume, MU + j * volume, MU * j + volume),
        );
    }
}

/// If a law did not distinguish a mirrored shape from its original, flesh would settle everted; every law's
/// energy falls towards rest.
#[test]
fn mirrored_shapes_are_pushed_back() {
    for (name, law) in laws() {
        for s in (0..20).map(|i| -0.05 * f64::from(i)) {
            let stress = law.stress(&diagonal(1.0, 1.0, s))[(2, 2)];
            assert!(stress < 0.0, "{name} at {s}: {stress}");
        }
    }
}

/// Young's modulus and Poisson's ratio of a thin bar under a small pull, with free sides.
#[test]
fn small_strains_have_the_moduli_of_hooke() {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    for (name, law) in laws() {
        let (lambda, mu) = law.lame();
        let strain = 1e-6;
        let pull = law.hessian(&Matrix3::identity());
        let poisson = lambda / (2.0 * (lambda + mu));
        if mu > 0.0 {
            let thinner =
                |nu: f64| law.stress(&diagonal(1.0 + strain, 1.0 - nu * strain, 1.0 - nu * strain)) / strain;
            let young = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
            let stress = thinner(poisson);
            assert!((stress[(0, 0)] - young).abs() < 1e-4 * young, "{name}: {stress} {young}");
            assert!(stress[(1, 1)].abs() < 1e-4 * young, "{name}: {stress}");
        }
        assert!(close(pull[(0, 0)], 2.0 * mu + lambda) && close(pull[(4, 0)], lambda), "{name}: {pull}");
        assert!(close(pull[(1, 1)], mu) && close(pull[(3, 1)], mu), "{name}: {pull}");
    }
    for law in [COROTATED, VENANT, HOOKEAN] {
        let (lambda, mu) = law.lame();
        assert!(close(lambda, LAMBDA) && close(mu, MU), "{law:?}: {lambda} {mu}");
    }
    let (lambda, mu) = RIVLIN.lame();
    assert!(close(lambda, LAMBDA + 4.0 * C2) && close(mu, 2.0 * (C1 + C2)));
    assert_eq!(POLYNOMIAL.lame(), (0.0, 0.0));
}

/// [QN eq. 10] on [0.5, 1.5], integrated by hand; St. Venant-Kirchhoff includes the barrier's part.
#[test]
fn the_metric_has_the_slope_of_the_best_line() {
    let barrier = 200.0 * (MU + 0.5 * LAMBDA) * 12.0 / 864.0 * 0.5_f64.powi(4) / 4.0;
    let log = |x: f64| x.ln();
    let shear = 12.0 * (log(3.0) - 11.0 / 12.0);
    let (end, start) = (1.5 * log(1.5) - 1.5, 0.5 * log(0.5) - 0.5);
    let volume = 12.0 * (end - start - 0.5 * (log(1.5).powi(2) - log(0.5).powi(2)));
    assert!((shear - 2.183).abs() < 5e-4 && (volume - 1.354).abs() < 5e-4, "{shear} {volume}");
    let expected = [
        (COROTATED, 2.0 * MU + LAMBDA),
        (VENANT, 2.15 * MU + 1.075 * LAMBDA + barrier),
        (HOOKEAN, shear * MU + volume * LAMBDA),
        (RIVLIN, 2.0 * shear * (C1 + 2.0 * C2) + volume * LAMBDA),
        (POLYNOMIAL, 0.6 * MU),
    ];
    for (law, slope) in expected {
        assert!((law.slope() - slope).abs() < 1e-8 * slope, "{law:?}: {} instead of {slope}", law.slope());
    }
}

#[test]
fn the_slope_of_curves_that_soften_is_still_positive() {
    let falling = StressCurve::new(&[[0.5, 1.0], [1.0, 0.0], [1.5, -3.0]]).unwrap();
    let curves = StressCurves::new(falling, StressCurve::zero(), StressCurve::zero()).unwrap();
    let slope = PrincipalStretch::Spline { curves: Arc::new(curves), scale: 1.0 }.slope();
    assert!(slope > 4e-3 && slope < 1e-2, "{slope}");
}

/// Curves sampled from a Neo-Hookean law reproduce it.
#[test]
fn drawn_curves_repeat_the_law_that_they_are_drawn_after() {
    let sample = |f: &dyn Fn(f64) -> f64| {
        let knots: Vec<[f64; 2]> = (0..=400).map(|i| 0.1 + 0.01 * f64::from(i)).map(|x| [x, f(x)]).collect();
        StressCurve::new(&knots).unwrap()
    };
    let (mu, lambda) = (1.0, LAMBDA / MU);
    let volume = sample(&|j| (lambda * j.ln() - mu) / j);
    let curves = StressCurves::new(sample(&|x| mu * x), StressCurve::zero(), volume).unwrap();
    let drawn = PrincipalStretch::Spline { curves: Arc::new(curves), scale: MU };
    for f in
        [diagonal(1.2, 0.9, 0.8), diagonal(0.8, 0.95, 1.0), diagonal(1.3, 1.2, 1.1), diagonal(1.0, 1.0, 0.7)]
    {
        let (stress, own) = (HOOKEAN.stress(&f), drawn.stress(&f));
        assert!((stress - own).norm() < 1e-6 * (1.0 + stress.norm()), "{stress} {own}");
        assert!((HOOKEAN.density(&f) - drawn.density(&f)).abs() < 1e-7, "{f}");
    }
    assert!((drawn.slope() - HOOKEAN.slope()).abs() < 1e-5 * drawn.slope());
}

#[test]
fn curves_are_smooth_and_go_on_straight() {
    let knots = [[0.2, -2.0], [0.6, -0.7], [1.0, 0.2], [1.3, 0.9], [2.0, 3.0]];
    let curve = StressCurve::new(&knots).unwrap();
    for [x, stress] in knots {
        let (before, after) = (curve.at(x - 1e-9), curve.at(x + 1e-9));
        assert!((curve.at(x)[1] - stress).abs() < 1e-15);
        (0..3).for_each(|order| assert!((before[order] - after[order]).abs() < 1e-7, "{x}, {order}"));
        let bend = |at: f64| (curve.at(at + 1e-5)[2] - curve.at(at)[2]) / 1e-5;
        assert!((bend(x - 2e-5) - bend(x + 1e-5)).abs() < 3e-3, "{x}: {} {}", bend(x - 2e-5), bend(x + 1e-5));
    }
    assert_eq!(curve.at(1.0)[0], 0.0);
    for [start, end] in [[-3.0, 0.2], [2.0, 9.0]] {
        assert!((curve.at(start)[2] - curve.at(end)[2]).abs() < 1e-12);
    }
    for x in [-1.0, 0.3, 0.9, 1.1, 1.9, 4.0] {
        let slope = (curve.at(x + 1e-6)[0] - curve.at(x - 1e-6)[0]) / 2e-6;
        assert!((slope - curve.at(x)[1]).abs() < 1e-8, "{x}");
    }
}

#[test]
fn curves_that_are_none_are_refused() {
    let range = |what: &str, error: Error| {
        assert!(matches!(&error, Error::Range { what: w, .. } if *w == what), "{error}")
    };
    assert!(matches!(StressCurve::new(&[[1.0, 0.0]]).unwrap_err(), Error::Shape { .. }));
    assert!(matches!(
        StressCurve::new(&[[1.0, 0.0], [2.0, f64::NAN]]).unwrap_err(),
        Error::NotFinite { element: 1, .. }
    ));
    range("knots", StressCurve::new(&[[1.0, 0.0], [1.0, 1.0]]).unwrap_err());
    let line = |offset: f64| StressCurve::new(&[[0.0, offset - 1.0], [2.0, offset + 1.0]]).unwrap();
    range("curves", StressCurves::new(line(0.1), StressCurve::zero(), StressCurve::zero()).unwrap_err());
    assert!(StressCurves::new(line(0.2), line(-0.1), StressCurve::zero()).is_ok());
}

/// `F = U diag(sigma) V'` with rotations, for any F.
#[test]
fn signed_singular_values_make_the_matrix_again() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut cases: Vec<Matrix3<f64>> =
        (0..2000).map(|_| Matrix3::from_fn(|_, _| rng.random_range(-1.0..1.0))).collect();
    let turn = |a: f64| Rotation3::from_euler_angles(a, 2.0 * a, -a).into_inner();
    let values = [
        [1.0, 1.0, 1.0],
        [1.0, 1.0, -1.0],
        [2.0, 1.0, 1.0],
        [1.0, 1e-9, -1e-9],
        [1.0, 0.0, 0.0],
        [1e-200, 1e-200, 0.0],
    ];
    cases.extend(values.map(|[x, y, z]| turn(0.7) * diagonal(x, y, z) * turn(-0.4)));
    cases.extend([
        Matrix3::zeros(),
        Matrix3::identity(),
        diagonal(1e150, 1.0, -3.0),
        diagonal(-1.0, -1.0, -1.0),
    ]);
    for f in cases {
        let SignedSvd { u, sigma, v } = SignedSvd::new(&f);
        let again = u * Matrix3::from_diagonal(&sigma) * v.transpose();
        assert!((again - f).norm() <= 3e-15 * f.norm(), "{f} {again}");
        for r in [u, v] {
            assert!((r.transpose() * r - Matrix3::identity()).norm() < 1e-14, "{r}");
            assert!((r.determinant() - 1.0).abs() < 1e-14, "{r}");
        }
        let [x, y, z] = [sigma.x, sigma.y, sigma.z];
        let least = [x + y, x + z, y + z].into_iter().fold(f64::INFINITY, f64::min);
        assert!(least >= -3e-15 * f.norm(), "{f}: only the smallest may be negative, {sigma}");
    }
}
