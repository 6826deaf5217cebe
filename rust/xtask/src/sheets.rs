//! What is measured on every character: `cargo x sheets`, what moves where, and `cargo x honest`, what a body weighs and
//! how fast it swings at several resolutions.

use std::fs;

use crate::addon;
use crate::process::{Result, heading, io_error, run as run_command};
use crate::project;
use crate::venv::{DEFAULT_BLENDER, Venv};
use crate::wheel;

/// Measures and photographs the characters whose names contain `only`: `out/body_parts.md` and `out/sheets/`.
pub fn run(only: &str) -> Result<()> {
    let data = project::data().ok_or("JOUNCE_DATA names no folder with character files")?;
    let extension = addon::build()?;
    let blender = Venv::blender(DEFAULT_BLENDER)?;
    heading("sheets");
    let out = project::out();
    fs::create_dir_all(&out).map_err(io_error(&out))?;
    let table = out.join("body_parts.md");
    let mut script = blender.python();
    script.arg("examples/blender/body_parts.py").arg(data).arg("--extension").arg(&extension);
    run_command(script.args(["--only", only]).arg("--out").arg(&table))?;
    println!("\nThe table is {}, the pictures are in {}", table.display(), out.join("sheets").display());
    Ok(())
}

/// Measures the bodies of the characters whose names contain `only` at several resolutions: `out/honest_body.md`.
pub fn honest(only: &str) -> Result<()> {
    let data = project::data().ok_or("JOUNCE_DATA names no folder with character files")?;
    let extension = addon::build()?;
    let (blender, tools) = (Venv::blender(DEFAULT_BLENDER)?, Venv::tools()?);
    tools.install(&wheel::build()?)?;
    heading("honest bodies");
    let folder = project::out().join("honest");
    project::empty_directory(&folder)?;
    let mut script = blender.python();
    script.arg("examples/blender/honest_body.py").arg(data).arg("--extension").arg(&extension);
    run_command(script.args(["--only", only]).arg("--out").arg(folder.join("surfaces.md")))?;
    let table = project::out().join("honest_body.md");
    let mut script = tools.python();
    script.arg("examples/blender/honest_body_table.py").arg(folder.join("surfaces"));
    run_command(script.arg("--out").arg(&table))?;
    println!("\nThe table is {}", table.display());
    Ok(())
}
