//! Measurements of every character: `cargo x sheets` (motion of body parts), `cargo x films` (the same as
//! films), `cargo x gallery` (loops of characters under free licences), `cargo x final` (motion of parts in
//! final motion), `cargo x full-space` (difference from the full space), and `cargo x honest` (mass and
//! frequencies of a body at several resolutions).

use std::fs;
use std::path::{Path, PathBuf};

use crate::addon;
use crate::process::{Result, heading, io_error, run as run_command};
use crate::project;
use crate::venv::{Venv, default_blender};
use crate::wheel;

/// Measures and renders the characters whose names contain `only`: `out/body_parts.md` and `out/sheets/`.
pub fn run(only: &str) -> Result<PathBuf> {
    photographed("body_parts", "sheets", only)
}

/// Films the characters whose names contain `only`, posed beside flesh: `out/films.md` and `out/films/`.
pub fn films(only: &str) -> Result<PathBuf> {
    photographed("films", "films", only)
}

/// Makes the pictures of the gallery whose names contain `only`, in `docs/images/gallery/`: `out/gallery.md`.
pub fn gallery(only: &str) -> Result<PathBuf> {
    let table = measured("gallery", &project::out(), only)?;
    println!("\nThe table is {}, the pictures are in docs/images/gallery", table.display());
    Ok(table)
}

/// Renders and joins the trailer, with a still beside it, in `docs/images/`; rendered shots stay in
/// `out/trailer/`.
pub fn trailer() -> Result<()> {
    let (data, extension, blender) = ready()?;
    let shots = project::out().join("trailer");
    fs::create_dir_all(&shots).map_err(io_error(&shots))?;
    let film = project::root().join("docs/images/trailer.mp4");
    let mut script = blender.python();
    script.env("BLENDER_USER_RESOURCES", project::blender_resources("trailer")?);
    script.arg("examples/blender/trailer.py").arg(data).arg("--extension").arg(&extension);
    run_command(script.arg("--shots").arg(&shots).arg("--out").arg(&film))
}

/// Measures and renders their final motion beside their drafts: `out/final_motion.md` and `out/final/`.
pub fn final_motion(only: &str) -> Result<PathBuf> {
    photographed("final_motion", "final", only)
}

fn photographed(name: &str, pictures: &str, only: &str) -> Result<PathBuf> {
    let table = measured(name, &project::out(), only)?;
    let pictures = table.with_file_name(pictures);
    println!("\nThe table is {}, the pictures are in {}", table.display(), pictures.display());
    Ok(table)
}

/// Compares the motion of the characters whose names contain `only` with the full space: `out/full_space.md`.
pub fn full_space(only: &str) -> Result<PathBuf> {
    let table = measured("full_space", &project::out(), only)?;
    println!("\nThe table is {}", table.display());
    Ok(table)
}

/// Path of the table `NAME.md` in `folder`, made by the example of this name from the characters whose
/// names contain `only`.
fn measured(name: &str, folder: &Path, only: &str) -> Result<PathBuf> {
    let (data, extension, blender) = ready()?;
    heading(name);
    fs::create_dir_all(folder).map_err(io_error(folder))?;
    let table = folder.join(format!("{name}.md"));
    let mut script = blender.python();
    script.arg(format!("examples/blender/{name}.py")).arg(data).arg("--extension").arg(&extension);
    run_command(script.args(["--only", only]).arg("--out").arg(&table))?;
    Ok(table)
}

/// Folder of characters, zip of the extension, and Blender.
pub fn ready() -> Result<(PathBuf, PathBuf, Venv)> {
    let data = project::data().ok_or("JOUNCE_DATA names no folder with character files")?;
    Ok((data, addon::build()?, Venv::blender(default_blender())?))
}

/// Measures the bodies of the characters whose names contain `only` at several resolutions:
/// `out/honest_body.md`.
pub fn honest(only: &str) -> Result<()> {
    let folder = project::out().join("honest");
    project::empty_directory(&folder)?;
    measured("honest_body", &folder, only)?;
    let tools = Venv::tools()?;
    tools.install(&wheel::build()?)?;
    let table = project::out().join("honest_body.md");
    let mut script = tools.python();
    script.arg("examples/blender/honest_body_table.py").arg(folder.join("surfaces"));
    run_command(script.arg("--out").arg(&table))?;
    println!("\nThe table is {}", table.display());
    Ok(())
}
