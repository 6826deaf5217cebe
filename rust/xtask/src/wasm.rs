//! `cargo x wasm`: the player and the builder of bodies as WebAssembly, to `out/wasm/`.

use std::fs;
use std::path::PathBuf;

use crate::process::{Result, cargo, command, io_error, output, run};
use crate::project;

/// Rust's name of WebAssembly without an operating system.
const TARGET: &str = "wasm32-unknown-unknown";

/// The compiled modules.
pub struct Modules {
    /// Plays model files.
    pub player: PathBuf,
    /// Builds bodies too.
    pub builder: PathBuf,
}

/// Several numbers at a time, which every browser has had since 2021.
const FLAGS: &str = "-Ctarget-feature=+simd128";

/// Reason why nothing can be compiled here; `None` if it can.
fn missing() -> Option<String> {
    let sysroot = output(command("rustc").args(["--print", "sysroot"])).ok()?;
    let there = PathBuf::from(sysroot.trim()).join("lib/rustlib").join(TARGET).is_dir();
    (!there)
        .then(|| format!("Rust's library for WebAssembly is missing; install it: rustup target add {TARGET}"))
}

/// Compiles both modules, says their sizes, and puts the package for npm into `out/npm/`.
pub fn build() -> Result<Modules> {
    missing().map_or(Ok(()), Err)?;
    let player = compiled("jounce_player.wasm", &[])?;
    let builder = compiled("jounce_builder.wasm", &["--features", "builder"])?;
    let package = project::out().join("npm");
    project::empty_directory(&package)?;
    let sources = project::root().join("rust/player/js");
    let scripts = project::files_with_extension(&sources, "js")?.into_iter();
    let others = ["jounce.d.ts", "package.json", "README.md"].map(|name| sources.join(name));
    for file in scripts.chain(others).chain([player.clone(), builder.clone()]) {
        let copy = package.join(file.file_name().unwrap_or_default());
        fs::copy(&file, copy).map_err(io_error(&file))?;
    }
    Ok(Modules { player, builder })
}

/// Compiles the player where its tests can run: with Node and the target. Elsewhere says why not.
pub fn build_for_tests() -> Result<()> {
    let no_node = || output(command("node").arg("--version")).err().map(|_| "there is no Node".to_owned());
    match missing().or_else(no_node) {
        Some(sentence) => println!("{sentence}; the player is not tested in WebAssembly"),
        None => drop(compiled("jounce_player.wasm", &[])?),
    }
    Ok(())
}

/// Measures the player natively and in WebAssembly: one table of sizes, times and agreement.
pub fn measure() -> Result<()> {
    let modules = build()?;
    let mut measure = cargo();
    measure.args(["run", "--quiet", "--release", "--package", "jounce-player", "--example", "measure", "--"]);
    run(measure.arg(modules.player).arg(project::out().join("player")))
}

fn compiled(name: &str, features: &[&str]) -> Result<PathBuf> {
    let folder = project::out().join("wasm");
    fs::create_dir_all(&folder).map_err(io_error(&folder))?;
    // As a module alone the code is compiled once, after all that nobody calls is gone: LLVM cannot compile
    // some of the rest for wide numbers.
    let arguments = ["rustc", "--quiet", "--profile", "player", "--package", "jounce-player", "--lib"];
    let module = ["--crate-type", "cdylib", "--target", TARGET];
    let flags = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";
    run(cargo().env(flags, FLAGS).args(arguments).args(module).args(features))?;
    let made = project::target().join(TARGET).join("player/jounce_player.wasm");
    let kept = folder.join(name);
    let bytes = fs::copy(&made, &kept).map_err(io_error(&made))?;
    println!("{}: {} kB", kept.display(), bytes / 1000);
    Ok(kept)
}
