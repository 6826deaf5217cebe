//! `cargo x bits`: motions, models and states of the working tree beside those of a commit, bit by bit.

use std::fs;
use std::path::Path;

use crate::process::{Result, cargo, command, heading, io_error, output, run};
use crate::project;

/// Program that prints a digest of every kind of motion.
const PROGRAM: &str = "tests/rust/examples/bits.rs";

/// Compares the working tree with a commit, which is checked out and built below `target/`.
pub fn compare(base: &str) -> Result<()> {
    heading(&format!("bits of {base}"));
    let tree = project::target().join("bits");
    let worktree = |words: &[&str]| run(command("git").arg("worktree").args(words));
    let path = tree.to_string_lossy();
    worktree(&["add", "--force", "--detach", &path, base])?;
    let before = prepared(&tree).and_then(|()| digests(&tree));
    worktree(&["remove", "--force", &path])?;
    heading("bits of the working tree");
    let (before, now) = (before?, digests(&project::root())?);
    let differing: Vec<_> = now.lines().filter(|line| !before.lines().any(|other| other == *line)).collect();
    let missing = before.lines().count().saturating_sub(now.lines().count());
    println!("{} motions and models, {} differ", now.lines().count(), differing.len());
    if differing.is_empty() && missing == 0 {
        return Ok(());
    }
    Err(format!("not the same bits as {base}, and {missing} fewer:\n{}", differing.join("\n")))
}

/// Puts the program of the working tree into another tree.
fn prepared(tree: &Path) -> Result<()> {
    let into = tree.join(PROGRAM);
    let folder = into.parent().unwrap_or(tree);
    fs::create_dir_all(folder).map_err(io_error(folder))?;
    fs::copy(project::root().join(PROGRAM), &into).map(drop).map_err(io_error(&into))
}

/// Output of the program in a tree.
fn digests(tree: &Path) -> Result<String> {
    let mut program = cargo();
    program.args(["run", "--release", "--quiet", "--package", "jounce-tests", "--example", "bits"]);
    output(program.current_dir(tree).env("CARGO_TARGET_DIR", project::target()))
}
