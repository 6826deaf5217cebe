//! Where things are in the repository.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{Result, io_error};

/// The version that every part of the project carries.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").components().fold(PathBuf::new(), |mut path, part| {
        if part == std::path::Component::ParentDir {
            path.pop();
        } else {
            path.push(part);
        }
        path
    })
}

/// Where cargo builds, and where our Python environments live.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path))
}

/// Where cargo keeps what it fetches.
pub fn cargo_home() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default()
}

/// Where the wheel and the extension go.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// Where the results of demo and bench go.
pub fn out() -> PathBuf {
    root().join("out")
}

/// The character files that the larger tests read: `JOUNCE_DATA`, or `../shared/data` beside the repository.
pub fn data() -> Option<PathBuf> {
    let beside = || root().parent().map(|parent| parent.join("shared/data"));
    std::env::var_os("JOUNCE_DATA").map(PathBuf::from).or_else(beside).filter(|path| path.is_dir())
}

/// Removes a directory with all it holds, if it exists, and makes it anew.
pub fn empty_directory(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(io_error(path))?;
    }
    fs::create_dir_all(path).map_err(io_error(path))
}

/// A new, empty folder for Blender's settings and extensions, so that a user's own stay untouched.
pub fn blender_resources(name: &str) -> Result<PathBuf> {
    let path = target().join(format!("blender-{name}"));
    empty_directory(&path)?;
    Ok(path)
}

/// The files of a directory that have this extension, sorted.
pub fn files_with_extension(directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(io_error(directory))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    paths.sort();
    Ok(paths)
}
