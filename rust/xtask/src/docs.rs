//! `cargo x docs`: the documentation site, with the references of Python and Rust, and a check of every
//! link.

use crate::process::{Result, cargo, heading, run};
use crate::project;
use crate::venv::Venv;
use crate::wheel;

/// Script that stages all pages, builds the site, and checks its links.
const SITE: &str = include_str!("site.py");

/// Builds the site in `out/site`.
pub fn build() -> Result<()> {
    let venv = Venv::docs()?;
    venv.install(&wheel::build()?)?;
    heading("Rust reference");
    run(cargo().args(["doc", "--quiet", "--release", "--no-deps", "--package", "jounce"]))?;
    heading("site");
    let target = project::target();
    let mut python = venv.python();
    python.args(["-c", SITE]).arg(project::root()).arg(target.join("doc"));
    run(python.arg(target.join("site-pages")).arg(project::out().join("site")))
}
