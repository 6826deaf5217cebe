//! `cargo x check`: formatting, lints, types, documentation, and the repository's own rules.

use crate::prerequisites::rust_component;
use crate::process::{self, Result, cargo, heading};
use crate::repository;
use crate::venv::Venv;
use crate::wheel;

/// Runs every check and reports all that fail.
pub fn run() -> Result<()> {
    rust_component("fmt", "rustfmt")?;
    rust_component("clippy", "clippy")?;
    let tools = Venv::tools()?;
    tools.install(&wheel::build()?)?;
    let tool = |arguments: &[&str]| process::run(tools.python().arg("-m").args(arguments));
    let checks: [(&str, &dyn Fn() -> Result<()>); 8] = [
        ("rustfmt", &|| process::run(cargo().args(["fmt", "--all", "--check"]))),
        ("clippy", &clippy),
        ("rustdoc", &rustdoc),
        ("ruff", &|| tool(&["ruff", "check"])),
        ("ruff format", &|| tool(&["ruff", "format", "--check"])),
        ("mypy", &|| tool(&["mypy"])),
        ("stubs against the compiled module", &|| {
            tool(&["mypy.stubtest", "--mypy-config-file", "pyproject.toml", "jounce"])
        }),
        ("repository", &repository::check),
    ];
    let mut failed = Vec::new();
    for (name, check) in checks {
        heading(&format!("check: {name}"));
        if let Err(message) = check() {
            eprintln!("{message}");
            failed.push(name);
        }
    }
    heading("summary");
    println!("{} checks, {} failed", checks.len(), failed.len());
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn clippy() -> Result<()> {
    let mut clippy = cargo();
    clippy.args(["clippy", "--quiet", "--release", "--workspace", "--all-targets", "--"]);
    process::run(clippy.args(["--warn", "clippy::too_many_lines", "--deny", "warnings"]))
}

fn rustdoc() -> Result<()> {
    let mut rustdoc = cargo();
    rustdoc.args(["doc", "--quiet", "--release", "--workspace", "--no-deps"]);
    process::run(rustdoc.env("RUSTDOCFLAGS", "--deny warnings"))
}
