//! Drag: the stated force at the velocity at the end of a step; stable for any coefficient.

use std::sync::Arc;

use jounce::inputs::{Drag, ForceSamples};
use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::model::Model;
use jounce::operators::lumped_mass;
use jounce::simulation::Simulation;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, Transform, displacement, largest, swing, turn};

const WIND: [f64; 3] = [0.4, -0.9, 0.3];

fn settings() -> [SimulationParams; 4] {
    let base = SimulationParams { tolerance: 1e-13, max_iterations: 3000, ..Default::default() };
    [
        base,
        SimulationParams { pose_rest: 0.4, damping: 0.1, gravity: [0.0, 1.0, -9.0], ..base },
        SimulationParams { integrator: Integrator::Bdf2, ..base },
        SimulationParams { limit: Some(0.03), integrator: Integrator::Bdf2, damping: 0.1, ..base },
    ]
}

fn samples(model: &Model, count: usize) -> Arc<ForceSamples> {
    Arc::new(model.force_samples(count).unwrap())
}

/// Drag with coefficients `linear` and `quadratic` times each part's mass, different for each part, in a
/// rotating wind.
fn drag(samples: &Arc<ForceSamples>, linear: f64, quadratic: f64) -> Drag {
    let times = |x: f64| -> Vec<f64> {
        samples.masses().iter().enumerate().map(|(s, m)| x * m * (s + 1) as f64).collect()
    };
    let wind: Vec<f64> =
        (0..samples.masses().len()).flat_map(|s| WIND.map(|u| u * (s as f64).cos())).collect();
    Drag::new(samples.clone(), &times(linear), Some(&times(quadratic)), Some(&wind)).unwrap()
}

fn input<'a>(pose: &'a [Transform; 2], drag: Option<&'a Drag>) -> StepInput<'a> {
    StepInput { pose: Some(pose), drag, ..StepInput::default() }
}

fn norm(w: &[f64]) -> f64 {
    w.iter().map(|w| w * w).sum::<f64>().sqrt()
}

/// `-(c + q |w|) w` of each sample moving through these positions, newest last.
fn forces(drag: &Drag, places: &[Vec<[f64; 3]>; 3], p: &SimulationParams) -> Vec<f64> {
    let [older, last, now] = places;
    let [newest, before] = if p.integrator == Integrator::Bdf2 { [1.5, -0.5] } else { [1.0, 0.0] };
    let force = |s: usize| {
        let w: [f64; 3] = std::array::from_fn(|c| {
            let moved = newest * (now[s][c] - last[s][c]) + before * (last[s][c] - older[s][c]);
            moved / p.dt - drag.velocity()[s][c]
        });
        let factor = drag.linear()[s] + drag.quadratic()[s] * norm(&w);
        w.map(|w| -factor * w)
    };
    (0..now.len()).flat_map(force).collect()
}

#[test]
fn a_step_ends_where_the_force_of_its_end_leads() {
    for body in Body::bars() {
        let model = body.model();
        let samples = samples(&model, 5);
        for p in settings() {
            for (linear, quadratic) in [(3.0, 0.0), (200.0, 0.0), (0.0, 4.0), (5.0, 50.0)] {
                let drag = drag(&samples, linear, quadratic);
                let mut sim = Simulation::new(model.clone(), p).unwrap();
                let mut places = [const { Vec::new() }; 3];
                for frame in 0..6 {
                    let pose = swing(f64::from(frame) / 24.0);
                    let before = sim.save_state();
                    sim.step_with(&input(&pose, Some(&drag)), &Progress::default()).unwrap();
                    places.rotate_left(1);
                    places[2] = sim.sample_positions(&samples).unwrap();
                    if frame < 3 {
                        continue;
                    }
                    let reduced = model.reduce_sample_forces(&samples, &forces(&drag, &places, &p)).unwrap();
                    let mut given = Simulation::new(model.clone(), p).unwrap();
                    given.restore_state(&before).unwrap();
                    given
                        .step_with(
                            &StepInput { force: Some(&reduced), ..input(&pose, None) },
                            &Progress::default(),
                        )
                        .unwrap();
                    let (one, other) =
                        (displacement(&body, sim.coefficients()), displacement(&body, given.coefficients()));
                    let apart: Vec<[f64; 3]> =
                        one.iter().zip(&other).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c])).collect();
                    assert!(largest(&one) > 1e-3);
                    assert!(
                        largest(&apart) < 2e-6 * largest(&one),
                        "{p:?} {linear} {quadratic} {frame}: {}",
                        largest(&apart) / largest(&one)
                    );
                }
            }
        }
    }
}

