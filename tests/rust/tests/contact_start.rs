//! Starts in balance of bodies with their skin inside colliders.

use jounce::Progress;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::mesh::TetMesh;
use jounce::potentials::contact::{Collider, Shape};
use jounce::subspace::Restraint;
use jounce_tests::bodies::bar;
use jounce_tests::touching::Body;
use nalgebra::Vector3;

/// Thickness of the flesh and width of its cells, metres.
const THICK: f64 = 0.1;
const CELL: f64 = 0.05;
/// Cells of a bar so long that no collider is deep for its size.
const CELLS: [usize; 3] = [52, 10, 2];

/// Flesh over a hard bottom.
fn thin_flesh(poisson: f64) -> Body {
    let mesh = bar(CELLS, CELL);
    let pinned: Vec<bool> = mesh.vertices().iter().map(|v| v[2] == 0.0).collect();
    Body::with_poisson(mesh, &Restraint { pinned: Some(&pinned), ..Restraint::default() }, poisson)
}

/// A capsule across the bar, with its lowest side so deep below the skin.
fn arm(radius: f64, depth: f64) -> Collider {
    let [x, height] = [CELL * 26.4, THICK + radius - depth];
    Collider::new(Shape::capsule([x, -0.5, height], [x, 1.0, height], radius).unwrap(), 0.5).unwrap()
}

/// Largest stretch of an edge.
fn stretch(mesh: &TetMesh, u: &[[f64; 3]]) -> f64 {
    let between = |(a, b): (u32, u32)| {
        let rest = Vector3::from(mesh.vertices()[b as usize]) - Vector3::from(mesh.vertices()[a as usize]);
        let moved = Vector3::from(u[b as usize]) - Vector3::from(u[a as usize]);
        (rest + moved).norm() / rest.norm() - 1.0
    };
    let edges = |[a, b, c, d]: &[u32; 4]| [(*a, *b), (*a, *c), (*a, *d), (*b, *c), (*b, *d), (*c, *d)];
    mesh.tets().iter().flat_map(edges).map(between).fold(0.0, f64::max)
}

#[test]
fn thin_flesh_that_starts_deep_inside_of_a_capsule_is_not_torn() {
    for poisson in [0.3, 0.45, 0.49] {
        let body = thin_flesh(poisson);
        for radius in [0.06, 0.1, 0.2] {
            for depth in [0.04, 0.08, 0.12] {
                let mut sim = body.among(SimulationParams::default(), &[arm(radius, depth)]);
                let report = sim.settle(&StepInput::default(), 300, &Progress::default()).unwrap();
                let most = stretch(&body.mesh, &body.u(&sim));
                // Beyond the axis, the nearest way out of neighbours is on opposite sides.
                let bound = if depth < radius { 2.0 } else { 8.0 };
                assert!(report.converged && most < bound, "{poisson}, {radius}, {depth}: {most}, {report:?}");
            }
        }
    }
}

#[test]
fn skin_that_starts_less_deep_than_its_flesh_gives_way_is_outside_at_once() {
    let body = thin_flesh(0.45);
    for radius in [0.06, 0.1, 0.2] {
        let arm = arm(radius, 0.04);
        let mut sim = body.among(SimulationParams::default(), std::slice::from_ref(&arm));
        sim.settle(&StepInput::default(), 300, &Progress::default()).unwrap();
        assert!(body.depth(&sim, arm.shape()) < 1e-3, "{radius}: {}", body.depth(&sim, arm.shape()));
    }
}
