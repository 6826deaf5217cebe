//! `cargo x bench`: the benchmarks of the core, kept as text.

use std::fs;

use crate::process::{Result, cargo, heading, io_error, run as run_command, run_watched};
use crate::project;
use crate::venv::Venv;
use crate::wheel;

/// Title of the section that only a long run changes.
const LONG: &str = "## Modes, with the slow rows of other programs";
/// Title of the section that only a comparison with other solvers changes, and its words.
const RIVALS: &str = "## The full space beside other solvers";
const RIVALS_TOLD: &str = "\
From the last `cargo x bench rivals --docs`, on one thread; times are of the processor. A bar of linear tets
that is held at one end falls. The error is the distance from the converged motion over all steps, each
solver's own: newton and SciPy have one law, Jounce another Neo-Hookean one. Newton's method is written in
numpy beside SciPy's sparse solver. newton is made for graphics cards, and single precision is all that it
has. Vertex block descent passes changes from vertex to vertex, and a bar of 90 cells is long for that; on one
of 18 (`rivals.py 18`, 2026-11-27) it takes 41, 165 and 497 ms for 2.8, 0.02 and 0.0003 percent, and Jounce
2.0, 3.2, 5.5 and 10.2 ms for 0.18, 0.06, 0.0009 and 0.0000005.";
/// Start of a block of results.
const BLOCK: &str = "```text\n";
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

/// Measures the full space beside other solvers into `out/rivals.txt`, and with `into_docs` into its section
/// of `docs/benchmarks.md`.
pub fn run_rivals(into_docs: bool) -> Result<()> {
    let venv = Venv::rivals()?;
    venv.install(&wheel::build()?)?;
    heading("other solvers");
    let mut bench = venv.python();
    bench.arg(project::root().join("rust/core/benches/rivals/rivals.py"));
    for threads in ["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
        bench.env(threads, "1");
    }
    let mut lines = Vec::new();
    if !run_watched(&mut bench, |line| lines.push(line.to_owned()))? {
        return Err("the comparison with other solvers failed".to_owned());
    }
    let text = lines.join("\n");
    let out = project::out();
    fs::create_dir_all(&out).map_err(io_error(&out))?;
    let path = out.join("rivals.txt");
    fs::write(&path, format!("{text}\n")).map_err(io_error(&path))?;
    println!("\nThe results are in {}", path.display());
    if into_docs {
        let path = project::root().join("docs/benchmarks.md");
        let page = fs::read_to_string(&path).map_err(io_error(&path))?;
        let before = section(&page, RIVALS);
        let others = if before.is_empty() { page.clone() } else { page.replace(before, "") };
        let own = format!("\n{RIVALS}\n\n{RIVALS_TOLD}\n\n```text\n{}\n```\n", text.trim());
        fs::write(&path, others + &own).map_err(io_error(&path))?;
        println!("and in {}", path.display());
    }
    Ok(())
}

/// A section of a page, up to the next one; empty if there is none.
fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let Some(start) = page.find(&format!("\n{title}\n")) else { return "" };
    let end = page[start + 1..].find("\n## ").map_or(page.len(), |length| start + 1 + length);
    &page[start..end]
}

/// Writes the page of benchmarks and its plot.
fn document(text: &str, plotter: &Venv, long: bool) -> Result<()> {
    let docs = project::root().join("docs");
    let script = project::root().join("rust/core/benches/modes/plot.py");
    let mut plot = plotter.python();
    run_command(plot.arg(script).arg(project::out().join("bench.txt")).arg(docs.join("images/modes.svg")))?;
    let path = docs.join("benchmarks.md");
    let before = fs::read_to_string(&path).map_err(io_error(&path))?;
    let page = with_results(&before, text, long)?;
    fs::write(&path, page).map_err(io_error(&path))?;
    println!("and in {}", path.display());
    Ok(())
}

/// The page with other results in its first block; a long run also has its section written anew.
fn with_results(page: &str, text: &str, long: bool) -> Result<String> {
    let (words, rest) = page.split_once(BLOCK).ok_or("docs/benchmarks.md has no block of results")?;
    let (_, after) = rest.split_once("\n```\n").ok_or("docs/benchmarks.md has a block without an end")?;
    let slow = section(after, LONG);
    let others = match (long, slow.is_empty()) {
        (false, _) => after.to_owned(),
        (true, true) => slow_rows(text) + after,
        (true, false) => after.replacen(slow, &slow_rows(text), 1),
    };
    Ok(format!("{words}{BLOCK}{}\n```\n{others}", text.trim()))
}

/// The section written by a long run: the table of modes.
fn slow_rows(text: &str) -> String {
    let table: Vec<&str> = text.lines().skip_while(|line| !line.starts_with(MODES)).collect();
    // Rows are right-aligned.
    let rows = table.iter().skip(2).take_while(|line| line.starts_with(' '));
    let lines = table.iter().take(2).chain(rows).copied().collect::<Vec<_>>().join("\n");
    format!("\n{LONG}\n\nFrom the last `cargo x bench --docs --long`.\n\n```text\n{lines}\n```\n")
}

#[cfg(test)]
mod tests {
    use super::with_results;

    #[test]
    fn other_results_keep_words_and_sections() {
        let page = "# A\n\nWords.\n\n```text\nold\n```\n\n## B\n\n```text\nkept\n```\n";
        let expected = page.replace("old", "new");
        assert_eq!(with_results(page, "new\n", false).unwrap(), expected);
        assert!(with_results("# A\n", "new", false).is_err());
    }

    #[test]
    fn a_long_run_writes_its_section_alone() {
        let long = "\n## Modes, with the slow rows of other programs\n\n9\n";
        let page = format!("# A\n\n```text\nold\n```\n{long}\n## B\n");
        let made = with_results(&page, "10 modes of a\nb\n 1\nc", true).unwrap();
        assert!(made.ends_with("```text\n10 modes of a\nb\n 1\n```\n\n## B\n"), "{made}");
        assert!(!made.contains("\n9\n"));
    }
}
