//! Properties of every method: rest stays rest, rigid motion stays rigid, equal inputs give equal bits, and
//! no pose that is refused changes a thing.

use std::sync::Arc;

use jounce::file::{decode_state, encode_state};
use jounce::inputs::{Drag, Integrator, SimulationParams, StepInput, StepReport};
use jounce::material::Law;
use jounce::model::Model;
use jounce::model::tree::{Domain, DomainTree, TreeInput, Wind};
use jounce::simulation::Simulation;
use jounce::{Error, Progress, Result};
use jounce_tests::allocations::{ALLOCATIONS, Counting};
use jounce_tests::bodies::{Body, REST, swing, turn};
use jounce_tests::methods::{in_displacements, models, of_handles, of_modes};
use jounce_tests::reports::{cancelling, counted};
use jounce_tests::trees::{attached, bending, chain, soft, stick};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of coefficients.
fn size(model: &Model) -> usize {
    model.coefficient_shape().iter().product()
}

pub(crate) const DIAGONAL: f64 = 0.9;

pub(crate) fn largest_displacement(sim: &Simulation) -> f64 {
    let projector = sim.model().projector(None).unwrap();
    let mut out = vec![0.0; 3 * projector.point_count()];
    projector.displacement(sim.coefficients(), &mut out).unwrap();
    out.iter().fold(0.0, |a, &u| a.max(f64::from(u).abs()))
}

pub(crate) fn simulation(model: &Model, params: SimulationParams) -> Simulation {
    Simulation::new(model.clone(), params).unwrap()
}

pub(crate) fn settings() -> [SimulationParams; 6] {
    let base = SimulationParams::default();
    [
        base,
        SimulationParams { pose_rest: 0.0, ..base },
        SimulationParams { pose_rest: 0.5, substeps: 4, ..base },
        SimulationParams { damping: 0.2, substeps: 3, dt: 1.0 / 60.0, strength: 0.3, ..base },
        SimulationParams { integrator: Integrator::Bdf2, pose_rest: 0.3, strength: 1.5, ..base },
        SimulationParams { integrator: Integrator::Bdf2, damping: 0.1, substeps: 2, ..base },
    ]
}

/// The same settings with active limits.
pub(crate) fn limited_settings() -> [SimulationParams; 6] {
    settings().map(|params| SimulationParams { limit: Some(0.05), stretch: Some(0.05), ..params })
}

#[test]
fn the_bind_pose_held_moves_nothing() {
    for model in models() {
        for params in settings() {
            let mut sim = simulation(&model, params);
            for _ in 0..20 {
                sim.step(Some(&[REST, REST])).unwrap();
                assert!(largest_displacement(&sim) < 1e-12 * DIAGONAL);
            }
        }
    }
}

#[test]
fn a_rigidly_moved_bind_pose_held_moves_nothing() {
    for model in models() {
        for params in settings() {
            for shift in [[0.0; 3], [0.1, 5.0, -3.0], [1e4, -2e4, 3e4]] {
                let moved = [turn([1.0, 2.0, -0.5], 2.3, [0.1, 0.0, 0.3], shift); 2];
                let mut sim = simulation(&model, params);
                sim.reset(Some(&moved)).unwrap();
                for _ in 0..20 {
                    sim.step(Some(&moved)).unwrap();
                    assert!(largest_displacement(&sim) < 1e-9 * DIAGONAL, "{}", largest_displacement(&sim));
                }
            }
        }
    }
}

#[test]
fn a_start_in_any_pose_does_not_jolt() {
    for model in models() {
        let mut sim = simulation(&model, SimulationParams::default());
        let report = sim.step(Some(&swing(0.2))).unwrap();
        assert!(largest_displacement(&sim) < 1e-9 * DIAGONAL);
        assert!(report.energy.abs() < 1e-9);
    }
}

#[test]
fn a_held_pose_settles_to_itself() {
    for model in models() {
        let (euler, bdf2) = (Integrator::BackwardEuler, Integrator::Bdf2);
        for (integrator, damping) in [(euler, 0.0), (euler, 0.3), (bdf2, 0.3)] {
            let p = SimulationParams { integrator, damping, tolerance: 1e-10, ..Default::default() };
            let mut sim = simulation(&model, p);
            let mut moved: f64 = 0.0;
            for frame in 0..8 {
                sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
                moved = moved.max(largest_displacement(&sim));
            }
            assert!(moved > 1e-3 * DIAGONAL);
            for _ in 0..1500 {
                sim.step(Some(&swing(7.0 / 24.0))).unwrap();
            }
            assert!(largest_displacement(&sim) < 1e-6 * DIAGONAL, "{}", largest_displacement(&sim));
        }
    }
}

