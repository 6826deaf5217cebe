//! Results of [QN], and textbook elasticity of a bar, in the full space.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use jounce::inputs::{Integrator, Minimiser, SimulationParams, StepInput};
use jounce::material::PrincipalStretch;
use jounce::model::Model;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce_tests::bodies::bar;
use jounce_tests::hyperelastic::{DENSITY, Flesh, H, longest, params, params_of, silent, start};
use nalgebra::{Rotation3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CELL: f64 = 0.1;
const YOUNG: f64 = 1e5;

/// Lamé parameters from Young's modulus and Poisson's ratio.
fn lame(poisson: f64) -> [f64; 2] {
    [YOUNG / (2.0 * (1.0 + poisson)), YOUNG * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))]
}

fn corotated(poisson: f64) -> PrincipalStretch {
    let [mu, lambda] = lame(poisson);
    PrincipalStretch::Corotated { mu, lambda }
}

fn neo_hookean(poisson: f64) -> PrincipalStretch {
    let [mu, lambda] = lame(poisson);
    PrincipalStretch::NeoHookean { mu, lambda }
}

/// A simulation of a body pinned at the vertices with the smallest x.
fn hung(flesh: &Flesh, params: SimulationParams) -> Simulation {
    let pinned = flesh.pinned();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    Simulation::new(Model::FullSpace(Arc::new(flesh.model(&restraint))), params).unwrap()
}

/// Mean of one coordinate of the displacement over some vertices.
fn mean(flesh: &Flesh, u: &[f64], coordinate: usize, of: impl Fn(&[f64; 3]) -> bool) -> f64 {
    let rows = flesh.mesh.vertices().iter().zip(u.as_chunks::<3>().0);
    let own: Vec<f64> = rows.filter(|(place, _)| of(place)).map(|(_, u)| u[coordinate]).collect();
    own.iter().sum::<f64>() / own.len() as f64
}

fn length(flesh: &Flesh) -> f64 {
    flesh.mesh.vertices().iter().map(|v| v[0]).fold(0.0, f64::max)
}

/// A hanging bar extends by `rho g L^2 / 2 E`.
#[test]
fn a_bar_hangs_as_long_as_its_weight_pulls_it() {
    for law in [corotated(0.0), neo_hookean(0.0)] {
        let flesh = Flesh { mesh: bar([20, 2, 2], CELL), law };
        let gravity = 0.2;
        let mut sim = hung(&flesh, SimulationParams { gravity: [gravity, 0.0, 0.0], ..params(30, 1e-12) });
        sim.settle(&StepInput::default(), 2000, &jounce::Progress::default()).unwrap();
        let end = length(&flesh);
        let longer = mean(&flesh, sim.coefficients(), 0, |v| v[0] == end);
        let expected = DENSITY * gravity * end * end / (2.0 * YOUNG);
        assert!((longer / expected - 1.0).abs() < 0.01, "{longer} m, by hand {expected}");
    }
}

/// Transverse contraction of a pulled bar is Poisson's ratio times its extension.
#[test]
fn a_pulled_bar_gets_thinner() {
    for poisson in [0.0, 0.3, 0.45] {
        let flesh = Flesh { mesh: bar([20, 2, 2], CELL), law: corotated(poisson) };
        let mut sim = hung(&flesh, params(30, 1e-12));
        let end = length(&flesh);
        let strain = 0.01;
        // Load at the end, distributed over the vertices of the face by area.
        let sides = [0.0, 2.0 * CELL];
        let share = |x: f64| if sides.contains(&x) { 0.5 } else { 1.0 };
        let pull = YOUNG * strain * CELL * CELL;
        let force: Vec<f64> = flesh
            .mesh
            .vertices()
            .iter()
            .flat_map(|v| [if v[0] == end { pull * share(v[1]) * share(v[2]) } else { 0.0 }, 0.0, 0.0])
            .collect();
        sim.settle(
            &StepInput { force: Some(&force), ..StepInput::default() },
            3000,
            &jounce::Progress::default(),
        )
        .unwrap();
        let u = sim.coefficients();
        // Far from both ends, beyond the influence of the clamp and of the load's distribution.
        let [near, far] = [0.3, 0.7].map(|part| CELL * (part * end / CELL).round());
        let at = |x: f64| move |v: &[f64; 3]| (v[0] - x).abs() < 1e-9;
        let longer = (mean(&flesh, u, 0, at(far)) - mean(&flesh, u, 0, at(near))) / (far - near);
        let middle = CELL * (0.5 * end / CELL).round();
        let side = |y: f64| move |v: &[f64; 3]| (v[0] - middle).abs() < 1e-9 && v[1] == y;
        let wider = (mean(&flesh, u, 1, side(sides[1])) - mean(&flesh, u, 1, side(sides[0]))) / sides[1];
        assert!((longer / strain - 1.0).abs() < 0.02, "poisson {poisson}: longer by {longer}");
        assert!((wider / strain + poisson).abs() < 0.02, "poisson {poisson}: wider by {wider}");
    }
}

