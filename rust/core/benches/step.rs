//! Cost of a step against the number of modes and clusters, and its breakdown.
//!
//! A step touches no data of mesh size, so a small box stands for any body; its modes are waves along it,
//! and its clusters random. The yardstick is one step of the authors' own runtime (`fast_cody`, as rigid as
//! possible, 10 iterations), measured once on a machine like the one on which these targets were set.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use faer::Mat;
use jounce::inputs::Drag;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::kinematics::Projector;
use jounce::material::{Field, Law, Material};
use jounce::math::polar::rotations;
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::skinning_modes::SkinningModel;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::SkinningModes;
use jounce::{Progress, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const ITERATIONS: u32 = 10;
const REPEATS: usize = 300;
const CROWD_VERTICES: usize = 330_000;
/// Numbers of modes and clusters, and the authors' milliseconds.
const SIZES: [(usize, usize, Option<f64>); 6] = [
    (10, 50, Some(0.41)),
    (16, 100, None),
    (20, 100, Some(1.8)),
    (24, 140, None),
    (50, 500, Some(17.0)),
    (16, 300, None),
];

fn main() -> Result<()> {
    println!("one step of {ITERATIONS} iterations, one thread, least of {REPEATS}");
    println!("as rigid as possible, and corotated with Poisson ratio 0.4 and rest=pose");
    println!("modes clusters bones    rest=bind ms  rest=pose ms  authors' ms  times as fast  corotated ms");
    for (modes, clusters, theirs) in SIZES {
        for bones in [2, 65] {
            let model = body(modes, clusters, bones, Law::Arap)?;
            let [bind, pose] = [0.0, 1.0].map(|pose_rest| step(&model, bones, pose_rest, None));
            let (bind, pose) = (1e3 * bind?, 1e3 * pose?);
            let corotated = 1e3 * step(&body(modes, clusters, bones, Law::Corotated)?, bones, 1.0, None)?;
            let (theirs, ratio) = theirs
                .map_or(("-".into(), "-".into()), |ms| (format!("{ms:.2}"), format!("{:.1}", ms / bind)));
            print!("{modes:>5}{clusters:>9}{bones:>6}{bind:>16.4}{pose:>14.4}{theirs:>13}{ratio:>15}");
            println!("{corotated:>14.4}");
        }
    }
    drag_cost()?;
    polar_cost();
    projection_cost()?;
    crowd_cost()
}

/// Shortest time of many, because noise only adds.
fn least(mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

fn step(model: &Model, bones: usize, pose_rest: f64, drag: Option<&Drag>) -> Result<f64> {
    let params = SimulationParams {
        max_iterations: ITERATIONS,
        tolerance: 0.0,
        pose_rest,
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::new(model.clone(), params)?;
    let mut frame = 0;
    let mut failure = None;
    let seconds = least(|| {
        frame += 1;
        let input = StepInput { pose: Some(&pose(frame, bones)), drag, ..StepInput::default() };
        failure = simulation.step_with(&input, &Progress::default()).err().or(failure.take());
    });
    failure.map_or(Ok(seconds), Err)
}

/// Swinging bones, each with a phase lag to the previous one.
fn pose(frame: usize, bones: usize) -> Vec<[[f64; 4]; 3]> {
    (0..bones)
        .map(|bone| (0.3 * (0.3 * frame as f64 - 0.4 * bone as f64).sin()).sin_cos())
        .map(|(sin, cos)| [[cos, -sin, 0.0, 0.0], [sin, cos, 0.0, 0.1 * sin], [0.0, 0.0, 1.0, 0.0]])
        .collect()
}

fn body(mode_count: usize, clusters: usize, bones: usize, law: Law) -> Result<Model> {
    let mesh = beam(60, 4)?;
    let vertices = mesh.vertices();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let labels: Vec<i32> = (0..mesh.tets().len())
        .map(|t| if t < clusters { t as i32 } else { rng.random_range(0..clusters as i32) })
        .collect();
    let wave = |i: usize, k: usize| {
        let [x, y, z] = vertices[i];
        (0.05 * (1 + k / 4) as f64 * x).sin() * [1.0, 0.3 * y - 0.6, 0.3 * z - 0.6, y * z][k % 4]
    };
    let modes = SkinningModes {
        weights: Mat::from_fn(vertices.len(), mode_count, wave),
        eigenvalues: (1..=mode_count).map(|k| k as f64).collect(),
    };
    let mut weights = vec![0.0; vertices.len() * bones];
    for (row, vertex) in weights.chunks_exact_mut(bones).zip(vertices) {
        let along = vertex[0] / 60.0 * (bones - 1) as f64;
        let bone = (along as usize).min(bones - 2);
        row[bone] = 1.0 - (along - bone as f64);
        row[bone + 1] = along - bone as f64;
    }
    let rig = Rig::new(vertices.len(), bones, &weights)?;
    let material = Material::new(law, Field::Uniform(1e4), Field::Uniform(0.4), Field::Uniform(1e3))?;
    Ok(Model::Skinning(SkinningModel::new(&mesh, &material, &modes, &labels, Some(&rig))?.into()))
}

/// A beam of unit cells, six tets each.
fn beam(length: usize, width: usize) -> Result<TetMesh> {
    let index = |i: usize, j: usize, k: usize| (i + (length + 1) * (j + (width + 1) * k)) as u32;
    let cells = (0..length * width * width).map(|c| (c % length, c / length % width, c / length / width));
    let tets = cells.flat_map(|(i, j, k)| {
        let corner = move |bits: usize| index(i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2));
        [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]]
            .map(|[a, b]| [corner(0), corner(a), corner(b), corner(7)])
    });
    let places = (0..(length + 1) * (width + 1) * (width + 1)).map(|v| {
        let (i, rest) = (v % (length + 1), v / (length + 1));
        [i, rest % (width + 1), rest / (width + 1)].map(|x| x as f64)
    });
    TetMesh::new(places.collect(), tets.collect())
}

/// A step with one substep, so that linear drag is factored in each.
fn drag_cost() -> Result<()> {
    println!("\nthe same at rest=pose with 40 parts that are dragged, ms");
    println!("modes clusters bones          none        linear     quadratic");
    for (modes, clusters, _) in &SIZES[1..4] {
        let model = body(*modes, *clusters, 65, Law::Arap)?;
        let samples = Arc::new(model.force_samples(40)?);
        let once = samples.masses().to_vec();
        let drags = [
            None,
            Some(Drag::new(samples.clone(), &once, None, None)?),
            Some(Drag::new(samples.clone(), &once, Some(&once), None)?),
        ];
        print!("{modes:>5}{clusters:>9}{:>6}", 65);
        for drag in &drags {
            print!("{:>14.4}", 1e3 * step(&model, 65, 1.0, drag.as_ref())?);
        }
        println!();
    }
    Ok(())
}

fn polar_cost() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    println!("\nrotations of 3x3 matrices, identity + noise: ns each");
    for noise in [0.01, 0.3, 1.0, 3.0] {
        let matrices: Vec<[f64; 9]> =
            (0..4000).map(|_| identity.map(|x| x + noise * rng.random_range(-1.0..1.0))).collect();
        let mut out = matrices.clone();
        let seconds = least(|| rotations(black_box(&matrices), black_box(&mut out)));
        println!("noise {noise:>5}: {:>6.1}", 1e9 * seconds / matrices.len() as f64);
    }
}

