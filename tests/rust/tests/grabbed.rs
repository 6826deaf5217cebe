//! Bodies with handles that the pointer holds at points, and drag on such bodies.

use std::f64::consts::TAU;
use std::sync::Arc;

use jounce::Error;
use jounce::inputs::Drag;
use jounce::inputs::Start;
use jounce::inputs::{Grip, Pull};
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::Law;
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::potentials::contact::{Collider, Shape};
use jounce::potentials::elastic::Fabric;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{Handles, cluster_tets_by_place};
use jounce_tests::boxes::box_mesh;
use jounce_tests::handled::{
    cloth, clustered, diagonal, furthest, jelly, mass, models, momentum, places, projective, settings, sheet,
    silent, simulation,
};
use jounce_tests::touching::{Body, G};
use nalgebra::Vector3;

const STILL: [[f64; 4]; 3] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

fn exactly() -> SimulationParams {
    SimulationParams { tolerance: 1e-12, max_iterations: 2000, dt: 1.0 / 60.0, ..Default::default() }
}

fn grip(model: &Model, points: &[u32]) -> Arc<Grip> {
    Grip::new(projective(model), points, None).unwrap().into()
}

fn pulled(sim: &mut Simulation, pull: &Pull) {
    sim.step_with(&StepInput { pull: Some(pull), ..StepInput::default() }, &silent()).unwrap();
}

fn whole(mass: &[f64], places: &[Vector3<f64>]) -> Vector3<f64> {
    mass.iter().zip(places).map(|(m, x)| *m * x).sum()
}

/// Point sets to grip on a connected body, as far apart as possible.
fn held(model: &Model, count: usize) -> Vec<u32> {
    projective(model).handles().vertices().iter().copied().take(count).collect()
}

#[test]
fn a_body_is_pulled_by_the_springs_of_its_held_points_and_by_nothing_else() {
    let (h, frequency, calm, gravity) = (1.0 / 60.0, 8.0, 3.0_f64, [0.3, 0.0, -9.81]);
    let (omega, solids) = (TAU * frequency, models());
    for model in [&solids[0], &solids[1], &solids[3], &solids[4], &solids[5]] {
        let (mass, total) = (mass(model), mass(model).iter().sum::<f64>());
        for count in [1, 3, 8] {
            let mut sim = simulation(model, SimulationParams { gravity, ..exactly() });
            sim.place(&Start { velocity: [0.5, 0.0, 0.2], ..Start::default() }).unwrap();
            let points = held(model, count);
            let target =
                |&v: &u32| Vector3::from(model.vertices()[v as usize]) + Vector3::new(0.05, 0.1, 0.02);
            let targets: Vec<Vector3<f64>> = points.iter().map(target).collect();
            let wanted: Vec<[f64; 3]> = targets.iter().map(|x| (*x).into()).collect();
            let pull = Pull::new(grip(model, &points), &wanted, frequency, calm).unwrap();
            let mut momentum = total * Vector3::new(0.5, 0.0, 0.2);
            for _ in 0..4 {
                let before = places(&sim);
                pulled(&mut sim, &pull);
                let now = places(&sim);
                let (share, firm) = (omega / (omega + 2.0 / h), omega * (omega + 2.0 / h));
                let forces = points.iter().zip(&targets).map(|(&v, target)| {
                    let goal = before[v as usize] + share * (target - before[v as usize]);
                    total / points.len() as f64 * firm * (goal - now[v as usize])
                });
                let kept = (-calm * h).exp() * momentum;
                let expected = kept + h * (total * Vector3::from(gravity) + forces.sum::<Vector3<f64>>());
                momentum = (whole(&mass, &now) - whole(&mass, &before)) / h;
                let missed = (momentum - expected).norm() / (total * diagonal(model) / h);
                assert!(missed < 1e-9, "{count} points: {missed:e}");
            }
        }
    }
}