/// A bar fixed at one end vibrates along its axis with `sqrt(E / rho) / 4 L`.
#[test]
fn a_bar_swings_along_its_axis_as_fast_as_sound_runs_four_times() {
    let flesh = Flesh { mesh: bar([20, 2, 2], CELL), law: corotated(0.0) };
    let end = length(&flesh);
    let expected = (YOUNG / DENSITY).sqrt() / (4.0 * end);
    let steps = 400;
    let dt = 2.0 / expected / f64::from(steps);
    let settings = SimulationParams { dt, integrator: Integrator::Bdf2, ..params(100, 1e-10) };
    let mut sim = hung(&flesh, SimulationParams { gravity: [0.05, 0.0, 0.0], ..settings });
    sim.settle(&StepInput::default(), 2000, &jounce::Progress::default()).unwrap();
    let first = mean(&flesh, sim.coefficients(), 0, |v| v[0] == end);
    sim.set_params(settings).unwrap();
    let mut crossings = Vec::new();
    let mut before = first;
    for step in 1..=steps {
        sim.step(None).unwrap();
        let now = mean(&flesh, sim.coefficients(), 0, |v| v[0] == end);
        if before * now < 0.0 {
            crossings.push(f64::from(step) - now / (now - before));
        }
        before = now;
    }
    // The first crossing is a quarter period after the release; two crossings are half a period apart.
    let period = 2.0 * (crossings[1] - crossings[0]) * dt;
    assert!((1.0 / period / expected - 1.0).abs() < 0.02, "{} Hz, by hand {expected}", 1.0 / period);
}

/// Amplitude of a bar's end in the last of 200 frames, as a share of its initial deflection.
fn swing_after_200_frames(integrator: Integrator) -> f64 {
    let flesh = Flesh { mesh: bar([20, 2, 2], CELL), law: corotated(0.0) };
    let end = length(&flesh);
    let settings = SimulationParams { integrator, damping: 0.0, ..params(100, 1e-10) };
    let mut sim = hung(&flesh, SimulationParams { gravity: [0.05, 0.0, 0.0], ..settings });
    sim.settle(&StepInput::default(), 2000, &jounce::Progress::default()).unwrap();
    let first = mean(&flesh, sim.coefficients(), 0, |v| v[0] == end);
    sim.set_params(settings).unwrap();
    let mut swing = |_| {
        sim.step(None).unwrap();
        mean(&flesh, sim.coefficients(), 0, |v| v[0] == end).abs() / first
    };
    // A period has 24 frames.
    (0..200).map(&mut swing).skip(176).fold(0.0, f64::max)
}

/// At thirty frames per second, the roots of the recurrences give the loss of amplitude of a bar of 1.25 Hz
/// per frame: `(1 + (w h)^2)^(-1/2)` for backward Euler, about `(w h)^4 / 4` for second differences, which
/// preserve its energy for 200 frames.
#[test]
fn second_differences_keep_the_energy_for_200_frames() {
    let turn = TAU * (YOUNG / DENSITY).sqrt() / 8.0 * H;
    let kept = [Integrator::BackwardEuler, Integrator::Bdf2].map(swing_after_200_frames);
    let lost = (1.0 + turn * turn).powf(-0.5).powi(188);
    println!(
        "swing left: backward Euler {:.4} (by hand {lost:.4}), second differences {:.2}",
        kept[0], kept[1]
    );
    assert!(kept[0] < 2.0 * lost, "{} of the swing by backward Euler", kept[0]);
    assert!(
        (kept[1] - (-turn.powi(4) / 4.0 * 188.0).exp()).abs() < 0.05,
        "{} by second differences",
        kept[1]
    );
}

/// Remaining energy above the minimum after twenty iterations.
fn error(flesh: &Flesh, x: &[[f64; 3]], least: f64, minimiser: Minimiser) -> f64 {
    let mut stepper = flesh.hung();
    start(&mut stepper, flesh, x);
    stepper.step(flesh.mesh.vertices(), &params_of(minimiser, 20), silent).unwrap();
    let first = flesh.incremental(x, x, H).0;
    (flesh.incremental(&stepper.positions(), x, H).0 - least) / (first - least)
}

