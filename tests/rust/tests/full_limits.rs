//! Limits of stretch and displacement in the full space: no effect on calm motion, flesh that holds
//! together in violent motion, and the same energy as summed element by element.

use std::sync::Arc;

use jounce::Progress;
use jounce::inputs::{Integrator, Minimiser, SimulationParams, StepInput};
use jounce::material::{Energy, Field, Law, Material, StretchLimit};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::operators::gradients;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce_tests::bodies::{Body, REST, Transform, bar, some_coefficients, swing, turn};
use jounce_tests::hyperelastic::{Flesh, apart, longest};
use jounce_tests::laws::{laws, soft};
use nalgebra::{Matrix3, Vector3};

const LAWS: [Law; 3] = [Law::Arap, Law::NeoHookean, Law::StVenantKirchhoff];

/// The bar in the full space, complementary to its rig.
fn model(law: Law) -> Arc<FullSpaceModel> {
    let body = Body::bar();
    let number = Field::Uniform;
    let material = Material::new(law, number(8e3), number(0.3), number(1000.0)).unwrap();
    let restraint = Restraint { rig: Some(&body.rig), ..Restraint::default() };
    let extras = FullSpaceExtras { rig: Some(&body.rig), ..FullSpaceExtras::default() };
    FullSpaceModel::of(&body.mesh, &material, &restraint, &extras, &Progress::default()).unwrap().into()
}

fn simulation(model: &Arc<FullSpaceModel>, params: SimulationParams) -> Simulation {
    Simulation::new(Model::FullSpace(model.clone()), params).unwrap()
}

fn settings() -> [SimulationParams; 3] {
    let base = SimulationParams { damping: 0.1, max_iterations: 200, ..Default::default() };
    [
        base,
        SimulationParams { substeps: 3, pose_rest: 0.0, ..base },
        SimulationParams { integrator: Integrator::Bdf2, pose_rest: 0.4, ..base },
    ]
}

/// Largest change of a length in a tet, for a rig that moves the body rigidly.
fn stretch(model: &FullSpaceModel, u: &[f64], pose: &Transform) -> f64 {
    let (u, hats) = (u.as_chunks::<3>().0, gradients(model.mesh()));
    let rig = Matrix3::from_fn(|i, j| pose[i][j]);
    let of_tet = |(tet, hats): (&[u32; 4], &[[f64; 3]; 4])| {
        let f = (0..4)
            .fold(rig, |f, c| f + Vector3::from(u[tet[c] as usize]) * Vector3::from(hats[c]).transpose());
        f.singular_values().iter().fold(0.0_f64, |most, s| most.max((s - 1.0).abs()))
    };
    model.mesh().tets().iter().zip(&hats).map(of_tet).fold(0.0, f64::max)
}

/// Rest, then jumps by most of the body's size.
fn violent(frame: u32) -> [Transform; 2] {
    let jump = if frame < 2 { 0.0 } else { 0.7 * f64::from((frame / 3) % 2) };
    [turn([0.0, 1.0, 0.0], 1.5 * jump, [0.1, 0.0, 0.0], [jump, 0.0, 0.5 * jump]); 2]
}

/// Largest stretch in violent motion.
fn worst(model: &Arc<FullSpaceModel>, params: SimulationParams) -> f64 {
    let mut sim = simulation(model, params);
    (0..24).fold(0.0, |most: f64, frame| {
        let pose = violent(frame);
        sim.step(Some(&pose)).unwrap();
        most.max(stretch(model, sim.coefficients(), &pose[0]))
    })
}

#[test]
fn violent_motion_stretches_less_the_lower_the_limit() {
    for law in LAWS {
        let model = model(law);
        for params in settings() {
            let free = worst(&model, params);
            let held = [0.6, 0.3, 0.15]
                .map(|limit| worst(&model, SimulationParams { stretch: Some(limit), ..params }));
            println!("{law:?}: {held:?}, free {free}");
            assert!(
                held[2] < free / 1.5 && held.is_sorted_by(|a, b| a > b),
                "{law:?}: {held:?}, free {free}"
            );
        }
    }
}

