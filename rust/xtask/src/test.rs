//! `cargo x test`: every suite in a process of its own, and a closing table.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::addon;
use crate::cost;
use crate::docs;
use crate::leftovers;
use crate::process::{Result, cargo, heading, io_error, run_silently, run_watched};
use crate::project;
use crate::tally::{Outcome, Tally, summarise};
use crate::venv::{BLENDERS, Blender, Venv, default_blender};
use crate::wasm;
use crate::wheel;

/// Ends the process at once after the tests: some Blender versions hang or crash while they shut down.
/// A killed caller leaves closed streams, whose flush fails. Errors, with the stack of a hung test, join the
/// output.
const PYTEST_IN_BLENDER: &str = "import os, sys, pytest\n\
    os.dup2(1, 2)\n\
    code = 3\n\
    try:\n\
    \x20   code = pytest.main(sys.argv[1:])\n\
    \x20   sys.stdout.flush()\n\
    \x20   sys.stderr.flush()\n\
    finally:\n\
    \x20   os._exit(code)";

/// Blenders that run side by side: much of a test waits for one thread.
const AT_ONCE: usize = 2;

const SUITES: [&str; 7] = ["rust", "python", "addon", "docs", "blender", "farm", "characters"];

struct Selection {
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
        outcomes.push(rust()?);
    }
    if selection.python || selection.addon {
        let tools = Venv::tools()?;
        tools.install(&wheel::build()?)?;
        if selection.python {
            outcomes.push(pytest("python", tools.python().args(["-m", "pytest", "tests/python"]))?);
        }
        if selection.addon {
            outcomes.push(pytest("addon", tools.python().args(["-m", "pytest", "tests/addon"]))?);
        }
    }
    if selection.docs {
        outcomes.push(documentation()?);
    }
    if !selection.blenders.is_empty() {
        let extension = addon::build()?;
        for &version in &selection.blenders {
            match Venv::blender(version) {
                Ok(venv) => {
                    outcomes.extend(in_blender(version.version, &|| venv.python(), &extension, AT_ONCE)?);
                }
                Err(message) => outcomes.push(not_started(version, &message)),
            }
        }
    }
    if selection.farm {
        outcomes.push(farm()?);
    }
    if selection.characters {
        outcomes.push(characters()?);
    }
    summarise(&outcomes)?;
    leftovers::check()?;
    if options.is_empty() { cost::report("test", start) } else { Ok(()) }
}

fn select(options: &[&str]) -> Result<Selection> {
    let mut suites = Vec::new();
    let mut blenders = Vec::new();
    let mut words = options.iter();
    while let Some(&word) = words.next() {
        match word {
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

fn rust() -> Result<Outcome> {
    heading("tests: rust");
    wasm::build_for_tests()?;
    let start = Instant::now();
    let mut tally = Tally::default();
    let succeeded = run_watched(
        with_data(cargo().args(["test", "--release", "--workspace", "--no-fail-fast"])),
        |line| tally.add_cargo(line),
    )?;
    Ok(Outcome { suite: "rust".to_owned(), tally, succeeded, time: start.elapsed() })
}

fn pytest(suite: &str, command: &mut Command) -> Result<Outcome> {
    heading(&format!("tests: {suite}"));
    pytest_with(suite, command, |line| println!("{line}"))
}

/// Runs pytest, and gives each line of its output to `write`.
fn pytest_with(suite: &str, command: &mut Command, mut write: impl FnMut(&str)) -> Result<Outcome> {
    let start = Instant::now();
    let mut tally = Tally::default();
    let succeeded = run_silently(with_data(command).env("PYTHONUNBUFFERED", "1"), |line| {
        write(line);
        tally = Tally::from_pytest(line).unwrap_or(std::mem::take(&mut tally));
    })?;
    Ok(Outcome { suite: suite.to_owned(), tally, succeeded, time: start.elapsed() })
}

/// Runs each file of `tests/blender` in a Blender of its own, started by `python`, with a settings folder
/// of its own. Blenders run side by side; the output of each is printed in one piece, at its end.
pub fn in_blender(
    version: &str,
    python: &(dyn Fn() -> Command + Sync),
    extension: &Path,
    at_once: usize,
) -> Result<Vec<Outcome>> {
    let files = blender_suites()?;
    let (left, outcomes) = (Mutex::new(files.iter().enumerate()), Mutex::new(Vec::new()));
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |worker: usize| -> Result<()> {
        while let Some((index, file)) = next() {
            let mut command = python();
            command.env("BLENDER_USER_RESOURCES", project::blender_resources(&format!("test-{worker}"))?);
            let outcome = file_in_blender(version, file, command.env("JOUNCE_EXTENSION", extension))?;
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|worker| scope.spawn(move || work(worker))).collect();
        let panicked = |_| Err("a thread of the tests panicked".to_owned());
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(panicked))
    })?;
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|&(index, _)| index);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Runs one file of tests in Blender and prints its output in one piece.
fn file_in_blender(version: &str, file: &Path, command: &mut Command) -> Result<Outcome> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let suite = format!("blender {version} {}", name.trim_start_matches("test_"));
    println!("-- starts: {suite}");
    let (mut text, mut hang) = (format!("\n== tests: {suite}"), Hang::default());
    let mut outcome = pytest_with(&suite, command.args(["-c", PYTEST_IN_BLENDER]).arg(file), |line| {
        text.push('\n');
        text.push_str(line);
        hang.read(line);
    })?;
    if let Some(test) = hang.test() {
        outcome.tally.failed += 1;
        text.push_str(&format!("\n-- hung: {suite}: {test}; the other tests of its file did not run"));
    }
    println!("{text}");
    Ok(outcome)
}

