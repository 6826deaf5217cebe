//! `cargo x gui`: the tests that need Blender's window, on a virtual screen with software rendering.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::addon;
use crate::process::{Result, command, heading, io_error, output, run, run_watched};
use crate::project;
use crate::tally::{Outcome, Tally, summarise};

/// Time limit for a window that hangs.
const SECONDS_A_FILE: &str = "2400";
/// Time limit for a network that hangs.
const SECONDS_TO_FETCH: &str = "600";
const SCREEN: &str = "1280x800";

/// PATH of programs in the chroot.
const CHROOT_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Harmless lines of the console that look like trouble: those of Blender and the system, two of the FBX
/// importer and the glTF exporter, and a warning of ours that a test provokes.
const HARMLESS: [&str; 6] = [
    "list of mounted file-systems",
    "Draw window and swap",
    "EGL_BAD_MATCH",
    "User property type",
    "not available because library could not be found",
    // A newcomer clicks on one of a character's meshes, and is told so.
    "Other meshes of the armature are no part of the body",
];
/// Words that must not appear on the console.
const TROUBLE: [&str; 5] = ["Traceback (most recent call last)", "Error", "ERROR", "Warning", "WARNING"];

/// A Blender that can open a window.
enum Blender {
    /// A program on this machine.
    Program(PathBuf),
    /// Debian's package in a folder of its own.
    Chroot(PathBuf),
}

/// Reason for the absence of Blender: a call to correct, or a machine that cannot run it.
enum Absent {
    Mistake(String),
    Impossible(String),
}

/// Runs the test files named by the options, or all of them.
pub fn run_tests(options: &[&str]) -> Result<()> {
    let (program, names) = select(options)?;
    let files = test_files(&names)?;
    let blender = match program.map_or_else(chroot, named) {
        Ok(blender) => blender,
        Err(Absent::Mistake(message)) => return Err(message),
        Err(Absent::Impossible(reason)) => return skip(&files, &reason),
    };
    let extension = addon::build()?;
    let out = project::out().join("gui");
    fs::create_dir_all(&out).map_err(io_error(&out))?;
    let mut outcomes = Vec::new();
    for file in &files {
        outcomes.push(test(&blender, file, &extension, &out)?);
    }
    println!("\nPictures and console output are in {}", out.display());
    summarise(&outcomes)
}

/// Blender's program, if given, and the names of the test files.
fn select<'a>(options: &[&'a str]) -> Result<(Option<PathBuf>, Vec<&'a str>)> {
    let mut program = std::env::var_os("JOUNCE_BLENDER").map(PathBuf::from);
    let mut names = Vec::new();
    let mut words = options.iter();
    while let Some(&word) = words.next() {
        match word {
            "--blender" => {
                program = Some(words.next().ok_or("--blender needs the path of a Blender")?.into())
            }
            _ => names.push(word),
        }
    }
    Ok((program, names))
}

fn test_files(names: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = project::files_with_extension(&project::root().join("tests/gui"), "py")?;
    files.retain(|file| suite(file).is_some());
    let known: Vec<_> = files.iter().filter_map(|file| suite(file)).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&(**name).to_owned())) {
        return Err(format!("there is no test {unknown}; the tests are {}", known.join(", ")));
    }
    files.retain(|file| names.is_empty() || suite(file).is_some_and(|name| names.contains(&&*name)));
    Ok(files)
}

/// Name of a test file without its common prefix and suffix.
fn suite(file: &Path) -> Option<String> {
    file.file_stem()?.to_str()?.strip_prefix("test_").map(str::to_owned)
}

/// Reports that nothing is tested without a window; this is no failure.
fn skip(files: &[PathBuf], reason: &str) -> Result<()> {
    println!("\nSKIPPED: the tests in a window did not run. {reason}");
    let skipped = Tally { skipped: files.len(), ..Tally::default() };
    summarise(&[Outcome { tally: skipped, ..Outcome::new("gui") }])
}

/// The Blender named by the caller.
fn named(program: PathBuf) -> std::result::Result<Blender, Absent> {
    needs(&["Xvfb", "import"], "xvfb imagemagick").map_err(Absent::Mistake)?;
    let version = output(command(&program).arg("--version")).map_err(Absent::Mistake)?;
    println!("{}", version.lines().next().unwrap_or_default());
    Ok(Blender::Program(program))
}

/// Folder of the chroot.
pub fn chroot_folder() -> PathBuf {
    let folder = std::env::var_os("JOUNCE_CHROOT").map(PathBuf::from);
    folder.unwrap_or_else(|| project::target().join("chroot-sid"))
}

/// Debian's own Blender, fetched on first use.
fn chroot() -> std::result::Result<Blender, Absent> {
    let folder = chroot_folder();
    if !folder.join("usr/bin/blender").exists() {
        make_chroot(&folder).map_err(Absent::Impossible)?;
    }
    match output(&mut in_chroot(&folder, &["true".into()])) {
        Ok(_) => Ok(Blender::Chroot(folder)),
        Err(error) => Err(Absent::Impossible(format!("The chroot cannot be entered: {error}"))),
    }
}