#[test]
fn calm_motion_is_the_same_to_the_bit() {
    for law in LAWS {
        let model = model(law);
        for params in settings() {
            let shot = |limit: Option<f64>, stretch: Option<f64>| {
                let mut sim = simulation(&model, SimulationParams { limit, stretch, ..params });
                let frame = |frame: u32| {
                    sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
                    sim.coefficients().to_vec()
                };
                (0..24).map(frame).collect::<Vec<_>>()
            };
            let free = shot(None, None);
            assert!(free == shot(Some(100.0), Some(100.0)), "{law:?}");
            assert!(free != shot(None, Some(1e-3)), "{law:?}");
            assert!(free != shot(Some(1e-3), None), "{law:?}");
        }
    }
}

/// Settings may change from step to step: former limits have no effect on later steps.
#[test]
fn a_limit_that_is_taken_off_leaves_nothing_behind() {
    let model = model(Law::Arap);
    for params in settings() {
        let limited = SimulationParams { limit: Some(0.05), stretch: Some(0.1), ..params };
        let [mut kept, mut fresh] = [params; 2].map(|params| simulation(&model, params));
        kept.set_params(limited).unwrap();
        (0..6).for_each(|frame| {
            kept.step(Some(&violent(frame))).unwrap();
        });
        kept.set_params(params).unwrap();
        fresh.restore_state(&kept.save_state()).unwrap();
        (6..12).for_each(|frame| {
            kept.step(Some(&violent(frame))).unwrap();
            fresh.step(Some(&violent(frame))).unwrap();
            assert!(kept.coefficients() == fresh.coefficients(), "frame {frame}");
        });
    }
}

#[test]
fn violent_motion_replays_bit_for_bit_from_any_frame() {
    let model = model(Law::NeoHookean);
    let play = |sim: &mut Simulation, frames: std::ops::Range<u32>| {
        frames.for_each(|frame| {
            sim.step(Some(&violent(frame))).unwrap();
        });
    };
    for params in settings() {
        let limited = SimulationParams { limit: Some(0.1), stretch: Some(0.15), ..params };
        let new = || simulation(&model, limited);
        let (mut sim, mut states) = (new(), Vec::new());
        for frame in 0..12 {
            states.push((frame, sim.save_state()));
            play(&mut sim, frame..frame + 1);
        }
        let end = sim.save_state();
        for (first, state) in states {
            let mut other = new();
            play(&mut other, 0..5);
            other.restore_state(&state).unwrap();
            play(&mut other, first..12);
            assert!(other.save_state() == end, "from frame {first}");
        }
    }
}

/// Several chunks, some of them with active limits.
#[test]
fn threads_do_not_change_a_bit() {
    let flesh = Flesh { mesh: bar([12, 6, 6], 0.1), law: laws()[3].1.clone() };
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut stepper = flesh.hung();
            let rest = flesh.mesh.vertices();
            stepper.reset(rest, &vec![[0.0; 3]; rest.len()]).unwrap();
            let params = SimulationParams { stretch: Some(0.1), max_iterations: 10, ..pulled() };
            (0..3).for_each(|_| {
                stepper.step(rest, &params, |_, _| Ok(())).unwrap();
            });
            stepper.positions()
        })
    };
    let alone = run(1);
    assert_eq!(alone, run(2));
    assert_eq!(alone, run(5));
}