#[test]
fn what_hangs_by_a_point_comes_to_rest_under_it_and_no_force_is_left_on_release() {
    let model = clustered(&box_mesh([4, 4, 4], 0.05), 12, 20);
    let params = SimulationParams { gravity: [0.0, 0.0, -9.81], damping: 0.1, substeps: 2, ..exactly() };
    let (mut sim, frequency, mass) = (simulation(&model, params), 8.0, mass(&model));
    // A corner, so that the block has to rotate about it.
    let corner = model.vertices().iter().position(|x| *x == [0.0, 0.0, 0.2]).unwrap() as u32;
    let target = [0.1, 0.0, 0.5];
    let pull = Pull::new(grip(&model, &[corner]), &[target], frequency, 8.0).unwrap();
    let mut last = places(&sim);
    let mut moved = Vec::new();
    for _ in 0..900 {
        pulled(&mut sim, &pull);
        let now = places(&sim);
        moved.push(furthest(&last, &now) / diagonal(&model));
        last = now;
    }
    assert!(moved[899] < 1e-5, "{}", moved[899]);
    let sag = target[2] - last[corner as usize].z;
    assert!((sag - G / (TAU * frequency).powi(2)).abs() < 1e-4, "{sag}");
    let center = whole(&mass, &last) / mass.iter().sum::<f64>();
    assert!((center - Vector3::from(target)).xy().norm() < 1e-3, "{center}");
    // After its release it falls bit for bit like a body that was never held.
    let mut free = simulation(&model, params);
    free.restore_state(&sim.save_state()).unwrap();
    for frame in 1..=20 {
        let before = places(&sim);
        sim.step(None).unwrap();
        free.step(None).unwrap();
        assert_eq!(sim.coefficients(), free.coefficients(), "frame {frame}");
        let velocity =
            (whole(&mass, &places(&sim)) - whole(&mass, &before)) * 60.0 / mass.iter().sum::<f64>();
        let fallen = -G * (f64::from(frame) - 0.25) / 60.0;
        assert!((velocity.z - fallen).abs() < 0.02 && velocity.xy().norm() < 0.02, "{velocity}");
    }
}

#[test]
fn held_points_are_as_springs_that_were_built_in() {
    let surface = sheet();
    let n = surface.points().len();
    let side: Vec<f64> = surface.points().iter().map(|p| f64::from(p[0] < 1e-9)).collect();
    let far = (0..n).max_by(|&a, &b| {
        let sum = |v: usize| surface.points()[v][0] + surface.points()[v][1];
        sum(a).total_cmp(&sum(b))
    });
    let (far, rig) = (far.unwrap(), Rig::new(n, 1, &vec![1.0; n]).unwrap());
    let handles = Handles::over(&surface, 16, 0, &silent()).unwrap();
    let hung = |weights: &[f64]| {
        let fabric = Fabric { thickness: 2e-3, bending: 1.0 };
        let model = ProjectiveModel::surface(&surface, &cloth(), fabric, &handles, &silent()).unwrap();
        Model::Projective(model.attached(&rig, weights, 30.0).unwrap().into())
    };
    let mut more = side.clone();
    more[far] = 1.0;
    let (model, rebuilt) = (hung(&side), hung(&more));
    let mass = mass(&model);
    let frequency = 30.0 * (mass[far] / mass.iter().sum::<f64>()).sqrt();
    let pull = Pull::new(grip(&model, &[far as u32]), &[surface.points()[far]], frequency, 0.0).unwrap();
    let params = SimulationParams { gravity: [0.0, 0.0, -9.81], ..exactly() };
    let settled = |model: &Model, pull: Option<&Pull>| {
        let mut sim = simulation(model, params);
        sim.settle(&StepInput { pose: Some(&[STILL]), pull, ..StepInput::default() }, 20_000, &silent())
            .unwrap();
        places(&sim)
    };
    let (live, built) = (settled(&model, Some(&pull)), settled(&rebuilt, None));
    let apart = furthest(&live, &built) / diagonal(&model);
    assert!(apart < 1e-8, "{apart:e}");
    assert!(furthest(&live, &settled(&model, None)) > 0.02 * diagonal(&model), "it does not matter");
}

