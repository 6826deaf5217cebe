//! Handles on a mesh: weights, spanned motions, and positions.

use jounce::mesh::{TetMesh, lattice};
use jounce::subspace::Handles;
use jounce::{Error, Progress};
use jounce_tests::bodies::{bar, some_coefficients};
use jounce_tests::boxes::{box_mesh, row_of};
use jounce_tests::surfaces::sphere;

fn spread(mesh: &TetMesh, count: usize, seed: u64) -> Handles {
    Handles::spread(mesh, count, seed, &Progress::default()).unwrap()
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt()
}

/// A bar, a sheet one cell thick, and separate components.
fn meshes() -> [TetMesh; 3] {
    [bar([9, 3, 3], 0.1), box_mesh([8, 8, 1], 0.05), row_of(&bar([2, 1, 1], 0.2), 5, 0.7)]
}

#[test]
fn weights_are_not_negative_sum_to_one_and_are_local() {
    for mesh in meshes() {
        for count in [1, 7, 20, 10_000] {
            let handles = spread(&mesh, count, 3);
            for (vertex, place) in mesh.vertices().iter().enumerate() {
                let felt = handles.of_vertex(vertex);
                assert!(felt.iter().all(|(_, weight)| *weight >= 0.0));
                assert!((felt.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-14);
                assert!(felt.windows(2).all(|pair| pair[0].0 < pair[1].0));
                for (handle, _) in felt {
                    assert!(distance(place, &handles.centers()[*handle as usize]) < handles.radius());
                }
            }
        }
    }
}

#[test]
fn affine_motions_are_reproduced() {
    for mesh in meshes() {
        let numbers = some_coefficients(12, 2.0);
        let moved = |x: &[f64; 3]| -> [f64; 3] {
            [0, 1, 2].map(|c| numbers[9 + c] + (0..3).map(|d| numbers[3 * c + d] * x[d]).sum::<f64>())
        };
        let handles = spread(&mesh, 12, 0);
        for (vertex, place) in mesh.vertices().iter().enumerate() {
            let mut sum = [0.0; 3];
            for &(handle, weight) in handles.of_vertex(vertex) {
                let center = handles.centers()[handle as usize];
                for (c, at_center) in moved(&center).into_iter().enumerate() {
                    let turned: f64 = (0..3).map(|d| numbers[3 * c + d] * (place[d] - center[d])).sum();
                    sum[c] += weight * (turned + at_center);
                }
            }
            assert!(distance(&sum, &moved(place)) < 1e-12);
        }
    }
}

#[test]
fn handles_are_far_apart_and_leave_no_vertex_alone() {
    let mesh = bar([12, 4, 4], 0.1);
    for count in [2, 10, 40] {
        let handles = spread(&mesh, count, 1);
        assert_eq!(handles.count(), count);
        let furthest = 0.5 * handles.radius();
        for (i, one) in handles.centers().iter().enumerate() {
            for other in &handles.centers()[..i] {
                assert!(distance(one, other) > furthest - 1e-12);
            }
        }
        for place in mesh.vertices() {
            let nearest = handles.centers().iter().map(|c| distance(c, place)).fold(f64::INFINITY, f64::min);
            assert!(nearest <= furthest + 1e-12);
        }
    }
}

/// Largest error of a weight for a given geodesic distance.
fn weights_by(mesh: &TetMesh, handles: &Handles, way: impl Fn(&[f64; 3], &[f64; 3]) -> f64) -> f64 {
    let radius = handles.radius();
    let mut most = 0.0;
    for (vertex, place) in mesh.vertices().iter().enumerate() {
        let felt = |center| (1.0 - (way(center, place) / radius).powi(2)).max(0.0).powi(2);
        let felt: Vec<f64> = handles.centers().iter().map(felt).collect();
        let mut own = vec![0.0; handles.count()];
        handles.of_vertex(vertex).iter().for_each(|&(handle, weight)| own[handle as usize] = weight);
        let sum: f64 = felt.iter().sum();
        most = own.iter().zip(felt).fold(most, |most, (own, felt)| f64::max(most, (own - felt / sum).abs()));
    }
    most
}

/// Largest geodesic distance from a vertex, and its exact value.
fn longest(mesh: &TetMesh, seed: u64, way: impl Fn(&[f64; 3], &[f64; 3]) -> f64) -> [f64; 2] {
    let one = spread(mesh, 1, seed);
    let lengths = mesh.vertices().iter().map(|place| way(&one.centers()[0], place));
    [0.5 * one.radius(), lengths.fold(0.0, f64::max)]
}

#[test]
fn ways_are_straight_in_boxes() {
    for mesh in [bar([12, 4, 4], 0.1), box_mesh([6, 6, 6], 0.2), box_mesh([8, 8, 1], 0.05)] {
        for seed in 0..6 {
            for count in [2, 9, 30] {
                assert!(weights_by(&mesh, &spread(&mesh, count, seed), distance) < 1e-12);
            }
            let [found, straight] = longest(&mesh, seed, distance);
            assert!((found - straight).abs() < 1e-12 * straight, "{found} {straight}");
        }
    }
}

#[test]
fn ways_are_nearly_straight_in_a_ball_of_any_tets() {
    let surface = sphere(3).placed([1.0; 3], [0.0; 3]).surface();
    let mesh = lattice(&surface, 16, &Progress::default()).unwrap();
    let mut state = 1_u64;
    let mut jitter = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        0.03 * ((state >> 33) as f64 / 2.0_f64.powi(31) - 0.5)
    };
    let moved = mesh.vertices().iter().map(|place| place.map(|x| x + jitter())).collect();
    for mesh in [TetMesh::new(moved, mesh.tets().to_vec()).unwrap(), mesh] {
        for seed in 0..6 {
            let [found, straight] = longest(&mesh, seed, distance);
            assert!(found > straight - 1e-12 && found < 1.02 * straight, "{found} {straight}");
            let most = weights_by(&mesh, &spread(&mesh, 20, seed), distance);
            assert!(most < 0.06, "{most}");
        }
    }
}

