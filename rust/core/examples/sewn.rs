//! Stitches: a bar is sewn into a loop at three tightnesses; the modes of each follow from those before.
//!
//! Run it with `cargo run --release --package jounce --example sewn`.

use std::time::Instant;

use jounce::body::{Body, BodyParams, PointStitches};
use jounce::mesh::SurfaceMesh;
use jounce::{Progress, Result};

fn main() -> Result<()> {
    let progress = Progress::default();
    let surface = SurfaceMesh::cuboid([6.0, 1.0, 1.0])?;
    let pinned = surface.points().iter().map(|point| point[0] < 0.5).collect();
    let plain = BodyParams {
        resolution: 32,
        modes: 8,
        cubature: 40,
        pinned: Some(pinned),
        editable: true,
        ..BodyParams::default()
    };
    let weights = [1.0; 8];
    let mut body = Body::new(&surface, &weights, 1, &plain, &progress)?;
    println!("plain: {:.3} Hz", body.model.frequency());
    for stiffness in [1e2, 1e3, 1e4] {
        // From the upper edge of the free end to that of the held one.
        let stitches = PointStitches {
            pairs: vec![[1, 5], [3, 7]],
            stiffness: vec![stiffness; 2],
            gaps: vec![1.0; 2],
            ..PointStitches::default()
        };
        let params = BodyParams { stitches, ..plain.clone() };
        let start = Instant::now();
        body = Body::new_like(Some(&body), &surface, &weights, 1, &params, &progress)?;
        let (seconds, error) = (start.elapsed().as_secs_f64(), body.residual);
        println!("{stiffness:7} N/m: {:.3} Hz in {seconds:.3} s, within {error:.1e}", body.model.frequency());
    }
    Ok(())
}
