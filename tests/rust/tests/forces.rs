//! Forces on the flesh: exact reduction, evaluation at few samples, and balance at equilibrium.

use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::mesh::Embedding;
use jounce::model::Model;
use jounce::operators::lumped_mass;
use jounce::simulation::Simulation;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, Transform, displacement, largest, some_coefficients, swing};

const GRAVITY: [f64; 3] = [0.5, 1.0, -9.81];

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn weights_of(body: &Body) -> Vec<f64> {
    lumped_mass(&body.mesh, &body.material).iter().flat_map(|m| GRAVITY.map(|g| g * m)).collect()
}

#[test]
fn reduced_forces_do_the_same_work() {
    let body = Body::bar();
    let model = body.model();
    let points = body.mesh.vertices().iter().map(|x| x.map(|x| 0.9 * x + 0.01)).collect();
    let embedding = Embedding::new(&body.mesh, points).unwrap();
    for embedding in [None, Some(&embedding)] {
        let projector = model.projector(embedding).unwrap();
        let forces = some_coefficients(3 * projector.point_count(), 2.0);
        let reduced = projector.reduce_forces(&forces).unwrap();
        for size in [1e-3, 1.0] {
            let z = some_coefficients(48, size);
            let mut u = vec![0.0; forces.len()];
            projector.displacement(&z, &mut u).unwrap();
            let u: Vec<f64> = u.into_iter().map(f64::from).collect();
            let scale = dot(&forces, &forces).sqrt() * dot(&u, &u).sqrt();
            assert!((dot(&forces, &u) - dot(&reduced, &z)).abs() < 1e-7 * scale);
        }
    }
    // Entry by entry, the reduction is the transpose of the definition.
    let projector = model.projector(None).unwrap();
    let forces = some_coefficients(3 * projector.point_count(), 2.0);
    let reduced = projector.reduce_forces(&forces).unwrap();
    let norm = reduced.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    for entry in 0..48 {
        let mut unit = vec![0.0; 48];
        unit[entry] = 1.0;
        let work = dot(displacement(&body, &unit).as_flattened(), &forces);
        assert!((work - reduced[entry]).abs() < 1e-6 * norm, "{entry}: {work} {}", reduced[entry]);
    }
}

fn after(model: &Model, p: SimulationParams, force: Option<&[f64]>) -> Vec<f64> {
    let mut sim = Simulation::new(model.clone(), p).unwrap();
    for frame in 0..12 {
        let pose = swing(f64::from(frame) / 24.0);
        sim.step_with(&StepInput { pose: Some(&pose), force, ..StepInput::default() }, &Progress::default())
            .unwrap();
    }
    sim.coefficients().to_vec()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    let scale = a.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < tolerance * scale, "{a} {b} of {scale}"));
}

#[test]
fn weight_given_as_a_force_does_what_gravity_does() {
    let base = SimulationParams { substeps: 2, tolerance: 1e-12, max_iterations: 500, ..Default::default() };
    for body in Body::bars() {
        let model = body.model();
        let heavy = after(&model, SimulationParams { gravity: GRAVITY, ..base }, None);
        let nodal = model.projector(None).unwrap().reduce_forces(&weights_of(&body)).unwrap();
        close(&heavy, &after(&model, base, Some(&nodal)), 1e-6);
        for count in [1, 3, 1000] {
            let samples = model.force_samples(count).unwrap();
            assert_eq!(samples.points().len(), count.min(model.cluster_count()));
            let forces: Vec<f64> = samples.masses().iter().flat_map(|m| GRAVITY.map(|g| g * m)).collect();
            let reduced = model.reduce_sample_forces(&samples, &forces).unwrap();
            close(&heavy, &after(&model, base, Some(&reduced)), 1e-9);
        }
        let none = model.reduce_sample_forces(&model.force_samples(3).unwrap(), &[0.0; 9]).unwrap();
        assert_eq!(after(&model, base, None), after(&model, base, Some(&none)));
    }
}

/// The centre of mass of the whole body.
fn center(body: &Body, at: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
    let mass = lumped_mass(&body.mesh, &body.material);
    let total: f64 = mass.iter().sum();
    std::array::from_fn(|c| mass.iter().enumerate().map(|(i, m)| m * at(i)[c]).sum::<f64>() / total)
}

