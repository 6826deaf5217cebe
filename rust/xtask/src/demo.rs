//! The main workflow from end to end: a rigged character in, baked secondary motion out.

use std::path::PathBuf;
use std::time::Instant;

use crate::addon;
use crate::cost;
use crate::process::{self, Result, heading};
use crate::project;
use crate::venv::{Venv, default_blender};

/// Runs the demo on a character file, or on the built-in creature.
pub fn run(character: Option<&str>) -> Result<()> {
    let start = Instant::now();
    let character = character.map(existing_file).transpose()?;
    let extension = addon::build()?;
    let blender = Venv::blender(default_blender())?;
    heading("demo");
    let mut script = blender.python();
    script.env("BLENDER_USER_RESOURCES", project::blender_resources("demo")?).arg("examples/blender/demo.py");
    script.args(character).arg("--extension").arg(&extension).arg("--out").arg(project::out());
    process::run(&mut script)?;
    println!("\nThe results are in {}", project::out().display());
    cost::report("demo", start)
}

fn existing_file(name: &str) -> Result<PathBuf> {
    let path = std::path::absolute(name).map_err(|error| format!("{name}: {error}"))?;
    if path.is_file() { Ok(path) } else { Err(format!("there is no file {}", path.display())) }
}
