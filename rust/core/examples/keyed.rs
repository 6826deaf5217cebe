//! Motion through keyed shapes: a rubber bar passes two shapes in time with least effort.
//!
//! Run it with `cargo run --release --package jounce --example keyed`.

use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{SurfaceMesh, lattice};
use jounce::model::Model;
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::operators::Stitches;
use jounce::simulation::Simulation;
use jounce::simulation::keyed::{Aim, Key, KeyedParams};
use jounce::subspace::{LinearProblem, Restraint};
use jounce::{Progress, Result};

/// Number of frames.
const FRAMES: usize = 36;

fn main() -> Result<()> {
    let progress = Progress::default();
    let mesh = lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5])?, 12, &progress)?;
    let [young, poisson, density] = [1e5, 0.3, 1000.0].map(Field::Uniform);
    let rubber = Material::new(Law::NeoHookean, young, poisson, density)?;
    let held: Vec<bool> = mesh.vertices().iter().map(|vertex| vertex[0] < 0.1).collect();
    let restraint = Restraint { pinned: Some(&held), ..Restraint::default() };
    let problem = LinearProblem::new(&mesh, &rubber, &restraint, &Stitches::none(&mesh), &progress)?;
    let basis = problem.lowest(4, &progress)?.basis();
    let bar = ReducedModel::new(&mesh, &rubber, &basis, &ReducedExtras::default(), &progress)?;

    let settings = SimulationParams { damping: 0.05, ..SimulationParams::default() };
    let mut simulation = Simulation::new(Model::Reduced(bar.into()), settings)?;
    simulation.reset(None)?;
    // Bent to one side, then at rest again.
    let key = |frame, bend| {
        let mut shape = vec![0.0; basis.columns.ncols()];
        shape[0] = bend;
        Key { frame, aim: Aim::Shape(shape), weight: 1.0 }
    };
    let keys = [key(11, 2.0), key(23, 0.0)];
    let inputs = vec![StepInput::default(); FRAMES];
    let motion = simulation.keyed(&inputs, &keys, &KeyedParams::default(), &progress)?;
    for (key, miss) in keys.iter().zip(&motion.misses) {
        println!("the key of frame {} is missed by {:.2} % of the size", key.frame + 1, 100.0 * miss);
    }

    // The forces drive any simulation of the bar through the same shapes.
    let count = basis.columns.ncols();
    for (frame, force) in motion.forces.chunks_exact(count).enumerate() {
        let input = StepInput { force: Some(force), ..StepInput::default() };
        simulation.step_with(&input, &progress)?;
        println!("frame {:2}: bent by {:6.3}", frame + 1, simulation.coefficients()[0]);
    }
    Ok(())
}
