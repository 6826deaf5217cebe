//! Cost of warping linear modes, on all threads.

#[allow(dead_code)]
mod ellipsoid;

use std::hint::black_box;

use ellipsoid::{RADII, surface, timed};
use jounce::material::{Field, Law, Material};
use jounce::mesh::lattice_with_tet_count;
use jounce::operators::Stitches;
use jounce::subspace::{LinearProblem, Restraint, WarpingMethod};
use jounce::{Progress, Result};

const TETS: [usize; 2] = [10_000, 40_000];
const MODES: usize = 20;
const REPEATS: usize = 101;
/// Amplitude of the first mode at the free end, m; the others are divided by their number.
const FAR: f64 = 0.5;

fn main() -> Result<()> {
    println!("{MODES} linear modes of an ellipsoid, one end held, warped; least of {REPEATS}");
    println!("vertices   tets  method           prepare ms      ms");
    TETS.into_iter().try_for_each(rows)
}

fn rows(tets: usize) -> Result<()> {
    let mesh = lattice_with_tet_count(&surface(40)?, tets, &Progress::default())?;
    let number = Field::Uniform;
    let material = Material::new(Law::Corotated, number(2e4), number(0.3), number(1000.0))?;
    let pinned: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < -0.8 * RADII[0]).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let problem =
        LinearProblem::new(&mesh, &material, &restraint, &Stitches::none(&mesh), &Progress::default())?;
    let modes = problem.lowest(MODES, &Progress::default())?;
    let amplitude = |k: usize| FAR / (modes.shapes.col(k).norm_max() * (k + 1) as f64);
    let amplitudes: Vec<f64> = (0..MODES).map(amplitude).collect();
    for (name, method) in
        [("rotation-strain", WarpingMethod::RotationStrain), ("modal", WarpingMethod::Modal)]
    {
        let (warping, prepared) = timed(|| problem.warping(&modes, method))?;
        let once = || Ok(timed(|| warping.displacement(black_box(&amplitudes)))?.1);
        let times = (0..REPEATS).map(|_| once()).collect::<Result<Vec<f64>>>()?;
        let milliseconds = 1e3 * times.into_iter().fold(f64::INFINITY, f64::min);
        let [vertices, tets, prepared] =
            [mesh.vertices().len(), mesh.tets().len(), (1e3 * prepared) as usize];
        println!("{vertices:8} {tets:6}  {name:15} {prepared:11} {milliseconds:7.2}");
    }
    Ok(())
}
