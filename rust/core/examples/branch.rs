//! A tree of domains: a branch of three pieces sways in a gust, each piece in its own few displacements.
//!
//! Run it with `cargo run --release --package jounce --example branch`.

use std::sync::Arc;

use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{SurfaceMesh, TetMesh, lattice};
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::model::tree::{Domain, DomainTree, Member, TreeInput, Wind};
use jounce::operators::Stitches;
use jounce::subspace::{LinearProblem, Restraint};
use jounce::{Progress, Result};

/// Number of pieces.
const PIECES: usize = 3;

fn main() -> Result<()> {
    let progress = Progress::default();
    let mesh = lattice(&SurfaceMesh::cuboid([1.0, 0.1, 0.1])?, 20, &progress)?;
    let domain = Arc::new(piece(&mesh, &progress)?);
    let length = mesh.vertices().iter().fold(0.0_f64, |most, vertex| most.max(vertex[0]));
    let end = (0..mesh.vertices().len() as u32)
        .filter(|&vertex| mesh.vertices()[vertex as usize][0] > length - 1e-6)
        .collect::<Vec<_>>();
    // Each piece continues the one before at its free end.
    let members: Vec<Member> = (0..PIECES)
        .map(|piece| Member {
            domain: domain.clone(),
            place: at(length * piece as f64),
            parent: piece.checked_sub(1),
            interface: if piece == 0 { Vec::new() } else { end.clone() },
        })
        .collect();
    let settings = SimulationParams { substeps: 2, damping: 0.02, ..SimulationParams::default() };
    let mut branch = DomainTree::new(&members, false, settings)?;
    println!("{} pieces of {} displacements", branch.domain_count(), domain.rank());

    let root = at(0.0);
    for frame in 1..=36 {
        // A gust along z for half a second.
        let speed = if frame <= 12 { 8.0 } else { 0.0 };
        let wind = Wind { velocity: &[[0.0, 0.0, speed]; PIECES], rate: &[1.0; PIECES] };
        let input = TreeInput { root: Some(&root), wind: Some(&wind), ..TreeInput::default() };
        branch.step(&input, &progress)?;
        let tip =
            branch.positions(PIECES - 1)?[3 * end[0] as usize + 2] - mesh.vertices()[end[0] as usize][2];
        println!("frame {frame:2}: wind {speed:3.1} m/s, tip {tip:6.3} m aside");
    }
    Ok(())
}

/// A bar held at its left end, in its lowest displacements.
fn piece(mesh: &TetMesh, progress: &Progress) -> Result<Domain> {
    let [young, poisson, density] = [1e7, 0.3, 600.0].map(Field::Uniform);
    let wood = Material::new(Law::Corotated, young, poisson, density)?;
    let least = mesh.vertices().iter().fold(f64::INFINITY, |least, vertex| least.min(vertex[0]));
    let held: Vec<bool> = mesh.vertices().iter().map(|vertex| vertex[0] < least + 1e-6).collect();
    let restraint = Restraint { pinned: Some(&held), ..Restraint::default() };
    let problem = LinearProblem::new(mesh, &wood, &restraint, &Stitches::none(mesh), progress)?;
    let basis = problem.lowest(6, progress)?.basis();
    Domain::of_flesh(&ReducedModel::new(mesh, &wood, &basis, &ReducedExtras::default(), progress)?.into())
}

/// A place along x.
fn at(x: f64) -> [[f64; 4]; 3] {
    [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
}
