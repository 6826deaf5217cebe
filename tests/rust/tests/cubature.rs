//! Cubature of forces: exact with all tets, stable with few, and closer to the exact forces than clusters.

use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::Law;
use jounce::model::Model;
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::operators::lumped_mass;
use jounce::sampling::Cubature;
use jounce::simulation::Simulation;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, Transform, bar, displacement, largest, some_coefficients, swing};

const DIAGONAL: f64 = 0.9;

/// Longer bars than in the other tests, with more modes, so that clusters show locking.
fn bodies() -> [Body; 2] {
    let body = || Body::new(bar([12, 3, 3], 0.1), 6, 3);
    [body(), body().with_law(Law::Corotated, 0.4)]
}

fn train(body: &Body, count: usize) -> Cubature {
    let progress = Progress::default();
    Cubature::train(&body.mesh, &body.material, &body.modes, Some(&body.rig), (count, 3), &progress).unwrap()
}

fn reduced(body: &Body, cubature: &Cubature) -> SkinningModel {
    let extras = Extras { cubature: Some(cubature), ..Extras::default() };
    let (modes, labels, rig) = (&body.modes, &body.labels, Some(&body.rig));
    SkinningModel::with_extras(&body.mesh, &body.material, modes, labels, rig, &extras).unwrap()
}

/// Clusters of one tet each.
fn of_all_tets(body: &Body) -> SkinningModel {
    let labels: Vec<i32> = (0..body.mesh.tets().len() as i32).collect();
    let (mesh, material) = (&body.mesh, &body.material);
    SkinningModel::new(mesh, material, &body.modes, &labels, Some(&body.rig)).unwrap()
}

#[test]
fn with_all_tets_it_is_exact() {
    for body in bodies() {
        let cubature = train(&body, 10_000);
        assert!(cubature.weights.iter().all(|&weight| weight == 1.0));
        let (all, exact) = (reduced(&body, &cubature), of_all_tets(&body));
        let pose = swing(0.2);
        for pose_rest in [0.0, 0.5, 1.0] {
            let z = some_coefficients(12 * all.mode_count(), 0.03);
            let (a, slope) = all.elastic_energy(&z, Some(&pose), pose_rest).unwrap();
            let (b, exact_slope) = exact.elastic_energy(&z, Some(&pose), pose_rest).unwrap();
            // Pinned tets contain energy of the rig, constant under any motion.
            let (a0, _) = all.elastic_energy(&vec![0.0; z.len()], Some(&pose), pose_rest).unwrap();
            let (b0, _) = exact.elastic_energy(&vec![0.0; z.len()], Some(&pose), pose_rest).unwrap();
            assert!(((a - a0) - (b - b0)).abs() < 1e-8 * b.abs(), "{} {}", a - a0, b - b0);
            let size = exact_slope.iter().fold(0.0_f64, |size, g| size.max(g.abs()));
            assert!(slope.iter().zip(&exact_slope).all(|(a, b)| (a - b).abs() < 1e-8 * size));
        }
    }
}

