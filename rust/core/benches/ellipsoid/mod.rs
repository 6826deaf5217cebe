//! Shared parts of the benchmarks: an ellipsoid along x whose length is divided among its bones, and
//! timing.

use std::f64::consts::{PI, TAU};
use std::time::Instant;

use jounce::Result;
use jounce::mesh::{SurfaceMesh, TetMesh};
use jounce::rig::Rig;

/// Semi-axes of the ellipsoid, m.
pub const RADII: [f64; 3] = [1.0, 0.5, 0.4];

/// Result of some work, and its duration in seconds.
pub fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let made = work()?;
    Ok((made, start.elapsed().as_secs_f64()))
}

/// Median of some durations.
pub fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Bones that swing up and down, each with a phase lag to the previous one.
pub fn pose(bones: usize, frame: usize) -> Vec<[[f64; 4]; 3]> {
    let swing = |bone: usize| 0.2 * (0.4 * frame as f64 - 0.5 * bone as f64).sin();
    (0..bones)
        .map(|bone| [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, swing(bone)]])
        .collect()
}

/// Weights that change linearly from one bone to the next along x.
pub fn chain(mesh: &TetMesh, bones: usize) -> Result<Rig> {
    let mut weights = vec![0.0; mesh.vertices().len() * bones];
    for (row, vertex) in weights.chunks_exact_mut(bones).zip(mesh.vertices()) {
        let along = (0.5 + 0.5 * vertex[0] / RADII[0]).clamp(0.0, 1.0) * (bones - 1) as f64;
        let near = |bone: usize| (1.0 - (along - bone as f64).abs()).max(0.0);
        row.iter_mut().enumerate().for_each(|(bone, weight)| *weight = near(bone));
    }
    Rig::new(mesh.vertices().len(), bones, &weights)
}

/// An ellipsoid of `count` rings with twice as many points each, closed at its poles.
pub fn surface(count: usize) -> Result<SurfaceMesh> {
    let around = 2 * count;
    let mut points = Vec::new();
    for ring in 0..=count {
        let (radius, x) = (PI * ring as f64 / count as f64).sin_cos();
        points.extend((0..around).map(|k| {
            let (sin, cos) = (TAU * k as f64 / around as f64).sin_cos();
            [RADII[0] * x, RADII[1] * radius * cos, RADII[2] * radius * sin]
        }));
    }
    let corner = |ring: usize, k: usize| (ring * around + k % around) as u32;
    let quads = (0..count).flat_map(|ring| (0..around).map(move |k| (ring, k)));
    let triangles = quads.flat_map(|(ring, k)| {
        let [a, b, c, d] =
            [corner(ring, k), corner(ring + 1, k), corner(ring + 1, k + 1), corner(ring, k + 1)];
        [[a, b, c], [a, c, d]]
    });
    SurfaceMesh::new(points, triangles.collect())
}
