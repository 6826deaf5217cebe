//! `cargo x test`: the choice of suites, and a closing table.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::addon;
use crate::cost;
use crate::docs;
use crate::leftovers;
use crate::process::{self, Result, cargo, heading, io_error, run_watched};
use crate::project;
use crate::suites::{Python, Suite, run_side_by_side, with_data};
use crate::tally::{Outcome, Tally, summarise};
use crate::venv::{BLENDERS, Blender, Venv, default_blender};
use crate::wasm;
use crate::wheel;

/// Suites that run side by side: much of a test waits for one thread.
const AT_ONCE: usize = 2;

/// Cargo's words for the Rust tests.
const RUST_TESTS: [&str; 4] = ["test", "--release", "--workspace", "--no-fail-fast"];

/// Cargo's words for the core's own tests with its optional features, for which all is compiled anew.
const FEATURE_TESTS: [&str; 5] = ["test", "--release", "--package", "jounce", "--all-features"];

const SUITES: [&str; 7] = ["rust", "python", "addon", "docs", "blender", "farm", "characters"];

struct Selection {
    is_long: bool,
    rust: bool,
    python: bool,
    addon: bool,
    docs: bool,
    farm: bool,
    characters: bool,
    blenders: Vec<Blender>,
}

/// Runs the suites named by the options, or all of them.
pub fn run(options: &[&str]) -> Result<()> {
    let (selection, start) = (select(options)?, Instant::now());
    announce_data();
    let mut outcomes = Vec::new();
    if selection.rust {
        outcomes.push(rust(selection.is_long)?);
    }
    outcomes.extend(with_pytest(&selection)?);
    if selection.characters {
        outcomes.push(characters()?);
    }
    summarise(&outcomes)?;
    leftovers::check()?;
    if options.is_empty() { cost::report("test", start) } else { Ok(()) }
}

fn select(options: &[&str]) -> Result<Selection> {
    let mut suites = Vec::new();
    let (mut blenders, mut is_long) = (Vec::new(), false);
    let mut words = options.iter();
    while let Some(&word) = words.next() {
        match word {
            "--long" => is_long = true,
            "--bpy" => blenders.extend(blender_versions(words.next().copied())?),
            _ if SUITES.contains(&word) => suites.push(word),
            _ => return Err(format!("there is no suite {word}; the suites are {}", SUITES.join(", "))),
        }
    }
    let all = suites.is_empty() && blenders.is_empty();
    if blenders.is_empty() && (all || suites.contains(&"blender")) {
        blenders.push(default_blender());
    }
    let chosen = |suite| all || suites.contains(&suite);
    Ok(Selection {
        is_long,
        rust: chosen("rust"),
        python: chosen("python"),
        addon: chosen("addon"),
        docs: chosen("docs"),
        farm: chosen("farm"),
        characters: chosen("characters"),
        blenders,
    })
}

fn blender_versions(name: Option<&str>) -> Result<Vec<Blender>> {
    let versions =
        BLENDERS.iter().copied().filter(|blender| name == Some("all") || name == Some(blender.version));
    let versions: Vec<_> = versions.collect();
    if versions.is_empty() {
        let known: Vec<_> = BLENDERS.iter().map(|blender| blender.version).collect();
        return Err(format!("--bpy needs one of {} or all", known.join(", ")));
    }
    Ok(versions)
}

fn announce_data() {
    match project::data() {
        Some(path) => println!("character files: {}", path.display()),
        None => {
            println!("character files: none (JOUNCE_DATA is not set); the tests that read them are skipped")
        }
    }
}

/// The Rust tests; if so asked, with the ignored ones, which are long runs, and the optional features.
fn rust(is_long: bool) -> Result<Outcome> {
    heading("tests: rust");
    compile_beside_wasm()?;
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut tests = cargo();
    tests.args(RUST_TESTS);
    if is_long {
        tests.args(["--", "--include-ignored"]);
    }
    let mut succeeded = run_watched(with_data(&mut tests), |line| tally.add_cargo(line))?;
    if is_long {
        succeeded &= run_watched(cargo().args(FEATURE_TESTS), |line| tally.add_cargo(line))?;
    }
    Ok(Outcome { suite: "rust".to_owned(), tally, succeeded, time: start.elapsed() })
}

