//! `cargo x bench`: the benchmarks of the core, kept as text.

use std::fs;

use crate::process::{Result, cargo, heading, io_error, run_watched};
use crate::project;
use crate::venv::Venv;

/// Runs the benchmarks into `out/bench.txt`; with `into_docs` their output becomes `docs/benchmarks.md` too,
/// with `long` the slow rows of other programs are measured as well.
pub fn run(into_docs: bool, long: bool) -> Result<()> {
    let reference = Venv::reference()?;
    heading("benchmarks");
    let mut lines = Vec::new();
    let mut benches = cargo();
    benches.args(["bench", "--quiet", "--workspace", "--bench", "*"]);
    benches.env("JOUNCE_REFERENCE", reference.program("python"));
    if long {
        benches.env("JOUNCE_LONG", "1");
    }
    if !run_watched(&mut benches, |line| lines.push(line.to_owned()))? {
        return Err("a benchmark failed".to_owned());
    }
    let text = lines.join("\n");
    let out = project::out();
    fs::create_dir_all(&out).map_err(io_error(&out))?;
    let path = out.join("bench.txt");
    fs::write(&path, format!("{text}\n")).map_err(io_error(&path))?;
    println!("\nThe results are in {}", path.display());
    if into_docs {
        let path = project::root().join("docs/benchmarks.md");
        let page =
            format!("# Benchmarks\n\nMade by `cargo x bench --docs`.\n\n```text\n{}\n```\n", text.trim());
        fs::write(&path, page).map_err(io_error(&path))?;
        println!("and in {}", path.display());
    }
    Ok(())
}
