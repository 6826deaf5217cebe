//! `cargo x memory`: the native tests under checkers that detect every memory error.

use crate::process::{Part, Result, command, output, run, run_each};
use crate::project;
use crate::wheel;

/// Tests that take Miri minutes rather than days, by file and start of name.
const MIRI_TESTS: [&str; 4] = ["rig::", "polar::not_finite", "polar::degenerate", "polar::a_lane"];

/// Rayon's threads live as long as the process, and crossbeam's queues store pointers as integers.
const MIRI_FLAGS: &str =
    "-Zmiri-ignore-leaks -Zmiri-permissive-provenance -Zmiri-tree-borrows -Zmiri-disable-isolation";

/// Runs the named checkers, or all of them.
pub fn run_tests(names: &[&str]) -> Result<()> {
    let parts: [Part; 2] = [("miri", &miri), ("address", &address)];
    if let Some(unknown) = names.iter().find(|name| parts.iter().all(|(part, _)| part != *name)) {
        return Err(format!("there is no checker {unknown}; the checkers are miri, address"));
    }
    let chosen: Vec<_> =
        parts.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name)).collect();
    run_each("memory", &chosen)
}

/// Runs tests under Miri, an interpreter that detects undefined behaviour.
fn miri() -> Result<()> {
    output(command("cargo").args(["+nightly", "miri", "--version"])).map_err(
        |_| "Miri is missing; install it: rustup toolchain install nightly --component miri,rust-src",
    )?;
    let mut miri = command("cargo");
    miri.args(["+nightly", "miri", "test", "--package", "jounce-tests", "--test", "core", "--"]);
    miri.args(MIRI_TESTS).env("MIRIFLAGS", MIRI_FLAGS);
    run(miri.env("CARGO_TARGET_DIR", project::target().join("miri")))
}

/// Runs all native tests under the address sanitizer, which detects accesses out of bounds and after
/// release.
fn address() -> Result<()> {
    output(command("cargo").args(["+nightly", "--version"]))
        .map_err(|_| "a nightly Rust is missing; install it: rustup toolchain install nightly")?;
    let mut tests = command("cargo");
    tests.args(["+nightly", "test", "--release", "--package", "jounce-tests", "--no-fail-fast"]);
    // With an explicit target the flags do not apply to build scripts and procedural macros.
    tests.args(["--target", &wheel::host()?]).env("RUSTFLAGS", "-Zsanitizer=address");
    // This test inspects inlining, which differs under a sanitizer.
    tests.args(["--", "--skip", "no_instruction_is_a_function"]);
    run(tests.env("CARGO_TARGET_DIR", project::target().join("address")))
}
