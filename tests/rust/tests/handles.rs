//! Handles over a mesh: their weights, what motions they have, and where they are.

use jounce::mesh::TetMesh;
use jounce::subspace::Handles;
use jounce::{Error, Progress};
use jounce_tests::bodies::{bar, some_coefficients};
use jounce_tests::boxes::{box_mesh, row_of};

fn spread(mesh: &TetMesh, count: usize, seed: u64) -> Handles {
    Handles::spread(mesh, count, seed, &Progress::default()).unwrap()
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt()
}

/// A bar, a sheet one cell thick, and loose parts.
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
    // Along the edges of this mesh a way is at most sqrt(3) times as long as it could be.
    let mesh = bar([12, 4, 4], 0.1);
    for count in [2, 10, 40] {
        let handles = spread(&mesh, count, 1);
        assert_eq!(handles.count(), count);
        let furthest = 0.5 * handles.radius();
        for (i, one) in handles.centers().iter().enumerate() {
            for other in &handles.centers()[..i] {
                assert!(distance(one, other) > furthest / 3.0_f64.sqrt() - 1e-12);
            }
        }
        for place in mesh.vertices() {
            let nearest = handles.centers().iter().map(|c| distance(c, place)).fold(f64::INFINITY, f64::min);
            assert!(nearest <= furthest + 1e-12);
        }
    }
}

#[test]
fn ways_go_along_the_mesh() {
    // Along a straight row of edges they are as long as the row.
    let mesh = bar([20, 1, 1], 0.1);
    let handles = spread(&mesh, 2, 5);
    let furthest = 0.5 * handles.radius();
    let ends: Vec<f64> = handles.centers().iter().map(|c| c[0]).collect();
    let reach = mesh.vertices().iter().map(|v| ends.iter().map(|end| (v[0] - end).abs()).fold(9.0, f64::min));
    let along = reach.fold(0.0, f64::max);
    assert!(furthest >= along - 1e-12 && furthest < along + 0.1 * 2.0_f64.sqrt(), "{furthest} {along}");
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
