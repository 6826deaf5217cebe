//! Full-space bodies among colliders.

use jounce::Progress;
use jounce::file::{decode_state, encode_state};
use jounce::inputs::{Integrator, SimulationParams, StepInput, StepReport};
use jounce::model::Model;
use jounce::potentials::contact::{Collider, Shape};
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce_tests::bodies::{REST, Transform, bar, turn};
use jounce_tests::surfaces::torus;
use jounce_tests::touching::{Body, check_slopes, ground, moved, params};
use nalgebra::Vector3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn longest(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (Vector3::from(*a) - Vector3::from(*b)).norm()).fold(0.0, f64::max)
}

fn steps(sim: &mut Simulation, count: usize) -> Vec<StepReport> {
    (0..count).map(|_| sim.step(None).unwrap()).collect()
}

#[test]
fn what_rests_is_silent_and_hardly_sinks_in() {
    for (name, body) in [("block", Body::block()), ("ball", Body::ball())] {
        let ground = ground(-1e-4, 0.5);
        let mut sim = body.among(params(), std::slice::from_ref(&ground));
        steps(&mut sim, 300);
        let (before, size) = (body.u(&sim), body.mesh.diagonal());
        for frame in 0..100 {
            let last = body.u(&sim);
            let report = sim.step(None).unwrap();
            assert!(report.iterations <= 3, "{name} at {frame}: {report:?}");
            assert!(longest(&last, &body.u(&sim)) < 2e-6 * size, "{name} at {frame}");
        }
        assert!(longest(&before, &body.u(&sim)) < 2e-5 * size, "{name} creeps");
        let depth = body.depth(&sim, ground.shape());
        assert!(depth > 0.0 && depth < 1e-4, "{name}: {depth}");
    }
}

#[test]
fn a_block_on_a_slope_sticks_below_the_angle_of_friction_and_slides_above_it() {
    let body = Body::block();
    let places = |params: SimulationParams, ground: &Collider| {
        // What is left by a step adds up over the frames.
        let params = SimulationParams { tolerance: 1e-7, ..params };
        let mut sim = body.among(params, std::slice::from_ref(ground));
        let mut place = || {
            sim.step(None).unwrap();
            body.mean(&sim)[0]
        };
        (0..72).map(|_| place()).collect()
    };
    check_slopes(places, 1e-8, 0.005);
}

fn check_drops(drops: impl Iterator<Item = u32>) {
    let body = Body::ball();
    for drop in drops {
        let height = 0.02 + 0.01 * f64::from(drop);
        let ground = ground(-height, 0.5);
        let dt = [1.0 / 24.0, 1.0 / 40.0, 1.0 / 30.0][drop as usize % 3];
        let max_iterations = [30, 10, 5][drop as usize / 3 % 3];
        let params = SimulationParams { dt, max_iterations, ..params() };
        let mut sim = body.among(params, std::slice::from_ref(&ground));
        // Fifteen frames from the first contact on.
        let mut rest = 15;
        for frame in 0.. {
            sim.step(None).unwrap();
            let place = body.mean(&sim)[2];
            assert!(body.depth(&sim, ground.shape()) < 1e-3, "drop {drop} at {frame}");
            if rest < 15 || place < -height {
                assert!(place < -0.9 * height, "drop {drop} at {frame}: {place} of {height}");
                rest -= 1;
            }
            if rest == 0 {
                break;
            }
            assert!(frame < 60, "drop {drop} never lands");
        }
    }
}

#[test]
fn a_ball_dropped_from_many_heights_never_gains_height() {
    check_drops((0..100).step_by(5));
}

#[test]
#[ignore = "long: a hundred drops"]
fn a_ball_dropped_a_hundred_times_never_gains_height() {
    check_drops(0..100);
}

#[test]
fn what_is_thrown_fast_does_not_pass_a_thin_box() {
    let body = Body::ball();
    for speed in [5.0, 10.0, 20.0, 40.0] {
        let way = speed / 24.0;
        let top = 0.1 - 1.5 * way;
        let shape = Shape::cuboid([0.0, 0.0, top - 0.005], [1.0, 1.0, 0.01]).unwrap();
        let collider = Collider::new(shape.clone(), 0.3).unwrap();
        // One kick sends it flying.
        let kick = SimulationParams { gravity: [0.0, 0.0, -speed * 24.0], ..params() };
        let mut sim = body.among(kick, &[collider]);
        sim.step(None).unwrap();
        sim.set_params(SimulationParams { gravity: [0.0; 3], ..params() }).unwrap();
        for frame in 0..12 {
            sim.step(None).unwrap();
            let lowest = body.points(&sim).iter().map(|p| p[2]).fold(f64::INFINITY, f64::min);
            assert!(lowest > top - 1e-3, "{speed} m/s at {frame}: {}", lowest - top);
        }
    }
}