#[test]
fn ways_go_around_corners() {
    // Half of a square of 16 x 16 cells, two high, bent around its middle.
    let square = bar([16, 16, 2], 0.1);
    let corner = |x: &[f64; 3]| x[0] <= 0.8 + 1e-9 || x[1] <= 0.8 + 1e-9;
    let inside = |tet: &&[u32; 4]| {
        let center = [0, 1].map(|c| tet.iter().map(|&v| square.vertices()[v as usize][c] / 4.0).sum::<f64>());
        corner(&[center[0], center[1], 0.0])
    };
    let tets: Vec<[u32; 4]> = square.tets().iter().filter(inside).copied().collect();
    let kept: Vec<u32> = (0..).zip(square.vertices()).filter(|(_, x)| corner(x)).map(|(v, _)| v).collect();
    let number = |v: u32| kept.binary_search(&v).unwrap() as u32;
    let vertices = kept.iter().map(|&v| square.vertices()[v as usize]).collect();
    let mesh = TetMesh::new(vertices, tets.into_iter().map(|tet| tet.map(number)).collect()).unwrap();
    let way = |a: &[f64; 3], b: &[f64; 3]| {
        let [from, to] = [a, b].map(|x| [x[0] - 0.8, x[1] - 0.8]);
        let passes = |[p, q]: [[f64; 2]; 2]| p[0] > 0.0 && q[1] > 0.0 && p[0] * q[1] - p[1] * q[0] > 1e-9;
        if !passes([from, to]) && !passes([to, from]) {
            return distance(a, b);
        }
        let [from, to] = [from, to].map(|[x, y]| x.hypot(y));
        (from + to).hypot(b[2] - a[2])
    };
    for seed in 0..12 {
        let [found, right] = longest(&mesh, seed, way);
        assert!(found > (1.0 - 1e-12) * right && found < 1.03 * right, "{found} {right}");
    }
}

#[test]
fn each_loose_part_has_a_handle_and_feels_no_other() {
    let mesh = row_of(&bar([2, 1, 1], 0.2), 5, 0.45);
    for count in [1, 5, 13] {
        let handles = spread(&mesh, count, 9);
        assert_eq!(handles.count(), count.max(5));
        let part = |place: &[f64; 3]| (place[0] / 0.45).floor();
        for (vertex, place) in mesh.vertices().iter().enumerate() {
            let felt = handles.of_vertex(vertex);
            assert!(felt.iter().all(|(handle, _)| part(&handles.centers()[*handle as usize]) == part(place)));
        }
    }
}

#[test]
fn the_seed_chooses_the_first_and_no_more() {
    let mesh = bar([9, 3, 3], 0.1);
    assert_eq!(spread(&mesh, 9, 4).vertices(), spread(&mesh, 9, 4).vertices());
    let firsts: Vec<u32> = (0..8).map(|seed| spread(&mesh, 1, seed).vertices()[0]).collect();
    assert!(firsts.iter().any(|&first| first != firsts[0]));
    let more = spread(&mesh, 30, 4);
    assert_eq!(spread(&mesh, 9, 4).vertices(), &more.vertices()[..9]);
}

#[test]
fn no_handles_at_all_are_refused_and_cancelling_is_heard() {
    let mesh = bar([2, 1, 1], 0.1);
    let none = Handles::spread(&mesh, 0, 0, &Progress::default());
    assert!(matches!(none, Err(Error::Range { what: "handles", .. })));
    let progress = jounce_tests::reports::cancelling(1);
    assert_eq!(Handles::spread(&mesh, 3, 0, &progress).err(), Some(Error::Cancelled));
}