fn make_chroot(folder: &Path) -> Result<()> {
    if output(command("id").arg("-u"))?.trim() != "0" {
        return Err("Only root can make the chroot with Debian's Blender; name another one with --blender."
            .to_owned());
    }
    needs(&["debootstrap", "unshare"], "debootstrap util-linux")?;
    heading(&format!("Debian's Blender in {}", folder.display()));
    // The folder is built under another name, so that an interrupted build is never taken for complete.
    let unfinished = folder.with_extension("unfinished");
    project::empty_directory(&unfinished)?;
    run(command("timeout").args([SECONDS_TO_FETCH, "sh", "tests/gui/make_chroot.sh"]).arg(&unfinished))
        .map_err(|error| format!("Debian's Blender could not be fetched: {error}"))?;
    fs::rename(&unfinished, folder).map_err(io_error(folder))
}

/// Checks for installed programs; otherwise returns a sentence with the command for their installation.
fn needs(programs: &[&str], packages: &str) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).exists());
    if programs.iter().all(is_here) {
        return Ok(());
    }
    Err(format!("A program is missing for it; install it: apt-get install {packages}"))
}

/// A command in the chroot, with access to the repository and to the characters, if there are any.
pub fn in_chroot(folder: &Path, words: &[OsString]) -> Command {
    let mut command = command("sh");
    command.arg("tests/gui/in_chroot.sh").arg(folder).arg(project::root()).arg(project::target());
    command.args(project::data()).arg("--").args(words);
    command.env_clear().env("PATH", CHROOT_PATH).env("HOME", "/tmp");
    command
}

/// Runs a file in a separate window. The console output is kept, and counts as a further test.
fn test(blender: &Blender, file: &Path, extension: &Path, out: &Path) -> Result<Outcome> {
    let name = suite(file).unwrap_or_default();
    heading(&format!("tests in a window: {name}"));
    let script = |path: &str| project::root().join("tests/gui").join(path).into_os_string();
    let program = match blender {
        Blender::Program(program) => program.clone().into_os_string(),
        Blender::Chroot(_) => "blender".into(),
    };
    let mut words = vec!["sh".into(), script("window.sh"), SECONDS_A_FILE.into(), SCREEN.into(), program];
    words.extend(["--factory-startup", "--enable-event-simulate", "--python"].map(OsString::from));
    words.extend([script("run.py"), "--".into(), file.into(), out.into()]);
    let mut window = match blender {
        Blender::Program(_) => command("env"),
        Blender::Chroot(folder) => in_chroot(folder, &[]),
    };
    window.args(words);
    window.env("JOUNCE_EXTENSION", extension);
    window.env("BLENDER_USER_RESOURCES", project::blender_resources("gui")?);
    if let Some(data) = project::data() {
        window.env("JOUNCE_DATA", data);
    }
    watch(&mut window, &name, &out.join(format!("{name}.log")))
}

fn watch(window: &mut Command, name: &str, log: &Path) -> Result<Outcome> {
    let mut outcome = Outcome::new(&format!("gui {name}"));
    let (mut lines, mut finished) = (Vec::new(), false);
    let start = Instant::now();
    let succeeded = run_watched(window, |line| {
        finished |= line.starts_with("{\"finished\"");
        outcome.tally.add_window(line);
        lines.push(line.to_owned());
    })?;
    outcome.time = start.elapsed();
    fs::write(log, lines.join("\n")).map_err(io_error(log))?;
    let trouble: Vec<_> = lines.iter().filter(|line| is_trouble(line)).collect();
    for line in &trouble {
        eprintln!("The console must not say: {line}");
    }
    if !finished || !succeeded {
        eprintln!("Blender did not end well.");
    }
    outcome.tally.passed += usize::from(trouble.is_empty());
    outcome.tally.failed += usize::from(!trouble.is_empty()) + usize::from(!finished);
    outcome.succeeded = succeeded && outcome.tally.failed == 0;
    Ok(outcome)
}

fn is_trouble(line: &str) -> bool {
    let is_report = line.starts_with("{\"");
    let says = |words: &[&str]| words.iter().any(|word| line.contains(word));
    !is_report && says(&TROUBLE) && !says(&HARMLESS)
}

#[cfg(test)]
mod tests {
    use super::{is_trouble, test_files};

    #[test]
    fn tracebacks_and_warnings_are_trouble() {
        assert!(is_trouble("Traceback (most recent call last):"));
        assert!(is_trouble("Warning: a body moves by less than the tolerance"));
        assert!(!is_trouble("system.path | WARNING Could not get a list of mounted file-systems"));
        assert!(!is_trouble("{\"test\": \"a\", \"why\": \"Error\"}"));
    }

    #[test]
    fn test_files_are_chosen_by_name() {
        assert_eq!(test_files(&["smoke"]).unwrap().len(), 1);
        assert!(test_files(&["nothing"]).is_err());
    }
}
