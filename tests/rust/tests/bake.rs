//! Modal keys against their guarantees, and displacements pulled back through skinning.

use jounce::bake::{ModalKeys, modal_keys, pull_back};
use jounce::{Error, Progress};
use jounce_tests::bodies::turn;
use jounce_tests::reports::{cancelling, counted};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const POINTS: usize = 2500;
const FRAMES: usize = 30;

/// `rank` random shapes oscillating at different speeds, each half as large as the previous one.
fn frames(rank: usize) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let shapes: Vec<Vec<f64>> =
        (0..rank).map(|_| (0..3 * POINTS).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    let mut out = Vec::new();
    for frame in 0..FRAMES {
        for i in 0..3 * POINTS {
            let at =
                |r: usize| ((r + 1) as f64 * 0.4 * frame as f64 + r as f64).sin() * 0.5_f64.powi(r as i32);
            out.push((0..rank).map(|r| at(r) * shapes[r][i]).sum::<f64>() as f32);
        }
    }
    out
}

fn keys(frames: &[f32], tolerance: f64, most: usize) -> ModalKeys {
    modal_keys(frames, FRAMES, tolerance, most, &Progress::default()).unwrap()
}

fn measured_error(frames: &[f32], keys: &ModalKeys) -> f64 {
    let width = frames.len() / FRAMES;
    let mut largest: f64 = 0.0;
    for frame in 0..FRAMES {
        let values = &keys.values[frame * keys.count..(frame + 1) * keys.count];
        for point in 0..width / 3 {
            let distance2: f64 = (0..3)
                .map(|c| {
                    let place = 3 * point + c;
                    let sum: f64 = (0..keys.count)
                        .map(|j| f64::from(values[j]) * f64::from(keys.keys[j * width + place]))
                        .sum();
                    (f64::from(frames[frame * width + place]) - sum).powi(2)
                })
                .sum();
            largest = largest.max(distance2.sqrt());
        }
    }
    largest
}

#[test]
fn the_error_is_the_measured_one_and_within_tolerance() {
    let frames = frames(8);
    let mut last = 0;
    for tolerance in [2.0, 0.5, 0.1, 0.01, 1e-5] {
        let keys = keys(&frames, tolerance, FRAMES);
        assert!(keys.error <= tolerance);
        assert!((keys.error - measured_error(&frames, &keys)).abs() < 1e-9);
        assert!(keys.count >= last);
        last = keys.count;
    }
    assert_eq!(last, 8, "rank 8 needs eight keys");
}

#[test]
fn one_key_fewer_would_not_do() {
    let frames = frames(8);
    for tolerance in [0.5, 0.05] {
        let enough = keys(&frames, tolerance, FRAMES);
        let fewer = keys(&frames, tolerance, enough.count - 1);
        assert_eq!(fewer.count, enough.count - 1);
        assert!(fewer.error > tolerance);
    }
}

#[test]
fn values_lie_within_one_and_reach_it() {
    let keys = keys(&frames(8), 1e-4, FRAMES);
    for j in 0..keys.count {
        let column: Vec<f32> = (0..FRAMES).map(|i| keys.values[i * keys.count + j]).collect();
        assert!(column.iter().all(|v| v.abs() <= 1.0));
        assert!(column.contains(&1.0));
    }
}

#[test]
fn stillness_needs_no_keys() {
    let keys = keys(&vec![0.0; FRAMES * 30], 0.0, 5);
    assert_eq!((keys.count, keys.error), (0, 0.0));
    assert!(keys.keys.is_empty() && keys.values.is_empty());
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let frames = frames(8);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| keys(&frames, 0.01, FRAMES))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn the_search_for_keys_can_be_stopped_throughout() {
    let frames = frames(8);
    let find = |progress: &Progress| modal_keys(&frames, FRAMES, 0.01, FRAMES, progress);
    let (found, reports) = counted(find);
    // One report for each of sixteen parts, each block of points, and each number of keys that is tried.
    assert!(reports > 2 * 16 + 8, "{reports}");
    for at in 0..reports {
        assert_eq!(find(&cancelling(at)).err(), Some(Error::Cancelled), "at {at} of {reports}");
    }
    assert_eq!(find(&Progress::default()), found);
}

