//! Keeps the build machine's folders, which panic messages would name, out of packages.

use std::path::{Path, PathBuf};

use crate::process::{Result, command, output, run};
use crate::project;
use crate::venv::Venv;

/// Script that rejects packages naming one of some folders.
const REFUSE: &str = include_str!("folders.py");

/// Flags that make rustc leave out the folders of this machine.
pub fn left_out() -> Result<Vec<String>> {
    Ok(own()?.iter().map(|folder| format!("--remap-path-prefix={}=", folder.display())).collect())
}

/// Rejects packages that name folders of this machine nevertheless.
pub fn refuse(packages: &[PathBuf]) -> Result<()> {
    let advice = "`cargo x release` builds wheels without such names; `cargo x wheel` does not.";
    run(Venv::release()?.python().args(["-c", REFUSE]).args(own()?).arg("--").args(packages))
        .map_err(|error| format!("{error}\n{advice}"))
}

/// Folders of the compiled sources: our own, of crates, and of Rust's library.
fn own() -> Result<Vec<PathBuf>> {
    let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
    Ok(vec![project::root(), project::cargo_home(), Path::new(sysroot.trim()).to_path_buf()])
}