/// Projection of the vertices of the paper's first figure, all in one body, so that they come from memory.
fn projection_cost() -> Result<()> {
    println!("\ndisplacements of {CROWD_VERTICES} vertices as f32");
    for modes in [10, 16, 50] {
        let projector = random_projector(CROWD_VERTICES, modes)?;
        let coefficients = vec![0.1; 12 * modes];
        let mut out = vec![0.0; 3 * CROWD_VERTICES];
        let bytes = 4.0 * (CROWD_VERTICES * (modes + 6)) as f64;
        for threads in [1, 2] {
            let mut failure = None;
            let mut project = || {
                failure = projector.displacement(black_box(&coefficients), black_box(&mut out)).err();
            };
            let seconds = on_threads(threads, || least(&mut project));
            failure.map_or(Ok(()), Err)?;
            let (ms, rate) = (1e3 * seconds, 1e-9 * bytes / seconds);
            println!("{modes:>3} modes, {threads} threads: {ms:.3} ms, {rate:.1} GB/s");
        }
    }
    Ok(())
}

/// The paper's first figure: 26 creatures, 330k vertices in all, 60 frames a second on a GPU.
fn crowd_cost() -> Result<()> {
    const CREATURES: usize = 26;
    let (modes, clusters, bones) = (16, 100, 14);
    let model = body(modes, clusters, bones, Law::Arap)?;
    let params =
        SimulationParams { max_iterations: ITERATIONS, tolerance: 0.0, ..SimulationParams::default() };
    let points = CROWD_VERTICES / CREATURES;
    let mut crowd = Vec::new();
    for _ in 0..CREATURES {
        let simulation = Simulation::new(model.clone(), params)?;
        crowd.push((simulation, random_projector(points, modes)?, vec![0.0; 3 * points]));
    }
    println!(
        "\n{CREATURES} creatures of {points} vertices, {modes} modes, {clusters} clusters, {bones} bones"
    );
    for threads in [1, 2] {
        let mut frame = 0;
        let mut failure = None;
        let mut advance = || {
            frame += 1;
            let pose = pose(frame, bones);
            let each = crowd.par_iter_mut().try_for_each(|(simulation, projector, out)| {
                simulation.step(Some(&pose))?;
                projector.displacement(simulation.coefficients(), out)
            });
            failure = each.err().or(failure.take());
        };
        let seconds = on_threads(threads, || least(&mut advance));
        failure.map_or(Ok(()), Err)?;
        println!("{threads} threads: {:.2} ms a frame, {:.0} frames a second", 1e3 * seconds, 1.0 / seconds);
    }
    Ok(())
}

fn random_projector(points: usize, modes: usize) -> Result<Projector> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let places: Vec<[f64; 3]> = (0..points).map(|_| [0; 3].map(|_| rng.random_range(-1.0..1.0))).collect();
    let weights: Vec<f64> = (0..points * modes).map(|_| rng.random_range(-1.0..1.0)).collect();
    Projector::new(&places, &weights, modes)
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start").install(work)
}
