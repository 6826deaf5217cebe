//! Time and size of the README's commands, beside what the README says of them.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::process::Result;
use crate::project;
use crate::project::read;
use crate::venv::default_blender;

/// Environments that every command makes; the one of Blender has its version in its name.
const SETUP: [&str; 2] = ["venv-tools", "venv-bpy"];
/// Folders of a build of the module, and of the tests, beside these.
const BUILD: [&str; 2] = ["release", "extension"];
const TESTS: [&str; 6] = ["venv-docs", "venv-farm", "wasm32-unknown-unknown", "player", "doc", "site-pages"];
/// Factor on the README's size up to which a run in a fresh clone passes.
const ROOM: f64 = 1.25;

/// Cost of a command by the README.
#[derive(Debug, PartialEq)]
struct Promise<'a> {
    time: &'a str,
    gigabytes: f64,
}

/// Prints what a command has cost since `start`. With `JOUNCE_FRESH`, in a fresh clone, a size beyond the
/// README's is an error.
pub fn report(name: &str, start: Instant) -> Result<()> {
    let text = read(Path::new("README.md"))?;
    let promise = promised(&text, name).ok_or(format!("README.md has no row for cargo x {name}"))?;
    let made: &[&[&str]] = match name {
        "setup" => &[&SETUP],
        "demo" => &[&SETUP, &BUILD],
        _ => &[&SETUP, &BUILD, &TESTS],
    };
    let folders = made.concat();
    let size: u64 = folders.iter().map(|folder| size(&project::target().join(named(folder)))).sum();
    let (gigabytes, seconds) = (size as f64 / 1e9, start.elapsed().as_secs());
    let said = format!(
        "cargo x {name}: {} min {} s, {gigabytes:.1} GB in target/; the README says {} and {} GB for a first \
         run",
        seconds / 60,
        seconds % 60,
        promise.time,
        promise.gigabytes
    );
    println!("\n{said}");
    let is_fresh = std::env::var_os("JOUNCE_FRESH").is_some();
    if is_fresh && gigabytes > ROOM * promise.gigabytes { Err(said) } else { Ok(()) }
}

/// Row of a command in the README's table.
fn promised<'a>(readme: &'a str, name: &str) -> Option<Promise<'a>> {
    let start = format!("| `cargo x {name}`");
    let row = readme.lines().find(|line| line.starts_with(&start))?;
    let mut cells = row.trim_matches('|').split('|').skip(1).map(str::trim);
    let (time, size) = (cells.next()?, cells.next()?);
    let time = time.trim_start_matches('[').split(']').next()?;
    Some(Promise { time, gigabytes: size.strip_suffix(" GB")?.parse().ok()? })
}

/// Name of a folder below `target/`.
fn named(folder: &str) -> String {
    if folder == "venv-bpy" { format!("{folder}-{}", default_blender().version) } else { folder.to_owned() }
}

/// Bytes of all files in a folder; 0 without it.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let of_entry = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of_entry).sum()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Promise, promised, size};
    use crate::project;
    use crate::project::read;

    #[test]
    fn the_readme_promises_time_and_size() {
        let text = read(Path::new("README.md")).unwrap();
        for name in ["setup", "demo", "test"] {
            let promise = promised(&text, name).unwrap();
            assert!(promise.gigabytes > 0.0 && promise.time.contains("minutes"), "{promise:?}");
        }
        let row = "a\n| `cargo x test` | an hour | 3.5 GB |\n";
        assert_eq!(promised(row, "test"), Some(Promise { time: "an hour", gigabytes: 3.5 }));
        assert_eq!(promised(row, "setup"), None);
    }

    #[test]
    fn a_folder_is_as_large_as_its_files() {
        let folder = project::target().join("size-test");
        project::empty_directory(&folder.join("inside")).unwrap();
        std::fs::write(folder.join("a"), [0; 300]).unwrap();
        std::fs::write(folder.join("inside/b"), [0; 70]).unwrap();
        assert_eq!(size(&folder), 370);
        assert_eq!(size(&folder.join("nowhere")), 0);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
