//! `cargo x nightly`: everything that takes too long for every change.

use std::process::Command;

use crate::process::{Result, command, run, run_each};

/// Number of times that each writer is killed, and of random sequences of operators.
const TIMES: &str = "200";
/// Duration of each fuzz target in seconds.
const FUZZ_SECONDS: &str = "1800";

/// Runs every suite with its long runs, then every Blender and window, the memory checkers and hostile input;
/// continues after a failure.
pub fn run_all() -> Result<()> {
    let tests = || run(own(&["test", "--long"])?.env("JOUNCE_KILLS", TIMES).env("JOUNCE_SEQUENCES", TIMES));
    run_each(
        "nightly",
        &[
            ("checks", &|| run(&mut own(&["check"])?)),
            ("tests", &tests),
            ("Blenders", &|| run(&mut own(&["test", "--bpy", "all"])?)),
            ("windows", &|| run(&mut own(&["gui"])?)),
            ("memory", &|| run(&mut own(&["memory"])?)),
            ("fuzz", &|| run(&mut own(&["fuzz", "--seconds", FUZZ_SECONDS])?)),
            ("crates", &|| run(&mut own(&["deny"])?)),
        ],
    )
}

/// Another command of `cargo x`.
fn own(words: &[&str]) -> Result<Command> {
    let program = std::env::current_exe().map_err(|error| format!("cargo x cannot find itself: {error}"))?;
    let mut own = command(program);
    own.args(words);
    Ok(own)
}
