//! Any surface with any weights and maps: either an error message, or a body that can be simulated.
#![no_main]

use arbitrary::Arbitrary;
use jounce::Progress;
use jounce::body::{Body, BodyParams, CountingBones, Painted, PointStitches};
use jounce::inputs::{StepInput, SimulationParams};
use jounce::mesh::SurfaceMesh;
use jounce::simulation::Simulation;
use jounce_fuzz::{REST, advance};
use libfuzzer_sys::fuzz_target;

/// Painted values of a point: booleans, and any number at all.
#[derive(Debug, Arbitrary)]
struct Point {
    near: [i8; 3],
    far: Option<[f64; 3]>,
    weight: u8,
    leak: f32,
    pinned: bool,
}

#[derive(Debug, Arbitrary)]
struct Surface {
    points: Vec<Point>,
    triangles: Vec<[u8; 3]>,
    stitches: Vec<([u8; 2], f32, f32)>,
    counts: [u8; 3],
    young: f64,
    poisson: f32,
    density: f32,
    painted: [bool; 3],
}

impl Surface {
    fn params(&self) -> BodyParams {
        let [resolution, modes, clusters] = self.counts;
        let [leak, pinned, stitched] = self.painted;
        let stitches = self.stitches.iter().filter(|_| stitched);
        BodyParams {
            resolution: usize::from(resolution % 8),
            modes: usize::from(modes % 6),
            clusters: usize::from(clusters % 16),
            cubature: 0,
            young: Painted::Uniform(self.young),
            poisson: self.poisson.into(),
            density: self.density.into(),
            leak: leak.then(|| self.points.iter().map(|p| p.leak.into()).collect()),
            pinned: pinned.then(|| self.points.iter().map(|p| p.pinned).collect()),
            bones: CountingBones::All,
            stitches: PointStitches {
                pairs: stitches.clone().map(|s| s.0.map(u32::from)).collect(),
                stiffness: stitches.clone().map(|s| s.1.into()).collect(),
                gaps: stitches.map(|s| s.2.into()).collect(),
                ..PointStitches::default()
            },
            ..BodyParams::default()
        }
    }
}

fuzz_target!(|input: Surface| {
    let place = |p: &Point| p.far.unwrap_or(p.near.map(|x| f64::from(x) / 16.0));
    let points = input.points.iter().take(64).map(place).collect();
    let triangles = input.triangles.iter().map(|t| t.map(u32::from)).collect();
    let weights: Vec<f64> = input.points.iter().take(64).map(|p| f64::from(p.weight) / 255.0).collect();
    let weights: Vec<f64> = weights.iter().flat_map(|w| [*w, 1.0 - w]).collect();
    let Ok(surface) = SurfaceMesh::new(points, triangles) else { return };
    let Ok(body) = Body::new(&surface, &weights, 2, &input.params(), &Progress::default()) else { return };
    let mut simulation =
        Simulation::new(body.model.clone(), SimulationParams::default()).expect("defaults are valid");
    let mut pose = [REST; 2];
    for step in 0..3 {
        pose[1][0][3] = 0.1 * f64::from(step);
        advance(&mut simulation, &StepInput { pose: Some(&pose), ..StepInput::default() });
    }
});
