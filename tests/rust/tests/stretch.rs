//! The stretch limit: no effect on calm motion, flesh that holds together in violent motion, and rest again
//! after it.

use std::sync::Arc;

use jounce::inputs::{SimulationParams, StepInput};
use jounce::model::Model;
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::operators::gradients;
use jounce::sampling::Cubature;
use jounce::simulation::Simulation;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, Transform, displacement, largest, some_coefficients, swing, turn};
use nalgebra::{Matrix3, Vector3};

fn model(body: &Body) -> Arc<SkinningModel> {
    let (mesh, material, modes, rig) = (&body.mesh, &body.material, &body.modes, Some(&body.rig));
    let cubature = Cubature::train(mesh, material, modes, rig, (60, 0), &Progress::default()).unwrap();
    let extras = Extras { cubature: Some(&cubature), ..Extras::default() };
    SkinningModel::with_extras(mesh, material, modes, &body.labels, rig, &extras).unwrap().into()
}

fn settings() -> [SimulationParams; 2] {
    let base = SimulationParams { stiffness: 0.05, damping: 0.1, max_iterations: 200, ..Default::default() };
    [base, SimulationParams { substeps: 3, ..base }]
}

/// Largest change of a length in some tets, relative to its rigged length, for a rig that moves everything
/// alike.
fn stretch(body: &Body, tets: impl IntoIterator<Item = usize>, z: &[f64], pose: &Transform) -> f64 {
    let (u, hats) = (displacement(body, z), gradients(&body.mesh));
    let rig = Matrix3::from_fn(|i, j| pose[i][j]);
    let of_tet = |t: usize| {
        let (tet, hats) = (&body.mesh.tets()[t], &hats[t]);
        let f = (0..4)
            .fold(rig, |f, c| f + Vector3::from(u[tet[c] as usize]) * Vector3::from(hats[c]).transpose());
        let beyond = f * rig.try_inverse().expect("a rig that leaves volume");
        beyond.singular_values().iter().fold(0.0_f64, |most, s| most.max((s - 1.0).abs()))
    };
    tets.into_iter().map(of_tet).fold(0.0, f64::max)
}

/// Rest, then jumps by most of the body's size.
fn violent(frame: u32) -> [Transform; 2] {
    let jump = if frame < 2 { 0.0 } else { 0.7 * f64::from((frame / 3) % 2) };
    [turn([0.0, 1.0, 0.0], 1.5 * jump, [0.1, 0.0, 0.0], [jump, 0.0, 0.5 * jump]); 2]
}

/// Largest stretch in violent motion: at limited tets, and anywhere.
fn worst(body: &Body, model: &Arc<SkinningModel>, params: SimulationParams, width: f64) -> [f64; 2] {
    let mut sim = Simulation::new(Model::Skinning(model.clone()), params).unwrap();
    (0..24).fold([0.0; 2], |[held, any], frame| {
        let pose = violent(frame).map(|pose| pose.map(|[x, y, z, t]| [x, y, width * z, t]));
        sim.step(Some(&pose)).unwrap();
        let limited = model.stretch_tets().iter().map(|&tet| tet as usize);
        let z = sim.coefficients();
        let all = 0..body.mesh.tets().len();
        [held.max(stretch(body, limited, z, &pose[0])), any.max(stretch(body, all, z, &pose[0]))]
    })
}

#[test]
fn violent_motion_stretches_no_further_than_the_limit() {
    for body in Body::bars() {
        for model in [model(&body), body.reduced().into()] {
            for params in settings() {
                let [_, free] = worst(&body, &model, params, 1.0);
                for limit in [0.6, 0.3, 0.15] {
                    let [held, any] =
                        worst(&body, &model, SimulationParams { stretch: Some(limit), ..params }, 1.0);
                    assert!(held < limit && any < 2.0 * limit, "limit {limit}: {held}, anywhere {any}");
                    assert!(free > 5.0 * any, "limit {limit}: {any}, free {free}");
                }
            }
        }
    }
}

/// The limit is relative to the compressed length, not to the original one.
#[test]
fn flesh_that_a_rig_presses_together_stretches_no_further_either() {
    let body = Body::bar();
    let model = model(&body);
    for params in settings() {
        let params = SimulationParams { stretch: Some(0.3), ..params };
        let [held, any] = worst(&body, &model, params, 0.2);
        assert!(held < 0.3 && any < 0.6, "{held}, anywhere {any}");
    }
}

#[test]
fn calm_motion_is_the_same_to_the_bit() {
    for body in Body::bars() {
        for model in [model(&body), body.reduced().into()] {
            for params in settings() {
                let shot = |stretch| {
                    let params = SimulationParams { stretch, ..params };
                    let mut sim = Simulation::new(Model::Skinning(model.clone()), params).unwrap();
                    let frame = |frame: u32| {
                        sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
                        sim.coefficients().to_vec()
                    };
                    (0..24).map(frame).collect::<Vec<_>>()
                };
                assert_eq!(shot(None), shot(Some(100.0)));
                assert_ne!(shot(None), shot(Some(1e-3)));
            }
        }
    }
}