/// A few pairs help much, and more of them not at all [QN fig. 13].
#[test]
fn figure_13_five_pairs_are_enough() {
    let flesh = Flesh { mesh: bar([12, 2, 2], CELL), law: neo_hookean(0.4) };
    let x = flesh.twisted(2.0);
    let mut newton = flesh.hung();
    start(&mut newton, &flesh, &x);
    newton.step(flesh.mesh.vertices(), &params_of(Minimiser::Newton, 40), silent).unwrap();
    let least = flesh.incremental(&newton.positions(), &x, H).0;
    let of = |pairs| error(&flesh, &x, least, Minimiser::QuasiNewton { pairs });
    let errors: Vec<f64> = [0, 1, 2, 5, 10, 100].into_iter().map(of).collect();
    println!("errors with 0, 1, 2, 5, 10 and 100 pairs: {errors:?}");
    assert!(errors[3] < 0.1 * errors[0], "{errors:?}");
    assert!(errors[4..].iter().all(|more| *more > 0.2 * errors[3]), "{errors:?}");
}

/// From random positions, no tet is inverted after some seconds [QN fig. 15].
#[test]
fn figure_15_flesh_recovers_from_random_places() {
    let laws = [
        PrincipalStretch::NeoHookean { mu: 2e4, lambda: 1e5 },
        PrincipalStretch::Corotated { mu: 2e4, lambda: 1e5 },
    ];
    for (law, seed) in laws.into_iter().flat_map(|law| (0..3).map(move |seed| (law.clone(), seed))) {
        let flesh = Flesh { mesh: bar([5, 3, 3], CELL), law };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let box_of = flesh.mesh.vertices()[flesh.mesh.vertices().len() - 1];
        let x: Vec<[f64; 3]> = flesh
            .mesh
            .vertices()
            .iter()
            .map(|_| box_of.map(|side| side * rng.random_range(0.0..1.0)))
            .collect();
        assert!(flesh.inverted(&x) > flesh.mesh.tets().len() / 4);
        let mut stepper = flesh.free();
        start(&mut stepper, &flesh, &x);
        for _ in 0..150 {
            let report = stepper.step(flesh.mesh.vertices(), &params(30, 1e-8), silent).unwrap();
            assert!(report.energy.is_finite());
        }
        assert_eq!(flesh.inverted(&stepper.positions()), 0, "seed {seed}");
    }
}

/// A body is shaken for 400 frames: it jiggles without distortion, and the line search hardly ever halves a
/// step [QN figs. 2 and 3].
#[test]
fn figures_2_and_3_shaken_flesh_keeps_its_shape_in_one_trial_an_iteration() {
    let flesh = Flesh { mesh: bar([6, 3, 3], CELL), law: neo_hookean(0.45) };
    let mut stepper = flesh.hung();
    let (mut iterations, mut trials, mut largest) = (0, 0, 0.0_f64);
    let mut stretch = 1.0_f64;
    for frame in 0..400 {
        let time = H * f64::from(frame);
        let shake = 0.05 * (TAU * 2.0 * time).sin();
        let posed: Vec<[f64; 3]> = flesh.mesh.vertices().iter().map(|v| [v[0], v[1], v[2] + shake]).collect();
        let report = stepper.step(&posed, &params(10, 0.0), silent).unwrap();
        iterations += report.iterations;
        trials += report.trials;
        largest = largest.max(longest(&stepper.displacement()));
        for f in flesh.deformations(&stepper.positions()) {
            stretch = stretch.max(f.singular_values().max());
            assert!(f.determinant() > 0.3, "frame {frame}");
        }
    }
    let each = f64::from(trials) / f64::from(iterations);
    println!("moves by {largest:.3} m, stretches by {stretch:.2}, {each:.2} trials an iteration");
    assert!(largest > 0.02 && stretch < 1.6 && each < 1.2, "{largest} {stretch} {each}");
}

/// Ten thousand steps of a rig that jumps and spins, then rest.
#[test]
fn ten_thousand_violent_steps_end_at_rest() {
    let flesh = Flesh { mesh: bar([3, 1, 1], CELL), law: neo_hookean(0.4) };
    let mut stepper = flesh.hung();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let settings = SimulationParams { damping: 0.1, ..params(20, 1e-7) };
    for _ in 0..10_000 {
        let axis = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let turn = Rotation3::from_scaled_axis(PI * axis);
        let leap = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let posed: Vec<[f64; 3]> =
            flesh.mesh.vertices().iter().map(|v| (turn * Vector3::from(*v) + leap).into()).collect();
        let report = stepper.step(&posed, &settings, silent).unwrap();
        assert!(report.energy.is_finite());
    }
    assert!(longest(&stepper.displacement()) > 0.1);
    for _ in 0..600 {
        stepper.step(flesh.mesh.vertices(), &settings, silent).unwrap();
    }
    let left = longest(&stepper.displacement());
    assert!(left < 1e-4, "{left} m are left");
}
