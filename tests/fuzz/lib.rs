//! Shared parts of the fuzz targets: a small body, and invariants of every simulation.

use arbitrary::Arbitrary;
use jounce::body::{Body, BodyParams};
use jounce::inputs::{StepInput, Integrator, SimulationParams};
use jounce::mesh::SurfaceMesh;
use jounce::model::Model;
use jounce::simulation::Simulation;
use jounce::{Progress, Result};

/// A 3x4 transform, row-major.
pub type Transform = [[f64; 4]; 3];

/// The identity transform.
pub const REST: Transform = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// A cube of 1 m on two bones.
pub fn cube() -> Body {
    let points: Vec<[f64; 3]> = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let weights: Vec<f64> = points.iter().flat_map(|p| [1.0 - p[2], p[2]]).collect();
    let params = BodyParams { resolution: 4, modes: 3, clusters: 6, cubature: 0, ..BodyParams::default() };
    let surface = SurfaceMesh::new(points, triangles).expect("a cube is a surface");
    Body::new(&surface, &weights, 2, &params, &Progress::default()).expect("a cube can be built")
}

/// Settings, sensible or not; the counts stay small, so that one input takes little time.
#[derive(Debug, Arbitrary)]
pub struct Settings {
    numbers: [f64; 7],
    gravity: [f64; 3],
    limit: Option<f64>,
    stretch: Option<f64>,
    inflation: Option<f64>,
    hold: Option<f64>,
    substeps: u8,
    iterations: u8,
    second_order: bool,
}

impl Settings {
    /// The settings in the core's type.
    pub fn params(&self) -> SimulationParams {
        let [dt, tolerance, damping, pose_rest, stiffness, strength, smoothing] = self.numbers;
        SimulationParams {
            dt,
            substeps: u32::from(self.substeps % 4),
            integrator: if self.second_order { Integrator::Bdf2 } else { Integrator::BackwardEuler },
            max_iterations: u32::from(self.iterations),
            tolerance,
            damping,
            gravity: self.gravity,
            pose_rest,
            stiffness,
            strength,
            smoothing,
            // The bodies have no fibres and no stitches.
            contraction: 0.0.into(),
            stitching: 1.0.into(),
            // For bodies with handles only.
            inflation: self.inflation.unwrap_or(1.0),
            hold: self.hold.unwrap_or(0.0),
            limit: self.limit,
            stretch: self.stretch,
        }
    }
}

/// A simulation of a model with these settings, for [`advance`].
///
/// # Errors
/// The core's error for invalid settings.
pub fn simulation(model: &Model, settings: &Settings) -> Result<Simulation> {
    Simulation::new(model.clone(), settings.params())
}

/// Makes a step: accepted input must give finite numbers, rejected input must leave the state unchanged.
pub fn advance(simulation: &mut Simulation, input: &StepInput<'_>) {
    let before = simulation.coefficients().to_vec();
    match simulation.step_with(input, &Progress::default()) {
        Ok(report) => {
            assert!(report.residual.is_finite() && report.energy.is_finite(), "{report:?}");
            assert!(simulation.coefficients().iter().all(|z| z.is_finite()));
        }
        Err(_) => assert_eq!(simulation.coefficients(), before),
    }
}

/// Number of bytes before the length of the body, then length of the hash after it.
const HEAD: usize = 16;
const HASH: usize = 8;

/// A file of the same kind with correct length and hash, so that its contents are read.
pub fn sealed(whole: &[u8], body: &[u8]) -> Vec<u8> {
    let mut file = whole[..HEAD].to_vec();
    file.extend((body.len() as u64).to_le_bytes());
    file.extend(body);
    let hash = file.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    file.extend(hash.to_le_bytes());
    file
}

/// The body of a valid model with some of its 8-byte words replaced: closer to a model than random bytes.
pub fn edited(whole: &[u8], data: &[u8]) -> Vec<u8> {
    let mut body = whole[HEAD + 8..whole.len() - HASH].to_vec();
    let words = body.len() / 8;
    for edit in data.chunks_exact(10) {
        let at = 8 * (usize::from(u16::from_le_bytes([edit[0], edit[1]])) % words);
        body[at..at + 8].copy_from_slice(&edit[2..]);
    }
    body
}
