//! `cargo x bench`: the benchmarks of the core, kept as text.

use std::fs;

use crate::process::{Result, cargo, heading, io_error, run as run_command, run_watched};
use crate::project;
use crate::venv::Venv;

/// Title of the section that only a long run changes.
const LONG: &str = "## Modes, with the slow rows of other programs";
/// Start of the table of modes.
const MODES: &str = "10 modes of ";

/// Runs the benchmarks into `out/bench.txt`. With `into_docs` their output also becomes
/// `docs/benchmarks.md`. With `long` the slow rows of other programs are measured too; they stay on that
/// page until the next long run.
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
        document(&text, &reference, long)?;
    }
    Ok(())
}

/// Writes the page of benchmarks and its plot.
fn document(text: &str, plotter: &Venv, long: bool) -> Result<()> {
    let docs = project::root().join("docs");
    let script = project::root().join("rust/core/benches/modes/plot.py");
    let mut plot = plotter.python();
    run_command(plot.arg(script).arg(project::out().join("bench.txt")).arg(docs.join("images/modes.svg")))?;
    let path = docs.join("benchmarks.md");
    let slow =
        if long { Some(slow_rows(text)) } else { kept(&fs::read_to_string(&path).unwrap_or_default()) };
    let page = format!(
        "# Benchmarks\n\nMade by `cargo x bench --docs`.\n\n\
         ![Seconds that ten modes take, against vertices and against bones](images/modes.svg)\n\n\
         ```text\n{}\n```\n{}",
        text.trim(),
        slow.unwrap_or_default()
    );
    fs::write(&path, page).map_err(io_error(&path))?;
    println!("and in {}", path.display());
    Ok(())
}

/// The section written by a long run: the table of modes.
fn slow_rows(text: &str) -> String {
    let table: Vec<&str> = text.lines().skip_while(|line| !line.starts_with(MODES)).collect();
    // Rows are right-aligned.
    let rows = table.iter().skip(2).take_while(|line| line.starts_with(' '));
    let lines = table.iter().take(2).chain(rows).copied().collect::<Vec<_>>().join("\n");
    format!("\n{LONG}\n\nFrom the last `cargo x bench --docs --long`.\n\n```text\n{lines}\n```\n")
}

/// The same section of an existing page.
fn kept(page: &str) -> Option<String> {
    page.find(LONG).map(|start| format!("\n{}", &page[start..]))
}
