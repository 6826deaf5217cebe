//! Locations in the repository.

use std::fs;
use std::path::{Path, PathBuf};

use crate::result::{Result, io_error};

/// Version of every part of the project.
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

/// Text of a file of the repository.
pub fn read(file: &Path) -> Result<String> {
    fs::read_to_string(root().join(file)).map_err(io_error(file))
}

/// Folder of cargo's builds and of the Python environments.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path))
}

/// Folder of cargo's downloads.
pub fn cargo_home() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default()
}

/// Folder of the wheel and the extension.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// Folder of the results of demo and bench.
pub fn out() -> PathBuf {
    root().join("out")
}

/// Character files for the larger tests: `JOUNCE_DATA`, or `../shared/data` beside the repository.
pub fn data() -> Option<PathBuf> {
    let beside = || root().parent().map(|parent| parent.join("shared/data"));
    std::env::var_os("JOUNCE_DATA").map(PathBuf::from).or_else(beside).filter(|path| path.is_dir())
}

/// Creates an empty directory, in place of an existing one with its contents.
pub fn empty_directory(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(io_error(path))?;
    }
    fs::create_dir_all(path).map_err(io_error(path))
}

/// Creates a directory, or deletes everything in an existing one but this entry.
pub fn empty_directory_but(path: &Path, kept: &str) -> Result<()> {
    fs::create_dir_all(path).map_err(io_error(path))?;
    for entry in fs::read_dir(path).map_err(io_error(path))?.flatten().filter(|it| it.file_name() != kept) {
        let found = entry.path();
        let remove = if found.is_dir() { fs::remove_dir_all } else { fs::remove_file };
        remove(&found).map_err(io_error(&found))?;
    }
    Ok(())
}

/// A new, empty folder for Blender's settings and extensions, which leaves the user's own untouched.
pub fn blender_resources(name: &str) -> Result<PathBuf> {
    let path = target().join(format!("blender-{name}"));
    empty_directory(&path)?;
    Ok(path)
}

/// Files of a directory with this extension, sorted.
pub fn files_with_extension(directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(io_error(directory))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::{empty_directory_but, target};

    #[test]
    fn one_entry_of_a_directory_stays() {
        let folder = target().join("kept-test");
        for name in ["kept", "other"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        std::fs::write(folder.join("file"), "").unwrap();
        empty_directory_but(&folder, "kept").unwrap();
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["kept"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
