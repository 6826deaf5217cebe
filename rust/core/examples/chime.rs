//! Linear modes: a steel bar is struck; prints its partials and the loudness of the tone as it fades.
//!
//! Run it with `cargo run --release --package jounce --example chime`.

use jounce::material::{Field, Law, Material};
use jounce::mesh::{SurfaceMesh, lattice};
use jounce::modal::{RayleighDamping, SoundParams, Strike, sound};
use jounce::operators::Stitches;
use jounce::subspace::{LinearProblem, Restraint};
use jounce::{Progress, Result};

const RATE: f64 = 44_100.0;

fn main() -> Result<()> {
    let progress = Progress::default();
    // 30 cm of steel.
    let mesh = lattice(&SurfaceMesh::cuboid([0.3, 0.03, 0.01])?, 40, &progress)?;
    let [young, poisson, density] = [2e11, 0.3, 7800.0].map(Field::Uniform);
    let steel = Material::new(Law::Corotated, young, poisson, density)?;
    let free = Restraint::default();
    let problem = LinearProblem::new(&mesh, &steel, &free, &Stitches::none(&mesh), &progress)?;
    let modes = problem.lowest(16, &progress)?;
    for (number, hertz) in modes.frequencies().iter().enumerate().skip(6).take(6) {
        println!("partial {}: {hertz:7.1} Hz", number - 5);
    }

    let strike = Strike { time: 0.0, vertex: 0, impulse: [0.0, 0.0, 0.05] };
    let damping = RayleighDamping::new(8.0, 1e-8)?;
    let settings = SoundParams { rate: RATE, damping, weights: None };
    let samples = sound(&modes, &[strike], None, &settings, 1.0)?;
    for (tenth, part) in samples.chunks(RATE as usize / 10).enumerate() {
        let loudness = (part.iter().map(|x| x * x).sum::<f32>() / part.len() as f32).sqrt();
        println!("{:.1} s: {:5.1} dB", tenth as f64 / 10.0, 20.0 * loudness.log10());
    }
    Ok(())
}
