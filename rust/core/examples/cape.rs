//! An attached body: a cape of cloth, moved by handles, hangs on a bone at its upper edge and trails it.
//!
//! Run it with `cargo run --release --package jounce --example cape`.

use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::SurfaceMesh;
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::potentials::elastic::Fabric;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::Handles;
use jounce::{Progress, Result};

/// Cells of the cloth across and down.
const CELLS: [u32; 2] = [8, 12];

fn main() -> Result<()> {
    let progress = Progress::default();
    let cloth = cloth()?;
    let [young, poisson, density] = [2e5, 0.0, 300.0].map(Field::Uniform);
    let material = Material::new(Law::Arap, young, poisson, density)?;
    let handles = Handles::over(&cloth, 24, 0, &progress)?;
    let fabric = Fabric { thickness: 2e-3, bending: 1.0 };
    let loose = ProjectiveModel::surface(&cloth, &material, fabric, &handles, &progress)?;
    // One bone, and a hold at the upper edge alone.
    let count = cloth.points().len();
    let rig = Rig::new(count, 1, &vec![1.0; count])?;
    let held: Vec<f64> = cloth.points().iter().map(|x| if x[2] > -0.05 { 1.0 } else { 0.0 }).collect();
    let model = Model::Projective(loose.attached(&rig, &held, 20.0)?.into());
    println!("{count} points on {}, held by {} bone", model.size(), model.bone_count());

    let projector = model.projector(None)?;
    let settings = SimulationParams {
        substeps: 4,
        damping: 0.05,
        gravity: [0.0, 0.0, -9.81],
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::new(model, settings)?;
    simulation.reset(Some(&[walked(0)]))?;
    let mut moved = vec![0.0; 3 * projector.point_count()];
    for frame in 1..=36 {
        simulation.step(Some(&[walked(frame)]))?;
        projector.displacement(simulation.coefficients(), &mut moved)?;
        let bone = walked(frame)[1][3];
        let hem = f64::from(moved[moved.len() - 2]);
        println!("frame {frame:2}: bone at {bone:5.3} m, hem {:6.3} m behind", bone - hem);
    }
    Ok(())
}

/// A rectangle of 60 x 90 cm that hangs below the origin.
fn cloth() -> Result<SurfaceMesh> {
    let [across, down] = CELLS;
    let points = (0..=down)
        .flat_map(|j| (0..=across).map(move |i| [0.075 * f64::from(i), 0.0, -0.075 * f64::from(j)]))
        .collect();
    let corner = |i: u32, j: u32| i + j * (across + 1);
    let cell = |i, j| {
        let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    let triangles = (0..down).flat_map(|j| (0..across).flat_map(move |i| cell(i, j))).collect();
    SurfaceMesh::new(points, triangles)
}

/// The bone walks along y for one second, and stops.
fn walked(frame: u32) -> [[f64; 4]; 3] {
    let way = f64::from(frame.min(24)) / 24.0;
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, way], [0.0, 0.0, 1.0, 0.0]]
}