#[test]
fn a_dent_follows_the_pointer_and_a_pin_is_where_it_is_wanted() {
    let model = clustered(&box_mesh([8, 8, 4], 0.025), 40, 60);
    let top = model.vertices().iter().position(|x| *x == [0.1, 0.1, 0.1]).unwrap();
    let bottom: Vec<u32> = (0..).zip(model.vertices()).filter(|(_, x)| x[2] == 0.0).map(|(v, _)| v).collect();
    let ground = [Collider::new(Shape::plane([0.0; 3], [0.0, 0.0, 1.0]).unwrap(), 0.8).unwrap()];
    let params = SimulationParams {
        gravity: [0.0, 0.0, -9.81],
        stiffness: 10.0,
        damping: 0.1,
        substeps: 4,
        dt: 1.0 / 24.0,
        ..Default::default()
    };
    for (frequency, missed) in [(10.0, 0.3), (1e4, 1e-3)] {
        let mut sim = Simulation::among(model.clone(), params, &ground, None).unwrap();
        let grip = grip(&model, &[top as u32]);
        let mut deepest = 0.0_f64;
        for frame in 0..48 {
            let press = 0.02 * f64::from(frame.min(12)) / 12.0;
            pulled(&mut sim, &Pull::new(grip.clone(), &[[0.1, 0.1, 0.1 - press]], frequency, 0.0).unwrap());
            deepest = deepest.max(bottom.iter().fold(0.0, |d, &v| d.max(-places(&sim)[v as usize].z)));
        }
        let at = |v: usize| places(&sim)[v].z - model.vertices()[v][2];
        let side = model.vertices().iter().position(|x| *x == [0.0, 0.0, 0.1]).unwrap();
        assert!((at(top) + 0.02).abs() < 0.02 * missed, "{}", at(top));
        assert!(at(top) < 3.0 * at(side).min(-1e-4), "a dent: {} {}", at(top), at(side));
        assert!(deepest < 0.01 * diagonal(&model), "{deepest}");
    }
}

#[test]
fn a_held_body_replays_bit_for_bit_and_takes_other_points_without_a_rebuild() {
    let model = clustered(&box_mesh([4, 4, 4], 0.05), 12, 20);
    for params in settings() {
        let mut sim = simulation(&model, params);
        let grips: Vec<_> = [&[0_u32][..], &[5, 9, 20]].map(|points| grip(&model, points)).into();
        let play = |sim: &mut Simulation| {
            let mut seen = Vec::new();
            for frame in 0..12 {
                let of = &grips[frame / 6];
                let target = [0.1 + 0.01 * frame as f64, 0.0, 0.3];
                let pull = Pull::new(of.clone(), &vec![target; of.point_count()], 6.0, 2.0).unwrap();
                pulled(sim, &pull);
                seen.extend_from_slice(sim.coefficients());
            }
            sim.step(None).unwrap();
            seen.extend_from_slice(sim.coefficients());
            seen
        };
        sim.step(None).unwrap();
        let state = sim.save_state();
        let first = play(&mut sim);
        sim.restore_state(&state).unwrap();
        assert_eq!(first, play(&mut sim));
        let mut other = simulation(&model, params);
        other.restore_state(&state).unwrap();
        assert_eq!(first, play(&mut other));
    }
}

#[test]
fn the_number_of_threads_changes_no_bit_of_what_is_held_and_dragged() {
    let model = clustered(&box_mesh([6, 6, 6], 0.05), 30, 60);
    let drag = Drag::at_vertices(&mass(&model), Some(&mass(&model)), None).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut sim = simulation(&model, SimulationParams { substeps: 2, ..Default::default() });
            let points = held(&model, 5);
            let pull = Pull::new(grip(&model, &points), &[[0.3, 0.1, 0.2]; 5], 8.0, 1.0).unwrap();
            let input = StepInput { pull: Some(&pull), drag: Some(&drag), ..StepInput::default() };
            for _ in 0..6 {
                sim.step_with(&input, &silent()).unwrap();
            }
            sim.coefficients().to_vec()
        })
    };
    assert_eq!(on(1), on(3));
}

