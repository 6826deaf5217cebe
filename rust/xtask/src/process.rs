//! Running other programs: echoed, checked, and with their output passed on.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::project;
pub use crate::result::{Result, io_error};

/// Variable in the environment of every process started by a command: the command's own number.
pub const MARK: &str = "JOUNCE_COMMAND";

/// A part of a longer command, with its name.
pub type Part<'a> = (&'a str, &'a dyn Fn() -> Result<()>);

/// Prints the title of the next step.
pub fn heading(text: &str) {
    println!("\n== {text}");
}

/// A command that runs at the top of the repository.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(project::root()).env(MARK, std::process::id().to_string());
    command
}

/// The cargo that runs this program.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command with its output on the terminal.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed ({status})", describe(command))) }
}

/// Runs a command and returns its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::piped()).output().map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(format!("{} failed ({})\n{text}", describe(command), output.status))
    }
}

/// Runs a command, prints its standard output line by line, and shows each line to `watch`. Returns `true` if
/// it succeeded.
pub fn run_watched(command: &mut Command, mut watch: impl FnMut(&str)) -> Result<bool> {
    run_silently(command, |line| {
        println!("{line}");
        watch(line);
    })
}

/// Runs a command, and shows each line of its standard output to `watch` alone. Returns `true` if it
/// succeeded.
pub fn run_silently(command: &mut Command, mut watch: impl FnMut(&str)) -> Result<bool> {
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| cannot_start(command, &error))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|error| format!("{}: {error}", describe(command)))?;
            watch(&String::from_utf8_lossy(&line));
        }
    }
    let status = child.wait().map_err(|error| format!("{}: {error}", describe(command)))?;
    Ok(status.success())
}

/// Runs all parts of a kind, even after failures, and names the failed ones.
pub fn run_each(kind: &str, parts: &[Part]) -> Result<()> {
    let mut failed = Vec::new();
    for (name, part) in parts {
        heading(&format!("{kind}: {name}"));
        if let Err(message) = part() {
            eprintln!("{message}");
            failed.push(*name);
        }
    }
    heading("summary");
    println!("{kind}: {} parts, {} failed", parts.len(), failed.len());
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let shown = words.map(|word| match word.to_string_lossy().split_once('\n') {
        Some((line, _)) => format!("{line} ..."),
        None => word.to_string_lossy().into_owned(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start {}: {error}", describe(command))
}
