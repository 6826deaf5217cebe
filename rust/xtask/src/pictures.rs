//! Pictures of the documentation, from real runs in Blender.

use std::fs;
use std::path::Path;

use crate::addon;
use crate::gui;
use crate::process::{self, Result, heading, io_error};
use crate::project;
use crate::venv::{Venv, default_blender};

/// Pictures of the window, taken by `tests/gui/test_guide.py` and `tests/gui/test_tutorial.py`.
const OF_THE_WINDOW: [&str; 7] = [
    "panels.webp",
    "preview.webp",
    "overlays.webp",
    "tutorial_add.webp",
    "tutorial_flesh.webp",
    "tutorial_parts.webp",
    "tutorial_bake.webp",
];

/// Character of the picture of muscles, in the folder of character files.
const CHARACTER: &str = "open_humanoid/ozz_arnaud.fbx";

/// Makes all pictures of `examples/blender/pictures.py` in `docs/images/`, and those of a window if one can
/// be opened.
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
    // Without a window no picture is made, and one of an earlier run must not be taken for new.
    for (picture, _) in made.iter().filter(|(picture, _)| picture.exists()) {
        fs::remove_file(picture).map_err(io_error(picture))?;
    }
    gui::run_tests(&["guide", "tutorial"])?;
    for (picture, kept) in made.iter().filter(|(picture, _)| picture.exists()) {
        fs::copy(picture, kept).map_err(io_error(kept))?;
    }
    Ok(())
}

/// The picture of muscles, whose character is not in the repository.
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
