//! From coefficients to displacements, against their definition.

use jounce::Error;
use jounce_tests::bodies::{Body, bar, displacement, some_coefficients};

#[test]
fn the_projector_is_the_sum_of_its_modes() {
    let body = Body::new(bar([9, 5, 4], 0.1), 5, 2);
    let model = body.model();
    let z = some_coefficients(60, 0.4);
    let expected = displacement(&body, &z);
    let projector = model.projector(None).unwrap();
    let mut out = vec![0.0_f32; 3 * projector.point_count()];
    projector.displacement(&z, &mut out).unwrap();
    for (a, b) in out.iter().zip(expected.as_flattened()) {
        assert!((f64::from(*a) - b).abs() < 1e-6);
    }
    let points: Vec<[f64; 3]> = (0..37).map(|i| [0.02 * f64::from(i), 0.21, 0.17]).collect();
    let embedding = jounce::mesh::Embedding::new(&body.mesh, points.clone()).unwrap();
    let projector = model.projector(Some(&embedding)).unwrap();
    let mut out = vec![0.0_f32; 3 * points.len()];
    projector.displacement(&z, &mut out).unwrap();
    let weights: Vec<f64> = (0..body.mesh.vertices().len())
        .flat_map(|i| (0..5).map(move |k| (i, k)))
        .map(|(i, k)| body.modes.weights[(i, k)])
        .collect();
    let weights = embedding.interpolate(&body.mesh, &weights, 5).unwrap();
    for (i, x) in points.iter().enumerate() {
        for c in 0..3 {
            let row = |k: usize| &z[12 * k + 4 * c..][..4];
            let u: f64 = (0..5)
                .map(|k| weights[5 * i + k] * (row(k)[3] + (0..3).map(|d| row(k)[d] * x[d]).sum::<f64>()))
                .sum();
            assert!((f64::from(out[3 * i + c]) - u).abs() < 1e-6);
        }
    }
    assert!(matches!(projector.displacement(&z[1..], &mut out), Err(Error::Shape { .. })));
    assert!(matches!(projector.displacement(&z, &mut out[1..]), Err(Error::Shape { .. })));
}

#[test]
fn large_bodies_have_the_same_bits_on_any_number_of_threads() {
    let points: Vec<[f64; 3]> =
        (0..50_003).map(|i| [0.1 * f64::from(i % 97), 0.2 * f64::from(i % 31), 1.0]).collect();
    let weights = some_coefficients(3 * points.len(), 1.0);
    let projector = jounce::kinematics::Projector::new(&points, &weights, 3).unwrap();
    let on = |threads| {
        let mut out = vec![0.0; 3 * points.len()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| projector.displacement(&some_coefficients(36, 2.0), &mut out)).unwrap();
        out
    };
    assert_eq!(on(1), on(2));
    let (z, out) = (some_coefficients(36, 2.0), on(2));
    for (i, x) in points.iter().enumerate().step_by(331) {
        for c in 0..3 {
            let row = |k: usize| &z[12 * k + 4 * c..][..4];
            let u: f64 = (0..3)
                .map(|k| weights[3 * i + k] * (row(k)[3] + (0..3).map(|d| row(k)[d] * x[d]).sum::<f64>()))
                .sum();
            assert!((f64::from(out[3 * i + c]) - u).abs() < 1e-4, "{i}");
        }
    }
}