#[test]
fn samples_are_centres_of_mass_at_rest_and_in_motion() {
    let body = Body::bar();
    let model = body.model();
    let mut sim = Simulation::new(model.clone(), SimulationParams::default()).unwrap();
    let mean = |points: &[[f64; 3]], masses: &[f64]| -> [f64; 3] {
        let total: f64 = masses.iter().sum();
        std::array::from_fn(|c| points.iter().zip(masses).map(|(p, m)| m * p[c]).sum::<f64>() / total)
    };
    let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|c| (a[c] - b[c]).abs() < 1e-12);
    for count in [1, 2, 5, 100] {
        let samples = model.force_samples(count).unwrap();
        assert!((samples.masses().iter().sum::<f64>() - body.reduced().mass()).abs() < 1e-10);
        let rest = center(&body, |i| body.mesh.vertices()[i]);
        assert!(near(mean(samples.points(), samples.masses()), rest));
        sim.reset(Some(&[REST, REST])).unwrap();
        for (at, rest) in sim.sample_positions(&samples).unwrap().iter().zip(samples.points()) {
            assert!(near(*at, *rest));
        }
        for frame in 0..9 {
            sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
        }
        let (u, pose) = (displacement(&body, sim.coefficients()), swing(8.0 / 24.0));
        let moved = center(&body, |i| {
            let x = body.mesh.vertices()[i];
            let weight = |bone: usize| {
                body.rig.bone(bone).iter().find(|&&(v, _)| v as usize == i).map_or(0.0, |&(_, w)| w)
            };
            let place = |t: &Transform, c: usize| t[c][3] + (0..3).map(|d| t[c][d] * x[d]).sum::<f64>();
            std::array::from_fn(|c| u[i][c] + (0..2).map(|b| weight(b) * place(&pose[b], c)).sum::<f64>())
        });
        let samples_mean = mean(&sim.sample_positions(&samples).unwrap(), samples.masses());
        assert!(near(samples_mean, moved), "{samples_mean:?} {moved:?}");
    }
}

#[test]
fn a_settled_body_stays_and_its_energy_is_least() {
    for (body, pose_rest) in
        Body::bars().into_iter().zip([0.0, 1.0]).chain(Body::bars().into_iter().zip([1.0, 0.0]))
    {
        for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
            let p = SimulationParams {
                integrator,
                pose_rest,
                gravity: GRAVITY,
                tolerance: 1e-10,
                max_iterations: 1000,
                ..Default::default()
            };
            let pose = swing(0.2);
            let mut sim = Simulation::new(body.model(), p).unwrap();
            let report = sim
                .settle(&StepInput { pose: Some(&pose), ..StepInput::default() }, 5000, &Progress::default())
                .unwrap();
            assert!(report.residual <= 1e-10 && report.iterations < 2000, "{report:?}");
            let settled = displacement(&body, sim.coefficients());
            assert!(largest(&settled) > 1e-3);
            for _ in 0..20 {
                sim.step(Some(&pose)).unwrap();
            }
            let later = displacement(&body, sim.coefficients());
            let moved: Vec<[f64; 3]> =
                settled.iter().zip(&later).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c])).collect();
            assert!(largest(&moved) < 1e-5 * largest(&settled), "{} {}", largest(&moved), largest(&settled));
        }
    }
}

#[test]
fn a_free_body_settles_where_it_is() {
    let body = Body::bar();
    let model = Model::Skinning(body.reduce(None).into());
    let p = SimulationParams { gravity: GRAVITY, ..Default::default() };
    let mut sim = Simulation::new(model, p).unwrap();
    let report = sim.settle(&StepInput::default(), 2000, &Progress::default()).unwrap();
    assert!(report.energy.is_finite() && sim.coefficients().iter().all(|z| z.is_finite()));
}

#[test]
fn forces_that_do_not_fit_are_refused() {
    let model = Body::bar().model();
    let projector = model.projector(None).unwrap();
    let n = projector.point_count();
    let mut bad = vec![0.0; 3 * n];
    assert!(matches!(projector.reduce_forces(&bad[1..]), Err(Error::Shape { what: "forces", .. })));
    bad[7] = f64::NAN;
    assert!(matches!(projector.reduce_forces(&bad), Err(Error::NotFinite { element: 2, .. })));
    assert!(matches!(model.force_samples(0), Err(Error::Range { what: "count", .. })));
    let samples = model.force_samples(4).unwrap();
    let reduce = |forces: &[f64]| model.reduce_sample_forces(&samples, forces).err();
    assert!(matches!(reduce(&[0.0; 9]), Some(Error::Shape { .. })));
    assert!(matches!(reduce(&[f64::INFINITY; 12]), Some(Error::NotFinite { element: 0, .. })));
    let other = Body::new(jounce_tests::bodies::bar([3, 2, 2], 0.1), 2, 1).model();
    let foreign = other.reduce_sample_forces(&samples, &[0.0; 12]).err();
    assert!(matches!(foreign, Some(Error::Shape { what: "samples", .. })));
    let mut sim = Simulation::new(model.clone(), SimulationParams::default()).unwrap();
    sim.step(Some(&swing(0.0))).unwrap();
    let state = sim.save_state();
    let mut step = |force: &[f64]| {
        sim.step_with(
            &StepInput { pose: Some(&swing(0.1)), force: Some(force), ..StepInput::default() },
            &Progress::default(),
        )
        .err()
    };
    assert!(matches!(step(&[0.0; 12]), Some(Error::Shape { what: "force", .. })));
    assert!(matches!(step(&[f64::NAN; 48]), Some(Error::NotFinite { .. })));
    assert!(matches!(step(&[1e308; 48]), Some(Error::Numerical { .. })));
    assert_eq!(sim.save_state(), state);
    let mut other = Simulation::new(other, SimulationParams::default()).unwrap();
    other.step(Some(&swing(0.0))).unwrap();
    assert!(matches!(other.sample_positions(&samples), Err(Error::Shape { .. })));
}
