//! Batched polar rotations against faer's singular value decomposition.

use jounce::math::polar::{Matrix, rotations};
use jounce_tests::rotations::{decomposed, rotation};
use nalgebra::{Matrix3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Entries uniform in [-1, 1].
fn random_matrix(rng: &mut ChaCha8Rng) -> Matrix3<f64> {
    Matrix3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

fn random_rotation(rng: &mut ChaCha8Rng) -> Matrix3<f64> {
    rotation(&random_matrix(rng))
}

fn polar(matrices: &[Matrix3<f64>]) -> Vec<Matrix3<f64>> {
    let packed: Vec<Matrix> = matrices.iter().map(|m| std::array::from_fn(|e| m[(e / 3, e % 3)])).collect();
    let mut out = vec![[0.0; 9]; packed.len()];
    rotations(&packed, &mut out);
    out.iter().map(|r| Matrix3::from_row_slice(r)).collect()
}

/// Checks an error below 1e-12 in R where it is unique, in `tr(R'F)` everywhere, and that R is a rotation
/// to 1e-14.
fn check(matrices: &[Matrix3<f64>]) {
    for (f, r) in matrices.iter().zip(polar(matrices)) {
        let size = f.norm();
        assert!((r.transpose() * r - Matrix3::identity()).norm() < 1e-14, "not orthogonal for {f}");
        assert!((r.determinant() - 1.0).abs() < 1e-14, "not a rotation for {f}");
        if size == 0.0 {
            continue;
        }
        let (expected, largest, gap) = decomposed(f);
        let reached = (r.transpose() * f).trace();
        assert!(((reached - largest) / size).abs() < 1e-12, "{reached} instead of {largest} for {f}");
        let tolerance = 1e-12_f64.max(2e-14 * size / gap);
        if gap / size > 1e-10 {
            assert!((r - expected).norm() < tolerance, "error {} gap {}", (r - expected).norm(), gap / size);
        }
    }
}

/// `U diag(s) V'` with random rotations U, V.
fn with_singular_values(rng: &mut ChaCha8Rng, s: [f64; 3]) -> Matrix3<f64> {
    random_rotation(rng) * Matrix3::from_diagonal(&Vector3::from(s)) * random_rotation(rng)
}

#[test]
fn random_and_inverted() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let matrices: Vec<_> = (0..20_001).map(|_| random_matrix(&mut rng)).collect();
    assert!(matrices.iter().any(|m| m.determinant() < -0.1));
    check(&matrices);
}

#[test]
fn near_rotations() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let matrices: Vec<_> = (0..4_000)
        .map(|i| random_rotation(&mut rng) + random_matrix(&mut rng) * 10.0_f64.powi(-(i % 17)))
        .collect();
    check(&matrices);
}

#[test]
fn degenerate() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut matrices =
        vec![Matrix3::zeros(), Matrix3::identity(), -Matrix3::identity(), Matrix3::repeat(1.0)];
    for exponent in 0..18 {
        let small = 10.0_f64.powi(-exponent);
        for s in [
            [1.0, 1.0, small],
            [1.0, 1.0, -small],
            [1.0, small, small],
            [1.0, small, -small],
            [1.0, small, 0.0],
            [1.0, 1.0, -1.0 + small],
            [1.0, 0.5, -0.5 + small],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
        ] {
            matrices.push(with_singular_values(&mut rng, s));
        }
    }
    for axis in 0..3 {
        let mut flat = Matrix3::zeros();
        flat[(axis, axis)] = 1.0;
        matrices.push(flat);
        matrices.push(-flat);
    }
    check(&matrices);
}

#[test]
fn scales() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let matrices: Vec<_> = (-300..300).map(|e| random_matrix(&mut rng) * 10.0_f64.powi(e)).collect();
    let unscaled: Vec<_> = matrices.iter().map(|m| m / m.amax()).collect();
    for (a, (b, f)) in polar(&matrices).iter().zip(polar(&unscaled).iter().zip(&unscaled)) {
        let gap = decomposed(f).2;
        assert!((a - b).norm() < 1e-12_f64.max(1e-14 / gap), "{a} {b}");
    }
}

#[test]
fn not_finite_gives_the_identity() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut f = Matrix3::identity() * 2.0;
        f[(1, 2)] = bad;
        assert_eq!(polar(&[f])[0], Matrix3::identity());
    }
}

#[test]
fn a_lane_does_not_see_its_neighbours() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let matrices: Vec<_> =
        (0..50)
            .map(|i| {
                if i % 3 == 0 {
                    Matrix3::zeros()
                } else {
                    Matrix3::identity() + 0.3 * random_matrix(&mut rng)
                }
            })
            .collect();
    let together = polar(&matrices);
    for (f, r) in matrices.iter().zip(&together) {
        assert!((polar(&[*f])[0] - r).norm() < 1e-14);
    }
}
