//! Linear modes, modal derivatives and cubic reduced forces, beside published timings of the code of
//! `[MOR]`'s authors.
//!
//! Their timings are of Vega, on one core of another machine, for meshes of as many vertices; those for
//! modes are of scipy with CHOLMOD. They are yardsticks, not comparisons.

#[allow(dead_code)]
mod ellipsoid;

use ellipsoid::{RADII, median, surface, timed};
use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, lattice_with_tet_count};
use jounce::model::Model;
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::operators::Stitches;
use jounce::simulation::Simulation;
use jounce::subspace::{LinearModes, LinearProblem, Restraint};
use jounce::{Progress, Result};

/// Number of tets, and the published seconds for 120 modes.
const MESHES: [(usize, f64); 2] = [(36_000, 3.0), (146_000, 34.6)];
const MODES: usize = 120;
/// Number of modes whose derivatives are computed, and the published seconds for right-hand sides, solves
/// and decomposition.
const BENT: (usize, f64) = (20, 7.1);
/// Number of displacements, Vega's microseconds per step with one solve, and its seconds of preparation if
/// known.
type CubicRow = (usize, f64, Option<f64>);
const BODIES: [CubicRow; 4] =
    [(20, 12.6, Some(1.07)), (30, 95.0, None), (40, 312.0, Some(19.5)), (60, 1529.0, Some(96.5))];
const STEPS: usize = 200;

fn main() -> Result<()> {
    println!(
        "{MODES} linear modes of an ellipsoid of tets, one end held, one thread; and all derivatives of {}",
        BENT.0
    );
    println!("vertices   tets    modes s  others' s  times    derivatives and basis s  others' s  times");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread starts");
    for (tets, yardstick) in MESHES {
        pool.install(|| modes(tets, yardstick))?;
    }
    println!(
        "flesh in cubic polynomials, {} tets: an iteration of Newton's method of steps of 10 ms, and Vega's \
         step of one solution",
        MESHES[0].0
    );
    println!("displacements  prepare s  Vega's s  times  iteration us  Vega's us  times");
    let coarse = pool.install(|| all_cubic(MESHES[0].0, &BODIES))?;
    let fine = pool.install(|| all_cubic(MESHES[1].0, &BODIES[..1]))?;
    println!("in the finer mesh an iteration takes {:.2} times as long", fine[0] / coarse[0]);
    Ok(())
}

/// Microseconds per iteration for each number of displacements.
fn all_cubic(tets: usize, rows: &[CubicRow]) -> Result<Vec<f64>> {
    let (mesh, material, pinned) = body(tets)?;
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let problem =
        LinearProblem::new(&mesh, &material, &restraint, &Stitches::none(&mesh), &Progress::default())?;
    let modes = problem.lowest(BENT.0, &Progress::default())?;
    rows.iter().map(|row| cubic(&problem, &modes, (&mesh, &material), row)).collect()
}

/// Disconnected tets, each with its own forces; their material, and the pinned vertices.
fn body(tets: usize) -> Result<(TetMesh, Material, Vec<bool>)> {
    let lattice = lattice_with_tet_count(&surface(40)?, tets, &Progress::default())?;
    let mesh = TetMesh::new(lattice.vertices().to_vec(), lattice.tets().to_vec())?;
    let number = Field::Uniform;
    let material = Material::new(Law::StVenantKirchhoff, number(2e4), number(0.3), number(1000.0))?;
    let pinned = mesh.vertices().iter().map(|x| x[0] < -0.8 * RADII[0]).collect();
    Ok((mesh, material, pinned))
}

fn modes(tets: usize, yardstick: f64) -> Result<()> {
    let (mesh, material, pinned) = body(tets)?;
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let lowest = |count: usize| {
        let problem =
            LinearProblem::new(&mesh, &material, &restraint, &Stitches::none(&mesh), &Progress::default())?;
        let modes = problem.lowest(count, &Progress::default())?;
        Ok((problem, modes))
    };
    let (_, seconds) = timed(|| lowest(MODES))?;
    let (problem, few) = lowest(BENT.0)?;
    let (_, bent) = timed(|| problem.bent_basis(&few, 60, &Progress::default()))?;
    let [vertices, tets] = [mesh.vertices().len(), mesh.tets().len()];
    print!("{vertices:8} {tets:6} {seconds:10.2} {yardstick:10.1} {:6.1}", yardstick / seconds);
    println!(" {bent:26.2} {:10.1} {:6.1}", BENT.1, BENT.1 / bent);
    Ok(())
}

fn cubic(
    problem: &LinearProblem,
    modes: &LinearModes,
    (mesh, material): (&TetMesh, &Material),
    &(count, step, prepare): &CubicRow,
) -> Result<f64> {
    let basis = problem.bent_basis(modes, count, &Progress::default())?;
    let extras = ReducedExtras { cubic: true, ..ReducedExtras::default() };
    let (model, seconds) =
        timed(|| ReducedModel::new(mesh, material, &basis, &extras, &Progress::default()))?;
    let params = SimulationParams {
        dt: 0.01,
        gravity: [0.0, 0.0, -9.81],
        max_iterations: 20,
        tolerance: 1e-6,
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::new(Model::Reduced(model.into()), params)?;
    let mut once = || {
        let (report, seconds) = timed(|| simulation.step(None))?;
        Ok(seconds / f64::from(report.iterations))
    };
    let times = (0..STEPS).map(|_| once()).collect::<Result<Vec<f64>>>()?;
    let microseconds = 1e6 * median(times);
    let (theirs, times) = match prepare {
        Some(theirs) => (format!("{theirs:9.2}"), format!("{:6.1}", theirs / seconds)),
        None => ("        -".to_owned(), "     -".to_owned()),
    };
    println!(
        "{count:13} {seconds:10.2} {theirs} {times} {microseconds:13.1} {step:10.1} {:6.1}",
        step / microseconds
    );
    Ok(microseconds)
}
