//! A bar on two bones, its model file, and poses that shake it.
#![allow(dead_code)]

use jounce::Progress;
use jounce::body::{Body, BodyParams};
use jounce::file::encode;
use jounce::mesh::SurfaceMesh;

/// Transforms of the bones in a frame.
pub type Pose = Vec<[[f64; 4]; 3]>;

/// A bar of 2 x 0.5 x 0.5 m with points along it.
pub fn surface() -> SurfaceMesh {
    let corner = |i: u32| [(i >> 2) as f64 * 2.0, (i >> 1 & 1) as f64 * 0.5, (i & 1) as f64 * 0.5];
    let sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let triangles = sides.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    SurfaceMesh::new((0..8).map(corner).collect(), triangles).unwrap()
}

/// A model file of the bar with some modes.
pub fn model_file(modes: usize) -> Vec<u8> {
    let surface = surface();
    let weights: Vec<f64> = surface.points().iter().flat_map(|p| [1.0 - p[0] / 2.0, p[0] / 2.0]).collect();
    let params = BodyParams { resolution: 16, modes, clusters: 40, ..BodyParams::default() };
    let body = Body::new(&surface, &weights, 2, &params, &Progress::default()).unwrap();
    encode(&body.model).unwrap()
}

/// A model file of the bar on a chain of bones along it.
pub fn chain_file(bones: usize, modes: usize) -> Vec<u8> {
    // Rings of points along the bar, so that each bone has some.
    let rings = 2 * bones;
    let ring = |i: usize| {
        let x = 2.0 * i as f64 / (rings - 1) as f64;
        [[x, 0.0, 0.0], [x, 0.5, 0.0], [x, 0.5, 0.5], [x, 0.0, 0.5]]
    };
    let points: Vec<[f64; 3]> = (0..rings).flat_map(ring).collect();
    let mut triangles = vec![[0, 2, 1], [0, 3, 2]];
    for i in 0..rings as u32 - 1 {
        for side in 0..4 {
            let (a, b) = (4 * i + side, 4 * i + (side + 1) % 4);
            triangles.extend([[a, b, b + 4], [a, b + 4, a + 4]]);
        }
    }
    let last = 4 * rings as u32 - 4;
    triangles.extend([[last, last + 1, last + 2], [last, last + 2, last + 3]]);
    let weights = points.iter().flat_map(|p| {
        let place = p[0] / 2.0 * (bones - 1) as f64;
        (0..bones).map(move |bone| (1.0 - (place - bone as f64).abs()).max(0.0))
    });
    let weights: Vec<f64> = weights.collect();
    let surface = SurfaceMesh::new(points, triangles).unwrap();
    let params = BodyParams { resolution: 20, modes, clusters: 140, ..BodyParams::default() };
    let body = Body::new(&surface, &weights, bones, &params, &Progress::default()).unwrap();
    encode(&body.model).unwrap()
}

/// A pose of the chain: a wave runs along it.
pub fn chain_pose(bones: usize, seconds: f64) -> Pose {
    let bone = |bone: usize| {
        let lift = 0.1 * (7.0 * seconds - 0.05 * bone as f64).sin();
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, lift], [0.0, 0.0, 1.0, 0.0]]
    };
    (0..bones).map(bone).collect()
}

/// Points in and at the bar.
pub fn points() -> Vec<[f64; 3]> {
    (0..200)
        .map(|i| [0.01 * f64::from(i), 0.5 * f64::from(i % 2), 0.25 + 0.2 * f64::from(i % 3 - 1)])
        .collect()
}

/// Four bones of each of the points, and their weights.
pub fn influences() -> (Vec<u32>, Vec<f32>) {
    let weights = |p: &[f64; 3]| [1.0 - p[0] / 2.0, p[0] / 2.0, 0.0, 0.0].map(|weight| weight as f32);
    let (bones, points) = ([0, 1, 0, 0], points());
    (points.iter().flat_map(|_| bones).collect(), points.iter().flat_map(weights).collect())
}

/// A pose: both bones go up and down, the second turns as well.
pub fn pose(seconds: f64) -> Pose {
    let lift = 0.2 * (7.0 * seconds).sin();
    let (s, c) = (0.4 * (5.0 * seconds).sin()).sin_cos();
    let turn = [[c, -s, 0.0, 1.0 - c], [s, c, 0.0, lift - s], [0.0, 0.0, 1.0, 0.0]];
    vec![[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, lift], [0.0, 0.0, 1.0, 0.0]], turn]
}

/// The largest of some numbers, without sign.
pub fn largest(numbers: &[f32]) -> f64 {
    numbers.iter().fold(0.0, |most, u| most.max(f64::from(u.abs())))
}

/// The largest difference of some numbers.
pub fn apart(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| most.max(f64::from((a - b).abs())))
}
