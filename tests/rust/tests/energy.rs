//! Every energy's stress and Hessian, and the clustered energy with its blended rest shapes, against central
//! differences, for well-behaved, inverted and near-singular F.

use jounce::material::{Arap, Corotated, Energy};
use jounce_tests::bodies::{Body, Transform, compose, some_coefficients, turn};
use nalgebra::{Matrix3, Rotation3, SMatrix, Vector3};

const STEP: f64 = 1e-6;

fn deformations() -> Vec<(&'static str, Matrix3<f64>)> {
    let turn = |x, y, z| Rotation3::from_euler_angles(x, y, z).into_inner();
    let stretched = |a, b, c| {
        turn(0.3, -1.1, 2.0) * Matrix3::from_diagonal(&Vector3::new(a, b, c)) * turn(-0.7, 0.2, 0.9)
    };
    vec![
        ("rest", Matrix3::identity()),
        ("rotation", turn(0.4, 2.0, -1.0)),
        ("stretch", stretched(1.4, 0.8, 1.1)),
        ("shear", Matrix3::new(1.0, 0.5, 0.0, 0.0, 1.0, -0.3, 0.2, 0.0, 1.0)),
        ("inverted", stretched(1.2, 0.9, -0.4)),
        ("near-singular", stretched(1.1, 0.7, 1e-3)),
        ("nearly flat twice", stretched(1.0, 0.05, 0.02)),
        ("three-fold inverted", stretched(-1.3, -0.9, -0.5)),
    ]
}

fn check(name: &str, energy: impl Energy) {
    for (shape, f) in deformations() {
        let stress = energy.stress(&f);
        let hessian = energy.hessian(&f);
        let mut stress_differences = Matrix3::zeros();
        let mut hessian_differences = SMatrix::<f64, 9, 9>::zeros();
        for i in 0..9 {
            let (mut plus, mut minus) = (f, f);
            plus[i] += STEP;
            minus[i] -= STEP;
            stress_differences[i] = (energy.density(&plus) - energy.density(&minus)) / (2.0 * STEP);
            let column = (energy.stress(&plus) - energy.stress(&minus)) / (2.0 * STEP);
            hessian_differences.column_mut(i).copy_from_slice(column.as_slice());
        }
        let stress_error = (stress - stress_differences).norm() / (1.0 + stress.norm());
        let hessian_error = (hessian - hessian_differences).norm() / (1.0 + hessian.norm());
        assert!(stress_error < 1e-9, "{name}, {shape}: stress off by {stress_error:e}");
        assert!(hessian_error < 2e-8, "{name}, {shape}: Hessian off by {hessian_error:e}");
    }
}

#[test]
fn derivatives_match_finite_differences() {
    check("arap", Arap { mu: 1.3 });
    check("corotated", Corotated { mu: 1.3, lambda: 2.1 });
}

/// A decomposition by way of F'F would lose half the digits of the small singular value, and with them R.
#[test]
fn flat_shapes_keep_all_digits() {
    let turn = |x, y, z| Rotation3::from_euler_angles(x, y, z).into_inner();
    let (left, right) = (turn(0.3, -1.1, 2.0), turn(-0.7, 0.2, 0.9));
    for least in [1e-3, 1e-7, 1e-12, 0.0, -1e-12, -1e-7] {
        let f = left * Matrix3::from_diagonal(&Vector3::new(1.0, 0.5, least)) * right;
        let stress = Arap { mu: 0.5 }.stress(&f);
        assert!((f - stress - left * right).norm() < 1e-14, "{least:e}");
    }
}

#[test]
fn rotations_store_no_energy() {
    let rotation = Rotation3::from_euler_angles(1.0, -0.4, 2.5).into_inner();
    let energy = Corotated { mu: 1.0, lambda: 5.0 };
    assert!(energy.density(&rotation) < 1e-28);
    assert!(energy.stress(&rotation).norm() < 1e-14);
}

#[test]
fn the_hessian_at_a_shared_jump_stays_finite() {
    let f = Matrix3::from_diagonal(&Vector3::new(1.0, 0.5, -0.5));
    assert!(Arap { mu: 1.0 }.hessian(&f).iter().all(|x| x.is_finite()));
}

/// A pose that turns the body and stretches it by `least` along z: below 0 every deformation gradient is inverted.
fn stretched_pose(least: f64) -> [Transform; 2] {
    let stretch = [[1.2, 0.0, 0.0, 0.0], [0.0, 0.8, 0.0, 0.0], [0.0, 0.0, least, 0.1]];
    [0.3, 0.5].map(|angle| compose(&turn([0.2, 1.0, -0.4], angle, [0.4, 0.1, 0.1], [0.0; 3]), &stretch))
}

/// The clustered energy with rest shapes from bind to pose, on bodies that are turned inside out or nearly flat.
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
