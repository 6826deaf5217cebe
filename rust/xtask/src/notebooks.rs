//! `cargo x notebooks`: the notebooks of the documentation, executed anew from their sources.

use crate::process::{Result, run};
use crate::project;
use crate::venv::Venv;
use crate::wheel;

/// Script that executes them.
const EXECUTED: &str = include_str!("notebooks.py");

/// Executes the named notebooks, or all without names, into `docs/notebooks`.
pub fn execute(names: &[&str]) -> Result<()> {
    let tools = Venv::tools()?;
    tools.install(&wheel::build()?)?;
    let mut python = tools.python();
    run(python.args(["-c", EXECUTED]).arg(project::root().join("docs/notebooks")).args(names))
}