#[test]
fn flesh_that_was_beaten_comes_to_rest() {
    for law in [Law::Arap, Law::NeoHookean] {
        let model = model(law);
        for pose_rest in [0.0, 1.0] {
            let params =
                SimulationParams { stretch: Some(0.1), damping: 0.1, pose_rest, ..Default::default() };
            let mut sim = simulation(&model, params);
            let force = some_coefficients(3 * model.mesh().vertices().len(), 3e2);
            sim.reset(Some(&[REST; 2])).unwrap();
            for step in 0..400 {
                let force = (step < 3).then_some(&force[..]);
                let input = StepInput { pose: Some(&[REST; 2]), force, ..StepInput::default() };
                let report = sim.step_with(&input, &Progress::default()).unwrap();
                assert!(report.energy.is_finite() && report.residual.is_finite());
            }
            let left = longest(sim.coefficients().as_chunks::<3>().0);
            assert!(left < 1e-6, "{law:?}, rest {pose_rest}: {left}");
        }
    }
}

/// A tenth of a second of a pull that tears soft flesh.
fn pulled() -> SimulationParams {
    SimulationParams { dt: 0.1, gravity: [300.0, 0.0, -200.0], ..SimulationParams::default() }
}

/// Energy, vertex forces and the largest element force, under a rig that strains all elements by S; rest
/// shapes follow by a share, with what the rig lacks of them.
fn limited(
    flesh: &Flesh,
    x: &[[f64; 3]],
    rig: &Matrix3<f64>,
    share: f64,
    limit: f64,
) -> (f64, Vec<[f64; 3]>, f64) {
    let followed = rig.map_diagonal(|s| s.abs().clamp(0.3, 30.0));
    let surplus = Matrix3::from_diagonal(&followed) - rig;
    let rest = Matrix3::from_diagonal(&followed.map(|s| 1.0 + share * (s - 1.0)));
    let inverse = Matrix3::from_diagonal(&followed.map(|s| 1.0 / s));
    let limit = limit / followed.max().max(1.0);
    let energy = StretchLimit { stiffness: 0.25 * flesh.law.slope(), limit };
    let back = rest.try_inverse().unwrap();
    let mut forces = vec![[0.0; 3]; x.len()];
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for (t, (f, hats)) in flesh.deformations(x).iter().zip(gradients(&flesh.mesh)).enumerate() {
        let volume = flesh.mesh.volumes()[t];
        let (own, limiting) = (volume * rest.determinant(), volume / inverse.determinant());
        let [strained, limited] = [(f + share * surplus) * back, (f + surplus) * inverse];
        sum += own * flesh.law.density(&strained) + limiting * energy.density(&limited);
        let stress = own * flesh.law.stress(&strained) * back + limiting * energy.stress(&limited) * inverse;
        for (&v, hat) in flesh.mesh.tets()[t].iter().zip(hats) {
            let force = stress * Vector3::from(hat);
            largest = largest.max(force.norm());
            (0..3).for_each(|c| forces[v as usize][c] += force[c]);
        }
    }
    (sum, forces, largest)
}