/// The test that pytest ended because it hung, read from the stack that it prints.
#[derive(Default)]
struct Hang {
    found: bool,
    test: Option<String>,
}

impl Hang {
    fn read(&mut self, line: &str) {
        // It may stand behind the dots of earlier tests.
        self.found |= line.contains("Timeout (") && line.ends_with(")!");
        let called = line.rsplit_once(" in ").map(|(_, name)| name).filter(|name| name.starts_with("test_"));
        if self.found && self.test.is_none() {
            self.test = called.map(str::to_owned);
        }
    }

    /// Name of the test, or words for a hang outside of tests; `None` without a hang.
    fn test(&self) -> Option<&str> {
        self.found.then(|| self.test.as_deref().unwrap_or("outside of a test, see the stack above"))
    }
}

/// Builds the documentation site, and tests the detection of mistakes.
fn documentation() -> Result<Outcome> {
    docs::build()?;
    pytest("docs", Venv::docs()?.python().args(["-m", "pytest", "tests/docs"]))
}

/// Runs the farm tests: a folder of shots on a local cluster whose workers run Blender, and USD characters.
fn farm() -> Result<Outcome> {
    let extension = addon::build()?;
    let blender = Venv::blender(default_blender())?;
    let venv = Venv::farm()?;
    venv.install(&wheel::build()?)?;
    let mut command = venv.python();
    command.args(["-m", "pytest", "tests/farm"]).env("JOUNCE_EXTENSION", extension);
    command.env("JOUNCE_BLENDER_PYTHON", blender.program("python"));
    pytest("farm", &mut command)
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

fn blender_suites() -> Result<Vec<PathBuf>> {
    let mut files = project::files_with_extension(&project::root().join("tests/blender"), "py")?;
    files.retain(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test_")));
    Ok(files)
}

/// Sets the folder of character files for a command, unless it is set.
fn with_data(command: &mut Command) -> &mut Command {
    if command.get_envs().any(|(name, _)| name == "JOUNCE_DATA") {
        return command;
    }
    match project::data() {
        Some(path) => command.env("JOUNCE_DATA", path),
        None => command.env_remove("JOUNCE_DATA"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Hang, select};

    #[test]
    fn a_hung_test_is_named_by_its_stack() {
        let mut hang = Hang::default();
        hang.read("tests/blender/test_a.py . took long in test_b");
        assert_eq!(hang.test(), None);
        hang.read("tests/blender/test_a.py .Timeout (0:15:00)!");
        assert_eq!(hang.test(), Some("outside of a test, see the stack above"));
        for line in ["  File \"a.py\", line 3 in wait", "  File \"test_a.py\", line 9 in test_c"] {
            hang.read(line);
        }
        assert_eq!(hang.test(), Some("test_c"));
    }

    #[test]
    fn another_blender_alone_selects_only_its_suite() {
        let selection = select(&["--bpy", "4.2"]).unwrap();
        assert!(!selection.rust && !selection.python && !selection.addon && !selection.farm);
        assert_eq!(selection.blenders.len(), 1);
        assert!(select(&["--bpy", "3.6"]).is_err());
        assert!(select(&["everything"]).is_err());
    }
}
