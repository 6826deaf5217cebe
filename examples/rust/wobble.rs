//! A soft bar on one handle that is jerked upwards; prints the lag of its flesh, frame by frame.
//!
//! Run it with `cargo run --release --package jounce --example wobble`.

use jounce::body::{Body, BodyParams};
use jounce::inputs::SimulationParams;
use jounce::mesh::SurfaceMesh;
use jounce::simulation::Simulation;
use jounce::{Progress, Result};

/// Duration of a frame, seconds.
const FRAME: f64 = 1.0 / 24.0;

fn main() -> Result<()> {
    let surface = bar()?;
    let weights = vec![1.0; surface.points().len()];
    let params = BodyParams { resolution: 24, modes: 8, clusters: 40, ..BodyParams::default() };
    let body = Body::new(&surface, &weights, 1, &params, &Progress::default())?;
    println!("{} tets, lowest mode at {:.2} Hz", body.mesh.tets().len(), body.model.frequency());

    let projector = body.model.projector(Some(&body.embedding))?;
    let settings = SimulationParams { dt: FRAME, substeps: 4, damping: 0.05, ..SimulationParams::default() };
    let mut simulation = Simulation::new(body.model, settings)?;
    simulation.reset(Some(&[lifted(0.0)]))?;
    let mut displacement = vec![0.0; 3 * projector.point_count()];
    for frame in 1..=24 {
        let report = simulation.step(Some(&[lifted(f64::from(frame) * FRAME)]))?;
        projector.displacement(simulation.coefficients(), &mut displacement)?;
        let largest = displacement.iter().fold(0.0_f32, |most, u| most.max(u.abs()));
        println!("frame {frame:2}: {largest:.4} m in {} iterations", report.iterations);
    }
    Ok(())
}

/// A box of 2 x 0.5 x 0.5 m.
fn bar() -> Result<SurfaceMesh> {
    let corner = |i: u32| [(i >> 2) as f64 * 2.0, (i >> 1 & 1) as f64 * 0.5, (i & 1) as f64 * 0.5];
    let sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let triangles = sides.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    SurfaceMesh::new((0..8).map(corner).collect(), triangles)
}

/// The handle rises by half a metre in a quarter of a second, and stops.
fn lifted(time: f64) -> [[f64; 4]; 3] {
    let height = 0.5 * (time / 0.25).min(1.0);
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, height]]
}
