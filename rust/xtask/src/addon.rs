//! The Blender extension as an installable zip: the sources of `addon/` and the wheel, in one package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::platform;
use crate::process::{Result, heading, io_error, run};
use crate::project;
use crate::venv::{Venv, default_blender};
use crate::wheel;

/// Builds wheel and extension for this machine into `dist/`, once a command, and returns the path of the zip.
pub fn build() -> Result<PathBuf> {
    static BUILT: OnceLock<Result<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(into_dist).clone()
}

fn into_dist() -> Result<PathBuf> {
    let wheel = wheel::build()?;
    let zip = project::dist().join(format!("jounce-{}.zip", project::VERSION));
    pack(&[wheel], |packager| packager.arg("--output-filepath").arg(&zip))?;
    validate(&zip)?;
    Ok(zip)
}

/// Builds one zip per wheel, for the wheel's system, into `folder`.
pub fn build_split(wheels: &[PathBuf], folder: &Path) -> Result<()> {
    pack(wheels, |packager| packager.arg("--split-platforms").arg("--output-dir").arg(folder))?;
    project::files_with_extension(folder, "zip")?.iter().try_for_each(|zip| validate(zip))
}

/// Writes `index.json`, by which Blender's *Get Extensions* takes the zips of a folder on any static server.
pub fn index(folder: &Path) -> Result<()> {
    run(packager()?.args(["server-generate", "--repo-dir"]).arg(folder))
}

/// Packs the extension with these wheels; `options` adds options to the call of Blender's packager.
fn pack(wheels: &[PathBuf], options: impl Fn(&mut Command) -> &mut Command) -> Result<()> {
    let mut packager = packager()?;
    heading("extension");
    let stage = project::target().join("extension");
    stage_sources(&stage, wheels)?;
    run(options(packager.args(["build", "--source-dir"]).arg(&stage)))
}

/// Checks a zip against the rules of Blender's extensions site.
fn validate(zip: &Path) -> Result<()> {
    run(packager()?.arg("validate").arg(zip))
}

/// Blender's own packager of extensions, which runs without a window.
fn packager() -> Result<Command> {
    let version = default_blender();
    let blender = Venv::blender(version)?;
    let scripts = format!("bpy/{}/scripts/addons_core", version.version);
    let mut python = blender.python();
    python.arg(blender.site_packages()?.join(scripts).join("bl_pkg/cli/blender_ext.py"));
    Ok(python)
}

fn stage_sources(stage: &Path, wheels: &[PathBuf]) -> Result<()> {
    project::empty_directory(stage)?;
    copy_tree(&project::root().join("addon"), stage)?;
    let folder = stage.join("wheels");
    project::empty_directory(&folder)?;
    for wheel in wheels {
        copy(wheel, &folder.join(wheel.file_name().ok_or("a wheel without a name")?))?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&project::root().join(licence), &stage.join(licence))?;
    }
    let manifest = stage.join("blender_manifest.toml");
    let text = fs::read_to_string(&manifest).map_err(io_error(&manifest))?;
    fs::write(&manifest, with_wheels(&text, wheels)?).map_err(io_error(&manifest))
}

/// Adds wheels and their systems before the manifest's first table, at the end of its top-level keys.
fn with_wheels(manifest: &str, wheels: &[PathBuf]) -> Result<String> {
    let end_of_keys = manifest.find("\n[").map_or(manifest.len(), |position| position + 1);
    let (keys, tables) = manifest.split_at(end_of_keys);
    let (mut names, mut paths) = (Vec::new(), Vec::new());
    for wheel in wheels {
        names.push(format!("\"{}\"", platform::of_wheel(wheel)?.name));
        paths.push(format!("\"./wheels/{}\"", wheel.file_name().unwrap_or_default().to_string_lossy()));
    }
    Ok(format!("{keys}platforms = [{}]\nwheels = [{}]\n\n{tables}", names.join(", "), paths.join(", ")))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).map_err(io_error(from))
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(io_error(to))?;
    for entry in fs::read_dir(from).map_err(io_error(from))? {
        let path = entry.map_err(io_error(from))?.path();
        let Some(name) = path.file_name().filter(|name| *name != "__pycache__") else { continue };
        if path.is_dir() {
            copy_tree(&path, &to.join(name))?;
        } else {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::with_wheels;

    #[test]
    fn wheels_and_their_systems_are_top_level_keys() {
        let keys = "id = \"a\"\ntags = [\n  \"x\",\n]\n\n";
        let tables = "[permissions]\nfiles = \"b\"\n";
        let names = ["jounce-1-cp311-abi3-win_amd64.whl", "jounce-1-cp311-abi3-macosx_11_0_arm64.whl"];
        let found =
            with_wheels(&format!("{keys}{tables}"), &names.map(|name| PathBuf::from("dist").join(name)));
        let expected = format!(
            "{keys}platforms = [\"windows-x64\", \"macos-arm64\"]\n\
             wheels = [\"./wheels/{}\", \"./wheels/{}\"]\n\n{tables}",
            names[0], names[1]
        );
        assert_eq!(found.unwrap(), expected);
    }
}
