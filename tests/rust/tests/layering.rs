//! The order of the core's modules: each uses only itself and the modules to its left.

use std::fs;
use std::path::{Path, PathBuf};

const ORDER: [&str; 20] = [
    "error",
    "progress",
    "math",
    "mesh",
    "rig",
    "material",
    "operators",
    "skeleton",
    "subspace",
    "solve",
    "inputs",
    "kinematics",
    "potentials",
    "stepping",
    "model",
    "simulation",
    "modal",
    "body",
    "file",
    "bake",
];

/// Re-exports at the crate's top level, with the module of each.
const EXPORTS: [(&str, &str); 3] = [("Error", "error"), ("Result", "error"), ("Progress", "progress")];

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|name| *name == module)
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn without_comments(source: &str) -> String {
    let code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.collect::<Vec<_>>().join("\n")
}

/// Names that follow `crate::`, including those of `crate::{a::b, c}`.
fn used_names(source: &str) -> Vec<String> {
    let code = without_comments(source);
    let mut names = Vec::new();
    for rest in code.split("crate::").skip(1) {
        if let Some(group) = rest.strip_prefix('{') {
            names.extend(heads_of_group(group));
        } else {
            names.push(leading_name(rest));
        }
    }
    names
}

fn leading_name(text: &str) -> String {
    text.trim_start().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

/// First names of the entries in a brace group whose opening brace has been removed.
fn heads_of_group(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut names = vec![leading_name(group)];
    for (position, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(leading_name(&group[position + 1..])),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Sentences about the modules that `module` must not use.
fn violations(module: &str, source: &str) -> Vec<String> {
    let own = rank(module);
    let mut found = Vec::new();
    for name in used_names(source) {
        let origin =
            EXPORTS.iter().find(|(export, _)| *export == name).map_or(name.as_str(), |(_, from)| from);
        if rank(origin).is_none() || rank(origin) > own {
            found.push(format!("{module} uses {name}"));
        }
    }
    found
}

#[test]
fn each_module_uses_only_what_stands_to_its_left() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rust/core/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("src/lib.rs")) {
        let inside = file.strip_prefix(&root).unwrap().with_extension("");
        let module = inside.iter().next().unwrap().to_string_lossy().into_owned();
        assert!(rank(&module).is_some(), "{module} has no place in the order of modules");
        let sentences = violations(&module, &fs::read_to_string(file).unwrap());
        found.extend(sentences.into_iter().map(|sentence| format!("{}: {sentence}", file.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_module_that_looks_to_its_right_is_found() {
    assert!(violations("mesh", "use crate::error::Error;\nuse crate::math;").is_empty());
    assert_eq!(violations("mesh", "use crate::rig::Rig;"), ["mesh uses rig"]);
    assert_eq!(violations("mesh", "use crate::{\n    Error,\n    model::{A, B},\n};"), ["mesh uses model"]);
    assert_eq!(violations("error", "fn f() -> crate::Progress {}"), ["error uses Progress"]);
    assert!(violations("mesh", "// crate::bake is the end").is_empty());
}
