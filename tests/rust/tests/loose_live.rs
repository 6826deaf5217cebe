//! Changes to a free body in flight: its inflation and its tether.

use std::f64::consts::{PI, TAU};

use jounce::Error;
use jounce::file::{decode_state, encode_state};
use jounce::inputs::Start;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::mesh::{TetMesh, lattice};
use jounce::model::Model;
use jounce::simulation::Simulation;
use jounce_tests::bodies::{REST, Transform, bar, compose, turn};
use jounce_tests::boxes::{box_mesh, row_of};
use jounce_tests::handled::{
    bent, clustered, diagonal, energy_left, furthest, mass, models, momentum, places, settings, sheet,
    silent, simulation, step, surface,
};
use jounce_tests::surfaces::sphere;
use jounce_tests::touching::ground;
use nalgebra::{Matrix3, Vector3};

/// Stiffness of a tether so firm that the body cannot move relative to it.
const FIRM: f64 = 1e5;

fn ball() -> TetMesh {
    lattice(&sphere(3).placed([0.1; 3], [0.3, 0.0, 0.1]).surface(), 10, &silent()).unwrap()
}

fn volume(mesh: &TetMesh, places: &[Vector3<f64>]) -> f64 {
    let of = |tet: &[u32; 4]| {
        let [a, b, c, d] = tet.map(|v| places[v as usize]);
        (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
    };
    mesh.tets().iter().map(of).sum()
}

fn inflated(inflation: f64) -> SimulationParams {
    SimulationParams {
        inflation,
        damping: 0.5,
        dt: 1.0 / 120.0,
        tolerance: 1e-10,
        max_iterations: 200,
        ..Default::default()
    }
}

fn center(mass: &[f64], places: &[Vector3<f64>]) -> Vector3<f64> {
    mass.iter().zip(places).map(|(m, x)| *m * x).sum::<Vector3<f64>>() / mass.iter().sum::<f64>()
}

#[test]
fn a_free_ball_settles_at_the_third_power_of_its_inflation() {
    let mesh = ball();
    let model = clustered(&mesh, 12, 20);
    let (mass, start) = (mass(&model), Start { velocity: [1.0, 0.0, 2.0], ..Start::default() });
    for inflation in [0.5, 0.9, 1.3, 2.0] {
        let mut sim = simulation(&model, inflated(1.0));
        sim.place(&start).unwrap();
        let rest = places(&sim);
        sim.set_params(inflated(inflation)).unwrap();
        let steps = 400;
        let last = (0..steps).map(|_| step(&mut sim)).last().unwrap();
        let found = volume(&mesh, &places(&sim)) / volume(&mesh, &rest);
        assert!((found / inflation.powi(3) - 1.0).abs() < 1e-6, "{inflation}: {found}");
        assert!(last < 1e-9, "{inflation}: {last}");
        let moved = center(&mass, &places(&sim)) - center(&mass, &rest);
        let flown = Vector3::from(start.velocity) * f64::from(steps) / 120.0;
        assert!((moved - flown).norm() < 1e-9, "{moved}");
    }
}

#[test]
fn what_is_inflated_as_it_spins_keeps_its_angular_momentum() {
    let model = clustered(&ball(), 12, 20);
    let spun = |inflation: f64, steps: u32| {
        let params = SimulationParams { dt: 0.25 / f64::from(steps), ..inflated(1.0) };
        let mut sim = simulation(&model, params);
        sim.place(&Start { spin: [0.0, 1.0, 2.0], ..Start::default() }).unwrap();
        let mut found = Vec::new();
        for frame in 0..steps {
            sim.set_params(SimulationParams {
                inflation: if frame < 20 { 1.0 } else { inflation },
                ..params
            })
            .unwrap();
            let before = places(&sim);
            step(&mut sim);
            found.push(momentum(&mass(&model), &before, &places(&sim), params.dt).1);
        }
        (found[found.len() - 1] - found[0]).norm() / found[0].norm()
    };
    // Backward Euler loses some angular momentum, half as much for half the step: `h m v_1 x v_0` for arms
    // that grow as they rotate.
    for inflation in [1.0, 0.8, 1.4] {
        let [coarse, fine] = [240, 480].map(|steps| spun(inflation, steps));
        assert!(coarse < 0.02 && fine < 0.6 * coarse, "{inflation}: {coarse} {fine}");
    }
}

#[test]
fn once_it_is_inflated_it_never_gains_energy() {
    for inflation in [0.6, 1.5] {
        let model = clustered(&bar([8, 2, 2], 0.1), 12, 16);
        let params = SimulationParams { damping: 0.0, ..inflated(inflation) };
        let mut sim = simulation(&model, SimulationParams { inflation: 1.0, ..params });
        bent(&mut sim);
        sim.set_params(params).unwrap();
        assert!(energy_left(&mut sim, params.dt) > 0.0);
    }
}

#[test]
fn it_is_placed_and_settles_as_large_as_it_is_inflated() {
    let mesh = row_of(&box_mesh([2, 2, 2], 0.1), 2, 0.4);
    let model = clustered(&mesh, 8, 8);
    let mut sim = simulation(&model, inflated(1.5));
    let place = turn([1.0, 2.0, 0.5], 2.0, [0.0; 3], [3.0, -1.0, 2.0]);
    let spun = Start { place, velocity: [1.0, 2.0, 3.0], ..Start::default() };
    sim.place(&spun).unwrap();
    let rest: Vec<_> = model.vertices().iter().map(|x| Vector3::from(*x)).collect();
    let grown = 1.5_f64.powi(3) * volume(&mesh, &rest);
    assert!((volume(&mesh, &places(&sim)) / grown - 1.0).abs() < 1e-10);
    assert!(step(&mut sim) < 1e-12);
    sim.reset(None).unwrap();
    sim.settle(&StepInput::default(), 2000, &silent()).unwrap();
    assert!((volume(&mesh, &places(&sim)) / grown - 1.0).abs() < 1e-5);
}

#[test]
fn a_ball_that_is_inflated_on_the_ground_stands_on_it() {
    let model = clustered(&ball(), 12, 20);
    let gravity = [0.0, 0.0, -9.81];
    let params = |inflation: f64| SimulationParams {
        gravity,
        stiffness: 20.0,
        max_iterations: 60,
        tolerance: 1e-7,
        ..inflated(inflation)
    };
    let mut sim = Simulation::among(model.clone(), params(1.0), &[ground(0.0, 0.5)], None).unwrap();
    sim.place(&Start::default()).unwrap();
    let mut deepest = 0.0_f64;
    for frame in 0..240 {
        sim.set_params(params(1.0 + f64::from(frame.min(120)) / 120.0)).unwrap();
        step(&mut sim);
        deepest = places(&sim).iter().map(|x| -x.z).fold(deepest, f64::max);
    }
    let high = center(&mass(&model), &places(&sim)).z;
    assert!(deepest < 0.01 * diagonal(&model), "{deepest}");
    assert!((0.17..0.2).contains(&high), "{high}");
}

#[test]
fn fatal_inflation_and_hold_are_refused() {
    let model = clustered(&bar([3, 1, 1], 0.1), 4, 3);
    let mut sim = simulation(&model, inflated(1.2));
    for inflation in [0.0, -1.0, 0.009, 101.0, f64::NAN, f64::INFINITY] {
        let refused = sim.set_params(inflated(inflation));
        assert!(matches!(refused, Err(Error::Range { what: "inflation", .. })), "{inflation}");
    }
    for hold in [-1.0, 1.1e5, f64::NAN, f64::INFINITY] {
        let refused = sim.set_params(SimulationParams { hold, ..Default::default() });
        assert!(matches!(refused, Err(Error::Range { what: "hold", .. })), "{hold}");
    }
    assert_eq!(sim.params().inflation, 1.2);
    let thin = jounce::potentials::elastic::Fabric { thickness: 2e-3, bending: 1.0 };
    let flesh = jounce_tests::bodies::Body::bar().model();
    for other in [surface(&sheet(), thin, 8), flesh.clone()] {
        let refused = Simulation::new(other, inflated(1.2));
        assert!(matches!(refused, Err(Error::Unsupported { what: "inflation", .. })));
    }
    let held = SimulationParams { hold: 1.0, ..Default::default() };
    assert!(matches!(Simulation::new(flesh, held), Err(Error::Unsupported { what: "hold", .. })));
}

/// Pose of a hand over time: it swings an arm about a shoulder, and continues.
fn hand(time: f64) -> Transform {
    let arm = turn([0.3, 1.0, 0.2], 4.0 * (3.0 * time).sin(), [0.2, 0.0, 1.0], [0.0; 3]);
    compose(&turn([0.0, 0.0, 1.0], 2.0 * time, [0.0; 3], [1.5 * time, -time, 0.4 * time * time]), &arm)
}

fn posed(model: &Model, place: &Transform) -> Vec<Vector3<f64>> {
    let at =
        |x: &[f64; 3]| Vector3::from(place.map(|row| row[3] + (0..3).map(|d| row[d] * x[d]).sum::<f64>()));
    model.vertices().iter().map(at).collect()
}

/// A body in a moving hand, after 20 steps of 1/96 s.
fn carried(model: &Model, params: SimulationParams) -> Simulation {
    let mut sim = simulation(model, params);
    sim.place(&Start { place: hand(0.0), ..Start::default() }).unwrap();
    for frame in 1..=20 {
        sim.step(Some(&[hand(f64::from(frame) / 96.0)])).unwrap();
    }
    sim
}

fn held(hold: f64) -> SimulationParams {
    let gravity = [0.0, 0.0, -9.81];
    SimulationParams {
        hold,
        gravity,
        damping: 0.1,
        dt: 1.0 / 96.0,
        tolerance: 1e-9,
        max_iterations: 200,
        ..Default::default()
    }
}

#[test]
fn what_is_held_is_where_the_hand_has_it() {
    for model in models() {
        let sim = carried(&model, held(FIRM));
        let apart = furthest(&places(&sim), &posed(&model, &hand(20.0 / 96.0)));
        assert!(apart < 1e-5 * diagonal(&model), "{apart:e}");
    }
}

#[test]
fn let_go_it_has_the_momentum_of_the_hand() {
    for model in models() {
        let (mass, h) = (mass(&model), 1.0 / 96.0);
        let mut sim = carried(&model, held(FIRM));
        let [before, now] = [19.0, 20.0].map(|frame| posed(&model, &hand(frame * h)));
        let velocity = (center(&mass, &now) - center(&mass, &before)) / h;
        let angular = momentum(&mass, &before, &now, h).1;
        sim.set_params(SimulationParams { gravity: [0.0; 3], ..held(0.0) }).unwrap();
        let mut last = places(&sim);
        // The hand moves on without the body.
        for frame in 21..24 {
            sim.step(Some(&[hand(f64::from(frame) * h)])).unwrap();
            let next = places(&sim);
            let found = (center(&mass, &next) - center(&mass, &last)) / h;
            assert!((found - velocity).norm() < 1e-3 * velocity.norm(), "{found} {velocity}");
            let spun = momentum(&mass, &last, &next, h).1;
            // Separate components also rotate about each other's centre, as the hand does.
            assert!((spun - angular).norm() < 0.1 * angular.norm(), "{spun} {angular}");
            last = next;
        }
    }
}

/// Stiffness of the tether in step k of n after the catch.
fn ramp(k: u32, n: u32) -> f64 {
    let share = f64::from(k) / f64::from(n);
    let seconds = f64::from(n) / 96.0;
    if k >= n { FIRM } else { (6.0 / (TAU * seconds) * share / (1.0 - share)).min(FIRM) }
}

#[test]
fn what_flies_past_is_caught_without_a_jolt() {
    for (model, angle) in models().into_iter().zip([0.5, 2.0, PI, 4.0, PI, 1.0, 3.0, 2.5]) {
        let (size, mass, h, n) = (diagonal(&model), mass(&model), 1.0 / 96.0, 48);
        let mut sim = simulation(&model, held(0.0));
        let place = compose(&hand(0.0), &turn([1.0, 0.2, -0.4], angle, [0.1; 3], [size, 0.5 * size, 0.0]));
        sim.place(&Start { place, velocity: [size, 0.0, -size], spin: [2.0, -3.0, 5.0] }).unwrap();
        for frame in 1..=4 {
            sim.step(Some(&[hand(f64::from(frame) * h)])).unwrap();
        }
        let (mut last, mut velocity) = (center(&mass, &places(&sim)), Vector3::zeros());
        let mut hardest = 0.0_f64;
        for k in 0..n + 6 {
            sim.set_params(held(ramp(k, n))).unwrap();
            sim.step(Some(&[hand(f64::from(k + 5) * h)])).unwrap();
            let now = center(&mass, &places(&sim));
            let fresh = (now - last) / h;
            if k > 0 {
                hardest = hardest.max((fresh - velocity).norm());
            }
            (last, velocity) = (now, fresh);
        }
        // The hand itself gains at most 0.6 m/s per step; closing a distance of one and a half sizes in
        // half a second adds as much again.
        assert!(hardest < 0.6 + 30.0 * size * h / 0.25, "{hardest}");
        let apart = furthest(&places(&sim), &posed(&model, &hand(f64::from(n + 10) * h)));
        assert!(apart < 1e-4 * size, "{apart:e}");
    }
}

#[test]
fn however_far_it_has_to_turn_it_keeps_its_shape() {
    let mesh = bar([6, 2, 2], 0.1);
    let model = clustered(&mesh, 12, 16);
    let rest = posed(&model, &REST);
    let params =
        |k: u32| SimulationParams { gravity: [0.0; 3], stiffness: 20.0, damping: 0.5, ..held(ramp(k, 48)) };
    for angle in [PI, 0.99 * PI, -0.9 * PI] {
        let mut sim = simulation(&model, params(0));
        sim.place(&Start { place: turn([0.0, 1.0, 0.0], angle, [0.0; 3], [0.0; 3]), ..Start::default() })
            .unwrap();
        for k in 0..60 {
            sim.set_params(params(k)).unwrap();
            sim.step(Some(&[REST])).unwrap();
            let share = volume(&mesh, &places(&sim)) / volume(&mesh, &rest);
            assert!((0.9..1.1).contains(&share), "{angle}, {k}: {share}");
        }
        assert!(furthest(&places(&sim), &rest) < 1e-6);
    }
}

#[test]
fn halfway_into_a_hand_a_state_replays_bit_for_bit() {
    let model = &models()[0];
    for params in settings() {
        let mut sim = simulation(model, params);
        sim.place(&Start { spin: [1.0, 2.0, 0.0], ..Start::default() }).unwrap();
        let play = |sim: &mut Simulation, frames: std::ops::Range<u32>| -> Vec<Vec<f64>> {
            frames
                .map(|k| {
                    let inflation = 1.0 + 0.01 * f64::from(k);
                    sim.set_params(SimulationParams { hold: ramp(k, 12), inflation, ..params }).unwrap();
                    sim.step(Some(&[hand(f64::from(k) / 24.0)])).unwrap();
                    sim.coefficients().to_vec()
                })
                .collect()
        };
        play(&mut sim, 0..6);
        let state = sim.save_state();
        let first = play(&mut sim, 6..14);
        sim.restore_state(&state).unwrap();
        assert_eq!(play(&mut sim, 6..14), first);
        let mut other = simulation(model, params);
        other.restore_state(&decode_state(&encode_state(&state)).unwrap()).unwrap();
        assert_eq!(play(&mut other, 6..14), first);
    }
}

#[test]
fn a_hand_that_holds_nothing_changes_no_bit() {
    for model in models() {
        let run = |empty: bool| {
            let mut sim = simulation(&model, held(0.0));
            sim.place(&Start { spin: [1.0, 2.0, 0.0], ..Start::default() }).unwrap();
            for k in 0..10 {
                let place = [hand(f64::from(k))];
                sim.step(empty.then_some(&place[..])).unwrap();
            }
            sim.coefficients().to_vec()
        };
        assert_eq!(run(true), run(false));
    }
}

#[test]
fn let_go_inside_of_a_collider_it_is_let_out_gently() {
    let model = clustered(&bar([4, 4, 2], 0.05), 12, 16);
    let size = diagonal(&model);
    let params = |hold: f64| SimulationParams { gravity: [0.0; 3], stiffness: 5.0, ..held(hold) };
    let mut sim = Simulation::among(model.clone(), params(FIRM), &[ground(0.03, 0.5)], None).unwrap();
    sim.place(&Start::default()).unwrap();
    for _ in 0..20 {
        sim.step(Some(&[REST])).unwrap();
    }
    // The tether pulls it through the ground.
    let apart = furthest(&places(&sim), &posed(&model, &REST));
    assert!(apart < 1e-5 * size, "{apart} {size}");
    sim.set_params(params(0.0)).unwrap();
    let (mass, mut last) = (mass(&model), places(&sim));
    for _ in 0..96 {
        sim.step(Some(&[REST])).unwrap();
        let now = places(&sim);
        let speed = 96.0 * (center(&mass, &now) - center(&mass, &last)).norm();
        // The bound is a quarter of its size plus its skin's rebound; an instant release would be fifteen
        // times as fast.
        assert!(speed < 0.4 * size, "{speed} {size}");
        last = now;
    }
    let low = last.iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
    assert!(low > 0.03 - 0.01 * size, "{low}");
}

#[test]
fn turning_everything_turns_a_catch() {
    let model = clustered(&bar([6, 2, 2], 0.1), 12, 16);
    let whole = turn([1.0, -0.5, 2.0], 1.3, [0.0; 3], [2.0, 1.0, -3.0]);
    let rotation = Matrix3::from_fn(|i, j| whole[i][j]);
    let run = |turned: bool| {
        let seen = |place: &Transform| if turned { compose(&whole, place) } else { *place };
        let aim = |v: Vector3<f64>| -> [f64; 3] { (if turned { rotation * v } else { v }).into() };
        let params =
            |k: u32| SimulationParams { gravity: aim(Vector3::new(0.0, 0.0, -9.81)), ..held(ramp(k, 24)) };
        let mut sim = simulation(&model, params(0));
        let place = seen(&turn([1.0, 0.0, 0.0], 2.0, [0.0; 3], [0.3, 0.0, 0.0]));
        let (velocity, spin) = (aim(Vector3::new(1.0, 0.0, 2.0)), aim(Vector3::new(0.0, 3.0, 1.0)));
        sim.place(&Start { place, velocity, spin }).unwrap();
        for k in 0..30 {
            sim.set_params(params(k)).unwrap();
            sim.step(Some(&[seen(&hand(f64::from(k) / 96.0))])).unwrap();
        }
        places(&sim)
    };
    let shift = Vector3::new(whole[0][3], whole[1][3], whole[2][3]);
    let expected: Vec<_> = run(false).iter().map(|x| rotation * x + shift).collect();
    assert!(furthest(&run(true), &expected) < 1e-7);
}