#[test]
fn nothing_that_drags_changes_no_bit() {
    for body in Body::bars() {
        let model = body.model();
        let none = drag(&samples(&model, 3), 0.0, 0.0);
        for p in settings() {
            let end = |drag: Option<&Drag>| {
                let mut sim = Simulation::new(model.clone(), SimulationParams { substeps: 2, ..p }).unwrap();
                sim.settle(&input(&swing(0.0), drag), 50, &Progress::default()).unwrap();
                for frame in 1..8 {
                    sim.step_with(&input(&swing(f64::from(frame) / 24.0), drag), &Progress::default())
                        .unwrap();
                }
                sim.save_state()
            };
            assert_eq!(end(None), end(Some(&none)));
        }
    }
}

#[test]
fn parts_follow_a_medium_that_is_thick() {
    for body in Body::bars() {
        let model = body.model();
        let samples = samples(&model, 3);
        for (linear, quadratic, allowed) in
            [(1e8, 0.0, 1e-5), (1e300, 0.0, 1e-5), (0.0, 1e8, 1e-3), (0.0, 1e300, 1e-3)]
        {
            let drag = drag(&samples, linear, quadratic);
            let p = SimulationParams { substeps: 3, ..settings()[0] };
            let mut sim = Simulation::new(model.clone(), p).unwrap();
            sim.reset(Some(&swing(0.0))).unwrap();
            for frame in 1..8 {
                let before = sim.sample_positions(&samples).unwrap();
                sim.step_with(&input(&swing(f64::from(frame) / 24.0), Some(&drag)), &Progress::default())
                    .unwrap();
                let after = sim.sample_positions(&samples).unwrap();
                for (s, medium) in drag.velocity().iter().enumerate() {
                    let off: [f64; 3] =
                        std::array::from_fn(|c| after[s][c] - before[s][c] - p.dt * medium[c]);
                    assert!(norm(&off) < allowed * 0.9, "{linear} {quadratic} {frame}: {}", norm(&off));
                }
            }
        }
    }
}

#[test]
fn what_is_flung_far_through_a_medium_moves_or_is_refused() {
    let model = Body::bar().model();
    let samples = samples(&model, 2);
    let drag = drag(&samples, 0.0, 1e300);
    let mut moved = 0;
    for params in settings() {
        for power in 0..12 {
            let away = [turn([0.3, 1.0, 0.2], 0.5, [0.0; 3], [10.0_f64.powi(power), 0.0, 0.0]); 2];
            let mut sim = Simulation::new(model.clone(), params).unwrap();
            sim.reset(Some(&[REST; 2])).unwrap();
            match sim.step_with(&input(&away, Some(&drag)), &Progress::default()) {
                Ok(_) => {
                    assert!(sim.coefficients().iter().any(|&z| z != 0.0), "10^{power} m");
                    moved += 1;
                }
                Err(error) => assert!(matches!(error, Error::Numerical { .. }), "{error}"),
            }
        }
    }
    assert!(moved > 12, "{moved}");
}

/// Elastic and kinetic energy at the end of each frame of a body that is shaken and then held.
fn energies(body: &Body, p: SimulationParams, linear: f64, quadratic: f64) -> Vec<f64> {
    let model = body.model();
    let samples = samples(&model, 8);
    let times = |x: f64| -> Vec<f64> { samples.masses().iter().map(|m| x * m).collect() };
    let drag = Drag::new(samples.clone(), &times(linear), Some(&times(quadratic)), None).unwrap();
    let mass = lumped_mass(&body.mesh, &body.material);
    let mut sim = Simulation::new(model, p).unwrap();
    (0..=8).for_each(|frame| {
        sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
    });
    let mut last = displacement(body, sim.coefficients());
    let frame = |_| {
        let report = sim.step_with(&input(&swing(8.0 / 24.0), Some(&drag)), &Progress::default()).unwrap();
        let now = displacement(body, sim.coefficients());
        let moved = |i: usize| (0..3).map(|c| (now[i][c] - last[i][c]).powi(2)).sum::<f64>();
        let kinetic: f64 = mass.iter().enumerate().map(|(i, m)| 0.5 * m * moved(i) / (p.dt * p.dt)).sum();
        last = now;
        report.energy + kinetic
    };
    (0..40).map(frame).collect()
}

