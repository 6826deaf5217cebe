//! Suites of pytest, each in a process of its own, side by side.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::process::{Result, run_silently};
use crate::project;
use crate::tally::{Outcome, Tally};

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

/// Selection of all tests, the long runs as well, which `pyproject.toml` leaves out.
const ALL: [&str; 2] = ["-m", ""];

/// The start of a Python, with the environment of its tests.
pub type Python = Arc<dyn Fn() -> Command + Send + Sync>;

/// A file or folder of tests, and the Python that runs them.
pub struct Suite {
    name: String,
    tests: PathBuf,
    python: Python,
    /// Zip of the extension, and folder of Blender's settings, for tests in Blender.
    blender: Option<(PathBuf, PathBuf)>,
}

impl Suite {
    /// The tests in `tests/NAME`.
    pub fn new(name: &str, python: Python) -> Self {
        Self { name: name.to_owned(), tests: Path::new("tests").join(name), python, blender: None }
    }

    /// Each file of `tests/blender` in a Blender of its own.
    pub fn in_blender(version: &str, python: &Python, extension: &Path) -> Result<Vec<Self>> {
        let resources = project::blender_resources(&format!("test-{version}"))?;
        let suite = |tests: PathBuf| {
            let stem = tests.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("blender {version} {}", stem.trim_start_matches("test_"));
            Self {
                name,
                tests,
                python: python.clone(),
                blender: Some((extension.to_owned(), resources.clone())),
            }
        };
        Ok(blender_files()?.into_iter().map(suite).collect())
    }

    /// The command; each worker has a folder of Blender's settings, in which the extension stays installed
    /// from one file to the next.
    fn command(&self, worker: usize, is_long: bool) -> Result<Command> {
        let mut command = (self.python)();
        if let Some((extension, resources)) = &self.blender {
            let own = resources.join(worker.to_string());
            project::empty_directory_but(&own, "extensions")?;
            command.env("BLENDER_USER_RESOURCES", own).env("JOUNCE_EXTENSION", extension);
            command.args(["-c", PYTEST_IN_BLENDER]);
        } else {
            command.args(["-m", "pytest"]);
        }
        command.arg(&self.tests);
        if is_long {
            command.args(ALL);
        }
        with_data(&mut command).env("PYTHONUNBUFFERED", "1");
        Ok(command)
    }

    /// Runs the suite and prints its output in one piece, at its end.
    fn run(&self, worker: usize, is_long: bool) -> Result<Outcome> {
        let name = &self.name;
        println!("-- starts: {name}");
        let (mut text, mut hang) = (format!("\n== tests: {name}"), Hang::default());
        let (start, mut tally) = (Instant::now(), Tally::default());
        let succeeded = run_silently(&mut self.command(worker, is_long)?, |line| {
            text.push('\n');
            text.push_str(line);
            hang.read(line);
            tally = Tally::from_pytest(line).unwrap_or(std::mem::take(&mut tally));
        })?;
        if let Some(test) = hang.test() {
            tally.failed += 1;
            text.push_str(&format!("\n-- hung: {name}: {test}; the other tests of its file did not run"));
        }
        println!("{text}");
        Ok(Outcome { suite: name.clone(), tally, succeeded, time: start.elapsed() })
    }
}

/// Runs the suites, `at_once` side by side and with their long runs if so asked, and returns their outcomes
/// in the given order.
pub fn run_side_by_side(suites: &[Suite], at_once: usize, is_long: bool) -> Result<Vec<Outcome>> {
    let (left, outcomes) = (Mutex::new(suites.iter().enumerate()), Mutex::new(Vec::new()));
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |worker: usize| -> Result<()> {
        while let Some((index, suite)) = next() {
            let outcome = suite.run(worker, is_long)?;
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

/// Sets the folder of character files for a command, unless it is set.
pub fn with_data(command: &mut Command) -> &mut Command {
    if command.get_envs().any(|(name, _)| name == "JOUNCE_DATA") {
        return command;
    }
    match project::data() {
        Some(path) => command.env("JOUNCE_DATA", path),
        None => command.env_remove("JOUNCE_DATA"),
    }
}

fn blender_files() -> Result<Vec<PathBuf>> {
    let mut files = project::files_with_extension(&project::root().join("tests/blender"), "py")?;
    files.retain(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test_")));
    Ok(files)
}

/// A hung test, by the stack that pytest prints at its end.
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

#[cfg(test)]
mod tests {
    use super::Hang;

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
}