/// The SIMD sums equal the sums over single elements, and a step ends where its gradient vanishes up to
/// rounding of energy differences, also with Newton's method. A rig that crushes flesh flatter than rest
/// shapes can follow does not count as stretch.
#[test]
fn the_energy_is_that_of_elements_and_its_gradient_vanishes_at_the_end() {
    for (name, law) in laws() {
        let flesh = Flesh { mesh: bar([4, 2, 2], 0.1), law: soft(law) };
        for (sides, share) in [
            ([1.0; 3], 1.0),
            ([1.3, 0.8, 1.0], 0.4),
            ([1.1, 0.2, 1.0], 1.0),
            ([1.1, 0.2, 1.0], 0.6),
            ([1.2, 1.0, -0.5], 1.0),
            ([1.2, 1.0, 0.1], 0.0),
        ] {
            let rig = Matrix3::from_diagonal(&Vector3::from(sides));
            let posed: Vec<[f64; 3]> =
                flesh.mesh.vertices().iter().map(|v| (rig * Vector3::from(*v)).into()).collect();
            let params = SimulationParams {
                stretch: Some(0.3),
                pose_rest: share,
                max_iterations: 2000,
                tolerance: 1e-11,
                ..pulled()
            };
            for minimiser in [Minimiser::default(), Minimiser::Newton] {
                let mut stepper = flesh.hung();
                stepper.reset(&posed, &vec![[0.0; 3]; posed.len()]).unwrap();
                let report =
                    stepper.step(&posed, &SimulationParams { minimiser, ..params }, |_, _| Ok(())).unwrap();
                let x = stepper.positions();
                let (energy, mut forces, largest) = limited(&flesh, &x, &rig, share, 0.3);
                let (free, ..) = limited(&flesh, &x, &rig, share, 1e3);
                assert!(
                    (report.energy - energy).abs() < 1e-10 * energy,
                    "{name}: {} {energy}",
                    report.energy
                );
                assert!(energy > 1.001 * free, "{name} {sides:?}: no limit is felt");
                let mass = jounce::operators::lumped_mass(&flesh.mesh, &flesh.material());
                let u = apart(&x, &posed);
                for (v, force) in forces.iter_mut().enumerate() {
                    for c in 0..3 {
                        let pull = mass[v] * (u[v][c] / (params.dt * params.dt) - params.gravity[c]);
                        force[c] += pull;
                    }
                }
                let moving = flesh.pinned().into_iter().zip(forces).filter(|(pinned, _)| !pinned);
                let left = longest(&moving.map(|(_, force)| force).collect::<Vec<_>>());
                assert!(left < 1e-5 * largest, "{name} {sides:?} {minimiser:?}: {left:e} of {largest}");
            }
        }
    }
}

/// A step ends where inertia, elastic force, load and `m s omega^2 L phi'(|u| / L)` balance, with either
/// minimiser, also on the parabola beyond four fifths of the limit.
#[test]
fn displacements_end_where_their_limit_is_in_balance() {
    for (name, law) in laws() {
        let flesh = Flesh { mesh: bar([4, 2, 2], 0.1), law: soft(law) };
        let pinned = flesh.pinned();
        let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
        let omega = std::f64::consts::TAU * flesh.model(&restraint).frequency();
        let rest = flesh.mesh.vertices();
        let mut felt = [0; 2];
        for limit in [0.3, 0.1] {
            let length = limit * flesh.mesh.diagonal();
            let params = SimulationParams {
                limit: Some(limit),
                pose_rest: 0.0,
                stiffness: 1.5,
                max_iterations: 2000,
                tolerance: 1e-11,
                ..pulled()
            };
            for minimiser in [Minimiser::default(), Minimiser::Newton] {
                let mut stepper = flesh.hung();
                stepper.reset(rest, &vec![[0.0; 3]; rest.len()]).unwrap();
                stepper.step(rest, &SimulationParams { minimiser, ..params }, |_, _| Ok(())).unwrap();
                let u = stepper.displacement();
                let (_, forces) = flesh.elastic(&stepper.positions());
                let mass = jounce::operators::lumped_mass(&flesh.mesh, &flesh.material());
                let (mut left, mut largest) = (0.0_f64, 0.0_f64);
                for v in (0..rest.len()).filter(|&v| !pinned[v]) {
                    let u = Vector3::from(u[v]);
                    let t = (2.0 * u.norm() / length - 1.0).max(0.0);
                    felt[0] += usize::from(t > 0.0 && t < 0.6);
                    felt[1] += usize::from(t > 0.6);
                    let at = t.min(0.6);
                    let slope = 2.0 * (at * at / (1.0 - at) - 2.0 * at * (1.0 - at).ln());
                    let bend = 4.0
                        * (at * (2.0 - at) / (1.0 - at).powi(2) + 2.0 * at / (1.0 - at)
                            - 2.0 * (1.0 - at).ln());
                    let slope = slope + bend * 0.5 * (t - at);
                    let held = 1.5 * omega * omega * length * slope * mass[v];
                    let inertia = mass[v] * (u / (params.dt * params.dt) - Vector3::from(params.gravity));
                    let elastic = 1.5 * Vector3::from(forces[v]);
                    largest = largest.max(elastic.norm()).max(held).max(inertia.norm());
                    left = left.max((inertia + elastic + held * u.normalize()).norm());
                }
                assert!(left < 1e-6 * largest, "{name} {limit} {minimiser:?}: {left:e} of {largest}");
            }
        }
        assert!(felt[0] > 0 && felt[1] > 0, "{name}: {felt:?} vertices feel it");
    }
}

