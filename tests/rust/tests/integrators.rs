//! Strength of the rig's acceleration, and energy conservation of the integrators.

use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::model::Model;
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::operators::lumped_mass;
use jounce::simulation::Simulation;
use jounce::subspace::skinning_modes;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, swing};

/// A strength map of one everywhere changes no bit, and a map of two equals twice the strength.
#[test]
fn a_map_of_strength_scales_the_rig_vertex_by_vertex() {
    let body = Body::bar();
    let n = body.mesh.vertices().len();
    let model = |map: Option<Vec<f64>>| {
        let rig = Some(&body.rig);
        let (modes, labels) = (&body.modes, &body.labels);
        let extras = Extras { strength: map.as_deref(), ..Extras::default() };
        SkinningModel::with_extras(&body.mesh, &body.material, modes, labels, rig, &extras)
            .map(|model| Model::Skinning(model.into()))
    };
    let encode = |map| jounce::file::encode(&model(map).unwrap());
    assert!(encode(None) == encode(Some(vec![1.0; n])) && encode(None) != encode(Some(vec![0.5; n])));
    let p = SimulationParams { gravity: [0.0, 0.0, -9.81], ..Default::default() };
    let mut map = Simulation::new(model(Some(vec![2.0; n])).unwrap(), p).unwrap();
    let mut scaled = Simulation::new(model(None).unwrap(), SimulationParams { strength: 2.0, ..p }).unwrap();
    for frame in 0..10 {
        let pose = swing(f64::from(frame) / 24.0);
        map.step(Some(&pose)).unwrap();
        scaled.step(Some(&pose)).unwrap();
        for (a, b) in map.coefficients().iter().zip(scaled.coefficients()) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
    assert!(matches!(model(Some(vec![1.0; 3])), Err(Error::Shape { what: "strength", .. })));
    assert!(matches!(model(Some(vec![-1.0; n])), Err(Error::Range { what: "strength", .. })));
    assert!(matches!(model(Some(vec![f64::NAN; n])), Err(Error::NotFinite { what: "strength", .. })));
}

/// Produces the table on the method's page; run with `--nocapture`.
#[test]
fn bdf2_keeps_energy_that_backward_euler_loses() {
    for (name, body) in ["arap", "corotated"].into_iter().zip(Body::bars()) {
        for substeps in [1, 2, 4] {
            let [euler, bdf2] =
                [Integrator::BackwardEuler, Integrator::Bdf2].map(|i| energy_kept(&body, i, substeps));
            println!("{name}, {substeps} substeps: backward Euler {euler:.4}, BDF2 {bdf2:.4}");
            assert!(bdf2 < 1.0 && bdf2 > 0.1 && bdf2 > 10.0 * euler, "{euler} {bdf2}");
        }
    }
}

/// Share of the energy left after 200 frames of 1/24 s of an undamped bar that starts hanging, with a
/// lowest mode of 2 Hz.
fn energy_kept(body: &Body, integrator: Integrator, substeps: u32) -> f64 {
    let progress = jounce::Progress::default();
    let modes = skinning_modes(&body.mesh, &body.material, 8, Some(&body.rig), None, &progress).unwrap();
    let (mesh, material, labels) = (&body.mesh, &body.material, &body.labels);
    let model = SkinningModel::new(mesh, material, &modes, labels, Some(&body.rig)).unwrap();
    let stiffness = (2.0 / model.frequency()).powi(2);
    let model = std::sync::Arc::new(model);
    let projector = Model::Skinning(model.clone()).projector(None).unwrap();
    let p = SimulationParams {
        integrator,
        stiffness,
        // One step per frame, so that every step is recorded.
        dt: 1.0 / (24.0 * f64::from(substeps)),
        gravity: [0.0, 0.0, -16.0],
        ..SimulationParams { tolerance: 1e-9, max_iterations: 500, ..Default::default() }
    };
    let mut sim = Simulation::new(Model::Skinning(model.clone()), p).unwrap();
    sim.settle(&StepInput { pose: Some(&[REST, REST]), ..StepInput::default() }, 5000, &Progress::default())
        .unwrap();
    sim.set_params(SimulationParams { gravity: [0.0; 3], ..p }).unwrap();
    let mass = lumped_mass(mesh, material);
    let at = |sim: &Simulation| {
        let mut u = vec![0.0; 3 * mass.len()];
        projector.displacement(sim.coefficients(), &mut u).unwrap();
        u.into_iter().map(f64::from).collect::<Vec<f64>>()
    };
    let elastic = |z: &[f64]| stiffness * model.elastic_energy(z, Some(&[REST, REST]), 1.0).unwrap().0;
    let start = elastic(sim.coefficients());
    let mut last = vec![at(&sim); 3];
    for _ in 0..200 * substeps {
        sim.step(Some(&[REST, REST])).unwrap();
        last.rotate_left(1);
        last[2] = at(&sim);
    }
    let newest: [f64; 2] = if integrator == Integrator::Bdf2 { [1.5, -0.5] } else { [1.0, 0.0] };
    let speed =
        |i: usize| (newest[0] * (last[2][i] - last[1][i]) + newest[1] * (last[1][i] - last[0][i])) / p.dt;
    let kinetic: f64 = (0..3 * mass.len()).map(|i| 0.5 * mass[i / 3] * speed(i).powi(2)).sum();
    (kinetic + elastic(sim.coefficients())) / start
}
