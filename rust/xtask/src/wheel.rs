//! The Python module as a wheel.

use std::fs;
use std::path::PathBuf;

use crate::process::{Result, command, heading, io_error, run};
use crate::project;
use crate::venv::Venv;

/// Builds the wheel into `dist/` and returns its path.
pub fn build() -> Result<PathBuf> {
    let tools = Venv::tools()?;
    heading("wheel");
    let dist = project::dist();
    fs::create_dir_all(&dist).map_err(io_error(&dist))?;
    for old in project::files_with_extension(&dist, "whl")? {
        fs::remove_file(&old).map_err(io_error(&old))?;
    }
    let mut maturin = command(tools.program("maturin"));
    maturin
        .args(["build", "--release", "--strip", "--manifest-path", "rust/python/Cargo.toml", "--out"])
        .arg(&dist);
    run(maturin.arg("--interpreter").arg(tools.program("python")))?;
    let mut wheels = project::files_with_extension(&dist, "whl")?;
    wheels.pop().ok_or_else(|| format!("maturin left no wheel in {}", dist.display()))
}
