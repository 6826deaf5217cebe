//! Thin flesh inside of capsules that are wider than its cells, with the axis below the skin.

use jounce::Progress;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::mesh::TetMesh;
use jounce::potentials::contact::{Collider, Shape};
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce_tests::bodies::bar;
use jounce_tests::touching::Body;
use nalgebra::Vector3;

/// Thickness of the flesh and width of its cells, metres.
const THICK: f64 = 0.1;
const CELL: f64 = 0.05;
/// Cells of a bar so long that no collider is deep for its size.
const CELLS: [usize; 3] = [52, 10, 2];
/// Largest stretch of an edge, and largest motion in a frame beyond which flesh is thrown, metres.
const TORN: f64 = 3.0;
const THROWN: f64 = THICK;

/// Flesh over a hard bottom.
fn thin_flesh(poisson: f64) -> Body {
    let mesh = bar(CELLS, CELL);
    let pinned: Vec<bool> = mesh.vertices().iter().map(|v| v[2] == 0.0).collect();
    Body::with_poisson(mesh, &Restraint { pinned: Some(&pinned), ..Restraint::default() }, poisson)
}

/// A capsule across the bar, with its axis so high above the skin.
fn arm(radius: f64, above: f64) -> Collider {
    let [x, height] = [CELL * 26.4, THICK + above];
    Collider::new(Shape::capsule([x, -0.5, height], [x, 1.0, height], radius).unwrap(), 0.5).unwrap()
}

fn damped() -> SimulationParams {
    SimulationParams { damping: 0.15, ..SimulationParams::default() }
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

/// Largest difference of two motions, metres.
fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (Vector3::from(*a) - Vector3::from(*b)).norm()).fold(0.0, f64::max)
}

/// Steps, and checks that flesh is neither torn nor thrown.
fn step(body: &Body, sim: &mut Simulation, case: &str) {
    let before = body.u(sim);
    sim.step(None).unwrap();
    let after = body.u(sim);
    let (most, gone) = (stretch(&body.mesh, &after), apart(&before, &after));
    assert!(most < TORN && gone < THROWN, "{case}: stretched by {most}, moved by {gone}");
}

#[test]
fn flesh_around_the_axis_of_a_capsule_is_neither_torn_nor_thrown() {
    for poisson in [0.3, 0.45, 0.49] {
        let body = thin_flesh(poisson);
        for radius in [0.06, 0.1] {
            for above in [-0.005, -0.01, -0.02, -0.03, -0.05] {
                for settles in [false, true] {
                    let case = format!("{poisson}, radius {radius}, {above} above, settled {settles}");
                    let mut sim = body.among(damped(), &[arm(radius, above)]);
                    if settles {
                        sim.settle(&StepInput::default(), 300, &Progress::default()).unwrap();
                        assert!(stretch(&body.mesh, &body.u(&sim)) < TORN, "{case}");
                    }
                    (0..8).for_each(|_| step(&body, &mut sim, &case));
                }
            }
        }
    }
}
