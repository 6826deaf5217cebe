//! Cost of building and stepping a body against its number of vertices.
//!
//! The body is an ellipsoid along x whose length is divided among its bones. Times are from one run on one
//! machine; the ratios below the table compare its own rows.

mod ellipsoid;

use std::sync::Arc;

use ellipsoid::{chain, median, pose, surface, timed};
use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::lattice;
use jounce::model::Model;
use jounce::model::skinning_modes::SkinningModel;
use jounce::operators::momentum_leak;
use jounce::simulation::Simulation;
use jounce::subspace::{cluster_tets, skinning_modes};
use jounce::{Progress, Result};

const BONES: usize = 14;
const MODES: usize = 16;
const CLUSTERS: usize = 100;
const ITERATIONS: u32 = 10;
const STEPS: usize = 200;

/// Measurements for one size of the body, in seconds unless named otherwise.
struct Row {
    vertices: usize,
    tets: usize,
    lattice: f64,
    leak: f64,
    modes: f64,
    clusters: f64,
    model: f64,
    step: f64,
    displacement: f64,
}

fn main() -> Result<()> {
    println!("{MODES} modes, {CLUSTERS} clusters, {BONES} bones; a step is {ITERATIONS} iterations");
    println!("vertices    tets  lattice s  leak s  modes s  clusters s  model s  step ms  displacement ms");
    let mut rows = Vec::new();
    for resolution in [24, 40, 64] {
        let row = measure(resolution)?;
        let Row { vertices, tets, lattice, leak, modes, clusters, model, .. } = row;
        let (step, displacement) = (1e3 * row.step, 1e3 * row.displacement);
        println!(
            "{vertices:>8}{tets:>8}{lattice:>11.2}{leak:>8.2}{modes:>9.2}{clusters:>12.2}{model:>9.2}\
             {step:>9.3}{displacement:>17.3}"
        );
        rows.push(row);
    }
    if let [first, .., last] = rows.as_slice() {
        let growth = last.vertices as f64 / first.vertices as f64;
        println!(
            "{growth:.1} times the vertices: modes take {:.1} times as long, a step {:.2} times",
            last.modes / first.modes,
            last.step / first.step
        );
    }
    Ok(())
}

fn measure(resolution: usize) -> Result<Row> {
    let progress = Progress::default();
    let surface = surface(48)?;
    let (mesh, lattice) = timed(|| lattice(&surface, resolution, &progress))?;
    let material =
        Material::new(Law::Arap, Field::Uniform(1e4), Field::Uniform(0.0), Field::Uniform(1000.0))?;
    let rig = chain(&mesh, BONES)?;
    let (leak_map, leak) = timed(|| momentum_leak(&mesh))?;
    let (basis, modes) =
        timed(|| skinning_modes(&mesh, &material, MODES, Some(&rig), Some(&leak_map), &progress))?;
    let (labels, clusters) = timed(|| cluster_tets(&mesh, &basis, CLUSTERS, 0, &progress))?;
    let (model, model_time) = timed(|| SkinningModel::new(&mesh, &material, &basis, &labels, Some(&rig)))?;
    let model = Model::Skinning(Arc::new(model));
    let (step, displacement) = run(&model)?;
    let (vertices, tets) = (mesh.vertices().len(), mesh.tets().len());
    Ok(Row { vertices, tets, lattice, leak, modes, clusters, model: model_time, step, displacement })
}

/// Median seconds of a step, and of the displacements after it.
fn run(model: &Model) -> Result<(f64, f64)> {
    let params =
        SimulationParams { max_iterations: ITERATIONS, tolerance: 0.0, ..SimulationParams::default() };
    let mut simulation = Simulation::new(model.clone(), params)?;
    let projector = model.projector(None)?;
    let mut out = vec![0.0; 3 * model.vertices().len()];
    let (mut steps, mut displacements) = (Vec::new(), Vec::new());
    simulation.reset(Some(&pose(BONES, 0)))?;
    for frame in 0..STEPS {
        let pose = pose(BONES, frame);
        steps.push(timed(|| simulation.step(Some(&pose)))?.1);
        displacements.push(timed(|| projector.displacement(simulation.coefficients(), &mut out))?.1);
    }
    Ok((median(steps), median(displacements)))
}
