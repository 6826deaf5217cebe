//! `cargo x fuzz`: random hostile files, meshes and settings, for any length of time.

use std::fs::{self, File};
use std::thread;

use crate::process::{Result, cargo, command, heading, io_error, output, run as run_command};
use crate::project;

/// Fuzz targets in `tests/fuzz`.
const TARGETS: [&str; 5] = ["model_file", "player", "body", "motion", "contact"];
const SECONDS: &str = "60";

/// Runs each named target, or all of them, for a number of seconds (`["--seconds", "600", "body"]`), one
/// per processor.
pub fn run(options: &[&str]) -> Result<()> {
    let (seconds, named) = match options {
        ["--seconds", seconds, named @ ..] => (*seconds, named),
        named => (SECONDS, named),
    };
    if let Some(other) = named.iter().find(|name| !TARGETS.contains(name)) {
        return Err(format!("there is no fuzz target {other}; the targets are {}", TARGETS.join(", ")));
    }
    if seconds.parse::<u32>().is_err() {
        return Err(format!("--seconds {seconds}: expected a whole number"));
    }
    output(cargo().args(["fuzz", "--version"])).map_err(
        |_| "fuzzing needs cargo-fuzz: cargo install cargo-fuzz, rustup toolchain install nightly",
    )?;
    let targets = if named.is_empty() { &TARGETS } else { named };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let mut failed = Vec::new();
    for targets in targets.chunks(processors) {
        heading(&format!("fuzz {}, {seconds} s", targets.join(" and ")));
        thread::scope(|scope| {
            let runs: Vec<_> = targets.iter().map(|target| scope.spawn(|| fuzz(target, seconds))).collect();
            failed.extend(runs.into_iter().filter_map(|run| run.join().expect("no panic").err()));
        });
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn fuzz(target: &str, seconds: &str) -> Result<()> {
    let folder = project::root().join("tests/fuzz");
    let mut fuzzer = command("cargo");
    fuzzer.args(["+nightly", "fuzz", "run", target, "--fuzz-dir"]).arg(&folder);
    fuzzer.arg("--target-dir").arg(project::target().join("fuzz"));
    // Inputs that reached new code are kept as the start of the next run; failing inputs are stored beside
    // them.
    let kept = project::out().join("fuzz");
    let corpus = kept.join(target);
    fs::create_dir_all(&corpus).map_err(io_error(&corpus))?;
    fuzzer.arg(corpus);
    let log = kept.join(format!("{target}.log"));
    let said = File::create(&log).and_then(|file| Ok([file.try_clone()?, file])).map_err(io_error(&log))?;
    let [out, error] = said;
    // Building a small body takes a fraction of a second, so an input that takes half a minute hangs.
    run_command(fuzzer.stdout(out).stderr(error).args([
        "--",
        &format!("-max_total_time={seconds}"),
        &format!("-artifact_prefix={}/{target}-", kept.display()),
        "-timeout=30",
        // Inputs start long: some edits of a model take more bytes than short runs would come to.
        "-len_control=0",
        "-max_len=1024",
        "-rss_limit_mb=4096",
    ]))
    .map_err(|message| format!("{message}; what it said: {}", log.display()))?;
    let said = fs::read_to_string(&log).map_err(io_error(&log))?;
    println!("{target}: {}", said.lines().rfind(|line| !line.is_empty()).unwrap_or_default());
    Ok(())
}
