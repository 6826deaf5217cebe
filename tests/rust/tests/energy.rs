//! Stress and Hessian of every energy, and the clustered energy with its blended rest shapes, against
//! central differences, for well-behaved, equal, flat, mirrored and inverted F.

use jounce::material::{Energy, Fibre, Hessian, PrincipalStretch, StretchLimit};
use jounce_tests::bodies::{Body, Transform, compose, some_coefficients, turn};
use jounce_tests::laws::{drawn, laws};
use nalgebra::{Matrix3, Rotation3, SymmetricEigen, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const STEP: f64 = 1e-6;
const VENANT: &str = "St. Venant-Kirchhoff";

fn rotation(x: f64, y: f64, z: f64) -> Matrix3<f64> {
    Rotation3::from_euler_angles(x, y, z).into_inner()
}

/// A deformation gradient of given signed singular values, in a generic orientation.
fn stretched(values: [f64; 3]) -> Matrix3<f64> {
    rotation(0.3, -1.1, 2.0) * Matrix3::from_diagonal(&Vector3::from(values)) * rotation(-0.7, 0.2, 0.9)
}

/// Deformation gradients at which every law is smooth.
fn deformations() -> Vec<(String, Matrix3<f64>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let random = |i| (format!("random {i}"), Matrix3::from_fn(|_, _| rng.random_range(-1.5..1.5)));
    let mut cases: Vec<_> = (0..20).map(random).collect();
    let shear = Matrix3::new(1.0, 0.5, 0.0, 0.0, 1.0, -0.3, 0.2, 0.0, 1.0);
    let named = [
        ("rest", Matrix3::identity()),
        ("rotation", rotation(0.4, 2.0, -1.0)),
        ("stretch", stretched([1.4, 0.8, 1.1])),
        ("shear", shear),
        ("two equal", stretched([1.3, 0.7, 1.3])),
        ("two nearly equal", stretched([1.3, 0.7, 1.3 + 1e-7])),
        ("three equal", stretched([0.8; 3])),
        ("inverted", stretched([1.2, 0.9, -0.4])),
        ("flat", stretched([1.1, 0.7, 0.0])),
        ("flat but for rounding", stretched([1.1, 0.7, 1e-9])),
        ("mirrored but for rounding", stretched([1.1, 0.7, -1e-9])),
        ("near-singular", stretched([1.1, 0.7, 1e-3])),
        ("nearly flat twice", stretched([1.0, 0.05, 0.02])),
        ("three-fold inverted", stretched([-1.3, -0.9, -0.5])),
    ];
    cases.extend(named.map(|(name, f)| (name.to_owned(), f)));
    cases
}

/// Deformation gradients at which the closest rotation is discontinuous, and with it the stress of some
/// laws.
fn jumps() -> Vec<Matrix3<f64>> {
    [[1.0, 1.0, -1.0], [1.0, 0.5, -0.5], [1.0, 1e-9, -1e-9], [1.0, 0.0, 0.0], [0.0; 3], [-0.5; 3]]
        .into_iter()
        .flat_map(|values| [Matrix3::from_diagonal(&Vector3::from(values)), stretched(values)])
        .collect()
}

fn stress_differences(energy: &impl Energy, f: &Matrix3<f64>) -> Matrix3<f64> {
    let at = |i: usize, step: f64| {
        let mut f = *f;
        f[i] += step;
        energy.density(&f)
    };
    let mut differences = Matrix3::zeros();
    (0..9).for_each(|i| differences[i] = (at(i, STEP) - at(i, -STEP)) / (2.0 * STEP));
    differences
}

fn hessian_differences(energy: &impl Energy, f: &Matrix3<f64>) -> Hessian {
    let at = |i: usize, step: f64| {
        let mut f = *f;
        f[i] += step;
        energy.stress(&f)
    };
    let mut differences = Hessian::zeros();
    for i in 0..9 {
        let column = (at(i, STEP) - at(i, -STEP)) / (2.0 * STEP);
        differences.column_mut(i).copy_from_slice(column.as_slice());
    }
    differences
}

fn check(name: &str, energy: &impl Energy, f: &Matrix3<f64>) {
    let (stress, hessian) = (energy.stress(f), energy.hessian(f));
    let stress_error = (stress - stress_differences(energy, f)).norm() / (1.0 + stress.norm());
    let hessian_error = (hessian - hessian_differences(energy, f)).norm() / (1.0 + hessian.norm());
    assert!(stress_error < 3e-9, "{name}: stress off by {stress_error:e}");
    // The barrier's third derivative jumps at volume 1.
    let kink = if name.starts_with(VENANT) && (f.determinant() - 1.0).abs() < STEP { 1e-7 } else { 0.0 };
    assert!(hessian_error < 2e-8 + kink, "{name}: Hessian off by {hessian_error:e}");
}

/// The closest semidefinite matrix, by a dense eigensolver.
fn projected(hessian: &Hessian) -> Hessian {
    let eigen = SymmetricEigen::new(*hessian);
    let kept = eigen.eigenvalues.map(|value| value.max(0.0));
    eigen.eigenvectors * Hessian::from_diagonal(&kept) * eigen.eigenvectors.transpose()
}

#[test]
fn derivatives_match_finite_differences() {
    for (law, energy) in laws() {
        for (shape, f) in deformations() {
            check(&format!("{law}, {shape}"), &energy, &f);
        }
    }
}

/// Laws whose energy is smooth in F have no jumps: mirrored and doubly flat shapes are like any other.
#[test]
fn smooth_laws_are_right_where_rotations_jump() {
    for (law, energy) in laws() {
        if matches!(energy, PrincipalStretch::Corotated { .. } | PrincipalStretch::Polynomial { .. })
            || law == drawn()
        {
            continue;
        }
        for f in jumps() {
            check(&format!("{law}, {f}"), &energy, &f);
        }
    }
}

#[test]
fn definite_hessians_are_the_closest_and_finite_everywhere() {
    for (law, energy) in laws() {
        for (shape, f) in deformations() {
            let (hessian, definite) = (energy.hessian(&f), energy.definite_hessian(&f));
            let error = (definite - projected(&hessian)).norm() / (1.0 + hessian.norm());
            assert!(error < 1e-12, "{law}, {shape}: {error:e}");
        }
        for f in jumps() {
            let (stress, definite) = (energy.stress(&f), energy.definite_hessian(&f));
            assert!(stress.iter().chain(definite.iter()).all(|x| x.is_finite()), "{law}, {f}");
            let least = SymmetricEigen::new(definite).eigenvalues.min();
            assert!(least >= -1e-12 * definite.norm(), "{law}, {f}: {least:e}");
        }
    }
}

/// A decomposition via F'F would lose half the digits of the small singular value, and with them R.
#[test]
fn flat_shapes_keep_all_digits() {
    let (left, right) = (rotation(0.3, -1.1, 2.0), rotation(-0.7, 0.2, 0.9));
    for least in [1e-3, 1e-7, 1e-12, 0.0, -1e-12, -1e-7] {
        let f = left * Matrix3::from_diagonal(&Vector3::new(1.0, 0.5, least)) * right;
        let stress = PrincipalStretch::Corotated { mu: 0.5, lambda: 0.0 }.stress(&f);
        assert!((f - stress - left * right).norm() < 1e-14, "{least:e}");
    }
}

#[test]
fn rotations_store_no_energy() {
    let turned = rotation(1.0, -0.4, 2.5);
    for (law, energy) in laws() {
        assert!(energy.density(&turned).abs() < 1e-14, "{law}: {:e}", energy.density(&turned));
        assert!(energy.stress(&turned).norm() < 2e-14, "{law}: {:e}", energy.stress(&turned).norm());
    }
}

/// Laws are independent of the orientation of the body and of the material at rest.
#[test]
fn laws_are_isotropic_and_turn_with_the_body() {
    let (left, right) = (rotation(0.5, 1.0, -0.3), rotation(-2.0, 0.1, 0.6));
    for (law, energy) in laws() {
        for (shape, f) in deformations() {
            let turned = left * f * right;
            let stress = left * energy.stress(&f) * right;
            let missed = (energy.stress(&turned) - stress).norm() / (1.0 + stress.norm());
            let stored =
                (energy.density(&turned) - energy.density(&f)).abs() / (1.0 + energy.density(&f).abs());
            assert!(missed < 1e-12 && stored < 1e-13, "{law}, {shape}: {missed:e} {stored:e}");
        }
    }
}

#[test]
fn fibres_match_finite_differences_and_stay_finite_where_they_vanish() {
    let direction = Vector3::new(1.0, -2.0, 0.5).normalize();
    for relaxed in [1.0, 0.7] {
        let fibre = Fibre { stiffness: 2.5, direction: direction.into(), relaxed };
        for (shape, f) in deformations() {
            check(&format!("fibre of {relaxed}, {shape}"), &fibre, &f);
            let error = (fibre.definite_hessian(&f) - projected(&fibre.hessian(&f))).norm();
            assert!(error < 1e-12 * (1.0 + fibre.hessian(&f).norm()), "{shape}: {error:e}");
        }
        let across = Matrix3::identity() - direction * direction.transpose();
        for f in [across, Matrix3::zeros()] {
            assert!(fibre.stress(&f).norm() < 1e-15);
            assert!(fibre.hessian(&f).iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn limits_of_stretch_match_finite_differences_and_stay_finite_where_rotations_jump() {
    // Weakly active, clearly active, and far beyond.
    for limit in [2.0, 1.0, 0.6, 0.1] {
        let energy = StretchLimit { stiffness: 1.7, limit };
        for (shape, f) in deformations() {
            check(&format!("limit {limit}, {shape}"), &energy, &f);
            let hessian = energy.hessian(&f);
            let error = (energy.definite_hessian(&f) - projected(&hessian)).norm();
            assert!(error < 1e-12 * (1.0 + hessian.norm()), "limit {limit}, {shape}: {error:e}");
        }
        for f in jumps() {
            assert!(energy.density(&f).is_finite() && energy.hessian(&f).iter().all(|x| x.is_finite()));
        }
    }
}

/// The energy is zero up to half the limit, in any direction, and then grows ever more steeply.
#[test]
fn limits_of_stretch_are_felt_from_half_of_them_on() {
    let energy = StretchLimit { stiffness: 2.0, limit: 0.4 };
    for direction in [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.5, -0.7, 0.1]] {
        let unit = Vector3::from(direction).normalize();
        let at = |length: f64| stretched((Vector3::from([1.0; 3]) + length * unit).into());
        assert_eq!((energy.density(&at(0.1999)), energy.stress(&at(0.1999)).norm()), (0.0, 0.0));
        assert!(energy.density(&at(0.2001)) > 0.0 && energy.stress(&at(0.2001)).norm() > 0.0);
        let pull = |length: f64| energy.stress(&at(length)).norm();
        let rises: Vec<f64> = [0.22, 0.26, 0.3, 0.34].map(|length| pull(length + 0.01) - pull(length)).into();
        assert!(rises.is_sorted() && rises[0] > 0.0, "{rises:?}");
        // phi'(3/4) by hand: t = 1/2.
        let slope = 2.0 * (0.5 + 2.0_f64.ln());
        assert!((pull(0.3) - 2.0 * 0.4 * slope).abs() < 1e-12, "{}", pull(0.3));
    }
}

/// Only stretch along the fibre pulls; a contracted fibre pulls at rest.
#[test]
fn fibres_resist_stretch_along_them_alone() {
    let fibre = Fibre { stiffness: 50.0, direction: [0.0, 1.0, 0.0], relaxed: 1.0 };
    let of = |values: [f64; 3]| Matrix3::from_diagonal(&Vector3::from(values));
    assert_eq!(fibre.stress(&of([1.7, 1.0, 0.4])), Matrix3::zeros());
    assert!((fibre.stress(&of([1.0, 1.2, 1.0])) - of([0.0, 10.0, 0.0])).norm() < 1e-13);
    let contracted = Fibre { relaxed: 0.8, ..fibre };
    assert!((contracted.stress(&Matrix3::identity()) - of([0.0, 10.0, 0.0])).norm() < 1e-13);
}

/// A pose that rotates the body and stretches it by `least` along z: below 0 every deformation gradient is
/// inverted.
fn stretched_pose(least: f64) -> [Transform; 2] {
    let stretch = [[1.2, 0.0, 0.0, 0.0], [0.0, 0.8, 0.0, 0.0], [0.0, 0.0, least, 0.1]];
    [0.3, 0.5].map(|angle| compose(&turn([0.2, 1.0, -0.4], angle, [0.4, 0.1, 0.1], [0.0; 3]), &stretch))
}

/// The clustered energy with rest shapes from bind to pose, on bodies that are inverted or nearly flat.
#[test]
fn blended_rest_shapes_match_finite_differences_where_inverted_and_near_singular() {
    for model in Body::bars().map(|body| body.reduced()) {
        let cases =
            [-0.5, -1e-2, 1e-3, 0.5].into_iter().flat_map(|least| [0.0, 0.4, 1.0].map(|a| (least, a)));
        for (least, pose_rest) in cases {
            let (pose, z) = (stretched_pose(least), some_coefficients(48, 0.02));
            let linear = |bone: &Transform| Matrix3::from_fn(|i, j| bone[i][j]);
            assert!(pose.iter().all(|bone| linear(bone).determinant() * least > 0.0));
            let (_, gradient) = model.elastic_energy(&z, Some(&pose), pose_rest).unwrap();
            let norm = gradient.iter().fold(1.0, |a: f64, g| a.max(g.abs()));
            for i in 0..z.len() {
                let at = |steps: f64| {
                    let mut z = z.clone();
                    z[i] += steps * 1e-5;
                    model.elastic_energy(&z, Some(&pose), pose_rest).unwrap().0
                };
                let difference = (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / 12e-5;
                let error = (difference - gradient[i]).abs() / norm;
                assert!(error < 1e-6, "stretch {least}, pose_rest {pose_rest}, coefficient {i}: {error:e}");
            }
        }
    }
}
