//! `cargo x sheets`: what moves where on every character at the defaults, as a table and as pictures.

use std::fs;

use crate::addon;
use crate::process::{Result, heading, io_error, run as run_command};
use crate::project;
use crate::venv::{DEFAULT_BLENDER, Venv};

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