#[test]
fn its_gradient_is_the_derivative_of_its_energy() {
    for body in bodies() {
        let model = reduced(&body, &train(&body, 25));
        let (pose, z) = (swing(0.2), some_coefficients(12 * model.mode_count(), 0.02));
        for pose_rest in [0.0, 0.4, 1.0] {
            let (_, gradient) = model.elastic_energy(&z, Some(&pose), pose_rest).unwrap();
            let norm = gradient.iter().fold(1.0, |a: f64, g| a.max(g.abs()));
            for i in 0..z.len() {
                let at = |steps: f64| {
                    let mut z = z.clone();
                    z[i] += steps * 1e-5;
                    model.elastic_energy(&z, Some(&pose), pose_rest).unwrap().0
                };
                let difference = (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / 12e-5;
                assert!((difference - gradient[i]).abs() < 1e-6 * norm, "{i}: {difference} {}", gradient[i]);
            }
        }
    }
}

#[test]
fn the_posed_shape_is_the_minimum_however_few_the_tets() {
    for body in bodies() {
        for count in [1, 4, 20, 60] {
            let model = reduced(&body, &train(&body, count));
            for (pose, size) in [[REST; 2], swing(0.1), swing(0.25)].iter().zip([1e-3, 0.05, 1.0]) {
                let rest = vec![0.0; 12 * model.mode_count()];
                let (still, slope) = model.elastic_energy(&rest, Some(pose), 1.0).unwrap();
                assert!(still.abs() < 1e-9 && slope.iter().all(|g| g.abs() < 1e-8));
                for seed in 0..40 {
                    let z: Vec<f64> = some_coefficients(rest.len() + seed, size).split_off(seed);
                    let (energy, _) = model.elastic_energy(&z, Some(pose), 1.0).unwrap();
                    assert!(energy > 0.0, "{count} tets: {energy}");
                }
            }
        }
    }
}

/// The displacement of every frame of a swing.
fn shot(body: &Body, model: SkinningModel) -> Vec<f64> {
    let params = SimulationParams { max_iterations: 400, tolerance: 1e-8, ..SimulationParams::default() };
    let mut sim = Simulation::new(Model::Skinning(model.into()), params).unwrap();
    let frame = |frame: u32| {
        sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
        displacement(body, sim.coefficients()).into_flattened()
    };
    (0..30).flat_map(frame).collect()
}

/// Root mean square of a difference, relative to the first argument.
fn error(exact: &[f64], other: &[f64]) -> f64 {
    let square = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>();
    let missed = square(&mut exact.iter().zip(other).map(|(a, b)| a - b));
    (missed / square(&mut exact.iter().copied())).sqrt()
}

#[test]
fn a_shot_is_nearer_to_that_of_all_tets_than_with_clusters() {
    for body in bodies() {
        let exact = shot(&body, of_all_tets(&body));
        let clusters = body.labels.iter().max().unwrap() + 1;
        let by_clusters = error(&exact, &shot(&body, body.reduced()));
        let (few, many) = (train(&body, clusters as usize * 4), train(&body, 120));
        let few = error(&exact, &shot(&body, reduced(&body, &few)));
        let many = error(&exact, &shot(&body, reduced(&body, &many)));
        println!("{clusters} clusters {by_clusters:.3}, few tets {few:.3}, many {many:.3}");
        assert!(many < 0.25 && many < 0.5 * by_clusters, "{by_clusters} {few} {many}");
    }
}

/// Kinetic and elastic energy, J, after a step from `before` to `now`.
fn energy(
    body: &Body,
    model: &SkinningModel,
    before: &[f64],
    now: &[f64],
    pose: &[Transform],
    h: f64,
) -> f64 {
    let mass = lumped_mass(&body.mesh, &body.material);
    let moved: Vec<f64> = now.iter().zip(before).map(|(now, before)| (now - before) / h).collect();
    let speed = displacement(body, &moved);
    let kinetic: f64 =
        mass.iter().zip(&speed).map(|(m, v)| 0.5 * m * v.iter().map(|v| v * v).sum::<f64>()).sum();
    kinetic + model.elastic_energy(now, Some(pose), 1.0).unwrap().0
}

#[test]
fn energy_never_rises_undriven() {
    for body in bodies() {
        for count in [3, 20, 60] {
            let model = std::sync::Arc::new(reduced(&body, &train(&body, count)));
            for (kick, pose) in [(30.0, [REST; 2]), (300.0, swing(0.2)), (3e3, swing(0.1))] {
                let params = SimulationParams {
                    max_iterations: 2000,
                    tolerance: 1e-11,
                    ..SimulationParams::default()
                };
                let mut sim = Simulation::new(Model::Skinning(model.clone()), params).unwrap();
                sim.reset(Some(&pose)).unwrap();
                let force = some_coefficients(12 * model.mode_count(), kick);
                for _ in 0..2 {
                    let input = StepInput { pose: Some(&pose), force: Some(&force), ..StepInput::default() };
                    sim.step_with(&input, &Progress::default()).unwrap();
                }
                let (mut before, mut last) = (sim.coefficients().to_vec(), f64::INFINITY);
                for step in 0..60 {
                    sim.step(Some(&pose)).unwrap();
                    let now = sim.coefficients().to_vec();
                    let total = energy(&body, &model, &before, &now, &pose, params.dt);
                    assert!(
                        total <= last * (1.0 + 1e-6),
                        "{count} tets, kick {kick}, step {step}: {last} {total}"
                    );
                    (before, last) = (now, total);
                }
            }
        }
    }
}

#[test]
fn ten_thousand_steps_end_at_rest() {
    for body in bodies() {
        for count in [20, 60] {
            let model = Model::Skinning(reduced(&body, &train(&body, count)).into());
            let params = SimulationParams { tolerance: 1e-10, ..SimulationParams::default() };
            let mut sim = Simulation::new(model, params).unwrap();
            let mut moved: f64 = 0.0;
            for frame in 0..10_000_u32 {
                let time = f64::from(frame.min(200)) / 24.0;
                let report = sim.step(Some(&swing(time))).unwrap();
                assert!(report.energy.is_finite() && report.residual.is_finite());
                moved = moved.max(largest(&displacement(&body, sim.coefficients())));
            }
            let left = largest(&displacement(&body, sim.coefficients()));
            assert!(moved > 1e-2 * DIAGONAL && left < 1e-6 * DIAGONAL, "{count} tets: {moved} {left}");
        }
    }
}

#[test]
fn the_same_tets_for_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train(&bodies()[1], 30))
    };
    let found = on(1);
    assert!(!found.tets.is_empty() && found.tets.len() <= 30);
    assert!(found == on(2) && found == on(3));
}

#[test]
fn a_truncated_model_keeps_its_tets() {
    let body = &bodies()[0];
    let cubature = train(body, 40);
    let fewer = reduced(body, &cubature).truncated(3).unwrap();
    assert_eq!(fewer.cubature_tets(), cubature.tets);
    let z = some_coefficients(12 * 3, 0.1);
    assert!(fewer.elastic_energy(&z, Some(&swing(0.2)), 1.0).unwrap().0 > 0.0);
}

#[test]
fn what_is_no_cubature_of_the_body_is_refused() {
    let body = Body::bar();
    let build = |tets: &[u32], weights: &[f64]| {
        let cubature = Cubature { tets: tets.to_vec(), weights: weights.to_vec() };
        let extras = Extras { cubature: Some(&cubature), ..Extras::default() };
        let (modes, labels) = (&body.modes, &body.labels);
        SkinningModel::with_extras(&body.mesh, &body.material, modes, labels, None, &extras).err().unwrap()
    };
    assert!(matches!(build(&[], &[]), Error::Empty { what: "cubature" }));
    assert!(matches!(build(&[1, 2], &[1.0]), Error::Shape { what: "cubature", .. }));
    assert!(matches!(build(&[1, 99_999], &[1.0; 2]), Error::Index { element: 1, .. }));
    assert!(matches!(build(&[1, 2], &[1.0, 0.0]), Error::Range { got: 0.0, .. }));
    assert!(matches!(build(&[1, 2], &[f64::NAN, 1.0]), Error::NotFinite { element: 0, .. }));
    let none = Cubature::train(&body.mesh, &body.material, &body.modes, None, (0, 0), &Progress::default());
    assert!(matches!(none, Err(Error::Range { what: "cubature", .. })));
}
