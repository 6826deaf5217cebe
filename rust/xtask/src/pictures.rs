//! The pictures of the documentation, from real runs in Blender.

use std::fs;
use std::path::Path;

use crate::addon;
use crate::gui;
use crate::process::{self, Result, heading, io_error};
use crate::project;
use crate::venv::{Venv, default_blender};

/// What `tests/gui/test_guide.py` takes of the window.
const OF_THE_WINDOW: [&str; 3] = ["panels.webp", "preview.webp", "overlays.webp"];

/// Whose muscles are shown, in the folder of character files.
const CHARACTER: &str = "open_humanoid/ozz_arnaud.fbx";

/// Makes all pictures that `examples/blender/pictures.py` knows, in `docs/images/`, and those of a window where there
/// can be one.
pub fn run() -> Result<()> {
    let extension = addon::build()?;
    let blender = Venv::blender(default_blender())?;
    heading("pictures");
    let images = project::root().join("docs/images");
    let mut script = blender.python();
    script.env("BLENDER_USER_RESOURCES", project::blender_resources("pictures")?);
    script.arg("examples/blender/pictures.py").arg("--extension").arg(&extension).arg("--out").arg(&images);
    process::run(&mut script)?;
    muscles(&blender, &extension, &images)?;

    let made = OF_THE_WINDOW.map(|name| (project::out().join("gui").join(name), images.join(name)));
    // Without a window nothing is made, and what an earlier run left is not to be taken for new.
    for (picture, _) in made.iter().filter(|(picture, _)| picture.exists()) {
        fs::remove_file(picture).map_err(io_error(picture))?;
    }
    gui::run_tests(&["guide"])?;
    for (picture, kept) in made.iter().filter(|(picture, _)| picture.exists()) {
        fs::copy(picture, kept).map_err(io_error(kept))?;
    }
    Ok(())
}

/// The picture of muscles, which is of a character that the repository does not hold.
fn muscles(blender: &Venv, extension: &Path, images: &Path) -> Result<()> {
    let character = project::data().map(|data| data.join(CHARACTER)).filter(|path| path.is_file());
    let Some(character) = character else {
        println!("muscles.webp stays as it is: JOUNCE_DATA names no folder with {CHARACTER}");
        return Ok(());
    };
    let mut script = blender.python();
    script.env("BLENDER_USER_RESOURCES", project::blender_resources("muscles")?);
    script.arg("examples/blender/muscles.py").arg(character).arg("--extension").arg(extension);
    process::run(script.arg("--out").arg(images.join("muscles.webp")))
}