#[test]
fn a_fast_collider_takes_along_what_it_hits() {
    let body = Body::ball();
    let shape = Shape::cuboid([0.0, 0.0, -0.05], [1.0, 1.0, 0.01]).unwrap();
    let mut sim = body.among(SimulationParams::default(), &[Collider::new(shape, 0.3).unwrap()]);
    sim.step(None).unwrap();
    for frame in 1..10 {
        let up = 0.3 * f64::from(frame);
        let input = StepInput { colliders: Some(&[moved([0.0, 0.0, up], 0.0)]), ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        let lowest = body.points(&sim).iter().map(|p| p[2]).fold(f64::INFINITY, f64::min);
        assert!(lowest > up - 0.045 - 1e-3, "{frame}: {lowest}, {up}");
    }
}

#[test]
fn a_moving_collider_carries_by_friction_what_lies_on_it() {
    let body = Body::block();
    let mut sim = body.among(SimulationParams { damping: 0.3, ..params() }, &[ground(0.0, 0.8)]);
    steps(&mut sim, 40);
    let start = body.mean(&sim);
    let (mut place, mut speed) = (0.0, 0.0);
    for frame in 0..48 {
        // A push of 3 m/s^2, then coasting: below the 7.8 m/s^2 that friction can exert.
        speed += if frame < 24 { 3.0 / 24.0 } else { 0.0 };
        place += speed / 24.0;
        let input = StepInput { colliders: Some(&[moved([place, 0.0, 0.0], 0.0)]), ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
    }
    let way = (body.mean(&sim) - start)[0];
    assert!((way / place - 1.0).abs() < 2e-3, "{way} of {place}");
}

#[test]
fn what_lies_on_a_turning_collider_turns_with_it() {
    let body = Body::block();
    let mut sim = body.among(SimulationParams { damping: 0.3, ..params() }, &[ground(0.0, 0.8)]);
    steps(&mut sim, 40);
    for frame in 1..=48 {
        let input = StepInput {
            colliders: Some(&[moved([0.0; 3], 0.01 * f64::from(frame))]),
            ..StepInput::default()
        };
        sim.step_with(&input, &Progress::default()).unwrap();
    }
    let places = body.points(&sim);
    let edge = Vector3::from(places[4]) - Vector3::from(places[0]);
    assert!((edge[1].atan2(edge[0]) - 0.48).abs() < 0.005, "{edge:?}");
}

#[test]
fn what_is_pinned_bends_around_what_pushes_it() {
    let mesh = bar([8, 3, 3], 0.1);
    let pinned: Vec<bool> = mesh.vertices().iter().map(|v| v[0] == 0.0).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let body = Body::restrained(mesh, &restraint);
    let shape = Shape::sphere([0.7, 0.15, -0.21], 0.2).unwrap();
    let mut sim = body.among(
        SimulationParams { damping: 0.2, ..SimulationParams::default() },
        &[Collider::new(shape, 0.2).unwrap()],
    );
    for frame in 0..40 {
        let up = 0.005 * f64::from(frame);
        let input = StepInput { colliders: Some(&[moved([0.0, 0.0, up], 0.0)]), ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        let now = Shape::sphere([0.7, 0.15, -0.21 + up], 0.2).unwrap();
        assert!(body.depth(&sim, &now) < 1e-3, "{frame}");
    }
    let end = body.u(&sim)[8];
    assert!(end[2] > 0.1, "{end:?}");
    assert!(body.u(&sim).iter().zip(&pinned).all(|(u, pinned)| !pinned || *u == [0.0; 3]));
}

#[test]
fn what_starts_inside_a_collider_is_let_out_without_being_shot() {
    let body = Body::ball();
    let mut sim = body.among(params(), &[ground(0.08, 0.3)]);
    let mut last = 0.0;
    for frame in 0..80 {
        sim.step(None).unwrap();
        let place = body.mean(&sim)[2];
        assert!((place - last).abs() * 24.0 < 1.0, "{frame}: {}", place - last);
        last = place;
    }
    assert!(body.depth(&sim, ground(0.08, 0.3).shape()) < 1e-3 && last < 0.08, "{last}");
}

/// A bar with a driven core, as bones drive flesh.
fn held_bar() -> (Body, Vec<bool>) {
    let mesh = bar([8, 4, 4], 0.1);
    let pinned: Vec<bool> =
        mesh.vertices().iter().map(|v| (v[1] - 0.2).abs() < 0.01 && (v[2] - 0.2).abs() < 0.01).collect();
    (Body::restrained(mesh, &Restraint { pinned: Some(&pinned), ..Restraint::default() }), pinned)
}

#[test]
fn held_flesh_that_starts_deep_inside_of_something_stays_and_touches_it_once_it_is_out() {
    let (body, _) = held_bar();
    let at_rest = SimulationParams::default();
    let wide = Collider::new(Shape::sphere([3.0, 0.0, 0.0], 5.0).unwrap(), 0.5).unwrap();
    let room = Collider::new(Shape::cuboid([0.5, 0.5, 0.1], [4.0, 4.0, 0.6]).unwrap(), 0.5).unwrap();
    for collider in [wide, room] {
        let mut sim = body.among(at_rest, std::slice::from_ref(&collider));
        let reports = steps(&mut sim, 12);
        assert!(sim.coefficients().iter().all(|u| u.abs() < 1e-9), "{:?}", collider.shape());
        assert!(reports.iter().all(|report| report.iterations <= 2), "{reports:?}");
    }
    // The bar rises out of the ground, and then comes down on it again.
    let mut sim = body.among(at_rest, &[ground(0.3, 0.0)]);
    let mut deepest = Vec::new();
    for frame in 0..=80 {
        let height = 0.01 * f64::from(40 - (frame - 40i32).abs());
        let below = 0.3 - height;
        sim.step_with(
            &StepInput { colliders: Some(&[moved([0.0, 0.0, -height], 0.0)]), ..StepInput::default() },
            &Progress::default(),
        )
        .unwrap();
        let shape = Shape::plane([0.0, 0.0, below], [0.0, 0.0, 1.0]).unwrap();
        deepest.push(body.depth(&sim, &shape));
        let moved = body.u(&sim).iter().map(|u| Vector3::from(*u).norm()).fold(0.0, f64::max);
        assert!(moved < 0.15 || frame > 50, "{frame}: {moved}");
    }
    assert!(deepest[10] > 0.1 && deepest[40] == 0.0, "{deepest:?}");
    assert!(deepest[41..65].iter().all(|&depth| depth < 1e-3), "{deepest:?}");
}

#[test]
fn what_passes_right_through_held_flesh_takes_none_of_it_along() {
    let (body, _) = held_bar();
    let ball = Collider::new(Shape::sphere([0.4, 0.2, 0.0], 0.06).unwrap(), 0.5).unwrap();
    let damped = SimulationParams { damping: 0.3, ..SimulationParams::default() };
    let most = |sim: &Simulation| body.u(sim).iter().map(|u| Vector3::from(*u).norm()).fold(0.0, f64::max);
    for frames in [1, 4, 40] {
        let mut sim = body.among(damped, std::slice::from_ref(&ball));
        for frame in 0..=frames + 24 {
            let height = 0.5 - 0.7 * f64::from(frame.min(frames)) / f64::from(frames);
            let input =
                StepInput { colliders: Some(&[moved([0.0, 0.0, height], 0.0)]), ..StepInput::default() };
            if frame == 0 {
                // Placed above the flesh; otherwise the first step would move it there from the middle.
                sim.reset_with(&input).unwrap();
            }
            sim.step_with(&input, &Progress::default()).unwrap();
            // The skin is 0.2 away from the core.
            assert!(most(&sim) < 0.2, "{frame} of {frames}: {}", most(&sim));
        }
        assert!(most(&sim) < 2e-3, "{frames}: {}", most(&sim));
    }
}

/// A shot of a ball that falls, is hit by a rotating box, and rolls.
fn shot(sim: &mut Simulation, frames: std::ops::Range<usize>) -> Vec<Vec<f64>> {
    let frame = |frame: usize| {
        let poses = [moved([0.0; 3], 0.0), moved([0.0, 0.002 * frame as f64, 0.0], 0.05 * frame as f64)];
        let input = StepInput { colliders: Some(&poses), ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        sim.coefficients().to_vec()
    };
    frames.map(frame).collect()
}

fn obstacles() -> Vec<Collider> {
    let club = Shape::cuboid([0.15, -0.2, 0.0], [0.05, 0.2, 0.3]).unwrap();
    vec![ground(-0.1, 0.6), Collider::new(club, 0.4).unwrap()]
}

#[test]
fn steps_have_the_same_bits_for_any_number_of_threads_and_after_going_back() {
    let body = Body::ball();
    let params = SimulationParams { substeps: 2, ..params() };
    let threads = |count: usize| rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
    let run = |count: usize| threads(count).install(|| shot(&mut body.among(params, &obstacles()), 0..24));
    let whole = run(1);
    assert_eq!(whole, run(2));
    assert_eq!(whole, run(3));
    let mut sim = body.among(params, &obstacles());
    shot(&mut sim, 0..13);
    let state = decode_state(&encode_state(&sim.save_state())).unwrap();
    assert_eq!(shot(&mut sim, 13..24), whole[13..]);
    sim.restore_state(&state).unwrap();
    assert_eq!(shot(&mut sim, 13..24), whole[13..]);
    let mut other = body.among(params, &obstacles());
    other.restore_state(&state).unwrap();
    assert_eq!(shot(&mut other, 13..24), whole[13..]);
    other.restore_state(&state).unwrap();
    assert_eq!(shot(&mut other.duplicate().unwrap(), 13..24), whole[13..]);
}

#[test]
fn colliders_far_away_change_no_bit_of_a_motion() {
    let body = Body::ball();
    let kicked = |mut sim: Simulation| {
        sim.step(None).unwrap();
        sim.set_params(SimulationParams { gravity: [3.0, 0.0, 0.0], ..params() }).unwrap();
        steps(&mut sim, 10);
        sim.coefficients().to_vec()
    };
    let alone = kicked(Simulation::new(body.model.clone(), params()).unwrap());
    assert_eq!(alone, kicked(body.among(params(), &[ground(-50.0, 0.5)])));
}

/// A number of colliders of each kind around a body, all out of reach.
fn bystanders() -> Vec<Collider> {
    let mesh = Shape::mesh(&torus(0.4, 24, 12).placed([0.1; 3], [0.9, 0.0, 0.0]).surface(), 16).unwrap();
    let shapes = [
        Shape::plane([0.0, 0.0, -0.9], [0.0, 0.0, 1.0]).unwrap(),
        Shape::sphere([0.0, -0.9, 0.0], 0.2).unwrap(),
        Shape::capsule([-0.6, -0.2, 0.3], [-0.8, 0.4, -0.2], 0.1).unwrap(),
        Shape::cuboid([0.0, 0.0, 0.9], [1.0, 0.3, 0.2]).unwrap(),
        mesh,
    ];
    shapes.into_iter().cycle().take(30).map(|shape| Collider::new(shape, 0.5).unwrap()).collect()
}

#[test]
fn colliders_that_nothing_reaches_change_no_bit_among_those_that_are_touched() {
    let body = Body::ball();
    let alone = shot(&mut body.among(params(), &obstacles()), 0..24);
    let [ground, club] = <[Collider; 2]>::try_from(obstacles()).unwrap();
    let mut all = bystanders();
    all.insert(11, ground);
    all.insert(23, club);
    let mut sim = body.among(params(), &all);
    for (frame, alone) in alone.iter().enumerate() {
        let mut poses = vec![moved([0.0; 3], 0.002 * frame as f64); all.len()];
        poses[11] = moved([0.0; 3], 0.0);
        poses[23] = moved([0.0, 0.002 * frame as f64, 0.0], 0.05 * frame as f64);
        sim.step_with(&StepInput { colliders: Some(&poses), ..StepInput::default() }, &Progress::default())
            .unwrap();
        assert_eq!(sim.coefficients(), alone, "{frame}");
    }
}

#[test]
fn what_no_collider_does_is_refused_and_changes_nothing() {
    let body = Body::block();
    let mut sim = body.among(params(), &[ground(-0.1, 0.5)]);
    steps(&mut sim, 3);
    let before = sim.save_state();
    let scaled = REST.map(|row| row.map(|x| 2.0 * x));
    let mut bad = REST;
    bad[1][3] = f64::NAN;
    let cases: Vec<(Vec<Transform>, &str)> = vec![
        (vec![REST; 2], "colliders: expected shape (1, 3, 4), got (2, 3, 4)"),
        (vec![bad], "colliders: element 7 is NaN; every number must be finite"),
        (
            vec![scaled],
            "colliders: expected a rotation and a translation each, without scale or mirroring, got 8",
        ),
    ];
    for (poses, sentence) in cases {
        let input = StepInput { colliders: Some(&poses), ..StepInput::default() };
        assert_eq!(sim.step_with(&input, &Progress::default()).unwrap_err().to_string(), sentence);
        assert_eq!(sim.save_state(), before);
    }
    let alone = Simulation::new(body.model.clone(), params()).unwrap();
    let sentence = "state: expected shape 1 colliders, got 0 colliders";
    assert_eq!(sim.restore_state(&alone.save_state()).unwrap_err().to_string(), sentence);
    let bdf2 = SimulationParams { integrator: Integrator::Bdf2, ..params() };
    let refused = |result: jounce::Result<Simulation>| result.map(drop).unwrap_err().to_string();
    let made = |model: &Model, params, colliders: &[Collider]| {
        refused(Simulation::among(model.clone(), params, colliders, None))
    };
    let plane = [ground(0.0, 0.5)];
    assert!(made(&body.model, bdf2, &plane).starts_with("integrator: among colliders"));
    assert_eq!(made(&body.model, params(), &[]), "colliders: is empty; at least one is needed");
    let reduced = jounce_tests::bodies::Body::bar().model();
    let sentence = made(&reduced, params(), &plane);
    assert!(sentence.starts_with("contact_weights: the model knows no bones at the points"), "{sentence}");
}

/// A force pulls a ball through a torus with a hole narrower than the ball [QN fig. 4].
#[test]
fn a_ball_is_drawn_through_a_torus_and_has_its_volume_back() {
    let body = Body::ball();
    // The hole has 8.4 cm, the ball 10 cm.
    let ring = torus(0.4, 64, 32).placed([0.14; 3], [0.0; 3]).surface();
    let shape = Shape::mesh(&ring, 64).unwrap();
    // Points that slide along a plane of contact leave the round of the ring, with the square of their way.
    let params = SimulationParams { damping: 0.5, substeps: 8, ..SimulationParams::default() };
    let mut sim = body.among(params, &[Collider::new(shape.clone(), 0.1).unwrap()]);
    for frame in 0..60 {
        let pull = if body.mean(&sim)[2] > -0.2 { -20.0 } else { 0.0 };
        let force: Vec<f64> = body.mass.iter().flat_map(|m| [0.0, 0.0, m * pull]).collect();
        let input = StepInput { force: Some(&force), ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        assert!(body.volumes(&sim).iter().all(|&volume| volume > 0.0), "{frame}");
        assert!(body.depth(&sim, &shape) < 5e-3, "{frame}: {}", body.depth(&sim, &shape));
    }
    assert!(body.mean(&sim)[2] < -0.25, "{}", body.mean(&sim)[2]);
    let volume = body.volumes(&sim).iter().sum::<f64>() / body.mesh.volumes().iter().sum::<f64>();
    assert!((volume - 1.0).abs() < 0.01, "{volume}");
}

#[test]
fn hostile_colliders_leave_all_numbers_finite() {
    let body = Body::ball();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let shapes = [
        Shape::cuboid([0.0; 3], [3.0, 1e-4, 3.0]).unwrap(),
        Shape::sphere([0.0; 3], 1e-6).unwrap(),
        Shape::sphere([0.0; 3], 1e8).unwrap(),
        Shape::capsule([0.0; 3], [0.0, 0.0, 0.3], 0.05).unwrap(),
    ];
    let colliders: Vec<Collider> =
        shapes.into_iter().map(|shape| Collider::new(shape, 1e6).unwrap()).collect();
    let mut sim = body.among(SimulationParams { max_iterations: 10, ..params() }, &colliders);
    for frame in 0..60 {
        // Everything teleports, through the body and each other.
        let poses: Vec<Transform> = (0..colliders.len())
            .map(|i| {
                let far = if i == 2 { 1e8 } else { 0.0 };
                let at = |_| rng.random_range(-0.3..0.3);
                let shift: [f64; 3] = std::array::from_fn(at);
                turn([1.0, 0.2, 0.1], f64::from(frame), [0.0; 3], [shift[0], shift[1], shift[2] - far])
            })
            .collect();
        let input = StepInput { colliders: Some(&poses), ..StepInput::default() };
        match sim.step_with(&input, &Progress::default()) {
            Ok(_) => assert!(sim.coefficients().iter().all(|x| x.is_finite()), "{frame}"),
            Err(error) => panic!("{frame}: {error}"),
        }
    }
}
