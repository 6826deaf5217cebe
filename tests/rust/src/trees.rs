//! Bars cut into a chain of domains.

use std::sync::Arc;

use jounce::Progress;
use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::model::tree::{Domain, DomainTree, Member, TreeInput};
use jounce::operators::Stitches;
use jounce::subspace::{Basis, LinearModes, LinearProblem, Restraint};

use crate::bodies::{REST, Transform, bar};

/// Edge length of the bars' cells, m.
pub const CELL: f64 = 0.1;
/// Number of cells across the bars.
pub const ACROSS: usize = 2;

/// The material of the bars.
pub fn soft(law: Law, poisson: f64) -> Material {
    let number = Field::Uniform;
    Material::new(law, number(1e6), number(poisson), number(1000.0)).unwrap()
}

/// A bar of a given length in cells.
pub fn stick(cells: usize) -> TetMesh {
    bar([cells, ACROSS, ACROSS], CELL)
}

/// Vertices of a bar at a position along it.
pub fn slice(mesh: &TetMesh, place: f64) -> Vec<u32> {
    (0..).zip(mesh.vertices()).filter(|(_, x)| (x[0] - place).abs() < 1e-9).map(|(v, _)| v).collect()
}

/// A bar fixed at its left end, or free.
pub fn problem(mesh: &TetMesh, material: &Material, held: bool) -> LinearProblem {
    let pinned: Vec<bool> = mesh.vertices().iter().map(|x| held && x[0] < 1e-9).collect();
    let restraint = Restraint { pinned: held.then_some(&pinned), ..Restraint::default() };
    LinearProblem::new(mesh, material, &restraint, &Stitches::none(mesh), &Progress::default()).unwrap()
}

/// A bar in its lowest deforming linear modes.
pub fn linear(mesh: &TetMesh, material: &Material, count: usize, held: bool) -> Arc<Domain> {
    let problem = problem(mesh, material, held);
    let modes = problem.lowest(if held { count } else { count + 6 }, &Progress::default()).unwrap();
    swinging(mesh, &problem, &modes)
}

/// A body in modes whose boundary takes part in contact.
fn swinging(mesh: &TetMesh, problem: &LinearProblem, modes: &LinearModes) -> Arc<Domain> {
    Domain::of_modes(mesh.vertices(), &problem.masses(), &mesh.boundary_vertices(), modes).unwrap().into()
}

/// The vertices at the right end of a bar.
fn end(mesh: &TetMesh) -> Vec<u32> {
    slice(mesh, mesh.vertices().iter().fold(0.0, |most, x| x[0].max(most)))
}

/// A fixed bar in linear modes and attachment modes at its end.
pub fn attached(mesh: &TetMesh, material: &Material, count: usize) -> Arc<Domain> {
    let problem = problem(mesh, material, true);
    let modes = problem.lowest(count, &Progress::default()).unwrap();
    let modes = problem.attached(&modes, &[end(mesh)], &Progress::default()).unwrap();
    swinging(mesh, &problem, &modes)
}

/// A fixed bar of flesh in a basis of modes, modal derivatives and attachment modes at its end.
pub fn bending(mesh: &TetMesh, material: &Material, modes: usize, count: usize) -> Arc<ReducedModel> {
    let progress = Progress::default();
    let problem = problem(mesh, material, true);
    let modes = problem.lowest(modes, &progress).unwrap();
    let mut shapes = problem.bent_basis(&modes, count, &progress).unwrap().shapes();
    let given = problem.attached(&modes, &[end(mesh)], &Progress::default()).unwrap();
    let further = modes.eigenvalues.len()..given.eigenvalues.len();
    further.clone().for_each(|k| shapes.extend(given.shapes.col_as_slice(k)));
    let basis = Basis::from_shapes(&shapes, count + further.len()).unwrap();
    ReducedModel::new(mesh, material, &basis, &ReducedExtras::default(), &progress).unwrap().into()
}

/// A translation along the bars.
pub fn along(far: f64) -> Transform {
    let mut transform = REST;
    transform[0][3] = far;
    transform
}

/// Domains in a chain, each some cells long.
pub fn chain(domains: &[Arc<Domain>], cells: usize) -> Vec<Member> {
    let mesh = stick(cells);
    let length = cells as f64 * CELL;
    let member = |(number, domain): (usize, &Arc<Domain>)| Member {
        domain: domain.clone(),
        place: along(number as f64 * length),
        parent: number.checked_sub(1),
        interface: if number == 0 { Vec::new() } else { slice(&mesh, length) },
    };
    domains.iter().enumerate().map(member).collect()
}

/// Settings that iterate to full precision.
pub fn exact() -> SimulationParams {
    SimulationParams { max_iterations: 1000, tolerance: 1e-12, ..SimulationParams::default() }
}

/// A tree after some steps without external motion.
pub fn stepped(mut tree: DomainTree, steps: usize) -> DomainTree {
    for _ in 0..steps {
        tree.step(&TreeInput::default(), &Progress::default()).unwrap();
    }
    tree
}

/// Position of a vertex.
pub fn place_of(tree: &DomainTree, domain: usize, vertex: u32) -> [f64; 3] {
    let places = tree.positions(domain).unwrap();
    std::array::from_fn(|c| places[3 * vertex as usize + c])
}
