//! `cargo x bench`: the benchmarks of the core, kept as text.

use std::fs;

use crate::process::{Result, cargo, heading, io_error, run as run_command, run_watched};
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
        document(&text, &reference)?;
    }
    Ok(())
}

/// Writes the page of benchmarks and its picture.
fn document(text: &str, plotter: &Venv) -> Result<()> {
    let docs = project::root().join("docs");
    let script = project::root().join("rust/core/benches/modes/plot.py");
    let mut plot = plotter.python();
    run_command(plot.arg(script).arg(project::out().join("bench.txt")).arg(docs.join("images/modes.svg")))?;
    let page = format!(
        "# Benchmarks\n\nMade by `cargo x bench --docs`.\n\n\
         ![Seconds that ten modes take, against vertices and against bones](images/modes.svg)\n\n\
         ```text\n{}\n```\n",
        text.trim()
    );
    let path = docs.join("benchmarks.md");
    fs::write(&path, page).map_err(io_error(&path))?;
    println!("and in {}", path.display());
    Ok(())
}