fn motion(sim: &mut Simulation, from: u32, to: u32) -> Vec<Vec<f64>> {
    (from..to)
        .map(|frame| {
            sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
            sim.coefficients().to_vec()
        })
        .collect()
}

#[test]
fn without_strength_the_rig_moves_nothing() {
    for model in models() {
        for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
            let p = SimulationParams { integrator, strength: 0.0, ..Default::default() };
            let mut sim = simulation(&model, p);
            for frame in 0..10 {
                sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
                assert!(largest_displacement(&sim) < 1e-10 * DIAGONAL, "{}", largest_displacement(&sim));
            }
        }
    }
}

#[test]
fn a_change_of_the_time_step_keeps_the_velocity() {
    // Free fall: with half the time step a body moves half as far, and no faster.
    for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
        let model = Model::Skinning(Body::bar().reduce(None).into());
        let base = SimulationParams { integrator, pose_rest: 0.0, ..Default::default() };
        let mut sim = simulation(&model, SimulationParams { gravity: [0.0, 0.0, -1.0], ..base });
        sim.step(None).unwrap();
        let mut last = 0.0;
        let mut moved = |sim: &Simulation| {
            let now = sim.coefficients()[11];
            std::mem::replace(&mut last, now) - now
        };
        sim.set_params(base).unwrap();
        for _ in 0..3 {
            sim.step(None).unwrap();
        }
        let _ = moved(&sim);
        let state = sim.save_state();
        sim.set_params(SimulationParams { dt: base.dt / 1000.0, ..base }).unwrap();
        sim.step(None).unwrap();
        let short = moved(&sim);
        sim.restore_state(&state).unwrap();
        sim.set_params(SimulationParams { dt: base.dt / 2000.0, ..base }).unwrap();
        let _ = moved(&sim);
        sim.step(None).unwrap();
        let shorter = moved(&sim);
        assert!((short / shorter - 2.0).abs() < 1e-2, "{short} {shorter}");
    }
}

#[test]
fn a_restored_state_replays_bit_for_bit() {
    for model in models() {
        for params in settings() {
            let mut sim = simulation(&model, params);
            motion(&mut sim, 0, 7);
            let state = sim.save_state();
            let coefficients = sim.coefficients().to_vec();
            let first = motion(&mut sim, 7, 20);
            sim.restore_state(&state).unwrap();
            assert_eq!(sim.coefficients(), coefficients);
            assert_eq!(motion(&mut sim, 7, 20), first);
            let mut other = simulation(&model, params);
            other.restore_state(&decode_state(&encode_state(&state)).unwrap()).unwrap();
            assert_eq!(motion(&mut other, 7, 20), first);
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = Body::bar().model();
            let mut sim = simulation(&model, SimulationParams::default());
            (motion(&mut sim, 0, 20), jounce::file::encode(&model))
        })
    };
    assert!(on(1) == on(2));
}

#[test]
fn reset_starts_anew() {
    for model in models() {
        let mut sim = simulation(&model, SimulationParams::default());
        let first = motion(&mut sim, 0, 10);
        sim.reset(Some(&swing(0.0))).unwrap();
        assert!(sim.coefficients().iter().all(|&z| z == 0.0));
        assert_eq!(motion(&mut sim, 0, 10), first);
    }
}

/// A cancellable operation.
type Act<'a> = dyn Fn(&mut Simulation, &Progress) -> Result<StepReport> + 'a;