/// Drag so weak that the body hardly moves with the medium: each vertex is pushed by its local wind.
#[test]
fn wind_that_differs_from_place_to_place_pushes_with_its_sum() {
    let h = 1.0 / 60.0;
    for model in models() {
        let (mass, total) = (mass(&model), mass(&model).iter().sum::<f64>());
        let wind = |v: usize| Vector3::new((v % 3) as f64, 1.0 + (v % 5) as f64, -((v % 2) as f64));
        let factors: Vec<f64> = (0..).zip(&mass).map(|(v, m)| 1e-2 * f64::from(v % 4) * m).collect();
        let winds: Vec<f64> = (0..mass.len()).flat_map(|v| <[f64; 3]>::from(wind(v))).collect();
        let drag = Drag::at_vertices(&factors, None, Some(&winds)).unwrap();
        let mut sim = simulation(&model, exactly());
        let before = places(&sim);
        sim.step_with(&StepInput { drag: Some(&drag), ..StepInput::default() }, &silent()).unwrap();
        let velocity = (whole(&mass, &places(&sim)) - whole(&mass, &before)) / (h * total);
        let pushed: Vector3<f64> = factors.iter().enumerate().map(|(v, c)| *c * wind(v)).sum();
        let expected = pushed * h / total;
        assert!((velocity - expected).norm() < 1e-3 * expected.norm(), "{velocity} {expected}");
    }
}

#[test]
fn what_drags_brakes_as_its_formula_says_and_a_medium_takes_bodies_along() {
    let (gamma, quadratic, h) = (0.7, 0.4, 1.0 / 60.0);
    for model in models() {
        let (mass, total) = (mass(&model), mass(&model).iter().sum::<f64>());
        let wind = [2.0, -1.0, 0.0];
        let of = |factor: f64| mass.iter().map(|m| factor * m).collect::<Vec<_>>();
        let winds: Vec<f64> = mass.iter().flat_map(|_| wind).collect();
        let drag = Drag::at_vertices(&of(gamma), Some(&of(quadratic)), Some(&winds)).unwrap();
        let mut sim = simulation(&model, SimulationParams { gravity: [0.0, 0.0, -9.81], ..exactly() });
        sim.place(&Start { velocity: [0.0, 0.0, 1.0], ..Start::default() }).unwrap();
        let mut velocity = Vector3::new(0.0, 0.0, 1.0);
        for _ in 0..30 {
            let before = places(&sim);
            sim.step_with(&StepInput { drag: Some(&drag), ..StepInput::default() }, &silent()).unwrap();
            let now = (whole(&mass, &places(&sim)) - whole(&mass, &before)) / (h * total);
            let relative = now - Vector3::from(wind);
            let braked = (gamma + quadratic * relative.norm()) * relative;
            let expected = velocity + h * (Vector3::new(0.0, 0.0, -9.81) - braked);
            assert!((now - expected).norm() < 1e-7, "{now} {expected}");
            velocity = now;
        }
    }
}

