//! `cargo x check`: formatting, lints, types, documentation, and the repository's own rules.

use crate::prerequisites::rust_component;
use crate::process::{self, Part, Result, cargo, run_each};
use crate::repository;
use crate::venv::Venv;
use crate::wheel;

/// Stub of the compiled module.
const STUB: &str = "rust/python/python/jounce/_jounce.pyi";
/// Script that writes or checks the stub's docstrings.
const DOCSTRINGS: &str = include_str!("stub.py");

/// Runs the named checks, or all of them without names, and reports all failures.
pub fn run(names: &[&str]) -> Result<()> {
    let tools = Venv::tools()?;
    let tool = |arguments: &[&str]| process::run(tools.python().arg("-m").args(arguments));
    let checks: [Part; 8] = [
        ("rustfmt", &rustfmt),
        ("clippy", &clippy),
        ("rustdoc", &rustdoc),
        ("ruff", &|| tool(&["ruff", "check"])),
        ("ruff-format", &|| tool(&["ruff", "format", "--check"])),
        ("mypy", &|| tool(&["mypy"])),
        ("stubs", &|| stubs(&tools)),
        ("repository", &repository::check),
    ];
    if let Some(unknown) = names.iter().find(|name| checks.iter().all(|(check, _)| check != *name)) {
        let known = checks.map(|(name, _)| name).join(", ");
        return Err(format!("there is no check {unknown}; the checks are {known}"));
    }
    let chosen: Vec<_> =
        checks.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name)).collect();
    run_each("check", &chosen)
}

fn rustfmt() -> Result<()> {
    rust_component("fmt", "rustfmt")?;
    process::run(cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    rust_component("clippy", "clippy")?;
    let mut clippy = cargo();
    clippy.args(["clippy", "--quiet", "--release", "--workspace", "--all-features", "--all-targets", "--"]);
    process::run(clippy.args(["--warn", "clippy::too_many_lines", "--deny", "warnings"]))
}

/// Checks that the module's stub agrees with the compiled module, docstrings included.
fn stubs(tools: &Venv) -> Result<()> {
    tools.install(&wheel::build()?)?;
    let stubtest = ["-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "jounce"];
    process::run(tools.python().args(stubtest))?;
    process::run(tools.python().args(["-c", DOCSTRINGS, STUB, "--check"]))
}

/// Writes the docstrings of the compiled module into its stub.
pub fn write_stubs() -> Result<()> {
    let tools = Venv::tools()?;
    tools.install(&wheel::build()?)?;
    process::run(tools.python().args(["-c", DOCSTRINGS, STUB]))?;
    process::run(tools.python().args(["-m", "ruff", "format", "--quiet", STUB]))
}

/// Writes the reference of the crates with all features; warnings are errors.
pub fn rustdoc() -> Result<()> {
    let mut rustdoc = cargo();
    rustdoc.args(["doc", "--quiet", "--release", "--workspace", "--all-features", "--no-deps"]);
    process::run(rustdoc.env("RUSTDOCFLAGS", "--deny warnings"))
}