#[test]
fn what_is_cancelled_leaves_the_state_and_what_is_not_has_the_same_bits() {
    for model in models() {
        for params in settings() {
            let mut sim = simulation(&model, params);
            motion(&mut sim, 0, 5);
            let state = sim.save_state();
            let pose = swing(0.3);
            let force = vec![0.1; size(&model)];
            let input = StepInput { pose: Some(&pose), force: Some(&force), ..StepInput::default() };
            let acts: [&Act<'_>; 2] = [&|sim, progress| sim.step_with(&input, progress), &|sim, progress| {
                sim.settle(&input, 100, progress)
            }];
            for act in acts {
                let (report, reports) = counted(|progress| act(&mut sim, progress).unwrap());
                let after = sim.save_state();
                assert!(reports >= report.iterations as usize, "{reports} {report:?}");
                for at in 0..reports {
                    sim.restore_state(&state).unwrap();
                    assert_eq!(act(&mut sim, &cancelling(at)).err(), Some(Error::Cancelled));
                    assert!(sim.save_state() == state, "cancelled at {at} of {reports}");
                }
                assert_eq!(act(&mut sim, &Progress::default()).unwrap(), report);
                assert!(sim.save_state() == after);
                sim.restore_state(&state).unwrap();
            }
        }
    }
}

#[test]
fn settling_tells_how_far_it_is() {
    let progress = Progress::default();
    let mut sim = simulation(
        &Body::bar().model(),
        SimulationParams { gravity: [0.0, 0.0, -9.81], ..Default::default() },
    );
    let pose = swing(0.0);
    let report =
        sim.settle(&StepInput { pose: Some(&pose), ..StepInput::default() }, 1000, &progress).unwrap();
    assert_eq!(progress.stage(), "settling");
    assert_eq!(progress.fraction(), report.iterations as f32 / 1000.0);
}

/// Drag by a medium at rest on all parts or vertices, with coefficients proportional to their masses.
pub(crate) fn drag(model: &Model, linear: f64, quadratic: f64) -> Drag {
    let times = |masses: &[f64], x: f64| -> Vec<f64> { masses.iter().map(|m| x * m).collect() };
    if let Model::Reduced(reduced) = model {
        let masses = vec![0.05; reduced.mesh().vertices().len()];
        return Drag::at_vertices(&times(&masses, linear), Some(&times(&masses, quadratic)), None).unwrap();
    }
    let samples = Arc::new(model.force_samples(6).unwrap());
    let masses = samples.masses();
    Drag::new(samples.clone(), &times(masses, linear), Some(&times(masses, quadratic)), None).unwrap()
}

#[test]
fn a_step_of_a_reduced_model_allocates_nothing() {
    for model in of_modes() {
        for params in settings() {
            let mut sim = simulation(&model, params);
            let poses = [0, 1, 2, 3].map(|frame| swing(f64::from(frame) / 24.0));
            let force = vec![1e-3; size(&model)];
            let drags = [drag(&model, 3.0, 0.0), drag(&model, 3.0, 2.0)];
            let step = |sim: &mut Simulation, pose: usize, force: Option<&[f64]>, drag| {
                let input = StepInput { pose: Some(&poses[pose]), force, drag, ..StepInput::default() };
                sim.step_with(&input, &Progress::default()).unwrap();
            };
            // The first step with drag allocates its memory.
            step(&mut sim, 0, None, Some(&drags[0]));
            let before = ALLOCATIONS.get();
            for pose in 0..poses.len() {
                step(&mut sim, pose, None, None);
                step(&mut sim, pose, Some(&force), None);
                drags.iter().for_each(|drag| step(&mut sim, pose, None, Some(drag)));
            }
            sim.settle(
                &StepInput { pose: Some(&poses[1]), force: Some(&force), ..StepInput::default() },
                100,
                &Progress::default(),
            )
            .unwrap();
            sim.reset(Some(&poses[0])).unwrap();
            assert_eq!(ALLOCATIONS.get(), before);
        }
    }
    drop(vec![1]);
    assert!(ALLOCATIONS.get() > 0);
}

#[test]
fn a_step_in_displacements_allocates_nothing() {
    let model = in_displacements(Law::NeoHookean);
    for params in settings().into_iter().chain(limited_settings()) {
        let mut sim = simulation(&model, params);
        let poses = [0, 1, 2, 3, 4, 5].map(|frame| swing(f64::from(frame) / 24.0));
        let force = vec![1e-3; size(&model)];
        let drags = [drag(&model, 3.0, 0.0), drag(&model, 3.0, 2.0)];
        let mut play = || {
            for (pose, drag) in poses.iter().zip(drags.iter().cycle()) {
                let (pose, drag) = (Some(pose.as_slice()), Some(drag));
                let input = StepInput { pose, force: Some(&force), drag, ..StepInput::default() };
                sim.step_with(&input, &Progress::default()).unwrap();
            }
        };
        // The first steps allocate memory for curvature pairs and for drag.
        play();
        let before = ALLOCATIONS.get();
        play();
        assert_eq!(ALLOCATIONS.get(), before);
    }
}

