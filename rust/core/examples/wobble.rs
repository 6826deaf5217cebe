//! Skinning modes: a soft bar on one handle is jerked upwards; prints the lag of its flesh, frame by frame.
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
    let surface = SurfaceMesh::cuboid([2.0, 0.5, 0.5])?;
    let weights = vec![1.0; surface.points().len()];
    let params = BodyParams { resolution: 24, modes: 8, cubature: 40, ..BodyParams::default() };
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

/// The handle rises by half a metre in a quarter of a second, and stops.
fn lifted(time: f64) -> [[f64; 4]; 3] {
    let height = 0.5 * (time / 0.25).min(1.0);
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, height]]
}
