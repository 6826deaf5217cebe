//! Packages hold no folder of whoever builds them, which the messages of panics would name.

use std::path::{Path, PathBuf};

use crate::process::{Result, command, output, run};
use crate::project;
use crate::venv::Venv;

/// Refuses packages that name one of some folders.
const REFUSE: &str = include_str!("folders.py");

/// What tells rustc to leave the folders of this machine out.
pub fn left_out() -> Result<Vec<String>> {
    Ok(own()?.iter().map(|folder| format!("--remap-path-prefix={}=", folder.display())).collect())
}

/// Refuses packages that name the folders of this machine all the same.
pub fn refuse(packages: &[PathBuf]) -> Result<()> {
    run(Venv::release()?.python().args(["-c", REFUSE]).args(own()?).arg("--").args(packages))
}

/// Where the sources lie of what is compiled: ours, those of crates, and of Rust's library.
fn own() -> Result<Vec<PathBuf>> {
    let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
    Ok(vec![project::root(), project::cargo_home(), Path::new(sysroot.trim()).to_path_buf()])
}