#[test]
fn a_step_of_a_tree_allocates_nothing() {
    let (mesh, material) = (stick(4), soft(Law::NeoHookean, 0.3));
    let flesh = Domain::of_flesh(&bending(&mesh, &material, 3, 6)).unwrap();
    let members = chain(&[Arc::new(flesh), attached(&mesh, &material, 3)], 4);
    let wind = Wind { velocity: &[[1.0, 2.0, -3.0]; 2], rate: &[2.0; 2] };
    for params in settings() {
        let mut tree = DomainTree::new(&members, false, params).unwrap();
        let roots = [0, 1, 2, 3, 4, 5].map(|frame| swing(f64::from(frame) / 24.0)[0]);
        let before = ALLOCATIONS.get();
        for root in &roots {
            let input = TreeInput { root: Some(root), wind: Some(&wind), ..TreeInput::default() };
            tree.step(&input, &Progress::default()).unwrap();
        }
        assert_eq!(ALLOCATIONS.get(), before);
    }
}

#[test]
fn a_step_of_handles_allocates_nothing() {
    let model = of_handles();
    for params in settings() {
        let mut sim = simulation(&model, params);
        let force = vec![1e-3; size(&model)];
        let input = StepInput { force: Some(&force), ..StepInput::default() };
        // The first steps allocate memory for curvature pairs.
        (0..6).for_each(|_| assert!(sim.step_with(&input, &Progress::default()).is_ok()));
        let before = ALLOCATIONS.get();
        for _ in 0..6 {
            sim.step_with(&input, &Progress::default()).unwrap();
            sim.step(None).unwrap();
        }
        assert_eq!(ALLOCATIONS.get(), before);
    }
}

#[test]
fn bad_poses_are_refused_and_change_nothing() {
    for model in models() {
        let mut sim = simulation(&model, SimulationParams::default());
        motion(&mut sim, 0, 5);
        let state = sim.save_state();
        let bad = |value: f64| {
            let mut pose = [REST, REST];
            pose[1][2][3] = value;
            pose
        };
        assert!(matches!(sim.step(None), Err(Error::Shape { .. })));
        assert!(matches!(sim.step(Some(&[REST])), Err(Error::Shape { .. })));
        for value in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300, -2e12] {
            let sentence = format!(
                "pose: bone 1 has the number {value:e}; every number must be finite and at most 1e12"
            );
            for refused in [sim.step(Some(&bad(value))).map(drop), sim.reset(Some(&bad(value)))] {
                assert_eq!(refused.map_err(|error| error.to_string()), Err(sentence.clone()));
            }
        }
        assert!(matches!(sim.reset(Some(&[REST])), Err(Error::Shape { .. })));
        assert_eq!(sim.save_state(), state);
    }
}

#[test]
fn bad_settings_are_refused() {
    let good = SimulationParams::default();
    let bad = [
        SimulationParams { dt: 0.0, ..good },
        SimulationParams { dt: f64::NAN, ..good },
        SimulationParams { substeps: 0, ..good },
        SimulationParams { max_iterations: 0, ..good },
        SimulationParams { tolerance: -1.0, ..good },
        SimulationParams { damping: -0.1, ..good },
        SimulationParams { pose_rest: 1.1, ..good },
        SimulationParams { stiffness: 0.0, ..good },
        SimulationParams { strength: -0.5, ..good },
    ];
    for model in models() {
        let mut sim = simulation(&model, good);
        for params in bad {
            assert!(matches!(Simulation::new(model.clone(), params), Err(Error::Range { .. })));
            assert!(matches!(sim.set_params(params), Err(Error::Range { .. })));
        }
        let params = SimulationParams { gravity: [0.0, f64::NAN, 0.0], ..good };
        assert!(matches!(sim.set_params(params), Err(Error::NotFinite { element: 1, .. })));
        assert_eq!(sim.params(), &good);
    }
}

#[test]
fn states_of_other_models_are_refused() {
    for model in models() {
        let mut sim = simulation(&model, SimulationParams::default());
        let other = Body::new(jounce_tests::bodies::bar([3, 2, 2], 0.1), 2, 1).model();
        let state = simulation(&other, SimulationParams::default()).save_state();
        assert!(matches!(sim.restore_state(&state), Err(Error::Shape { .. })));
    }
}
