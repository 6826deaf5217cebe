//! Stitches with ends averaged over balls: convergence under refinement, and unchanged cases.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use jounce::mesh::{Embedding, TetMesh};
use jounce::operators::{Stitches, laplacian};
use jounce_tests::bodies::bar;
use jounce_tests::boxes::row_of;

/// A stitch from the middle of a cube's upper side to the middle of its lower one.
fn hung(mesh: &TetMesh, radius: f64) -> Stitches {
    let embedding = Embedding::new(mesh, vec![[0.3, 0.3, 0.6], [0.3, 0.3, 0.0]]).unwrap();
    let made = Stitches::between_points(mesh, &embedding, &[[0, 1]], &[1e3], &[0.0]).unwrap();
    made.spread(mesh, &[radius]).unwrap()
}

/// Compliance of a cube fixed at its lower side to a weight on the stitch, up to a factor: `a'L^-1 a`.
fn sag(cells: usize, radius: f64) -> f64 {
    let mesh = bar([cells; 3], 0.6 / cells as f64);
    let differences = hung(&mesh, radius).differences();
    let matrix = laplacian(&mesh, &vec![1.0; mesh.tets().len()]).unwrap().to_dense();
    let rows: Vec<usize> = (0..mesh.vertices().len()).filter(|&v| mesh.vertices()[v][2] > 1e-9).collect();
    let held = Mat::from_fn(rows.len(), rows.len(), |i, j| matrix[(rows[i], rows[j])]);
    let load = differences.to_dense();
    let load = Mat::from_fn(rows.len(), 1, |i, _| load[(rows[i], 0)]);
    let moved = held.llt(Side::Lower).unwrap().solve(&load);
    (load.transpose() * moved)[(0, 0)]
}

#[test]
fn a_ball_sags_alike_where_cells_are_halved() {
    let points = [6, 12].map(|cells| sag(cells, 0.0));
    assert!(points[1] > 1.3 * points[0], "{points:?}");
    for radius in [0.2, 0.25, 0.28] {
        let balls = [6, 12].map(|cells| sag(cells, radius));
        assert!((balls[1] / balls[0] - 1.0).abs() < 0.05, "{radius}: {balls:?}");
    }
}

#[test]
fn without_a_radius_a_stitch_is_what_it_was() {
    let mesh = bar([6; 3], 0.1);
    let embedding = Embedding::new(&mesh, vec![[0.31, 0.32, 0.6], [0.1, 0.3, 0.02]]).unwrap();
    let made = Stitches::between_points(&mesh, &embedding, &[[0, 1]], &[1e3], &[0.0]).unwrap();
    assert_eq!(made.clone().spread(&mesh, &[0.0]).unwrap(), made);
    // A shrinking ball converges to the point.
    let apart = |radius| {
        let differences = made.clone().spread(&mesh, &[radius]).unwrap().differences().to_dense();
        (differences - made.differences().to_dense()).norm_max()
    };
    assert!(apart(1e-3) < 0.02 && apart(1e-6) < 2e-5 && apart(0.1) > 0.1);
}

#[test]
fn a_ball_takes_of_its_own_part_alone_and_a_rigid_motion_pulls_at_nothing() {
    let mesh = row_of(&bar([3; 3], 0.1), 2, 0.31);
    let half = mesh.vertices().len() / 2;
    let ends = [(half - 1) as u32, half as u32];
    let made = Stitches::between_vertices(&mesh, &[ends], &[1e3], &[1.0]).unwrap();
    let columns = made.spread(&mesh, &[0.15]).unwrap().differences().to_dense();
    let sums = [0..half, half..2 * half].map(|rows| rows.map(|v| columns[(v, 0)]).sum::<f64>());
    assert!((sums[0] - 1.0).abs() < 1e-12 && (sums[1] + 1.0).abs() < 1e-12, "{sums:?}");
    assert!((0..half).filter(|&v| columns[(v, 0)] > 0.0).count() > 4);
    assert!((0..half).all(|v| columns[(v, 0)] >= 0.0) && (half..2 * half).all(|v| columns[(v, 0)] <= 0.0));
}

#[test]
fn balls_that_would_fill_the_memory_are_refused() {
    let mesh = bar([12; 3], 0.05);
    let sewn = |count: usize, radius: f64| {
        let made =
            Stitches::between_vertices(&mesh, &vec![[0, 2196]; count], &vec![1e3; count], &vec![0.0; count]);
        made.unwrap().spread(&mesh, &vec![radius; count])
    };
    assert!(sewn(200, 0.5).unwrap_err().to_string().contains("make the radius smaller"));
    assert!(sewn(100, 0.1).is_ok() && sewn(4, 0.5).is_ok());
}

#[test]
fn radii_that_make_no_sense_are_refused() {
    let mesh = bar([3; 3], 0.1);
    let made = Stitches::between_vertices(&mesh, &[[0, 5]], &[1e3], &[0.0]).unwrap();
    let refused = |radii: &[f64]| made.clone().spread(&mesh, radii).unwrap_err().to_string();
    assert!(refused(&[-0.1]).contains("radius: expected numbers of metres >= 0"));
    assert!(refused(&[f64::INFINITY]).contains("radius"));
    assert!(refused(&[0.1, 0.2]).contains("(1,)"));
    assert!(made.spread(&bar([2; 3], 0.1), &[0.1]).is_err());
}
