//! Ten iterations of a free body with handles, as in [HRPD], for bodies of the same size and degrees of
//! freedom.
//!
//! Ellipsoids are stretched and released; one thread. The authors' own code was measured on an armadillo of
//! 19,064 vertices and on another machine, so their numbers are a yardstick, not a comparison.

#[allow(dead_code)]
mod ellipsoid;

use ellipsoid::{RADII, median, surface, timed};
use jounce::inputs::Start;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{SurfaceMesh, TetMesh, lattice_with_tet_count};
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::potentials::contact::{Collider, Shape};
use jounce::potentials::elastic::Fabric;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{Handles, cluster_tets_by_place};
use jounce::{Progress, Result};

/// Numbers of tets, handles and clusters, and the authors' seconds to build and milliseconds per step, if
/// known.
const BODIES: [(usize, usize, usize, [Option<f64>; 2]); 6] = [
    (86_000, 50, 1000, [None, Some(4.35)]),
    (86_000, 150, 1000, [Some(11.3), Some(15.9)]),
    (86_000, 330, 1000, [None, None]),
    (20_000, 150, 1000, [None, None]),
    (350_000, 150, 1000, [None, None]),
    (2_200_000, 180, 1000, [Some(189.5), None]),
];
const ITERATIONS: u32 = 10;
/// Number of steps that pull, and number of timed steps after them.
const STEPS: [usize; 2] = [3, 40];

/// Falling body that comes to rest on the ground: tets, handles, clusters, and steps of 1/60 s.
const FALLING: (usize, usize, usize, usize) = (3000, 12, 50, 180);
/// Sheet hanging by an edge: points along the edge, handles, capsules below it, frames of 1/24 s, and
/// substeps per frame.
const SHEET: (usize, usize, usize, usize, u32) = (37, 80, 15, 48, 4);

