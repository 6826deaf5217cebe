//! The full space: a bar of rubber held at one end is let go and swings; every vertex of the cage moves.
//!
//! Run it with `cargo run --release --package jounce --example full_space`.

use jounce::inputs::{Integrator, SimulationParams};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{SurfaceMesh, lattice};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::potentials::ElasticEnergy;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce::{Progress, Result};

fn main() -> Result<()> {
    let progress = Progress::default();
    let mesh = lattice(&SurfaceMesh::cuboid([4.0, 1.0, 1.0])?, 12, &progress)?;
    let [young, poisson, density] = [4e6, 0.4, 1000.0].map(Field::Uniform);
    let rubber = Material::new(Law::NeoHookean, young, poisson, density)?;
    let held: Vec<bool> = mesh.vertices().iter().map(|vertex| vertex[0] < 0.2).collect();
    let restraint = Restraint { pinned: Some(&held), ..Restraint::default() };
    let model = FullSpaceModel::of(&mesh, &rubber, &restraint, &FullSpaceExtras::default(), &progress)?;

    let settings = SimulationParams {
        gravity: [0.0, 0.0, -9.81],
        integrator: Integrator::Bdf2,
        max_iterations: 200,
        ..SimulationParams::default()
    };
    let energy = ElasticEnergy::new(&mesh, &rubber)?;
    let mut simulation = Simulation::new(Model::FullSpace(model.into()), settings)?;
    for frame in 1..=24 {
        let report = simulation.step(None)?;
        let moved = simulation.coefficients().as_chunks::<3>().0;
        let sum = |x: &[f64; 3], u: &[f64; 3]| std::array::from_fn(|c| x[c] + u[c]);
        let places: Vec<[f64; 3]> = mesh.vertices().iter().zip(moved).map(|(x, u)| sum(x, u)).collect();
        let lowest = places.iter().fold(f64::INFINITY, |low, place| low.min(place[2]));
        let joules = energy.value(&places)?;
        println!(
            "frame {frame:2}: lowest at {lowest:6.3} m, {joules:7.1} J in {} iterations",
            report.iterations
        );
    }
    Ok(())
}
