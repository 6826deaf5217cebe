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
