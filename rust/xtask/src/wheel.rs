//! The Python module as a wheel.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::folders;
use crate::notices;
use crate::process::{Result, command, heading, io_error, output, run};
use crate::project;
use crate::venv::Venv;

/// Folder of the module's package.
const PACKAGE: &str = "rust/python";

/// The variable with cargo's flags for rustc, and the separator between two flags.
const FLAGS: (&str, &str) = ("CARGO_ENCODED_RUSTFLAGS", "\u{1f}");

/// Script that removes the build folder from a wheel's bill of materials.
const NEUTRAL_PARTS: &str = include_str!("sbom.py");

/// Builds the wheel for this machine into `dist/`, once a command, and returns its path.
pub fn build() -> Result<PathBuf> {
    static BUILT: OnceLock<Result<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| into_dist(&[])).clone()
}

/// Builds the same wheel without any folder of this machine, for which all crates are compiled anew once.
pub fn build_to_pass_on() -> Result<()> {
    let wheel = into_dist(&folders::left_out()?)?;
    folders::refuse(&[wheel])
}

fn into_dist(flags: &[String]) -> Result<PathBuf> {
    let dist = project::dist();
    fs::create_dir_all(&dist).map_err(io_error(&dist))?;
    for old in project::files_with_extension(&dist, "whl")? {
        fs::remove_file(&old).map_err(io_error(&old))?;
    }
    build_for(&host()?, &[], flags, &[], &dist)?;
    let mut wheels = project::files_with_extension(&dist, "whl")?;
    wheels.pop().ok_or_else(|| format!("maturin left no wheel in {}", dist.display()))
}

/// Builds the wheel for `target` into `folder`, with these options for maturin, flags of rustc for all
/// crates, and others for the module alone.
///
/// It contains the licences of the compiled software; their files exist only during the build.
pub fn build_for(
    target: &str,
    options: &[&str],
    flags: &[String],
    module_flags: &[String],
    folder: &Path,
) -> Result<()> {
    let tools = Venv::tools()?;
    heading("wheel");
    let notices = notices::write(&project::root().join(PACKAGE), target)?;
    let mut maturin = command(tools.program("maturin"));
    maturin.args(["build", "--release", "--strip", "--manifest-path", "rust/python/Cargo.toml", "--out"]);
    if options.contains(&"--zig") {
        maturin.env("CARGO_ZIGBUILD_PYTHON_PATH", Venv::release()?.program("python"));
    }
    maturin.arg(folder).args(options).arg("--interpreter").arg(tools.program("python"));
    if !module_flags.is_empty() {
        maturin.arg("--").args(module_flags);
    }
    if !flags.is_empty() {
        maturin.env(FLAGS.0, flags.join(FLAGS.1));
    }
    let built = run(&mut maturin);
    for notice in notices {
        fs::remove_file(&notice).map_err(io_error(&notice))?;
    }
    built?;
    let wheels = project::files_with_extension(folder, "whl")?;
    run(tools.python().args(["-c", NEUTRAL_PARTS]).arg(project::root()).args(wheels))
}

/// Host triple of rustc.
pub fn host() -> Result<String> {
    let version = output(command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| format!("rustc -vV names no host:\n{version}"))
}
