//! The descent of skinning modes: near its solution at the default tolerance, and continuous.

use jounce::Progress;
use jounce::body::{Body as Flesh, BodyParams};
use jounce::inputs::SimulationParams;
use jounce::material::Law;
use jounce::mesh::SurfaceMesh;
use jounce::model::Model;
use jounce::simulation::Simulation;
use jounce_tests::bodies::{Body, Transform, displacement, largest, swing};

/// Poisson ratios, and factors on the stiffness: lively and firm flesh.
const RATIOS: [f64; 3] = [0.0, 0.45, 0.49];
const STIFFNESS: [f64; 2] = [0.05, 1.0];

/// Bars of all ratios with settings of all factors, and their names.
fn cases() -> impl Iterator<Item = (Body, SimulationParams, String)> {
    RATIOS.into_iter().flat_map(|ratio| {
        STIFFNESS.map(|stiffness| {
            let body = Body::bar();
            let body = if ratio > 0.0 { body.with_law(Law::Corotated, ratio) } else { body };
            let params = SimulationParams { stiffness, damping: 0.05, substeps: 2, ..Default::default() };
            (body, params, format!("ratio {ratio}, stiffness {stiffness}"))
        })
    })
}

fn swinging(frames: usize) -> Vec<Vec<Transform>> {
    (0..frames).map(|frame| swing(frame as f64 / 24.0).to_vec()).collect()
}

/// Displacements of all vertices in all frames, metres.
fn motion(body: &Body, model: &Model, params: SimulationParams, poses: &[Vec<Transform>]) -> Vec<[f64; 3]> {
    let mut sim = Simulation::new(model.clone(), params).unwrap();
    sim.reset(Some(&poses[0])).unwrap();
    let frames = poses[1..].iter().flat_map(|pose| {
        sim.step(Some(pose)).unwrap();
        displacement(body, sim.coefficients())
    });
    frames.collect()
}

/// Largest distance between two motions, metres.
fn apart(one: &[[f64; 3]], other: &[[f64; 3]]) -> f64 {
    let difference = |(a, b): (&[f64; 3], &[f64; 3])| std::array::from_fn(|c| a[c] - b[c]);
    largest(&one.iter().zip(other).map(difference).collect::<Vec<_>>())
}

#[test]
fn default_steps_end_within_half_a_percent_of_their_solution() {
    for (body, params, name) in cases() {
        let (model, poses) = (body.model(), swinging(60));
        let converged = SimulationParams { tolerance: 1e-11, max_iterations: 2000, ..params };
        let solution = motion(&body, &model, converged, &poses);
        let share = apart(&motion(&body, &model, params, &poses), &solution) / largest(&solution);
        println!("{name}: {share:e}");
        assert!(share < 5e-3, "{name}: {share}");
    }
}

/// Many modes and a cubature, as in every body of a character, converge more slowly than the few of a bar.
#[test]
fn default_steps_of_a_body_end_within_half_a_percent_of_their_solution() {
    let surface = SurfaceMesh::cuboid([2.0, 0.5, 0.5]).unwrap();
    let second = |place: &[f64; 3]| if place[0] > 0.0 { 1.0 } else { 0.0 };
    let weights: Vec<f64> = surface.points().iter().flat_map(|x| [1.0 - second(x), second(x)]).collect();
    let model =
        Flesh::new(&surface, &weights, 2, &BodyParams::default(), &Progress::default()).unwrap().model;
    for stiffness in [0.2, 2.0, 20.0] {
        let params = SimulationParams { stiffness, damping: 0.12, substeps: 4, ..Default::default() };
        let coefficients = |params: SimulationParams| -> Vec<f64> {
            let mut sim = Simulation::new(model.clone(), params).unwrap();
            let poses = swinging(60);
            sim.reset(Some(&poses[0])).unwrap();
            let frames = poses[1..].iter().flat_map(|pose| {
                sim.step(Some(pose)).unwrap();
                sim.coefficients().to_vec()
            });
            frames.collect()
        };
        let square = |x: f64| x * x;
        let solution = coefficients(SimulationParams { tolerance: 1e-10, max_iterations: 2000, ..params });
        let apart = |tolerance: f64| {
            let own = coefficients(SimulationParams { tolerance, ..params });
            let off: f64 = own.iter().zip(&solution).map(|(a, b)| square(a - b)).sum();
            (off / solution.iter().map(|x| square(*x)).sum::<f64>()).sqrt()
        };
        let [default, coarse] = [params.tolerance, 1e-4].map(apart);
        println!("stiffness {stiffness}: {default:e}, {coarse:e}");
        assert!(default < 5e-3, "stiffness {stiffness}: {default}");
        assert!(coarse > 20.0 * default, "stiffness {stiffness}: {coarse} with a coarse tolerance");
    }
}

/// A descent that ends a step earlier or later by rounding ends in the same place. Not with resistance to
/// volume change: searches then shorten directions, by rounding too.
#[test]
fn poses_a_hair_apart_move_alike() {
    const HAIR: f64 = 1e-9;
    for (body, params, name) in cases().filter(|(body, ..)| body.material.law() == Law::Arap) {
        let (model, poses) = (body.model(), swinging(300));
        let mut beside = poses.clone();
        for (frame, pose) in beside.iter_mut().enumerate() {
            pose.iter_mut().for_each(|bone| bone[2][3] += HAIR * (7.0 * frame as f64).sin());
        }
        let apart = apart(&motion(&body, &model, params, &poses), &motion(&body, &model, params, &beside));
        println!("{name}: {apart:e} m");
        assert!(apart < 100.0 * HAIR, "{name}: {apart} m");
    }
}
