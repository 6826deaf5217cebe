//! Motion through keyed shapes: its adjoint against differences, minimal effort against least squares, and
//! tracking.

use faer::Mat;
use faer::linalg::solvers::Solve;
use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::Law;
use jounce::model::Model;
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::operators::Stitches;
use jounce::simulation::Simulation;
use jounce::simulation::keyed::{Aim, Key, KeyedMotion, KeyedParams};
use jounce::subspace::{LinearModes, LinearProblem, Restraint};
use jounce::{Error, Progress, Result};
use jounce_tests::bodies::{Transform, bar, some_coefficients, swing};
use jounce_tests::limb::{Limb, displacement};

/// Number of displacements of the bar.
const COUNT: usize = 6;

fn silent() -> Progress {
    Progress::default()
}

fn flesh(law: Law) -> Limb {
    Limb::new(bar([6, 2, 2], 0.1), law, 2e4)
}

fn modes(flesh: &Limb) -> LinearModes {
    let restraint = Restraint { pinned: Some(&flesh.pinned), ..Restraint::default() };
    let problem =
        LinearProblem::new(&flesh.mesh, &flesh.material, &restraint, &Stitches::none(&flesh.mesh), &silent())
            .unwrap();
    problem.lowest(COUNT, &silent()).unwrap()
}

/// The bar in its linear modes, with or without its bones.
fn reduced(flesh: &Limb, posed: bool) -> ReducedModel {
    let extras = ReducedExtras { rig: posed.then_some(&flesh.rig), ..ReducedExtras::default() };
    let basis = modes(flesh).basis();
    ReducedModel::new(&flesh.mesh, &flesh.material, &basis, &extras, &silent()).unwrap()
}

fn simulation(model: ReducedModel, params: SimulationParams) -> Simulation {
    Simulation::new(Model::Reduced(model.into()), params).unwrap()
}

fn exact() -> SimulationParams {
    SimulationParams { max_iterations: 1000, tolerance: 1e-11, ..SimulationParams::default() }
}

/// Amplitude of a mode at which the bar moves by its diagonal.
fn size(model: &Model) -> f64 {
    let mesh = model.mesh().unwrap();
    mesh.diagonal() * (1000.0 * mesh.volumes().iter().sum::<f64>()).sqrt()
}

/// Coefficients of a shape whose distance from rest is a share of the bar; faster modes take smaller parts.
fn shape(model: &Model, share: f64) -> Vec<f64> {
    (0..COUNT).map(|k| share * size(model) * (1.0 - 0.3 * k as f64) / (1 + k * k) as f64).collect()
}

fn keys(sim: &Simulation) -> Vec<Key> {
    let middle = Aim::Vertex { vertex: 20, displacement: [0.02, -0.03, 0.1] };
    vec![
        Key { frame: 5, aim: Aim::Shape(shape(sim.model(), 0.15)), weight: 1.0 },
        Key { frame: 8, aim: middle, weight: 0.3 },
        Key { frame: 11, aim: Aim::Shape(vec![0.0; COUNT]), weight: 2.0 },
    ]
}

fn still(frames: usize) -> Vec<StepInput<'static>> {
    vec![StepInput::default(); frames]
}

fn keyed(sim: &Simulation, frames: usize, keys: &[Key]) -> KeyedMotion {
    sim.keyed(&still(frames), keys, &KeyedParams::default(), &silent()).unwrap()
}

