//! Licences of the software compiled into the wheel, which must accompany every copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{Result, cargo, command, io_error, output};
use crate::project;

/// Prefixes of the names of licence files.
const LICENCE_FILES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// Maximum depth below a crate's top at which bundled sources of others keep their licences.
const MAX_DEPTH: usize = 2;

/// Text before the copyright holders in an MIT licence.
const MIT_COPYRIGHT: &str = "Copyright (c)";

/// Writes notices for the module on `target` to two files in `folder`: those of the crates, and those of
/// Rust's own library.
pub fn write(folder: &Path, target: &str) -> Result<Vec<PathBuf>> {
    let crates = folder.join("THIRD-PARTY.txt");
    fs::write(&crates, third_party(target)?).map_err(io_error(&crates))?;
    let mut written = vec![crates];
    let source = rust_library()?;
    if source.is_file() {
        let library = folder.join("THIRD-PARTY-RUST.html");
        fs::copy(&source, &library).map_err(io_error(&source))?;
        written.push(library);
    } else {
        println!(
            "{} is missing, so that the wheel is not to be passed on; rustup's Rust has it",
            source.display()
        );
    }
    Ok(written)
}

/// A page with every crate and its licence, then each distinct licence text with its crates.
fn third_party(target: &str) -> Result<String> {
    let mut tree = cargo();
    tree.args(["tree", "--package", "jounce-python", "--edges", "normal", "--prefix", "none"]);
    tree.args(["--format", "{p}|{l}", "--target", target]);
    let crates = crates(&output(&mut tree)?);
    let mut page = format!("The module that Jounce has for {target} contains the following software.\n\n");
    let mut texts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, licence) in &crates {
        writeln!(page, "{name}: {licence}").map_err(|error| error.to_string())?;
        let directory = sources_of(name)?;
        let mut found = Vec::new();
        collect_texts(&directory, MAX_DEPTH, &mut found);
        if found.is_empty() {
            found.push(standard_text(name, licence, &directory)?);
        }
        for text in found {
            texts.entry(text).or_default().insert(name);
        }
    }
    for (text, names) in texts {
        let names: Vec<_> = names.into_iter().collect();
        write!(page, "\n\n{}\n\n{}\n", names.join(", "), text.trim()).map_err(|error| error.to_string())?;
    }
    Ok(page)
}

/// Path of the standard library's notices in a Rust toolchain installed by rustup.
fn rust_library() -> Result<PathBuf> {
    let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
    Ok(Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html"))
}

/// `name-version` and licence of every crate that is not our own, from lines such as `name v1.0.0|MIT`.
fn crates(tree: &str) -> BTreeMap<String, String> {
    let mut crates = BTreeMap::new();
    for line in tree.lines().filter(|line| !line.contains("(/") && !line.contains(":\\")) {
        let Some((package, licence)) = line.split_once('|') else { continue };
        let mut words = package.split_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            let licence = licence.trim_end_matches(" (*)").to_owned();
            crates.insert(format!("{name}-{}", version.trim_start_matches('v')), licence);
        }
    }
    crates
}

/// Folder into which cargo unpacked a crate.
fn sources_of(name: &str) -> Result<PathBuf> {
    let home = project::cargo_home();
    let mut registries = fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten();
    registries
        .find_map(|registry| Some(registry.path().join(name)).filter(|path| path.is_dir()))
        .ok_or_else(|| format!("the sources of {name} are not in {}; run cargo fetch", home.display()))
}

fn collect_texts(directory: &Path, depth: usize, found: &mut Vec<String>) {
    let mut paths: Vec<_> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_dir() && depth > 0 {
            collect_texts(&path, depth - 1, found);
        } else if LICENCE_FILES.iter().any(|start| name.starts_with(start)) {
            found.extend(fs::read_to_string(&path));
        }
    }
}

/// Text of a licence that a crate names but does not contain, granted by its authors.
fn standard_text(name: &str, licence: &str, directory: &Path) -> Result<String> {
    let own = |file: &str| {
        let path = project::root().join(file);
        fs::read_to_string(&path).map_err(io_error(&path))
    };
    let manifest = directory.join("Cargo.toml");
    let authors = authors(&fs::read_to_string(&manifest).map_err(io_error(&manifest))?);
    let authors = authors.unwrap_or_else(|| format!("The authors of {name}"));
    if licence.contains("MIT") {
        let granted = |line: &str| match line.starts_with(MIT_COPYRIGHT) {
            true => format!("{MIT_COPYRIGHT} {authors}\n"),
            false => format!("{line}\n"),
        };
        return Ok(own("LICENSE-MIT")?.lines().map(granted).collect());
    }
    if licence.contains("Apache-2.0") {
        return Ok(format!("Copyright {authors}\n\n{}", own("LICENSE-APACHE")?));
    }
    Err(format!("{name} brings no text of its licence along, {licence}: add how it is made to notices.rs"))
}

/// Authors in a crate's manifest as written by cargo, without their addresses.
fn authors(manifest: &str) -> Option<String> {
    let list = manifest.split_once("\nauthors = [")?.1.split_once(']')?.0;
    let names = list.split('"').skip(1).step_by(2).filter_map(|author| author.split('<').next());
    Some(names.map(str::trim).collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{authors, crates};

    #[test]
    fn our_own_crates_are_left_out() {
        let tree = "jounce v0.1.0 (/repo/rust/core)|MIT\nfaer v0.24.4|MIT\nena v0.14.4|MIT OR Apache-2.0 (*)";
        let found: Vec<_> = crates(tree).into_iter().collect();
        let expected = [("ena-0.14.4", "MIT OR Apache-2.0"), ("faer-0.24.4", "MIT")];
        assert_eq!(found, expected.map(|(name, licence)| (name.to_owned(), licence.to_owned())));
    }

    #[test]
    fn authors_are_named_without_addresses() {
        let manifest =
            "[package]\nname = \"a\"\nauthors = [\n    \"Ann <a@b.c>\",\n    \"Bob\",\n]\nbuild = false\n";
        assert_eq!(authors(manifest).as_deref(), Some("Ann, Bob"));
        assert_eq!(authors("[package]\nname = \"a\"\n"), None);
        assert_eq!(authors("[package]\nauthors = []\n"), None);
    }
}
