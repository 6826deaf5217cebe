//! What the papers show, each test named after the figure or section it repeats.

use jounce::Progress;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, lattice};
use jounce::method::skinning_modes::SkinningModel;
use jounce::method::{Model, Simulation, SimulationParams};
use jounce::operators::momentum_leak;
use jounce::rig::Rig;
use jounce::solve::{ComplementarySolver, ComplementarySolverParams};
use jounce::subspace::{cluster_tets, skinning_modes};
use jounce_tests::bodies::{Body, bar, swing, turn};
use jounce_tests::surfaces;

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

/// A sphere pressed together between two bones, at the top and at the bottom, and settled; the change of its
/// volume, by rig and flesh together.
fn squash(mesh: &TetMesh, law: Law, poisson: f64) -> f64 {
    let progress = Progress::default();
    // The same mu for all.
    let young = Field::Uniform(2e4 * (1.0 + poisson));
    let material = Material::new(law, young, Field::Uniform(poisson), Field::Uniform(1000.0)).unwrap();
    let top = |x: &[f64; 3]| 0.5 * (1.0 + x[2].clamp(-1.0, 1.0));
    let weights: Vec<f64> = mesh.vertices().iter().flat_map(|x| [1.0 - top(x), top(x)]).collect();
    let rig = Rig::new(mesh.vertices().len(), 2, &weights).unwrap();
    // Only the caps are held; what lies between is free to bulge.
    let leak: Vec<f64> = mesh.vertices().iter().map(|x| if x[2].abs() > 0.7 { 0.0 } else { 1.0 }).collect();
    let modes = skinning_modes(mesh, &material, 10, Some(&rig), Some(&leak), &progress).unwrap();
    let labels = cluster_tets(mesh, &modes, 50, SEED, &progress).unwrap();
    let model = SkinningModel::new(mesh, &material, &modes, &labels, Some(&rig)).unwrap();
    let model = Model::Skinning(model.into());
    let projector = model.projector(None).unwrap();
    let p = SimulationParams { pose_rest: 0.0, tolerance: 1e-7, ..SimulationParams::default() };
    let mut simulation = Simulation::new(model, p).unwrap();
    let press = 0.3;
    let shifted = |z: f64| turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.0, 0.0, z]);
    let report = simulation.settle(Some(&[shifted(press), shifted(-press)]), None, 2000).unwrap();
    assert!(report.residual <= p.tolerance, "{report:?}");
    let mut u = vec![0.0; 3 * mesh.vertices().len()];
    projector.displacement(simulation.coefficients(), &mut u).unwrap();
    let moved = mesh.vertices().iter().zip(u.as_chunks::<3>().0).map(|(x, u)| {
        let u = u.map(f64::from);
        [x[0] + u[0], x[1] + u[1], x[2] + u[2] + press * (1.0 - 2.0 * top(x))]
    });
    let moved = TetMesh::new(moved.collect(), mesh.tets().to_vec()).unwrap();
    moved.volumes().iter().sum::<f64>() / mesh.volumes().iter().sum::<f64>() - 1.0
}

#[test]
fn figure_19_corotated_flesh_keeps_its_volume() {
    let sphere = surfaces::sphere(3).surface();
    let mesh = lattice(&sphere, 12, &Progress::default()).unwrap();
    let arap = squash(&mesh, Law::Arap, 0.0);
    let corotated = [0.2, 0.4, 0.45].map(|poisson| squash(&mesh, Law::Corotated, poisson));
    println!(
        "change of volume: as rigid as possible {arap:.3}, Poisson ratio 0.2, 0.4, 0.45 {corotated:.3?}"
    );
    assert!(arap < -0.1, "{arap}");
    assert!(corotated.is_sorted() && corotated[0] > arap, "{corotated:?}");
    assert!(corotated[2].abs() < 0.5 * arap.abs(), "{corotated:?} {arap}");
    // Without a Poisson ratio both laws are the same.
    assert_eq!(squash(&mesh, Law::Corotated, 0.0), arap);
}