#[test]
fn the_adjoint_is_the_gradient_of_differences() {
    let gravity = [0.3, 0.0, -3.0];
    let settings = [
        SimulationParams { damping: 0.1, ..exact() },
        SimulationParams { substeps: 3, pose_rest: 0.4, stiffness: 0.7, damping: 0.05, ..exact() },
        SimulationParams { integrator: Integrator::Bdf2, substeps: 2, gravity, damping: 0.1, ..exact() },
    ];
    let poses: Vec<[Transform; 2]> = (0..12).map(|frame| swing(f64::from(frame) / 24.0)).collect();
    for law in [Law::Corotated, Law::NeoHookean, Law::StVenantKirchhoff] {
        for (params, posed) in settings.into_iter().zip([false, true, true]) {
            let mut sim = simulation(reduced(&flesh(law), posed), params);
            let of = |pose| StepInput { pose: posed.then_some(pose), ..StepInput::default() };
            let inputs: Vec<StepInput<'_>> = poses.iter().map(|pose| of(pose)).collect();
            // From the middle of a shot, with all its history.
            (0..3).for_each(|frame| {
                sim.step_with(&inputs[frame], &silent()).unwrap();
            });
            let effort = KeyedParams { effort: 1e-3, ..KeyedParams::default() };
            let keys = keys(&sim);
            let size = 30.0 * size(sim.model());
            let forces = some_coefficients(12 * COUNT, size);
            let at = |forces: &[f64]| sim.keyed_objective((&inputs, &keys), &effort, forces).unwrap();
            let (value, gradient) = at(&forces);
            assert!(value > 1e-6);
            let scale = gradient.iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
            for i in (0..forces.len()).step_by(7) {
                let moved = |by: f64| {
                    let mut moved = forces.clone();
                    moved[i] += by * size;
                    at(&moved).0
                };
                let difference = (moved(1e-4) - moved(-1e-4)) / (2e-4 * size);
                let error = (difference - gradient[i]).abs();
                assert!(error < 1e-6 * scale, "{law:?} {i}: {difference:e} {:e} of {scale:e}", gradient[i]);
            }
        }
    }
}

#[test]
fn the_flesh_passes_through_its_keys_and_steps_do_what_was_found() {
    for law in [Law::Corotated, Law::NeoHookean, Law::StVenantKirchhoff] {
        let mut sim = simulation(reduced(&flesh(law), false), SimulationParams { damping: 0.05, ..exact() });
        let keys = keys(&sim);
        let before = sim.save_state();
        let motion = keyed(&sim, 12, &keys);
        assert!(sim.save_state() == before);
        println!("{law:?} {} {:e} {:?}", motion.iterations, motion.residual, motion.misses);
        assert!(
            motion.iterations < 150 && motion.residual <= 1e-4,
            "{} {}",
            motion.iterations,
            motion.residual
        );
        assert!(motion.misses.iter().all(|&miss| miss < 1e-3), "{:?}", motion.misses);
        for (frame, force) in motion.forces.chunks(COUNT).enumerate() {
            sim.step_with(&StepInput { force: Some(force), ..StepInput::default() }, &silent()).unwrap();
            let found = &motion.coefficients[frame * COUNT..][..COUNT];
            let size = size(sim.model());
            let error = sim.coefficients().iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-6 * size, "{law:?} {frame}: {error:e}");
            if frame == 8 {
                let there = &displacement(&sim)[3 * 20..][..3];
                let Aim::Vertex { displacement: goal, .. } = &keys[1].aim else { panic!() };
                assert!(there.iter().zip(goal).all(|(a, b)| (a - b).abs() < 2e-3), "{there:?}");
            }
        }
    }
}

/// One mode at small amplitudes is `y'' + l y = u`; its minimal forces are those of least squares.
#[test]
fn no_other_forces_through_the_keys_are_less() {
    let params = exact();
    let flesh = flesh(Law::Corotated);
    let sim = simulation(reduced(&flesh, false), params);
    let (frames, h) = (10, params.dt);
    let size = 1e-6 * size(sim.model());
    let key = |frame, scale: f64| {
        let shape = (0..COUNT).map(|k| if k == 0 { scale * size } else { 0.0 }).collect();
        Key { frame, aim: Aim::Shape(shape), weight: 1.0 }
    };
    let keys = [key(4, 1.0), key(9, -0.5)];
    let params = KeyedParams { effort: 1e-9, tolerance: 1e-8, ..KeyedParams::default() };
    let motion = sim.keyed(&still(frames), &keys, &params, &silent()).unwrap();
    let square = modes(&flesh).eigenvalues[0];
    let mut answer = vec![0.0, 1.0 / ((h * h).recip() + square)];
    for n in 1..frames {
        let pulled = (2.0 * answer[n] - answer[n - 1]) / (h * h);
        answer.push(pulled * answer[1]);
    }
    let s = Mat::from_fn(2, frames, |key, frame| {
        let end = [4, 9][key];
        if frame <= end { answer[end - frame + 1] } else { 0.0 }
    });
    let goals = Mat::from_fn(2, 1, |key, _| [size, -0.5 * size][key]);
    let least = s.transpose() * (&s * s.transpose()).partial_piv_lu().solve(&goals);
    let most = least.col_as_slice(0).iter().fold(0.0, |most: f64, u| most.max(u.abs()));
    for frame in 0..frames {
        for k in 0..COUNT {
            let right = if k == 0 { least[(frame, 0)] } else { 0.0 };
            let found = motion.forces[frame * COUNT + k];
            assert!((found - right).abs() < 1e-4 * most, "{frame} {k}: {found:e} {right:e}");
        }
    }
}