/// Compiles the Rust tests and, on another core, the player in WebAssembly.
fn compile_beside_wasm() -> Result<()> {
    thread::scope(|scope| {
        let wasm = scope.spawn(wasm::build_for_tests);
        let built = process::run(cargo().args(RUST_TESTS).arg("--no-run"));
        wasm.join().unwrap_or_else(|_| Err("the thread of the player in WebAssembly panicked".to_owned()))?;
        built
    })
}

/// Builds wheel, extension and environments, and runs the suites of pytest side by side. Long suites of a
/// single process start first.
fn with_pytest(selection: &Selection) -> Result<Vec<Outcome>> {
    let (mut suites, mut outcomes) = (Vec::new(), Vec::new());
    if selection.python || selection.addon {
        let tools = Venv::tools()?;
        tools.install(&wheel::build()?)?;
        let python: Python = Arc::new(move || tools.python());
        let chosen = [("python", selection.python), ("addon", selection.addon)];
        suites.extend(chosen.iter().filter(|it| it.1).map(|it| Suite::new(it.0, python.clone())));
    }
    if selection.docs {
        docs::build()?;
        let venv = Venv::docs()?;
        suites.push(Suite::new("docs", Arc::new(move || venv.python())));
    }
    if selection.farm {
        suites.push(farm()?);
    }
    let extension = if selection.blenders.is_empty() { PathBuf::new() } else { addon::build()? };
    for &blender in &selection.blenders {
        match Venv::blender(blender) {
            Ok(venv) => {
                let python: Python = Arc::new(move || venv.python());
                suites.extend(Suite::in_blender(blender.version, &python, &extension)?);
            }
            Err(message) => outcomes.push(not_started(blender, &message)),
        }
    }
    outcomes.extend(run_side_by_side(&suites, AT_ONCE, selection.is_long)?);
    Ok(outcomes)
}

/// The farm tests: a folder of shots on a local cluster whose workers run Blender, and USD characters.
fn farm() -> Result<Suite> {
    let extension = addon::build()?;
    let blender = Venv::blender(default_blender())?.program("python");
    let venv = Venv::farm()?;
    venv.install(&wheel::build()?)?;
    Ok(Suite::new(
        "farm",
        Arc::new(move || {
            let mut python = venv.python();
            python.env("JOUNCE_EXTENSION", &extension).env("JOUNCE_BLENDER_PYTHON", &blender);
            python
        }),
    ))
}

/// Runs every available character file through the whole workflow; the table goes to `out/characters.md`.
fn characters() -> Result<Outcome> {
    let mut outcome = Outcome::new("characters");
    let Some(data) = project::data() else {
        outcome.tally.skipped = 1;
        return Ok(outcome);
    };
    let extension = addon::build()?;
    let venv = Venv::blender(default_blender())?;
    heading("tests: characters");
    let out = project::out();
    fs::create_dir_all(&out).map_err(io_error(&out))?;
    let start = Instant::now();
    let mut script = venv.python();
    script.arg("tests/blender/characters.py").arg(data).arg("--extension").arg(&extension);
    script.arg("--out").arg(out.join("characters.md"));
    outcome.succeeded = run_watched(&mut script, |line| outcome.tally.add_character(line))?;
    outcome.time = start.elapsed();
    Ok(outcome)
}

/// Counts a failed setup of Blender as one failure, and lets the other versions run.
fn not_started(version: Blender, message: &str) -> Outcome {
    eprintln!("{message}");
    let tally = Tally { failed: 1, ..Tally::default() };
    Outcome { tally, succeeded: false, ..Outcome::new(&format!("blender {}", version.version)) }
}

#[cfg(test)]
mod tests {
    use super::select;

    #[test]
    fn another_blender_alone_selects_only_its_suite() {
        let selection = select(&["--bpy", "4.2"]).unwrap();
        assert!(!selection.rust && !selection.python && !selection.addon && !selection.farm);
        assert_eq!(selection.blenders.len(), 1);
        assert!(!selection.is_long && select(&["--long", "rust"]).unwrap().is_long);
        assert!(select(&["--bpy", "3.6"]).is_err());
        assert!(select(&["everything"]).is_err());
    }
}
