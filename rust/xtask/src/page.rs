//! `cargo x page`: the player's page in the browser, one file that needs no server, to `out/page/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{self, Result, command, heading, io_error, output};
use crate::project;
use crate::venv::{Venv, default_blender};
use crate::wasm;

/// Folder of the page's sources.
const PAGE: &str = "rust/player/page";
/// Modules of the page and of its worker, in the order of their imports.
const MODULES: [&str; 8] = [
    "js/jounce.js",
    "js/builder.js",
    "js/glb.js",
    "js/flesh.js",
    "js/gltf_flesh.js",
    "page/view.js",
    "page/embedded.js",
    "page/page.js",
];
const WORKER: [&str; 5] = ["js/jounce.js", "js/builder.js", "js/glb.js", "js/flesh.js", "page/worker.js"];
/// Vertices along the longest side of the creature's skin.
const RESOLUTION: &str = "44";
/// Largest size of the page, bytes.
const MOST_BYTES: usize = 4_000_000;

/// Makes the page and, with Chromium, checks loading and motion, and drops characters (GLB files) on the
/// page.
pub fn build(characters: &[&str]) -> Result<()> {
    let modules = wasm::build()?;
    let folder = project::out().join("page");
    project::empty_directory(&folder)?;
    let parts = project::target().join("page");
    fs::create_dir_all(&parts).map_err(io_error(&parts))?;
    let creature = creature(&parts)?;
    let fleshed = parts.join("creature_flesh.glb");
    let script = "rust/player/js/make.mjs";
    process::run(command("node").arg(script).args([&modules.builder, &creature, &fleshed]))?;
    let worker = parts.join("worker.js");
    fs::write(&worker, joined(&WORKER)?).map_err(io_error(&worker))?;
    let files = [("builder.wasm", modules.builder), ("worker.js", worker), ("creature.glb", fleshed)];
    let page = assembled(&files)?;
    let target = folder.join("index.html");
    if page.len() > MOST_BYTES {
        return Err(format!("the page has {} bytes, more than {MOST_BYTES}", page.len()));
    }
    fs::write(&target, &page).map_err(io_error(&target))?;
    println!("{}: {} kB", target.display(), page.len() / 1000);
    rehearse(&target)?;
    if characters.is_empty() { Ok(()) } else { drop_on(&target, characters) }
}

/// The demo's creature as a GLB file.
fn creature(folder: &Path) -> Result<PathBuf> {
    let file = folder.join("creature.glb");
    heading("creature");
    let mut script = Venv::blender(default_blender())?.python();
    script.arg("examples/blender/creature.py").arg(&file).args(["--resolution", RESOLUTION]);
    process::run(&mut script)?;
    Ok(file)
}

/// Modules as one, without their imports and exports.
fn joined(names: &[&str]) -> Result<String> {
    let mut all = String::new();
    for name in names {
        let path = project::root().join("rust/player").join(name);
        let text = fs::read_to_string(&path).map_err(io_error(&path))?;
        for line in text.lines().filter(|line| !line.starts_with("import ")) {
            all.push_str(line.strip_prefix("export ").unwrap_or(line));
            all.push('\n');
        }
    }
    Ok(all)
}

/// The page with script and files, packed.
fn assembled(files: &[(&str, PathBuf)]) -> Result<String> {
    let path = project::root().join(PAGE).join("index.html");
    let frame = fs::read_to_string(&path).map_err(io_error(&path))?;
    let mut scripts = String::new();
    for (name, path) in files {
        let packed =
            output(command("sh").args(["-c", "gzip -9 --stdout \"$0\" | base64 --wrap=0"]).arg(path))?;
        scripts.push_str(&format!("<script type=\"text/plain\" data-file=\"{name}\">{packed}</script>\n"));
    }
    scripts.push_str(&format!("<script type=\"module\">\n{}</script>\n", joined(&MODULES)?));
    Ok(frame.replace("<!-- script -->\n", &scripts))
}

/// Opens the page from disk in Chromium, and compares its motion with that of the player in Node.
fn rehearse(page: &Path) -> Result<()> {
    let script = "rust/player/page/rehearse.mjs";
    process::run(command("node").arg(script).arg(page))
}

/// Gives the page characters, GLB files, and prints a table.
fn drop_on(page: &Path, characters: &[&str]) -> Result<()> {
    process::run(command("node").arg("rust/player/page/drop.mjs").arg(page).args(characters))
}