#[test]
fn a_limit_holds_what_would_go_many_times_as_far() {
    for law in LAWS {
        let model = model(law);
        for params in settings() {
            let furthest = |limit: Option<f64>| {
                let mut sim = simulation(&model, SimulationParams { limit, ..params });
                (0..24).fold(0.0_f64, |most, frame| {
                    sim.step(Some(&violent(frame))).unwrap();
                    most.max(longest(sim.coefficients().as_chunks::<3>().0))
                }) / model.mesh().diagonal()
            };
            let free = furthest(None);
            for limit in [0.3, 0.1] {
                let held = furthest(Some(limit));
                assert!(held < 2.0 * limit && held < 0.5 * free, "{law:?} {limit}: {held}, free {free}");
            }
        }
    }
}

/// Flesh at its rigged position has no limit forces, however the rig strains it.
#[test]
fn what_the_rig_does_is_no_stretch() {
    for law in LAWS {
        let model = model(law);
        let squeeze = |s: f64| [[2.0, 0.0, 0.0, 0.1], [0.0, s, 0.0, 0.0], [0.0, 0.0, 1.0 / s, 0.0]];
        for s in [0.1, 0.6, 1.7] {
            let shot = |stretch| {
                let params = SimulationParams { stretch, strength: 0.0, ..SimulationParams::default() };
                let mut sim = simulation(&model, params);
                (0..10).for_each(|_| {
                    sim.step(Some(&[squeeze(s), squeeze(0.5 * s)])).unwrap();
                });
                sim.coefficients().to_vec()
            };
            let (free, held) = (shot(None), shot(Some(1e-2)));
            if s == 0.6 {
                assert!(longest(held.as_chunks::<3>().0) <= longest(free.as_chunks::<3>().0) + 1e-9);
            }
            assert!(held.iter().all(|u| u.is_finite()));
        }
    }
}

/// Under a dead load the limit balances it: the same equilibrium from two sides.
#[test]
fn the_equilibrium_under_a_load_does_not_depend_on_the_way() {
    let model = model(Law::NeoHookean);
    let params = SimulationParams { stretch: Some(0.1), tolerance: 1e-9, ..SimulationParams::default() };
    let force = some_coefficients(3 * model.mesh().vertices().len(), 6.0);
    let input = StepInput { pose: Some(&[REST; 2]), force: Some(&force), ..StepInput::default() };
    let settled = |params: SimulationParams| {
        let mut sim = simulation(&model, params);
        sim.settle(&input, 5000, &Progress::default()).unwrap();
        sim.coefficients().to_vec()
    };
    let (held, free) = (settled(params), settled(SimulationParams { stretch: None, ..params }));
    let rows = |u: &[f64]| u.as_chunks::<3>().0.to_vec();
    // Long steps, which damp most of the motion.
    let params = SimulationParams { dt: 1.0, max_iterations: 300, ..params };
    let mut sim = simulation(&model, params);
    for _ in 0..100 {
        sim.step_with(&input, &Progress::default()).unwrap();
    }
    let gap = |a: &[f64], b: &[f64]| longest(&apart(&rows(a), &rows(b)));
    assert!(gap(&held, &free) > 0.05 * longest(&rows(&free)), "the load reaches the limit");
    let left = gap(sim.coefficients(), &held) / longest(&rows(&held));
    assert!(left < 1e-4, "{left:e}");
}