#[test]
fn a_disturbed_shot_is_led_back() {
    let params = SimulationParams { substeps: 2, damping: 0.02, ..exact() };
    let mut sim = simulation(reduced(&flesh(Law::NeoHookean), false), params);
    let frames = 24;
    let shapes = [(7, 0.15), (15, -0.1), (23, 0.1)].map(|(frame, share)| Key {
        frame,
        aim: Aim::Shape(shape(sim.model(), share)),
        weight: 1.0,
    });
    let motion = keyed(&sim, frames, &shapes);
    let tracking = motion.tracking(1e-3).unwrap();
    let size = size(sim.model());
    let mut ends = Vec::new();
    for tracked in [false, true] {
        sim.reset(None).unwrap();
        let mut off = Vec::new();
        for frame in 0..frames {
            let state = sim.save_state();
            let mut force = motion.forces[frame * COUNT..][..COUNT].to_vec();
            if tracked {
                force = motion.tracked_force(&tracking, frame, &state).unwrap();
            }
            // A blow.
            if frame == 2 {
                force.iter_mut().enumerate().for_each(|(k, f)| *f += 20.0 * size / (1 + k) as f64);
            }
            sim.step_with(&StepInput { force: Some(&force), ..StepInput::default() }, &silent()).unwrap();
            let there = &motion.coefficients[frame * COUNT..][..COUNT];
            off.push(sim.coefficients().iter().zip(there).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt());
        }
        ends.push(off);
    }
    let [left, led] = [&ends[0], &ends[1]];
    assert!(left[2] > 0.02 * size && (left[2] - led[2]).abs() < 1e-6 * size, "{left:?}\n{led:?}");
    for frame in [7, 15, 23] {
        assert!(led[frame] < 0.05 * left[2] && led[frame] < 0.2 * left[frame], "{frame}\n{left:?}\n{led:?}");
    }
    // Undisturbed motion needs no tracking force.
    sim.reset(None).unwrap();
    assert_eq!(motion.tracked_force(&tracking, 0, &sim.save_state()).unwrap(), motion.forces[..COUNT]);
}

#[test]
fn costs_solve_the_equation_of_riccati_and_no_other_gain_is_better() {
    for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
        let params = SimulationParams { integrator, damping: 0.05, ..exact() };
        let mut sim = simulation(reduced(&flesh(Law::Corotated), false), params);
        let depth = if integrator == Integrator::Bdf2 { 4 } else { 2 };
        let key = Key { frame: 9, aim: Aim::Shape(shape(sim.model(), 0.1)), weight: 1.0 };
        let motion = keyed(&sim, 16, &[key]);
        let effort = 0.01;
        let mut tracking = motion.tracking(effort).unwrap();
        assert_eq!((tracking.gains[0].nrows(), tracking.gains[0].ncols()), (COUNT, depth * COUNT));
        let [q, r] = tracking.weights;
        for (frame, [a, b]) in tracking.steps.iter().enumerate() {
            let (before, after) = (&tracking.costs[frame], &tracking.costs[frame + 1]);
            let weighted = Mat::from_fn(COUNT, COUNT, |i, j| if i == j { r } else { 0.0 });
            let inner =
                (weighted + b.transpose() * after * b).partial_piv_lu().solve(b.transpose() * after * a);
            let mut residual = a.transpose() * after * a - a.transpose() * after * b * inner - before;
            (0..COUNT).for_each(|i| residual[(i, i)] += q);
            assert!(residual.norm_l2() < 1e-10 * before.norm_l2(), "{frame}: {:e}", residual.norm_l2());
        }
        // Cost of small disturbances when played.
        let size = size(sim.model());
        let mut cost = |gains: &[Mat<f64>]| {
            tracking.gains = gains.to_vec();
            sim.reset(None).unwrap();
            let mut sum = 0.0;
            for frame in 0..16 {
                let planned = &motion.forces[frame * COUNT..][..COUNT];
                let mut force = motion.tracked_force(&tracking, frame, &sim.save_state()).unwrap();
                sum += r * force.iter().zip(planned).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                if frame == 0 {
                    force.iter_mut().enumerate().for_each(|(k, f)| *f += 0.1 * size / (1 + k) as f64);
                }
                sim.step_with(&StepInput { force: Some(&force), ..StepInput::default() }, &silent()).unwrap();
                let there = &motion.coefficients[frame * COUNT..][..COUNT];
                sum += q * sim.coefficients().iter().zip(there).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            }
            sum
        };
        let gains = motion.tracking(effort).unwrap().gains;
        let scaled = |factor: f64| gains.iter().map(|gain| faer::Scale(factor) * gain).collect::<Vec<_>>();
        let [least, less, more, none] = [1.0, 0.9, 1.1, 0.0].map(|factor| cost(&scaled(factor)));
        assert!(
            least > 0.0 && least < less && least < more && least < 0.9 * none,
            "{least} {less} {more} {none}"
        );
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let sim = simulation(reduced(&flesh(Law::NeoHookean), false), SimulationParams::default());
            let motion = keyed(&sim, 12, &keys(&sim));
            (motion.forces.clone(), motion.tracking(0.1).unwrap().gains)
        })
    };
    assert!(on(1) == on(2));
}

