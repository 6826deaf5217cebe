//! `cargo x godot`: the player as an addon of Godot 4, to `out/godot/`, and a character that plays there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::gui;
use crate::process::{Result, cargo, command, heading, io_error, output, run};
use crate::project;

/// Sources of the addon.
const SOURCES: &str = "rust/player/godot";
/// The library as `jounce.gdextension` names it.
const LIBRARY: &str = "bin/libjounce_godot.linux.x86_64.so";
/// Signs of trouble on Godot's console.
const TROUBLE: [&str; 2] = ["ERROR", "SCRIPT ERROR"];

/// A Godot 4 that runs without a window.
pub enum Godot {
    /// A program on this machine.
    Program(PathBuf),
    /// Debian's package in the chroot of the tests in a window.
    Chroot(PathBuf),
}

impl Godot {
    /// The Godot of `JOUNCE_GODOT`, of the PATH, or of the chroot.
    pub fn find() -> Result<Self> {
        let folders = env::var_os("PATH").unwrap_or_default();
        let on_path = || {
            let names = ["godot4", "godot"];
            env::split_paths(&folders)
                .flat_map(|folder| names.map(|name| folder.join(name)))
                .find(|it| it.exists())
        };
        if let Some(program) = env::var_os("JOUNCE_GODOT").map(PathBuf::from).or_else(on_path) {
            return Ok(Self::Program(program));
        }
        let chroot = gui::chroot_folder();
        if chroot.join("usr/bin/godot").exists() {
            return Ok(Self::Chroot(chroot));
        }
        Err(format!(
            "there is no Godot 4 here; install 4.4 or newer and name it in JOUNCE_GODOT, or after \
             cargo x gui: chroot {} apt-get install --no-install-recommends godot",
            chroot.display()
        ))
    }

    /// A call without a window, in a folder.
    fn call(&self, folder: &Path) -> Command {
        match self {
            Self::Program(program) => {
                let mut godot = command(program);
                godot.current_dir(folder).arg("--headless");
                godot
            }
            Self::Chroot(chroot) => {
                let script = "cd \"$0\" && exec godot --headless \"$@\"";
                gui::in_chroot(chroot, &["sh".into(), "-c".into(), script.into(), folder.into()])
            }
        }
    }
}

/// Makes the addon, and opens its project as the editor does.
pub fn build() -> Result<()> {
    let godot = Godot::find()?;
    let addon = addon(&godot)?;
    quietly(godot.call(&project::out().join("godot")).arg("--import"))?;
    println!("\nThe addon is {}; copy it to a project's addons/", addon.display());
    Ok(())
}

/// The addon in a project of its own: `out/godot/addons/jounce`.
pub fn addon(godot: &Godot) -> Result<PathBuf> {
    heading("Godot");
    let folder = project::out().join("godot");
    project::empty_directory(&folder)?;
    let addon = folder.join("addons/jounce");
    fs::create_dir_all(addon.join("bin")).map_err(io_error(&addon))?;
    for (from, to) in [("addon", &addon), ("test", &folder)] {
        copy_files(&project::root().join(SOURCES).join(from), to)?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let from = project::root().join(licence);
        fs::copy(&from, addon.join(licence)).map_err(io_error(&from))?;
    }
    compile(godot, &addon.join(LIBRARY))?;
    // The editor keeps a list of extensions, which a run without it needs.
    let list = folder.join(".godot/extension_list.cfg");
    fs::create_dir_all(folder.join(".godot")).map_err(io_error(&list))?;
    fs::write(&list, "res://addons/jounce/jounce.gdextension\n").map_err(io_error(&list))?;
    Ok(addon)
}

fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).map_err(io_error(from))?.flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).map_err(io_error(&entry.path()))?;
    }
    Ok(())
}

/// Compiles the library with Godot's own header, which it writes itself.
fn compile(godot: &Godot, library: &Path) -> Result<()> {
    let folder = project::target().join("godot");
    project::empty_directory(&folder)?;
    output(godot.call(&folder).arg("--dump-gdextension-interface"))?;
    let arguments = ["rustc", "--quiet", "--profile", "player", "--package", "jounce-player", "--lib"];
    run(cargo().args(arguments).args(["--crate-type", "staticlib"]))?;
    let sources = project::files_with_extension(&project::root().join(SOURCES).join("src"), "c")?;
    let mut compiler = command(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args([
        "-std=c99",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-Wno-cast-function-type",
    ]);
    compiler
        .args(["-shared", "-fPIC", "-fvisibility=hidden", "-I", "rust/player/include", "-I"])
        .arg(&folder);
    compiler.args(sources).arg(project::target().join("player/libjounce_player.a"));
    compiler.args([
        "-lm",
        "-lpthread",
        "-ldl",
        "-lgcc_s",
        "-s",
        "-Wl,--gc-sections",
        "-Wl,--exclude-libs,ALL",
    ]);
    run(compiler.arg("-o").arg(library))?;
    println!("{}: {} kB", library.display(), size(library) / 1000);
    Ok(())
}

/// Bytes of a file; 0 without it.
pub fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |file| file.len())
}

/// Imports a GLB file as the editor does, plays it with its pose in Godot, and returns what the script says.
/// The displacements go to `target`.
pub fn play(
    godot: &Godot,
    file: &Path,
    frames: usize,
    [seconds, start]: [f64; 2],
    target: &Path,
) -> Result<String> {
    let folder = project::out().join("godot");
    fs::copy(file, folder.join("hero.glb")).map_err(io_error(file))?;
    quietly(godot.call(&folder).arg("--import"))?;
    let mut script = godot.call(&folder);
    // Beyond these frames of its own, a script that met an error has not ended itself.
    script.args(["--quit-after", "1000", "--script", "compare.gd", "--"]).arg(file);
    script.args([frames.to_string(), seconds.to_string(), start.to_string()]).arg(target);
    let said = quietly(&mut script)?;
    let line = said.lines().find(|line| line.starts_with('{'));
    line.map(str::to_owned).ok_or(format!("Godot said nothing of the flesh:\n{said}"))
}

/// Output of a call; refuses errors on the console.
fn quietly(command: &mut Command) -> Result<String> {
    let made = command.output().map_err(|error| format!("Godot does not start: {error}"))?;
    let said = String::from_utf8_lossy(&[made.stdout, made.stderr].concat()).into_owned();
    match said.lines().find(|line| TROUBLE.iter().any(|word| line.contains(word))) {
        None => Ok(said),
        Some(line) => Err(format!("Godot says: {line}")),
    }
}
