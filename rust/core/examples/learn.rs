//! Model reduction: a shot of the full space is learnt, and played again in a few displacements.
//!
//! Run it with `cargo run --release --package jounce --example learn`.

use std::time::{Duration, Instant};

use jounce::body::{Body, BodyParams, Lesson};
use jounce::inputs::SimulationParams;
use jounce::mesh::SurfaceMesh;
use jounce::model::Model;
use jounce::model::reduced::Bounds;
use jounce::simulation::Simulation;
use jounce::subspace::Share;
use jounce::{Progress, Result};

const FRAMES: usize = 48;

fn main() -> Result<()> {
    let progress = Progress::default();
    let surface = SurfaceMesh::cuboid([4.0, 1.0, 1.0])?;
    // A bone at either end.
    let weights: Vec<f64> = surface
        .points()
        .iter()
        .flat_map(|point| if point[0] < 2.0 { [1.0, 0.0] } else { [0.0, 1.0] })
        .collect();
    let params = BodyParams { resolution: 12, modes: 8, cubature: 40, ..BodyParams::default() };
    let body = Body::new(&surface, &weights, 2, &params, &progress)?;
    let poses: Vec<[[[f64; 4]; 3]; 2]> = (0..FRAMES).map(pose).collect();

    let (truth, slow) = played(&body.full_space(None, None, &progress)?, &poses)?;
    println!("the full space takes {slow:.1?}");
    for count in [2, 4, 8, 16] {
        let lesson = Lesson {
            poses: poses.as_flattened(),
            snapshots: &truth,
            share: Share { count, energy: 1.0 },
            tets: 3 * count,
            bounds: Bounds::default(),
            frequency: None,
            seed: 0,
        };
        let (found, fast) = played(&body.learn(None, &lesson, &progress)?, &poses)?;
        let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
        let apart =
            norm(&mut found.iter().zip(&truth).map(|(a, b)| a - b)) / norm(&mut truth.iter().copied());
        println!("{count:2} displacements take {fast:.1?} and are {:.1} % off", 100.0 * apart);
    }
    Ok(())
}

/// The bone at the right end swings.
fn pose(frame: usize) -> [[[f64; 4]; 3]; 2] {
    let at = |height| [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, height]];
    [at(0.0), at(0.5 * (0.35 * frame as f64).sin())]
}

/// Displacements of the vertices in all frames, and the duration.
fn played(model: &Model, poses: &[[[[f64; 4]; 3]; 2]]) -> Result<(Vec<f64>, Duration)> {
    let settings = SimulationParams { damping: 0.05, max_iterations: 200, ..SimulationParams::default() };
    let mut simulation = Simulation::new(model.clone(), settings)?;
    simulation.reset(Some(&poses[0]))?;
    let projector = model.projector(None)?;
    let (start, mut shot) = (Instant::now(), Vec::new());
    let mut moved = vec![0.0; 3 * projector.point_count()];
    for pose in poses {
        simulation.step(Some(pose))?;
        projector.displacement(simulation.coefficients(), &mut moved)?;
        shot.extend(moved.iter().copied().map(f64::from));
    }
    Ok((shot, start.elapsed()))
}
