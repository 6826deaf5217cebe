//! The displacement limit: no effect on calm motion, never exceeded in violent motion, and smooth between.

use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::Law;
use jounce::simulation::Simulation;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, Transform, swing, turn};

/// Diagonal of the bar, 0.8 x 0.3 x 0.3 m.
const DIAGONAL: f64 = 0.905_538_513_813_741_7;

fn largest(sim: &Simulation) -> f64 {
    let projector = sim.model().projector(None).unwrap();
    let mut out = vec![0.0; 3 * projector.point_count()];
    projector.displacement(sim.coefficients(), &mut out).unwrap();
    let norm = |u: &[f32; 3]| u.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    out.as_chunks::<3>().0.iter().map(norm).fold(0.0, f64::max)
}

fn settings() -> [SimulationParams; 3] {
    let base = SimulationParams { stiffness: 0.05, substeps: 4, damping: 0.1, ..Default::default() };
    [
        base,
        SimulationParams { substeps: 1, pose_rest: 0.0, ..base },
        SimulationParams { integrator: Integrator::Bdf2, ..base },
    ]
}

/// Largest displacement in each of 24 frames.
fn record(body: &Body, params: SimulationParams, pose: impl Fn(u32) -> [Transform; 2]) -> Vec<f64> {
    let mut sim = Simulation::new(body.model(), params).unwrap();
    let step = |frame| {
        sim.step(Some(&pose(frame))).unwrap();
        largest(&sim)
    };
    (0..24).map(step).collect()
}

fn swinging(frame: u32) -> [Transform; 2] {
    swing(f64::from(frame) / 24.0)
}

/// Rest, then jumps by most of the body's size.
fn violent(frame: u32) -> [Transform; 2] {
    let jump = if frame < 2 { 0.0 } else { 0.7 * f64::from((frame / 3) % 2) };
    [turn([0.0, 1.0, 0.0], 1.5 * jump, [0.1, 0.0, 0.0], [jump, 0.0, 0.5 * jump]), REST]
}

#[test]
fn calm_motion_is_the_same_to_the_bit() {
    for body in Body::bars() {
        for params in settings() {
            let free = record(&body, params, swinging);
            let highest = free.iter().copied().fold(0.0, f64::max) / DIAGONAL;
            let limited = SimulationParams { limit: Some(2.3 * highest), ..params };
            assert_eq!(free, record(&body, limited, swinging));
        }
    }
}

#[test]
fn violent_motion_stays_below_the_limit() {
    for body in Body::bars() {
        for params in settings() {
            let free = record(&body, params, violent).into_iter().fold(0.0, f64::max) / DIAGONAL;
            for limit in [0.3, 0.1, 0.02] {
                let limited = SimulationParams { limit: Some(limit), ..params };
                let highest = record(&body, limited, violent).into_iter().fold(0.0, f64::max) / DIAGONAL;
                assert!(free > 1.5 * limit, "{free} is not violent");
                assert!(highest < 1.01 * limit, "{highest} of {limit}");
                assert!(highest > 0.5 * limit, "{highest} of {limit}");
            }
        }
    }
}

#[test]
fn a_settled_body_is_one_that_stays() {
    for body in Body::bars() {
        let gravity = [0.0, 0.0, -60.0];
        let params = SimulationParams {
            limit: Some(0.1),
            gravity,
            tolerance: 1e-12,
            max_iterations: 3000,
            ..settings()[0]
        };
        let mut sim = Simulation::new(body.model(), params).unwrap();
        let report = sim
            .settle(
                &StepInput { pose: Some(&[REST, REST]), ..StepInput::default() },
                20_000,
                &Progress::default(),
            )
            .unwrap();
        // Near the limit, rounding hides the last of the way.
        assert!(report.residual <= 1e-6, "{report:?}");
        let sag = largest(&sim);
        assert!((0.055..0.105).contains(&(sag / DIAGONAL)), "{sag}");
        let before = sim.coefficients().to_vec();
        sim.step(Some(&[REST, REST])).unwrap();
        let change = before.iter().zip(sim.coefficients()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(change < 1e-6 * before.iter().fold(0.0, |a: f64, x| a.max(x.abs())), "{change}");
    }
}

#[test]
fn a_limit_may_come_while_the_flesh_is_beyond_it() {
    let body = Body::bar().with_law(Law::Corotated, 0.3);
    let params = SimulationParams { gravity: [0.0, 0.0, -60.0], ..settings()[0] };
    let mut sim = Simulation::new(body.model(), params).unwrap();
    sim.settle(&StepInput { pose: Some(&[REST, REST]), ..StepInput::default() }, 1000, &Progress::default())
        .unwrap();
    assert!(largest(&sim) > 0.2 * DIAGONAL);
    sim.set_params(SimulationParams { limit: Some(0.05), ..params }).unwrap();
    for _ in 0..24 {
        sim.step(Some(&[REST, REST])).unwrap();
        assert!(largest(&sim) < 0.06 * DIAGONAL);
    }
}

#[test]
fn a_limit_that_makes_no_sense_is_refused() {
    for limit in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let params = SimulationParams { limit: Some(limit), ..Default::default() };
        let refused = Simulation::new(Body::bar().model(), params);
        assert!(matches!(refused.err(), Some(Error::Range { what: "limit", .. })));
    }
}
