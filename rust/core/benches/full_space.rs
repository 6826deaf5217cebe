//! One frame in the full space against one in a subspace: FastCD fig. 2.
//!
//! The body is an ellipsoid of about 10,000 vertices and 42,000 tets with swinging bones. The full-space
//! complementary solver provides the reference. Both solve each frame to the same tolerance; factorisation
//! is not timed.

#[path = "../../../tests/rust/src/complementary.rs"]
mod complementary;
mod ellipsoid;

use std::sync::Arc;

use complementary::{ComplementarySolver, ComplementarySolverParams};
use ellipsoid::{chain, median, pose, surface, timed};
use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, lattice};
use jounce::model::Model;
use jounce::model::skinning_modes::SkinningModel;
use jounce::operators::momentum_leak;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{cluster_tets, skinning_modes};
use jounce::{Progress, Result};

/// Numbers of modes and clusters.
const SIZES: [[usize; 2]; 5] = [[10, 50], [16, 100], [20, 100], [50, 500], [100, 1000]];
const FRAMES: usize = 48;
const DT: f64 = 1.0 / 24.0;
/// Frequency of the lowest of 16 modes, Hz; the stiffness for it is scaled from a trial stiffness, Pa.
const FREQUENCY: f64 = 5.0;
const YOUNG: f64 = 1e4;
/// Tolerance as a share of the body's diagonal, for the last change of any vertex or, in the subspace, for
/// its root mean square.
const TOLERANCE: f64 = 1e-5;
const ITERATIONS: u32 = 1000;

struct Body {
    bones: usize,
    mesh: TetMesh,
    material: Material,
    rig: Rig,
    leak: Vec<f64>,
}

impl Body {
    fn new(mesh: &TetMesh, bones: usize) -> Result<Self> {
        let (rig, leak) = (chain(mesh, bones)?, momentum_leak(mesh)?);
        let mut body = Self { bones, mesh: mesh.clone(), material: arap(YOUNG)?, rig, leak };
        let found = body.model(16, 100)?.frequency();
        body.material = arap(YOUNG * (FREQUENCY / found).powi(2))?;
        Ok(body)
    }

    fn model(&self, modes: usize, clusters: usize) -> Result<Model> {
        let progress = Progress::default();
        let Self { mesh, material, rig, leak, .. } = self;
        let modes = skinning_modes(mesh, material, modes, Some(rig), Some(leak), &progress)?;
        let labels = cluster_tets(mesh, &modes, clusters, 0, &progress)?;
        let model = SkinningModel::new(mesh, material, &modes, &labels, Some(rig))?;
        Ok(Model::Skinning(Arc::new(model)))
    }
}

fn arap(young: f64) -> Result<Material> {
    Material::new(Law::Arap, Field::Uniform(young), Field::Uniform(0.0), Field::Uniform(1000.0))
}

fn main() -> Result<()> {
    let mesh = lattice(&surface(48)?, 41, &Progress::default())?;
    let (vertices, tets) = (mesh.vertices().len(), mesh.tets().len());
    println!(
        "full space against subspace: {vertices} vertices, {tets} tets, {FREQUENCY} Hz, {FRAMES} frames"
    );
    for bones in [1, 4] {
        compare(&Body::new(&mesh, bones)?)?;
    }
    Ok(())
}

fn compare(body: &Body) -> Result<()> {
    let full = full(body)?;
    println!(
        "{} bones, full space: {:.3} s a frame, {:.0} iterations",
        body.bones, full.seconds, full.iterations
    );
    println!("modes clusters  ms a frame  iterations  times as fast  error percent");
    for [modes, clusters] in SIZES {
        let reduced = reduced(body, modes, clusters)?;
        println!(
            "{modes:>5}{clusters:>9}{:>12.3}{:>12.0}{:>15.0}{:>15.1}",
            1e3 * reduced.seconds,
            reduced.iterations,
            full.seconds / reduced.seconds,
            100.0 * distance(&reduced.displacements, &full.displacements)
        );
    }
    Ok(())
}

/// Median seconds and mean iterations of a frame, and all coordinates of all frames.
struct Run {
    seconds: f64,
    iterations: f64,
    displacements: Vec<f64>,
}

impl Run {
    fn new(mut frame: impl FnMut(usize, &mut Vec<f64>) -> Result<(f64, u32)>) -> Result<Self> {
        let (mut seconds, mut iterations, mut displacements) = (Vec::new(), 0, Vec::new());
        for at in 1..=FRAMES {
            let (took, count) = frame(at, &mut displacements)?;
            seconds.push(took);
            iterations += count;
        }
        let seconds = median(seconds);
        Ok(Self { seconds, iterations: f64::from(iterations) / FRAMES as f64, displacements })
    }
}

fn full(body: &Body) -> Result<Run> {
    let params = ComplementarySolverParams { dt: DT, max_iterations: ITERATIONS, tolerance: TOLERANCE };
    let Body { mesh, material, rig, leak, .. } = body;
    let mut solver = ComplementarySolver::new(mesh, material, rig, leak, &pose(body.bones, 0), params)?;
    Run::new(|frame, displacements| {
        let (iterations, seconds) = timed(|| solver.step(&pose(body.bones, frame)))?;
        let u = solver.displacement();
        displacements.extend((0..3 * u.nrows()).map(|i| u[(i / 3, i % 3)]));
        Ok((seconds, iterations))
    })
}

fn reduced(body: &Body, modes: usize, clusters: usize) -> Result<Run> {
    let model = body.model(modes, clusters)?;
    let projector = model.projector(None)?;
    let params = SimulationParams {
        dt: DT,
        max_iterations: ITERATIONS,
        tolerance: TOLERANCE,
        pose_rest: 0.0,
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::new(model, params)?;
    simulation.reset(Some(&pose(body.bones, 0)))?;
    let mut u = vec![0.0_f32; 3 * body.mesh.vertices().len()];
    Run::new(|frame, displacements| {
        let (report, seconds) = timed(|| simulation.step(Some(&pose(body.bones, frame))))?;
        projector.displacement(simulation.coefficients(), &mut u)?;
        displacements.extend(u.iter().map(|&u| f64::from(u)));
        Ok((seconds, report.iterations))
    })
}

/// Root mean square distance relative to the reference.
fn distance(reduced: &[f64], truth: &[f64]) -> f64 {
    let squares = reduced.iter().zip(truth).map(|(u, exact)| (u - exact).powi(2)).sum::<f64>();
    (squares / truth.iter().map(|exact| exact.powi(2)).sum::<f64>()).sqrt()
}