#[test]
fn what_cannot_be_keyed_is_refused() {
    let sim = simulation(reduced(&flesh(Law::Corotated), false), SimulationParams::default());
    let usual = KeyedParams::default();
    let shape = |frame, weight, count| Key { frame, aim: Aim::Shape(vec![0.0; count]), weight };
    let found = |frames, keys: &[Key], params: &KeyedParams| -> Result<()> {
        sim.keyed(&still(frames), keys, params, &silent()).map(drop)
    };
    let fine = shape(1, 1.0, COUNT);
    assert!(matches!(found(0, std::slice::from_ref(&fine), &usual), Err(Error::Empty { what: "frames" })));
    assert!(matches!(found(3, &[], &usual), Err(Error::Empty { what: "keys" })));
    assert!(matches!(
        found(3, &[shape(3, 1.0, COUNT)], &usual),
        Err(Error::Index { index: 3, count: 3, .. })
    ));
    assert!(matches!(found(3, &[shape(1, 1.0, 2)], &usual), Err(Error::Shape { .. })));
    assert!(matches!(found(3, &[shape(1, 0.0, COUNT)], &usual), Err(Error::Range { what: "weight", .. })));
    let vertex =
        |vertex, x| Key { frame: 0, aim: Aim::Vertex { vertex, displacement: [x, 0.0, 0.0] }, weight: 1.0 };
    assert!(matches!(found(3, &[vertex(9999, 0.0)], &usual), Err(Error::Index { what: "vertex", .. })));
    assert!(matches!(found(3, &[vertex(3, f64::NAN)], &usual), Err(Error::NotFinite { .. })));
    for params in [
        KeyedParams { effort: 0.0, ..usual },
        KeyedParams { effort: 1e-320, ..usual },
        KeyedParams { tolerance: f64::NAN, ..usual },
        KeyedParams { max_iterations: 0, ..usual },
    ] {
        assert!(matches!(found(3, std::slice::from_ref(&fine), &params), Err(Error::Range { .. })));
    }
    let full = Simulation::new(Model::FullSpace(flesh(Law::Corotated).full().into()), exact()).unwrap();
    let refused = full.keyed(&still(3), std::slice::from_ref(&fine), &usual, &silent()).map(drop);
    assert!(matches!(refused, Err(Error::Unsupported { what: "keys", .. })));
    let motion = keyed(&sim, 3, &[fine]);
    assert!(matches!(motion.tracking(0.0).map(drop), Err(Error::Range { .. })));
    let mut tracking = motion.tracking(1.0).unwrap();
    let state = sim.save_state();
    assert!(matches!(motion.tracked_force(&tracking, 3, &state), Err(Error::Index { .. })));
    tracking.gains.clear();
    let foreign = motion.tracked_force(&tracking, 0, &state);
    assert!(matches!(foreign, Err(Error::Shape { what: "tracking", .. })));
    let cancelled = Progress::default();
    cancelled.cancel();
    let stopped = sim.keyed(&still(3), &[shape(1, 1.0, COUNT)], &usual, &cancelled).map(drop);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}
