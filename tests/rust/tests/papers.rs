//! What the papers show, each test named after the figure or section it repeats.

use jounce::Progress;
use jounce::material::{Field, Law, Material};
use jounce::method::skinning_modes::SkinningModel;
use jounce::method::{Model, Simulation, SimulationParams};
use jounce::operators::momentum_leak;
use jounce::solve::{ComplementarySolver, ComplementarySolverParams};
use jounce::subspace::{cluster_tets, skinning_modes};
use jounce_tests::bodies::{Body, bar, swing};

const DT: f64 = 1.0 / 60.0;
const STEPS: usize = 60;
const SEED: u64 = 0;

fn body() -> Body {
    let soft =
        Material::new(Law::Arap, Field::Uniform(4e3), Field::Uniform(0.0), Field::Uniform(1000.0)).unwrap();
    Body { material: soft, ..Body::new(bar([12, 5, 5], 0.1), 1, 2) }
}

/// Displacements of every step of the full-space solver, each n x 3 interleaved.
fn truth(body: &Body, leak: &[f64]) -> Vec<Vec<f64>> {
    let params = ComplementarySolverParams { dt: DT, max_iterations: 200, tolerance: 1e-7 };
    let mut solver =
        ComplementarySolver::new(&body.mesh, &body.material, &body.rig, leak, &swing(0.0), params).unwrap();
    (1..=STEPS)
        .map(|step| {
            solver.step(&swing(step as f64 * DT)).unwrap();
            let u = solver.displacement();
            (0..u.nrows()).flat_map(|i| (0..3).map(move |c| u[(i, c)])).collect()
        })
        .collect()
}

/// Root mean square distance of the reduced from the full-space trajectory, relative to the latter.
fn error(body: &Body, leak: &[f64], modes: usize, clusters: usize, truth: &[Vec<f64>]) -> f64 {
    let progress = Progress::default();
    let modes =
        skinning_modes(&body.mesh, &body.material, modes, Some(&body.rig), Some(leak), &progress).unwrap();
    let labels = cluster_tets(&body.mesh, &modes, clusters, SEED, &progress).unwrap();
    let model = SkinningModel::new(&body.mesh, &body.material, &modes, &labels, Some(&body.rig)).unwrap();
    let model = Model::Skinning(model.into());
    let projector = model.projector(None).unwrap();
    let params = SimulationParams {
        dt: DT,
        max_iterations: 200,
        tolerance: 1e-8,
        pose_rest: 0.0,
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::new(model, params).unwrap();
    simulation.reset(Some(&swing(0.0))).unwrap();
    let mut displacement = vec![0.0; 3 * body.mesh.vertices().len()];
    let (mut squared_error, mut squared_size) = (0.0, 0.0);
    for (step, exact) in truth.iter().enumerate() {
        simulation.step(Some(&swing((step + 1) as f64 * DT))).unwrap();
        projector.displacement(simulation.coefficients(), &mut displacement).unwrap();
        for (u, exact) in displacement.iter().zip(exact) {
            squared_error += (f64::from(*u) - exact).powi(2);
            squared_size += exact.powi(2);
        }
    }
    (squared_error / squared_size).sqrt()
}

#[test]
fn section_9_10_error_falls_as_modes_and_clusters_grow() {
    let body = body();
    let leak = momentum_leak(&body.mesh).unwrap();
    let truth = truth(&body, &leak);
    let by_modes = [2, 8, 32].map(|modes| error(&body, &leak, modes, 200, &truth));
    let by_clusters = [4, 20, 100].map(|clusters| error(&body, &leak, 32, clusters, &truth));
    println!("error by modes 2, 8, 32: {by_modes:.3?}; by clusters 4, 20, 100: {by_clusters:.3?}");
    assert!(by_modes.is_sorted_by(|a, b| a > b), "modes 2, 8, 32: {by_modes:?}");
    assert!(by_clusters.is_sorted_by(|a, b| a > b), "clusters 4, 20, 100: {by_clusters:?}");
    assert!(by_modes[2] < 0.5 * by_modes[0], "modes 2, 8, 32: {by_modes:?}");
}