#[test]
fn drag_of_a_still_medium_only_takes_energy() {
    for body in Body::bars() {
        for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
            let p = SimulationParams { integrator, dt: 1.0 / 96.0, ..settings()[0] };
            let mut before = f64::INFINITY;
            for (linear, quadratic) in [(0.0, 0.0), (1.0, 0.0), (5.0, 0.0), (5.0, 20.0), (5.0, 400.0)] {
                let energies = energies(&body, p, linear, quadratic);
                let all: f64 = energies.iter().sum();
                assert!(all < 0.95 * before, "{integrator:?} {linear} {quadratic}: {all} {before}");
                before = all;
                for pair in energies.windows(2).filter(|_| integrator == Integrator::BackwardEuler) {
                    assert!(pair[1] <= pair[0] + 1e-9 * energies[0], "{linear} {quadratic} {pair:?}");
                }
            }
        }
    }
}

#[test]
fn a_body_settles_in_the_wind_as_under_its_force() {
    for body in Body::bars() {
        let model = body.model();
        let samples = samples(&model, 4);
        for (linear, quadratic) in [(2.0, 0.0), (0.0, 2.0)] {
            let drag = drag(&samples, linear, quadratic);
            let forces: Vec<f64> = (0..4)
                .flat_map(|s| {
                    let u = drag.velocity()[s];
                    u.map(|x| (drag.linear()[s] + drag.quadratic()[s] * norm(&u)) * x)
                })
                .collect();
            let force = model.reduce_sample_forces(&samples, &forces).unwrap();
            let settle = |input: &StepInput<'_>| {
                let mut sim = Simulation::new(model.clone(), settings()[0]).unwrap();
                sim.settle(input, 2000, &Progress::default()).unwrap();
                displacement(&body, sim.coefficients())
            };
            let pose = swing(0.1);
            let one = settle(&input(&pose, Some(&drag)));
            let other = settle(&StepInput { force: Some(&force), ..input(&pose, None) });
            assert!(largest(&one) > 1e-4);
            for (a, b) in one.iter().zip(&other) {
                (0..3).for_each(|c| assert!((a[c] - b[c]).abs() < 1e-6 * largest(&one)));
            }
        }
    }
}

#[test]
fn drag_that_does_not_fit_is_refused() {
    let model = Body::bar().model();
    let samples = samples(&model, 4);
    let refused =
        |linear: &[f64], quadratic, velocity| Drag::new(samples.clone(), linear, quadratic, velocity).err();
    assert!(matches!(refused(&[1.0; 3], None, None), Some(Error::Shape { what: "linear", .. })));
    let four = [1.0; 4];
    assert!(matches!(refused(&four, Some(&[1.0]), None), Some(Error::Shape { what: "quadratic", .. })));
    assert!(matches!(refused(&four, None, Some(&four)), Some(Error::Shape { what: "velocity", .. })));
    let nan = [0.0, 0.0, f64::NAN, 0.0];
    assert!(matches!(refused(&nan, None, None), Some(Error::NotFinite { what: "linear", element: 2, .. })));
    assert!(matches!(refused(&four, None, Some(&[f64::INFINITY; 12])), Some(Error::NotFinite { .. })));
    let below = [1.0, -1e-9, 0.0, 0.0];
    assert!(matches!(refused(&below, None, None), Some(Error::Range { what: "linear", .. })));
    assert!(matches!(refused(&four, Some(&below), None), Some(Error::Range { what: "quadratic", .. })));
    let other = Body::new(jounce_tests::bodies::bar([3, 2, 2], 0.1), 2, 1).model();
    let mut sim = Simulation::new(other, SimulationParams::default()).unwrap();
    sim.step(Some(&swing(0.0))).unwrap();
    let state = sim.save_state();
    let foreign =
        sim.step_with(&input(&swing(0.1), Some(&drag(&samples, 1.0, 0.0))), &Progress::default()).err();
    assert!(matches!(foreign, Some(Error::Shape { what: "samples", .. })));
    let storm = Drag::new(samples.clone(), &four, Some(&four), Some(&[1e200; 12])).unwrap();
    let mut own = Simulation::new(model.clone(), SimulationParams::default()).unwrap();
    own.step(Some(&swing(0.0))).unwrap();
    let own_state = own.save_state();
    assert!(matches!(
        own.step_with(&input(&swing(0.1), Some(&storm)), &Progress::default()),
        Err(Error::Numerical { .. })
    ));
    assert_eq!((sim.save_state(), own.save_state()), (state, own_state));
}