/// The result of a step at its limit depends on the state alone, not on earlier steps.
#[test]
fn violent_motion_replays_bit_for_bit_from_any_frame() {
    let body = Body::bar();
    let model = model(&body);
    let play = |sim: &mut Simulation, frames: std::ops::Range<u32>| {
        for frame in frames {
            sim.step(Some(&violent(frame))).unwrap();
        }
    };
    for params in settings() {
        let params = SimulationParams { stretch: Some(0.15), ..params };
        let new = || Simulation::new(Model::Skinning(model.clone()), params).unwrap();
        let (mut sim, mut states) = (new(), Vec::new());
        for frame in 0..24 {
            states.push((frame, sim.save_state()));
            play(&mut sim, frame..frame + 1);
        }
        let end = sim.save_state();
        for (first, state) in states {
            // A simulation with another history that is at its limit.
            let mut other = new();
            play(&mut other, 0..5);
            other.restore_state(&state).unwrap();
            play(&mut other, first..24);
            assert!(other.save_state() == end, "from frame {first}");
        }
    }
}

#[test]
fn flesh_that_was_beaten_comes_to_rest() {
    for body in Body::bars() {
        let model = model(&body);
        for pose_rest in [0.0, 1.0] {
            let params = SimulationParams { stretch: Some(0.1), pose_rest, ..SimulationParams::default() };
            let mut sim = Simulation::new(Model::Skinning(model.clone()), params).unwrap();
            let force = some_coefficients(12 * model.mode_count(), 3e3);
            sim.reset(Some(&[REST; 2])).unwrap();
            for step in 0..3000 {
                let force = (step < 3).then_some(&force[..]);
                let input = StepInput { pose: Some(&[REST; 2]), force, ..StepInput::default() };
                let report = sim.step_with(&input, &Progress::default()).unwrap();
                assert!(report.energy.is_finite() && report.residual.is_finite());
            }
            let left = largest(&displacement(&body, sim.coefficients()));
            assert!(left < 1e-6, "rest {pose_rest}: {left}");
        }
    }
}

/// A place near its limit becomes firmer continuously: no threshold parts two motions.
#[test]
fn poses_a_hair_apart_move_alike_at_the_limit() {
    let body = Body::bar();
    let model = model(&body);
    let pose = |frame: u32, hair: f64| {
        let time = f64::from(frame) / 24.0;
        [0.7, 1.3].map(|pace: f64| {
            let shift = [0.25 * (5.0 * pace * time).sin() + hair, 0.0, 0.2 * (8.0 * pace * time).sin()];
            turn([0.0, 1.0, 0.0], 0.8 * (6.0 * pace * time).sin() + hair, [0.1, 0.0, 0.0], shift)
        })
    };
    let gap = |a: &[[f64; 3]], b: &[[f64; 3]]| {
        a.as_flattened().iter().zip(b.as_flattened()).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
    };
    for params in settings() {
        let [mut one, mut other, mut free] = [Some(0.3), Some(0.3), None].map(|stretch| {
            let params = SimulationParams { stretch, ..params };
            Simulation::new(Model::Skinning(model.clone()), params).unwrap()
        });
        let (mut apart, mut held) = (0.0_f64, 0);
        for frame in 0..300 {
            let step = |sim: &mut Simulation, hair: f64| {
                sim.step(Some(&pose(frame, hair))).unwrap();
                displacement(&body, sim.coefficients())
            };
            let [u, v, w] = [step(&mut one, 0.0), step(&mut other, 1e-7), step(&mut free, 0.0)];
            apart = apart.max(gap(&u, &v));
            held += u32::from(gap(&u, &w) > 0.01);
        }
        assert!(held > 100, "the limit acts in {held} frames");
        // Descents end within 1e-6 of the size, and the next steps carry that on.
        assert!(apart < 1e-4, "{apart} m apart");
    }
}

/// Under a dead load the limit balances it: the same equilibrium from two sides.
#[test]
fn the_equilibrium_under_a_load_does_not_depend_on_the_way() {
    let body = Body::bar();
    let model = model(&body);
    let params = SimulationParams { stretch: Some(0.2), tolerance: 1e-9, ..SimulationParams::default() };
    let force = some_coefficients(12 * model.mode_count(), 25.0);
    let input = StepInput { pose: Some(&[REST; 2]), force: Some(&force), ..StepInput::default() };
    let settled = |params: SimulationParams| {
        let mut sim = Simulation::new(Model::Skinning(model.clone()), params).unwrap();
        sim.settle(&input, 5000, &Progress::default()).unwrap();
        displacement(&body, sim.coefficients())
    };
    let held = settled(params);
    let free = settled(SimulationParams { stretch: None, ..params });
    let gap = |a: &[[f64; 3]], b: &[[f64; 3]]| {
        a.as_flattened().iter().zip(b.as_flattened()).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
    };
    // Long steps, which damp most of the motion.
    let params = SimulationParams { dt: 1.0, max_iterations: 300, ..params };
    let mut sim = Simulation::new(Model::Skinning(model.clone()), params).unwrap();
    for _ in 0..300 {
        sim.step_with(&input, &Progress::default()).unwrap();
    }
    let stepped = displacement(&body, sim.coefficients());
    assert!(gap(&held, &free) > 0.05 * largest(&free), "the load reaches the limit");
    assert!(gap(&stepped, &held) < 1e-4 * largest(&held), "{}", gap(&stepped, &held));
}

#[test]
fn a_limit_that_is_none_is_refused() {
    for stretch in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let params = SimulationParams { stretch: Some(stretch), ..SimulationParams::default() };
        assert!(matches!(params.check(), Err(Error::Range { what: "stretch", .. })));
    }
}
