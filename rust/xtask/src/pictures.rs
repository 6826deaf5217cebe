//! The pictures of the documentation, from real runs in Blender.

use crate::addon;
use crate::process::{self, Result, heading};
use crate::project;
use crate::venv::{DEFAULT_BLENDER, Venv};

/// Makes all pictures that `examples/blender/pictures.py` knows, in `docs/images/`.
pub fn run() -> Result<()> {
    let extension = addon::build()?;
    let blender = Venv::blender(DEFAULT_BLENDER)?;
    heading("pictures");
    let images = project::root().join("docs/images");
    let mut script = blender.python();
    script.env("BLENDER_USER_RESOURCES", project::blender_resources("pictures")?);
    script.arg("examples/blender/pictures.py").arg("--extension").arg(&extension).arg("--out").arg(images);
    process::run(&mut script)
}
