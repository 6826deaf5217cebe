//! Projective dynamics: a jelly cube, moved by handles, is thrown and falls on the ground.
//!
//! Run it with `cargo run --release --package jounce --example jelly`.

use std::sync::Arc;

use jounce::inputs::SimulationParams;
use jounce::inputs::Start;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{SurfaceMesh, lattice};
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::potentials::contact::{Collider, Shape};
use jounce::simulation::Simulation;
use jounce::subspace::{Handles, cluster_tets_by_place};
use jounce::{Progress, Result};

fn main() -> Result<()> {
    let progress = Progress::default();
    let mesh = lattice(&SurfaceMesh::cuboid([1.0; 3])?, 10, &progress)?;
    let [young, poisson, density] = [2e4, 0.0, 1000.0].map(Field::Uniform);
    let jelly = Material::new(Law::Arap, young, poisson, density)?;
    let handles = Handles::spread(&mesh, 12, 0, &progress)?;
    let labels = cluster_tets_by_place(&mesh, 40, 0, &progress)?;
    let model = ProjectiveModel::new(&mesh, &jelly, &handles, &labels, &progress)?;
    println!("{} vertices, 12 handles, {:.2} Hz", mesh.vertices().len(), model.frequency());

    let model = Model::Projective(Arc::new(model));
    let projector = model.projector(None)?;
    let ground = Collider::new(Shape::plane([0.0; 3], [0.0, 0.0, 1.0])?, 0.6)?;
    let settings = SimulationParams {
        substeps: 4,
        damping: 0.05,
        gravity: [0.0, 0.0, -9.81],
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::among(model, settings, &[ground], None)?;
    let place = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]];
    simulation.place(&Start { place, velocity: [1.0, 0.0, 0.0], spin: [0.0, 2.0, 0.0] })?;
    let mut moved = vec![0.0; 3 * projector.point_count()];
    for frame in 1..=36 {
        let report = simulation.step(None)?;
        projector.displacement(simulation.coefficients(), &mut moved)?;
        let heights =
            mesh.vertices().iter().zip(moved.as_chunks::<3>().0).map(|(x, u)| x[2] + f64::from(u[2]));
        let lowest = heights.fold(f64::INFINITY, f64::min);
        println!("frame {frame:2}: lowest at {lowest:6.3} m, squeezed by {:6.1} J", report.energy);
    }
    Ok(())
}
