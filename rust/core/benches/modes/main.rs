//! Cost of modes against the number of vertices and bones, beside scipy on the same mesh and rig.
//!
//! The body is the elephant of the FastCD authors, refined, if `JOUNCE_DATA` has it, and else an ellipsoid.
//! With a Python in `JOUNCE_REFERENCE`, `reference.py` solves each problem in the same run: shift-invert
//! `eigsh` with CHOLMOD (SuperLU if it is missing), and with the LU of the whole saddle point (KKT) by
//! UMFPACK (SuperLU). Problems that take it longer than a minute are left out unless `JOUNCE_LONG` is set.
//! Each row runs in a process of its own, to measure its peak memory. Our time starts from the mesh, rig
//! and leak; the reference's time excludes assembly.

mod elephant;
#[path = "../ellipsoid/mod.rs"]
#[allow(dead_code)]
mod ellipsoid;
#[path = "../memory/mod.rs"]
mod memory;
mod reference;

use std::path::{Path, PathBuf};
use std::process::Command;

use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, lattice};
use jounce::operators::momentum_leak;
use jounce::subspace::skinning_modes;
use jounce::{Progress, Result};
use reference::{Problem, Reference, ask};

const MODES: usize = 10;
/// Young's modulus, Pa. The reference's eigenvalues are for unit conductivity and density; they are scaled by
/// `4 mu` over density.
const YOUNG: f64 = 1e4;
const DENSITY: f64 = 1000.0;

/// A row of the table.
struct Case {
    vertices: usize,
    bones: usize,
    /// Seconds of the paper's authors on their machine.
    paper: Option<f64>,
    /// `true` if the reference, and its KKT variant, take more than a minute.
    long: [bool; 2],
}

const fn case(vertices: usize, bones: usize, paper: Option<f64>, long: [bool; 2]) -> Case {
    Case { vertices, bones, paper, long }
}

const CASES: [Case; 8] = [
    case(7_842, 0, Some(0.135), [false, true]),
    case(31_000, 0, Some(0.83), [false, true]),
    case(100_000, 0, Some(5.14), [false, true]),
    case(300_000, 0, Some(14.07), [true, true]),
    case(31_000, 14, None, [false, false]),
    case(31_000, 65, None, [false, true]),
    case(100_000, 14, None, [false, true]),
    case(100_000, 65, None, [true, true]),
];

fn main() -> Result<()> {
    let path = data().map(|data| data.join("research/fast_cody/elephant/elephant.msh"));
    let elephant = path.as_deref().and_then(elephant::read);
    let mut words = std::env::args().skip_while(|word| word != "--row").skip(1);
    if let Some(case) = words.next().and_then(|row| CASES.get(row.parse::<usize>().ok()?)) {
        let mesh = match &elephant {
            Some(base) => elephant::refine(base, case.vertices)?,
            None => ellipsoid_of(case.vertices)?,
        };
        let reference = std::env::var_os("JOUNCE_REFERENCE").map(PathBuf::from);
        return measure(case, &mesh, reference.as_deref());
    }
    let name = if elephant.is_some() { "an elephant, refined" } else { "a lattice of an ellipsoid" };
    println!("{MODES} modes of {name}; s, and how many times as long others take");
    print!("vertices bones    modes s  peak MiB  paper s  reference s  times");
    println!("      KKT s  times  difference  solvers");
    let program = std::env::current_exe().unwrap_or_else(|error| panic!("no path of this program: {error}"));
    for row in 0..CASES.len() {
        let status = Command::new(&program).args(["--row", &row.to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "row {row} failed");
    }
    Ok(())
}

/// Measures and prints one row.
fn measure(case: &Case, mesh: &TetMesh, reference: Option<&Path>) -> Result<()> {
    let rig = if case.bones > 0 { Some(elephant::rig(mesh, case.bones)?) } else { None };
    let leak = momentum_leak(mesh)?;
    let material =
        Material::new(Law::Arap, Field::Uniform(YOUNG), Field::Uniform(0.0), Field::Uniform(DENSITY))?;
    memory::forget_peak();
    let mut seconds = f64::INFINITY;
    let mut eigenvalues = Vec::new();
    let repeats = if case.vertices < 50_000 { 5 } else { 2 };
    for _ in 0..repeats {
        let work = || skinning_modes(mesh, &material, MODES, rig.as_ref(), Some(&leak), &Progress::default());
        let (modes, time) = ellipsoid::timed(work)?;
        (seconds, eigenvalues) = (seconds.min(time), modes.eigenvalues);
    }
    let peak = memory::peak();
    let paper = case.paper.map_or("-".to_owned(), |paper| format!("{paper:.2}"));
    let (vertices, bones) = (mesh.vertices().len(), case.bones);
    print!("{vertices:>8}{bones:>6}{seconds:>11.3}{peak:>10}{paper:>9}");
    let scale = 4.0 * material.mu(0) / DENSITY;
    let solved = others(case, mesh, &leak, reference);
    let mut difference = f64::NAN;
    let [direct, kkt] = [0, 1].map(|k| match &solved[k] {
        Some(other) => {
            let highest = scale * other.eigenvalues[MODES - 1];
            for (ours, theirs) in eigenvalues.iter().zip(&other.eigenvalues) {
                difference = difference.max((ours - scale * theirs).abs() / highest);
            }
            (format!("{:.2}", other.seconds), format!("{:.1}", other.seconds / seconds))
        }
        None => ("-".to_owned(), "-".to_owned()),
    });
    let difference = if difference.is_nan() { "-".to_owned() } else { format!("{difference:.0e}") };
    let solvers: Vec<&str> = solved.iter().flatten().map(|other| other.solver.as_str()).collect();
    let solvers = if solvers.is_empty() { "-".to_owned() } else { solvers.join(", ") };
    println!("{:>13}{:>7}{:>11}{:>7}{difference:>12}  {solvers}", direct.0, direct.1, kkt.0, kkt.1);
    Ok(())
}

/// Results of the reference and of its KKT variant, if they are to run.
fn others(case: &Case, mesh: &TetMesh, leak: &[f64], python: Option<&Path>) -> [Option<Reference>; 2] {
    let long = std::env::var_os("JOUNCE_LONG").is_some();
    let Some(python) = python else { return [None, None] };
    let solved = ["schur", "kkt"].into_iter().zip(case.long).map(|(method, slow)| {
        let wanted = (long || !slow) && (method == "schur" || case.bones > 0);
        let weights = (case.bones > 0).then(|| elephant::weights(mesh, case.bones));
        let problem = Problem { mesh, leak, weights: weights.as_deref(), springs: &[] };
        wanted.then(|| ask(python, &problem, MODES, method)).flatten()
    });
    let solved: Vec<Option<Reference>> = solved.collect();
    solved.try_into().unwrap_or([None, None])
}

fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("JOUNCE_DATA").map(PathBuf::from).or(Some(beside)).filter(|path| path.is_dir())
}

/// A lattice of about this number of vertices.
fn ellipsoid_of(vertices: usize) -> Result<TetMesh> {
    let surface = ellipsoid::surface(64)?;
    // A resolution of 40 gives about 10,000 vertices.
    let resolution = 40.0 * (vertices as f64 / 9_700.0).cbrt();
    lattice(&surface, resolution as usize, &Progress::default())
}
