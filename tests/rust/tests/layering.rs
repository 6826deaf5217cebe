//! The order of the core's modules: each uses only itself and the modules to its left. No files use each
//! other in a circle, and no entries of a folder do. Each file of tests is part of the program.

use std::path::Path;

use jounce_tests::modules::{Modules, Uses, circles, uses_of_entries};

const ORDER: [&str; 24] = [
    "convert",
    "error",
    "check",
    "progress",
    "parallel",
    "math",
    "mesh",
    "rig",
    "material",
    "operators",
    "skeleton",
    "subspace",
    "solve",
    "sampling",
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

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|name| *name == module)
}

/// Sentences about the modules that use what they must not use.
fn violations(uses: &Uses) -> Vec<String> {
    let mut found = Vec::new();
    for (module, others) in uses {
        for other in others.iter().filter(|other| rank(&other[0]) > rank(&module[0])) {
            found.push(format!("{} uses {}", module.join("/"), other.join("/")));
        }
    }
    let entries = uses_of_entries(uses);
    for circle in [circles(uses), circles(&entries)].concat() {
        let names: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
        found.push(format!("a circle of {}", names.join(", ")));
    }
    found
}

#[test]
fn each_module_uses_only_what_stands_to_its_left_and_none_goes_in_a_circle() {
    let uses = Modules::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rust/core/src")).uses();
    let strangers: Vec<&String> =
        uses.keys().map(|module| &module[0]).filter(|name| rank(name).is_none()).collect();
    assert!(strangers.is_empty(), "{strangers:?} have no place in the order of modules");
    assert!(uses.values().map(|others| others.len()).sum::<usize>() > 500, "the sources are read");
    let found = violations(&uses);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_files_of_the_other_crates_go_in_a_circle() {
    for name in ["python", "player", "xtask"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rust").join(name).join("src");
        let uses = Modules::read(&folder).uses();
        assert!(!uses.is_empty(), "the sources of {name} are read");
        let found = circles(&uses);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

#[test]
fn each_file_of_tests_is_in_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let program = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        let line = format!("mod {module};");
        assert!(program.lines().any(|other| other == line), "main.rs lacks {line}");
    }
}

#[test]
fn a_module_that_looks_to_its_right_is_found() {
    let of = |text: &str| {
        let own = if text.contains("fn own") { "error" } else { "mesh" };
        let root = "pub use error::Error;\npub use progress::Progress;";
        let others = ["error", "progress", "math", "rig", "model"].into_iter().filter(|name| *name != own);
        let mut all = vec![("", root), (own, text)];
        all.extend(others.map(|name| (name, "pub struct Rig;\npub enum Error {}\npub struct Progress;")));
        violations(&Modules::of(&all).uses())
    };
    let used = "fn f(_: Error, _: math::Rig) {}";
    assert!(of(&format!("use crate::error::Error;\nuse crate::math;\n{used}")).is_empty());
    assert_eq!(of("use crate::rig::Rig;\nfn f(_: Rig) {}"), ["mesh uses rig"]);
    assert_eq!(
        of("use crate::{\n    Error,\n    model::{A, Rig as B},\n};\nfn f(_: A) {}"),
        ["mesh uses model"]
    );
    assert_eq!(of("fn own() -> crate::Progress {}"), ["error uses progress"]);
    assert!(of("// crate::model is the end\nconst TEXT: &str = \"crate::model::Rig\";").is_empty());
}

#[test]
fn a_circle_of_files_and_of_folders_is_found() {
    let of = |texts: &[(&str, &str)]| violations(&Modules::of(texts).uses());
    let parent = "mod child;\npub use child::Child;\npub struct Parent(Child);";
    assert_eq!(of(&[("", ""), ("mesh", parent), ("mesh/child", "pub struct Child;")]), [""; 0]);
    let back = "use super::Parent;\npub struct Child(Box<Parent>);";
    assert_eq!(of(&[("", ""), ("mesh", parent), ("mesh/child", back)]), ["a circle of mesh, mesh/child"]);
    // A parent that only passes a name on takes no part in a circle of its children.
    let texts = [
        ("", ""),
        ("mesh", "mod a;\nmod b;\npub use a::A;\npub use b::B;"),
        ("mesh/a", "use super::B;\npub struct A(B);"),
        ("mesh/b", "pub struct B(Option<Box<super::A>>);"),
    ];
    assert_eq!(of(&texts), ["a circle of mesh/a, mesh/b"; 2]);
    // Files without a circle, in folders with one.
    let texts = [
        ("", ""),
        ("mesh/a/one", "use crate::mesh::b::two::Two;\npub struct One(Two);"),
        ("mesh/a/three", "pub struct Three;"),
        ("mesh/b/two", "use crate::mesh::a::three::Three;\npub struct Two(Three);"),
    ];
    assert_eq!(of(&texts), ["a circle of mesh/a, mesh/b"]);
}