fn main() -> Result<()> {
    println!(
        "loose bodies of handles: a step of {ITERATIONS} iterations, median of {}, one thread",
        STEPS[1]
    );
    println!(
        "vertices    tets  degrees  clusters  build s  authors' s  step ms  authors' ms  times  new \
         stiffness ms  displacement ms"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread starts");
    for (tets, handles, clusters, yardstick) in BODIES {
        pool.install(|| row(tets, handles, clusters, yardstick))?;
    }
    pool.install(falling)?;
    pool.install(sheet)
}

/// Step times of a body dropped on a plane with a spin, while it slides and settles.
fn falling() -> Result<()> {
    let (tets, handles, clusters, steps) = FALLING;
    let mesh = lattice_with_tet_count(&surface(48)?, tets, &Progress::default())?;
    let model = Model::Projective(body(&mesh, handles, clusters)?.into());
    let params =
        SimulationParams { dt: 1.0 / 60.0, gravity: [0.0, 0.0, -9.81], ..SimulationParams::default() };
    let ground = Collider::new(Shape::plane([0.0, 0.0, -0.6], [0.0, 0.0, 1.0])?, 0.5)?;
    let mut simulation = Simulation::among(model, params, &[ground], None)?;
    simulation.place(&Start { velocity: [1.0, 0.0, -1.0], spin: [0.0, 1.0, 0.5], ..Start::default() })?;
    let (mut seconds, mut iterations) = (Vec::new(), 0);
    for _ in 0..steps {
        let (report, spent) = timed(|| simulation.step(None))?;
        seconds.push(spent);
        iterations += report.iterations;
    }
    let mean = 1e3 * seconds.iter().sum::<f64>() / steps as f64;
    let (vertices, iterations) = (mesh.vertices().len(), f64::from(iterations) / steps as f64);
    let (degrees, median) = (simulation.coefficients().len(), 1e3 * median(seconds));
    println!(
        "{vertices} vertices, {degrees} degrees of freedom, {clusters} clusters that fall, slide and settle: \
         a step {mean:.3} ms in the mean, {median:.3} in the median, {iterations:.1} iterations"
    );
    Ok(())
}

/// Frame times of a sheet hanging by an edge: without capsules, above capsules out of its reach, and on
/// them.
fn sheet() -> Result<()> {
    let (count, handles, capsules, frames, substeps) = SHEET;
    let along = |i: usize| i as f64 / (count - 1) as f64;
    let points: Vec<[f64; 3]> =
        (0..count * count).map(|i| [along(i % count), along(i / count), 0.0]).collect();
    let quads = (0..(count - 1) * (count - 1)).map(|i| (i / (count - 1) * count + i % (count - 1)) as u32);
    let (next, n) = (count as u32, points.len());
    let triangles = quads.flat_map(|v| [[v, v + 1, v + next + 1], [v, v + next + 1, v + next]]).collect();
    let (surface, silent) = (SurfaceMesh::new(points, triangles)?, Progress::default());
    let cloth = Material::new(Law::Arap, Field::Uniform(2e5), Field::Uniform(0.0), Field::Uniform(300.0))?;
    let fabric = Fabric { thickness: 1e-3, bending: 1.0 };
    let handles = Handles::over(&surface, handles, 0, &silent)?;
    let held: Vec<f64> = (0..n).map(|i| if i % count == 0 { 1.0 } else { 0.0 }).collect();
    let model = ProjectiveModel::surface(&surface, &cloth, fabric, &handles, &silent)?;
    let model = Model::Projective(model.attached(&Rig::new(n, 1, &vec![1.0; n])?, &held, 30.0)?.into());
    let params = SimulationParams {
        dt: 1.0 / 24.0,
        substeps,
        gravity: [0.0, 0.0, -9.81],
        damping: 0.05,
        ..SimulationParams::default()
    };
    let still = vec![[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]];
    for (what, depth) in [("above nothing", None), ("above capsules", Some(9.0)), ("on capsules", Some(0.05))]
    {
        let capsule = |i: usize| {
            let (x, z) = ((i as f64 + 0.5) / capsules as f64, -depth.unwrap_or_default());
            Collider::new(Shape::capsule([x, -0.2, z], [x, 1.2, z], 0.03)?, 0.5)
        };
        let colliders: Vec<Collider> =
            (0..depth.map_or(0, |_| capsules)).map(capsule).collect::<Result<_>>()?;
        let mut simulation = match depth {
            Some(_) => Simulation::among(model.clone(), params, &colliders, None)?,
            None => Simulation::new(model.clone(), params)?,
        };
        let (mut seconds, mut iterations) = (Vec::new(), 0);
        for _ in 0..frames {
            let (report, spent) = timed(|| simulation.step(Some(&still)))?;
            seconds.push(1e3 * spent);
            iterations += report.iterations;
        }
        let most = seconds.iter().copied().fold(0.0, f64::max);
        let (mean, median) = (seconds.iter().sum::<f64>() / frames as f64, median(seconds));
        let iterations = f64::from(iterations) / frames as f64;
        println!(
            "a sheet of {n} points and {} handles {what}: a frame {mean:.1} ms in the mean, {median:.1} in \
             the median, {most:.1} at most, {iterations:.1} iterations",
            handles.count()
        );
    }
    Ok(())
}

fn row(tets: usize, handles: usize, clusters: usize, [their_build, theirs]: [Option<f64>; 2]) -> Result<()> {
    let mesh = lattice_with_tet_count(&surface(48)?, tets, &Progress::default())?;
    let (model, build) = timed(|| body(&mesh, handles, clusters))?;
    let params = SimulationParams {
        dt: 1.0 / 30.0,
        max_iterations: ITERATIONS,
        tolerance: 0.0,
        ..SimulationParams::default()
    };
    let model = Model::Projective(model.into());
    let mut simulation = Simulation::new(model.clone(), params)?;
    let degrees = simulation.coefficients().len();
    let mut force = vec![0.0; degrees];
    // The first coordinates are affine: this force stretches along x without moving the whole.
    force[0] = 2e3 * RADII[0];
    for _ in 0..STEPS[0] {
        simulation
            .step_with(&StepInput { force: Some(&force), ..StepInput::default() }, &Progress::default())?;
    }
    let mut seconds = Vec::new();
    for _ in 0..STEPS[1] {
        seconds.push(timed(|| simulation.step(None))?.1);
    }
    let step = 1e3 * median(seconds);
    let mut seconds = Vec::new();
    for change in 1..=STEPS[1] / 4 {
        simulation.set_params(SimulationParams { stiffness: 1.0 + 1e-3 * change as f64, ..params })?;
        seconds.push(timed(|| simulation.step(None))?.1);
    }
    let stiffer = 1e3 * median(seconds) - step;
    let projector = model.projector(None)?;
    let mut shown = vec![0.0; 3 * mesh.vertices().len()];
    let (_, display) = timed(|| projector.displacement(simulation.coefficients(), &mut shown))?;
    let said = |number: Option<f64>| number.map_or("-".into(), |x| format!("{x:.2}"));
    let times = theirs.map(|theirs| theirs / step);
    print!("{:>8}{:>8}{degrees:>9}{clusters:>10}{build:>9.2}", mesh.vertices().len(), mesh.tets().len());
    print!("{:>12}{step:>9.3}{:>13}{:>7}", said(their_build), said(theirs), said(times));
    println!("{stiffer:>18.2}{:>17.2}", 1e3 * display);
    Ok(())
}

fn body(mesh: &TetMesh, handles: usize, clusters: usize) -> Result<ProjectiveModel> {
    let silent = Progress::default();
    let jelly = Material::new(Law::Arap, Field::Uniform(2e4), Field::Uniform(0.0), Field::Uniform(1e3))?;
    let handles = Handles::spread(mesh, handles, 0, &silent)?;
    let labels = cluster_tets_by_place(mesh, clusters, 0, &silent)?;
    ProjectiveModel::new(mesh, &jelly, &handles, &labels, &silent)
}
