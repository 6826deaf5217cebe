//! `cargo x memory`: the native tests where every wrong use of memory is seen.

use crate::process::{Part, Result, command, output, run, run_each};
use crate::project;
use crate::wheel;

/// What Miri takes minutes for, and not days: a file of tests, and the beginnings of the names of those that run.
const MIRI_TESTS: [(&str, &[&str]); 2] = [("rig", &[]), ("polar", &["not_finite", "degenerate", "a_lane"])];

/// Threads of rayon live as long as the process, and crossbeam's queues hold pointers as numbers.
const MIRI_FLAGS: &str =
    "-Zmiri-ignore-leaks -Zmiri-permissive-provenance -Zmiri-tree-borrows -Zmiri-disable-isolation";

/// Runs the checkers that are named, all of them without names.
pub fn run_tests(names: &[&str]) -> Result<()> {
    let parts: [Part; 2] = [("miri", &miri), ("address", &address)];
    if let Some(unknown) = names.iter().find(|name| parts.iter().all(|(part, _)| part != *name)) {
        return Err(format!("there is no checker {unknown}; the checkers are miri, address"));
    }
    let chosen: Vec<_> =
        parts.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name)).collect();
    run_each("memory", &chosen)
}

/// Miri interprets the program, and sees whatever Rust does not define.
fn miri() -> Result<()> {
    output(command("cargo").args(["+nightly", "miri", "--version"])).map_err(
        |_| "Miri is missing; install it: rustup toolchain install nightly --component miri,rust-src",
    )?;
    for (file, tests) in MIRI_TESTS {
        let mut miri = command("cargo");
        miri.args(["+nightly", "miri", "test", "--package", "jounce-tests", "--test", file, "--"])
            .args(tests);
        miri.env("MIRIFLAGS", MIRI_FLAGS).env("CARGO_TARGET_DIR", project::target().join("miri"));
        run(&mut miri)?;
    }
    Ok(())
}

/// The sanitizer of addresses sees what is read and written beyond its bounds or after its end, in all native tests.
fn address() -> Result<()> {
    output(command("cargo").args(["+nightly", "--version"]))
        .map_err(|_| "a nightly Rust is missing; install it: rustup toolchain install nightly")?;
    let mut tests = command("cargo");
    tests.args(["+nightly", "test", "--release", "--package", "jounce-tests", "--no-fail-fast"]);
    // Named, so that what runs while it is compiled is left as it is.
    tests.args(["--target", &wheel::host()?]).env("RUSTFLAGS", "-Zsanitizer=address");
    // Asks what was inlined, which is not the same under a sanitizer.
    tests.args(["--", "--skip", "no_instruction_is_a_function"]);
    run(tests.env("CARGO_TARGET_DIR", project::target().join("address")))
}
