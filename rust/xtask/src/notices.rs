//! The licences of the crates that are compiled into the wheel, which whoever passes it on must pass on too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{Result, cargo, output};

/// Beginnings of the names of files that hold a licence.
const LICENCE_FILES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// How deep below a crate's top the sources of others that it carries keep their licences.
const MAX_DEPTH: usize = 2;

/// One page: every crate with its licence, then each distinct licence text with the crates it came with.
pub fn third_party() -> Result<String> {
    let mut tree = cargo();
    tree.args([
        "tree",
        "--package",
        "jounce-python",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}|{l}",
    ]);
    let crates = crates(&output(&mut tree)?);
    let mut page = String::from("The compiled module of Jounce contains the following software.\n\n");
    let mut texts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, licence) in &crates {
        writeln!(page, "{name}: {licence}").map_err(|error| error.to_string())?;
        for directory in sources_of(name) {
            collect_texts(&directory, MAX_DEPTH, &mut |text| {
                texts.entry(text).or_default().insert(name);
            });
        }
    }
    for (text, names) in texts {
        let names: Vec<_> = names.into_iter().collect();
        write!(page, "\n\n{}\n\n{}\n", names.join(", "), text.trim()).map_err(|error| error.to_string())?;
    }
    Ok(page)
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

/// Where cargo unpacked a crate.
fn sources_of(name: &str) -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    let registries = fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten();
    registries.map(|registry| registry.path().join(name)).filter(|path| path.is_dir()).collect()
}

fn collect_texts(directory: &Path, depth: usize, found: &mut impl FnMut(String)) {
    let mut paths: Vec<_> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_dir() && depth > 0 {
            collect_texts(&path, depth - 1, found);
        } else if LICENCE_FILES.iter().any(|start| name.starts_with(start)) {
            fs::read_to_string(&path).into_iter().for_each(&mut *found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::crates;

    #[test]
    fn our_own_crates_are_left_out() {
        let tree = "jounce v0.1.0 (/repo/rust/core)|MIT\nfaer v0.24.4|MIT\nena v0.14.4|MIT OR Apache-2.0 (*)";
        let found: Vec<_> = crates(tree).into_iter().collect();
        let expected = [("ena-0.14.4", "MIT OR Apache-2.0"), ("faer-0.24.4", "MIT")];
        assert_eq!(found, expected.map(|(name, licence)| (name.to_owned(), licence.to_owned())));
    }
}
