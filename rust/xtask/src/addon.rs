//! The Blender extension as an installable zip: the sources of `addon/` and the wheel, in one package.

use std::fs;
use std::path::{Path, PathBuf};

use crate::notices;
use crate::process::{Result, heading, io_error, run};
use crate::project;
use crate::venv::{DEFAULT_BLENDER, Venv};
use crate::wheel;

/// Builds wheel and extension into `dist/` and returns the path of the zip.
pub fn build() -> Result<PathBuf> {
    let wheel = wheel::build()?;
    let blender = Venv::blender(DEFAULT_BLENDER)?;
    heading("extension");
    let stage = project::target().join("extension");
    stage_sources(&stage, &wheel)?;
    let zip = project::dist().join(format!("jounce-{}.zip", project::VERSION));
    let packager = packager(&blender)?;
    run(blender
        .python()
        .arg(&packager)
        .args(["build", "--source-dir"])
        .arg(&stage)
        .arg("--output-filepath")
        .arg(&zip))?;
    run(blender.python().arg(&packager).arg("validate").arg(&zip))?;
    Ok(zip)
}

/// Blender's own packager of extensions, which runs without a Blender window.
fn packager(blender: &Venv) -> Result<PathBuf> {
    let scripts = format!("bpy/{}/scripts/addons_core", DEFAULT_BLENDER.version);
    Ok(blender.site_packages()?.join(scripts).join("bl_pkg/cli/blender_ext.py"))
}

fn stage_sources(stage: &Path, wheel: &Path) -> Result<()> {
    project::empty_directory(stage)?;
    copy_tree(&project::root().join("addon"), stage)?;
    let name = wheel.file_name().ok_or("a wheel without a name")?;
    let wheels = stage.join("wheels");
    project::empty_directory(&wheels)?;
    copy(wheel, &wheels.join(name))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&project::root().join(licence), &stage.join(licence))?;
    }
    let notices = stage.join("THIRD-PARTY.txt");
    fs::write(&notices, notices::third_party()?).map_err(io_error(&notices))?;
    let manifest = stage.join("blender_manifest.toml");
    let text = fs::read_to_string(&manifest).map_err(io_error(&manifest))?;
    let text = with_wheel(&text, &format!("./wheels/{}", name.to_string_lossy()));
    fs::write(&manifest, text).map_err(io_error(&manifest))
}

/// Adds the list of wheels before the manifest's first table, where its top-level keys end.
fn with_wheel(manifest: &str, wheel: &str) -> String {
    let end_of_keys = manifest.find("\n[").map_or(manifest.len(), |position| position + 1);
    let (keys, tables) = manifest.split_at(end_of_keys);
    format!("{keys}wheels = [\"{wheel}\"]\n\n{tables}")
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
    use super::with_wheel;

    #[test]
    fn the_wheel_is_a_top_level_key() {
        let manifest = "id = \"a\"\ntags = [\n  \"x\",\n]\n\n[permissions]\nfiles = \"b\"\n";
        let expected =
            "id = \"a\"\ntags = [\n  \"x\",\n]\n\nwheels = [\"./w.whl\"]\n\n[permissions]\nfiles = \"b\"\n";
        assert_eq!(with_wheel(manifest, "./w.whl"), expected);
        assert_eq!(with_wheel("id = \"a\"\n", "./w.whl"), "id = \"a\"\nwheels = [\"./w.whl\"]\n\n");
    }
}