#[test]
fn drag_never_adds_energy_however_strong_it_is() {
    for model in models() {
        for factor in [0.1, 10.0, 1e4, 1e12] {
            let mass = mass(&model);
            let drag: Vec<f64> = mass.iter().map(|m| factor * m).collect();
            let drag = Drag::at_vertices(&drag, Some(&drag), None).unwrap();
            let mut sim = simulation(&model, exactly());
            let spun = Start { velocity: [1.0, 0.0, 2.0], spin: [0.0, 3.0, 1.0], ..Start::default() };
            sim.place(&spun).unwrap();
            let (mut before, mut last) = (places(&sim), f64::INFINITY);
            for _ in 0..20 {
                let input = StepInput { drag: Some(&drag), ..StepInput::default() };
                let elastic = sim.step_with(&input, &silent()).unwrap().energy;
                let now = places(&sim);
                let energy = elastic + momentum(&mass, &before, &now, 1.0 / 60.0).0;
                assert!(energy <= last * (1.0 + 1e-9) + 1e-18, "{factor}: {last} to {energy}");
                (last, before) = (energy, now);
            }
        }
    }
}

#[test]
fn a_uniform_force_is_as_gravity() {
    for model in models() {
        let forces: Vec<f64> = mass(&model).iter().flat_map(|m| [0.0, 0.2 * m, -9.81 * m]).collect();
        let force = model.projector(None).unwrap().reduce_forces(&forces).unwrap();
        let heavy = SimulationParams { gravity: [0.0, 0.2, -9.81], ..exactly() };
        let (mut pushed, mut falling) = (simulation(&model, exactly()), simulation(&model, heavy));
        for _ in 0..10 {
            pushed.step_with(&StepInput { force: Some(&force), ..StepInput::default() }, &silent()).unwrap();
            falling.step(None).unwrap();
        }
        assert!(furthest(&places(&pushed), &places(&falling)) < 1e-9 * diagonal(&model));
    }
}

#[test]
fn what_cannot_be_held_is_refused() {
    let [model, other] = [3, 4].map(|cells| clustered(&box_mesh([cells; 3], 0.05), 6, 8));
    let refused = |points: &[u32]| Grip::new(projective(&model), points, None).unwrap_err();
    assert!(matches!(refused(&[]), Error::Empty { what: "points" }));
    assert!(matches!(refused(&[3, 64]), Error::Index { element: 1, .. }));
    assert!(matches!(refused(&[3, 3]), Error::Index { element: 1, .. }));
    let many: Vec<u32> = (0..65).map(|v| v % 64).collect();
    assert!(matches!(refused(&many), Error::Range { what: "points", .. }));
    let grip = grip(&model, &[3, 5]);
    let pull = |targets: &[[f64; 3]], frequency| Pull::new(grip.clone(), targets, frequency, 0.0);
    assert!(matches!(pull(&[[0.0; 3]], 1.0), Err(Error::Shape { .. })));
    let wild = pull(&[[0.0; 3], [0.0, 0.0, f64::NAN]], 1.0);
    assert!(matches!(wild, Err(Error::NotFinite { what: "targets", element: 1, .. })));
    for frequency in [0.0, -1.0, f64::NAN, 2e5] {
        assert!(matches!(pull(&[[0.0; 3]; 2], frequency), Err(Error::Range { what: "frequency", .. })));
    }
    let calm = Pull::new(grip.clone(), &[[0.0; 3]; 2], 1.0, -1.0);
    assert!(matches!(calm, Err(Error::Range { what: "calm", .. })));
    let pull = pull(&[[0.0; 3]; 2], 5.0).unwrap();
    let input = StepInput { pull: Some(&pull), ..StepInput::default() };
    // The same number of handles on the same mesh, but different ones.
    let mesh = box_mesh([3; 3], 0.05);
    let handles = Handles::spread(&mesh, 6, 1, &silent()).unwrap();
    let labels = cluster_tets_by_place(&mesh, 8, 0, &silent()).unwrap();
    let moved = ProjectiveModel::new(&mesh, &jelly(Law::Arap), &handles, &labels, &silent()).unwrap();
    for model in [other, Model::Projective(moved.into()), Body::ball().model] {
        let mut sim = simulation(&model, exactly());
        let before = sim.save_state();
        assert!(matches!(sim.step_with(&input, &silent()), Err(Error::Unsupported { what: "pull", .. })));
        assert_eq!(before, sim.save_state());
    }
}
