//! Helper bones: recovery of motions made by such bones, and every rejected input.

use jounce::bake::{HelperBones, HelperSettings, helper_bones};
use jounce::{Error, Progress};
use jounce_tests::bodies::turn;

const FRAMES: usize = 24;
const AXIS: [f64; 3] = [0.2, 1.0, 0.4];
const SETTINGS: HelperSettings = HelperSettings { count: 2, influences: 4, passes: 30 };

struct Scene {
    points: Vec<[f64; 3]>,
    frames: Vec<f32>,
    given: Vec<[[f64; 4]; 3]>,
    weights: Vec<f64>,
}

/// A bar on one bone that rotates; two blobs on it swing independently, fading into the bar.
fn scene(swing: f64) -> Scene {
    let (mut points, mut shares) = (Vec::new(), Vec::new());
    for i in 0..40 {
        for j in 0..16 {
            let angle = f64::from(j) * std::f64::consts::TAU / 16.0;
            let x = f64::from(i) / 10.0;
            points.push([x, 0.3 * angle.cos(), 0.3 * angle.sin()]);
            shares.push([1.0, 3.0].map(|at: f64| (1.0 - 2.0 * (x - at).abs()).max(0.0)));
        }
    }
    let (mut frames, mut given) = (Vec::new(), Vec::new());
    for frame in 0..FRAMES {
        let time = frame as f64;
        let bone = turn(AXIS, 0.1 * time, [0.0; 3], [time, 0.0, 0.0]);
        let mut helpers =
            [turn(AXIS, 0.1 * time + swing * (0.9 * time).sin(), [0.0; 3], [time, 0.0, 0.0]); 2];
        helpers[1] = bone;
        helpers[1][2][3] += 0.5 * swing * (0.5 * time).cos();
        given.push(bone);
        for (point, share) in points.iter().zip(&shares) {
            let by = [(1.0 - share[0] - share[1], &bone), (share[0], &helpers[0]), (share[1], &helpers[1])];
            for c in 0..3 {
                let at = |t: &[[f64; 4]; 3]| (0..3).map(|k| t[c][k] * point[k]).sum::<f64>() + t[c][3];
                frames.push(by.iter().map(|(w, t)| w * at(t)).sum::<f64>() as f32);
            }
        }
    }
    let weights = vec![1.0; points.len()];
    Scene { points, frames, given, weights }
}

fn fit(scene: &Scene, settings: HelperSettings) -> HelperBones {
    let Scene { points, frames, given, weights } = scene;
    helper_bones(points, frames, given, weights, settings, &Progress::default()).unwrap()
}

/// Root mean square distance of the given skinning alone, fitted with bones that may not take any weight.
fn without(scene: &Scene) -> f64 {
    let count = scene.points.len();
    let mut sum = 0.0;
    for (frame, bone) in scene.given.iter().enumerate() {
        for (i, point) in scene.points.iter().enumerate() {
            for c in 0..3 {
                let at = (0..3).map(|k| bone[c][k] * point[k]).sum::<f64>() + bone[c][3];
                sum += (at - f64::from(scene.frames[3 * (frame * count + i) + c])).powi(2);
            }
        }
    }
    (sum / (count * FRAMES) as f64).sqrt()
}

#[test]
fn what_helper_bones_made_they_find_again() {
    let scene = scene(0.3);
    let found = fit(&scene, SETTINGS);
    let before = without(&scene);
    assert!(found.rms < 0.02 * before, "rms {} of {before}", found.rms);
    assert!(found.rms <= found.error && found.error < before);
}

#[test]
fn weights_are_few_positive_and_sum_to_one() {
    let found = fit(&scene(0.3), HelperSettings { influences: 2, ..SETTINGS });
    for row in found.weights.chunks(3) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(row.iter().all(|&w| w >= 0.0));
        assert!(row.iter().filter(|&&w| w > 0.0).count() <= 2);
    }
}

#[test]
fn more_passes_are_never_worse() {
    let scene = scene(0.3);
    let errors = [0, 1, 3, 9].map(|passes| fit(&scene, HelperSettings { passes, ..SETTINGS }).rms);
    assert!(errors.is_sorted_by(|a, b| a >= b), "{errors:?}");
    assert!(errors[0] <= without(&scene));
}

#[test]
fn a_body_without_motion_of_its_own_needs_none() {
    let found = fit(&scene(0.0), SETTINGS);
    // Rounding of positions up to 24 m in single precision.
    assert!(found.error < 5e-6, "{}", found.error);
    assert!(found.transforms.as_flattened().as_flattened().iter().all(|x| x.is_finite()));
}

#[test]
fn helper_bones_are_rigid() {
    for [x, y, z] in fit(&scene(0.3), SETTINGS).transforms {
        for (a, b, expected) in [(x, x, 1.0), (y, y, 1.0), (z, z, 1.0), (x, y, 0.0), (y, z, 0.0)] {
            let dot: f64 = (0..3).map(|c| a[c] * b[c]).sum();
            assert!((dot - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let good = scene(0.3);
    let run = |scene: &Scene, settings| {
        let Scene { points, frames, given, weights } = scene;
        helper_bones(points, frames, given, weights, settings, &Progress::default()).unwrap_err()
    };
    assert!(matches!(
        run(&good, HelperSettings { count: 0, ..SETTINGS }),
        Error::Range { what: "count", .. }
    ));
    let zero = HelperSettings { influences: 0, ..SETTINGS };
    assert!(matches!(run(&good, zero), Error::Range { what: "influences", .. }));
    let mut bad = scene(0.3);
    bad.weights[7] = 0.5;
    assert!(matches!(run(&bad, SETTINGS), Error::WeightSum { vertex: 7, .. }));
    bad.weights[7] = f64::NAN;
    assert!(matches!(run(&bad, SETTINGS), Error::NotFinite { what: "weights", element: 7, .. }));
    bad.frames.pop();
    assert!(matches!(run(&bad, SETTINGS), Error::Shape { what: "frames", .. }));
    bad = scene(0.3);
    bad.given.pop();
    assert!(matches!(run(&bad, SETTINGS), Error::Shape { what: "transforms", .. }));
    bad.points.clear();
    assert!(matches!(run(&bad, SETTINGS), Error::Empty { what: "points" }));
}
