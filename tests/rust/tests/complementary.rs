//! The full-space complementary solver against its definition.

use jounce::operators::{displacement_constraint, lumped_mass, momentum_leak};
use jounce_tests::bodies::{Body, compose, swing, turn};
use jounce_tests::complementary::{ComplementarySolver, ComplementarySolverParams};

fn params() -> ComplementarySolverParams {
    ComplementarySolverParams { dt: 1.0 / 60.0, max_iterations: 500, tolerance: 1e-12 }
}

#[test]
fn displacements_are_complementary_and_not_zero() {
    let body = Body::bar();
    let leak = momentum_leak(&body.mesh).unwrap();
    let mut solver =
        ComplementarySolver::new(&body.mesh, &body.material, &body.rig, &leak, &swing(0.0), params())
            .unwrap();
    for step in 1..=10 {
        solver.step(&swing(f64::from(step) / 60.0)).unwrap();
    }
    let mass = lumped_mass(&body.mesh, &body.material);
    let constraint = displacement_constraint(&body.mesh, &mass, &body.rig, &leak).unwrap();
    let u = solver.displacement();
    let size = u.norm_max();
    assert!(size > 1e-4, "largest displacement {size:e}");
    for column in 0..constraint.ncols() {
        for c in 0..3 {
            let entries = constraint.row_idx_of_col_raw(column).iter().zip(constraint.val_of_col(column));
            let product: f64 = entries.map(|(&i, value)| value * u[(i as usize, c)]).sum();
            assert!(product.abs() < 1e-10 * size, "column {column}: {product:e}");
        }
    }
}

#[test]
fn a_body_moved_rigidly_once_and_held_comes_to_rest() {
    let body = Body::bar();
    let leak = momentum_leak(&body.mesh).unwrap();
    let rigid = turn([0.3, 1.0, -0.2], 1.1, [0.0; 3], [0.2, -0.1, 0.4]);
    let held = swing(0.0).map(|bone| compose(&rigid, &bone));
    let mut solver =
        ComplementarySolver::new(&body.mesh, &body.material, &body.rig, &leak, &held, params()).unwrap();
    for _ in 0..5 {
        solver.step(&held).unwrap();
    }
    assert!(solver.displacement().norm_max() < 1e-10 * body.mesh.diagonal());
}