#[test]
fn bad_frames_are_refused() {
    let progress = Progress::default();
    let bake = |frames: &[f32], count, tolerance| modal_keys(frames, count, tolerance, 5, &progress).err();
    assert!(matches!(bake(&[], 0, 0.1), Some(Error::Empty { .. })));
    assert!(matches!(bake(&[0.0; 7], 1, 0.1), Some(Error::Shape { .. })));
    assert!(matches!(bake(&[0.0; 6], 1, -0.1), Some(Error::Range { .. })));
    assert!(matches!(bake(&[0.0; 6], 1, f64::NAN), Some(Error::Range { .. })));
    assert!(matches!(bake(&[0.0, f32::NAN, 0.0], 1, 0.1), Some(Error::NotFinite { element: 1, .. })));
    let stopped = Progress::default();
    stopped.cancel();
    assert!(matches!(modal_keys(&[0.0; 6], 1, 0.1, 5, &stopped), Err(Error::Cancelled)));
}

#[test]
fn pulled_back_and_skinned_is_the_displacement() {
    let pose = [
        turn([0.0, 0.0, 1.0], 0.8, [0.0; 3], [1.0, 2.0, 3.0]),
        turn([1.0, 0.0, 0.0], -1.2, [0.0; 3], [0.0; 3]),
    ];
    let blended = |[a, b]: [f64; 2]| -> [[f64; 3]; 3] {
        std::array::from_fn(|i| std::array::from_fn(|j| a * pose[0][i][j] + b * pose[1][i][j]))
    };
    let matrices = [[1.0, 0.0], [0.5, 0.5], [0.2, 0.8]].map(blended);
    let u = [0.3, -0.2, 0.1, 0.0, 0.5, -0.4, 0.2, 0.2, 0.2];
    let d = pull_back(&u, &matrices).unwrap();
    for v in 0..3 {
        for i in 0..3 {
            let skinned: f64 = (0..3).map(|j| matrices[v][i][j] * f64::from(d[3 * v + j])).sum();
            assert!((skinned - f64::from(u[3 * v + i])).abs() < 1e-6);
        }
    }
    assert_eq!(pull_back(&u, &[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]; 3]).unwrap(), u);
}

#[test]
fn collapsed_skinning_gives_the_least_squares_displacement() {
    let flat = [[2.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]];
    let nearly = [[2.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1e-9]];
    let line = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
    let gone = [[0.0; 3]; 3];
    let d = pull_back(&[1.0; 12], &[flat, nearly, line, gone]).unwrap();
    for (d, expected) in d.chunks(3).zip([[0.5, 2.0, 0.0], [0.5, 2.0, 0.0], [1.0 / 3.0, 0.0, 0.0], [0.0; 3]])
    {
        d.iter().zip(expected).for_each(|(d, e)| assert!((f64::from(*d) - e).abs() < 1e-6, "{d} {e}"));
    }
    // Nothing collapses, however small the character.
    let tiny = [[1e-5, 0.0, 0.0], [0.0, 1e-5, 0.0], [0.0, 0.0, 1e-5]];
    assert!((pull_back(&[1e-5; 3], &[tiny]).unwrap()[0] - 1.0).abs() < 1e-6);
}

#[test]
fn bad_displacements_are_refused() {
    let one = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert!(matches!(pull_back(&[0.0; 4], &[one]), Err(Error::Shape { .. })));
    assert!(matches!(pull_back(&[0.0, f32::NAN, 0.0], &[one]), Err(Error::NotFinite { .. })));
    assert!(matches!(pull_back(&[0.0; 3], &[[[f64::INFINITY; 3]; 3]]), Err(Error::NotFinite { .. })));
}
