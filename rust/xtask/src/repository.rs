//! The repository's own rules: sizes, words, links, citations, versions, and agreement of the README with
//! `.ci/run`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::measured;
use crate::prerequisites::APT_PACKAGES;
use crate::process::{Result, command, io_error, output};
use crate::project::{self, read};
use crate::words;

/// Longest source file, in lines.
const MAX_LINES: usize = 500;
/// Largest file of any kind, in bytes.
const MAX_BYTES: u64 = 2 << 20;
/// Starts of a reference to a place in a paper, after the paper's name.
const CITED_PLACES: [&str; 8] = ["eq.", "alg.", "fig.", "sec.", "app.", "table", "eqs.", "A."];

/// Files that name the project's address, with the start of the line.
const ADDRESS_LINES: [(&str, &str); 5] = [
    ("addon/blender_manifest.toml", "website = "),
    ("rust/core/Cargo.toml", "repository.workspace = true"),
    ("rust/player/Cargo.toml", "repository.workspace = true"),
    ("rust/python/Cargo.toml", "repository.workspace = true"),
    ("rust/python/pyproject.toml", "Repository = "),
];

/// Applies every rule to the files tracked by git, and reports each violation.
pub fn check() -> Result<()> {
    let files = tracked_files()?;
    let mut violations = Vec::new();
    for file in &files {
        sizes(file, &mut violations)?;
        if has_extension(file, &["md"]) {
            links(file, &mut violations)?;
        }
        if has_extension(file, &["rs", "py", "pyi"]) {
            violations.extend(words::violations(file, &read(file)?));
        }
    }
    glossary(&files, &mut violations)?;
    citations(&files, &mut violations)?;
    versions(&mut violations)?;
    addresses(&mut violations)?;
    licences(&mut violations)?;
    promises(&mut violations)?;
    commands(&mut violations)?;
    measured::check(&mut violations)?;
    if violations.is_empty() { Ok(()) } else { Err(violations.join("\n")) }
}

/// Terms of the glossary, against all other texts.
fn glossary(files: &[PathBuf], violations: &mut Vec<String>) -> Result<()> {
    let page = Path::new("docs/glossary.md");
    let mut others = String::new();
    for file in files.iter().filter(|file| *file != page && has_extension(file, &["md", "rs", "py"])) {
        others += &read(file)?.to_lowercase();
    }
    violations.extend(words::glossary(&read(page)?, &others));
    Ok(())
}

fn tracked_files() -> Result<Vec<PathBuf>> {
    let list = output(command("git").args(["ls-files", "-z"]))?;
    Ok(list.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

fn has_extension(file: &Path, extensions: &[&str]) -> bool {
    file.extension().is_some_and(|it| extensions.iter().any(|extension| it == *extension))
}

fn sizes(file: &Path, violations: &mut Vec<String>) -> Result<()> {
    let bytes = fs::metadata(project::root().join(file)).map_err(io_error(file))?.len();
    if bytes > MAX_BYTES {
        violations.push(format!("{}: {bytes} bytes, more than {MAX_BYTES}", file.display()));
    }
    // The stub of a compiled module is exempt: it is one file, as the module is.
    if has_extension(file, &["rs", "py"]) {
        let lines = lines_of_code(file, &read(file)?);
        if lines > MAX_LINES {
            violations.push(format!("{}: {lines} lines, more than {MAX_LINES}", file.display()));
        }
    }
    Ok(())
}

/// Number of lines, without the docstrings of the Python module, which are written in Rust.
fn lines_of_code(file: &Path, text: &str) -> usize {
    let is_docstring =
        |line: &&str| file.starts_with("rust/python/src") && line.trim_start().starts_with("///");
    text.lines().filter(|line| !is_docstring(line)).count()
}

/// Checks that every relative link of a page leads to an existing file.
fn links(page: &Path, violations: &mut Vec<String>) -> Result<()> {
    let folder = project::root().join(page.parent().unwrap_or(Path::new("")));
    for link in link_targets(&read(page)?) {
        let target = link.split('#').next().unwrap_or_default();
        if !target.is_empty() && !folder.join(target).exists() {
            violations.push(format!("{}: the link to {target} leads nowhere", page.display()));
        }
    }
    Ok(())
}

/// Relative targets of `[text](target)` in Markdown, outside code blocks.
fn link_targets(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    let targets = prose.flat_map(|text| text.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")).collect()
}

/// Checks the bibliography for every paper cited with a place, such as an equation.
fn citations(files: &[PathBuf], violations: &mut Vec<String>) -> Result<()> {
    let bibliography = read(Path::new("docs/references.bib"))?;
    for file in files.iter().filter(|file| has_extension(file, &["rs", "py", "md"])) {
        for name in cited_names(&read(file)?) {
            if !bibliography.contains(&format!("{{{name},")) {
                violations
                    .push(format!("{}: {name} is cited but not in docs/references.bib", file.display()));
            }
        }
    }
    Ok(())
}

fn cited_names(text: &str) -> BTreeSet<&str> {
    let brackets = text.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    let words = brackets.filter_map(|inside| inside.split_once(' '));
    let cited = words.filter(|(_, place)| CITED_PLACES.iter().any(|start| place.starts_with(start)));
    cited.map(|(name, _)| name).filter(|name| name.chars().all(char::is_alphanumeric)).collect()
}

/// Checks that the extension has the version of the workspace.
fn versions(violations: &mut Vec<String>) -> Result<()> {
    let manifest = Path::new("addon/blender_manifest.toml");
    let expected = format!("version = \"{}\"", project::VERSION);
    if !read(manifest)?.lines().any(|line| line == expected) {
        violations.push(format!("{}: expected the line {expected}", manifest.display()));
    }
    Ok(())
}

/// Checks that packages name the project's address in `Cargo.toml` if there is one, and none otherwise.
fn addresses(violations: &mut Vec<String>) -> Result<()> {
    let manifest = read(Path::new("Cargo.toml"))?;
    for (page, start) in ADDRESS_LINES {
        violations.extend(wrong_address(page, &read(Path::new(page))?, start, address(&manifest)));
    }
    Ok(())
}

/// The repository address in a workspace's manifest.
fn address(manifest: &str) -> Option<&str> {
    manifest.lines().find_map(|line| line.strip_prefix("repository = \"")?.strip_suffix('"'))
}

/// Violation in the line of a page that names the project's address.
fn wrong_address(page: &str, text: &str, start: &str, address: Option<&str>) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(start));
    match (line, address) {
        (Some(line), None) => Some(format!("{page}: {line}, but Cargo.toml names no repository")),
        (None, Some(address)) => {
            Some(format!("{page}: expected a line {start} for {address}, of Cargo.toml"))
        }
        (Some(line), Some(address)) if !line.contains(address) && !line.ends_with("workspace = true") => {
            Some(format!("{page}: {line}, but Cargo.toml names {address}"))
        }
        _ => None,
    }
}

/// Checks the packages for the licences themselves; in the repository these are links, unresolved on some
/// systems.
fn licences(violations: &mut Vec<String>) -> Result<()> {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        for package in ["rust/core", "rust/player", "rust/python"] {
            if read(&Path::new(package).join(name))? != read(Path::new(name))? {
                violations.push(format!(
                    "{package}/{name} is no link to {name}: git config core.symlinks true, then git checkout \
                     {package}"
                ));
            }
        }
    }
    Ok(())
}

/// Checks every promise for named, existing tests.
fn promises(violations: &mut Vec<String>) -> Result<()> {
    let page = Path::new("docs/promises.md");
    for row in promise_rows(&read(page)?) {
        let tests = named_tests(row);
        if tests.is_empty() {
            violations.push(format!("{}: no test holds {row}", page.display()));
        }
        for (file, name) in tests {
            let is_there = read(Path::new(file)).is_ok_and(|text| name.is_none_or(|it| has_test(&text, it)));
            if !is_there {
                let name = name.unwrap_or_default();
                violations.push(format!("{}: there is no test {file}::{name}", page.display()));
            }
        }
    }
    Ok(())
}

/// Rows of a page's tables, without their heads.
fn promise_rows(page: &str) -> impl Iterator<Item = &str> {
    let is_head = |line: &str| line.starts_with("| promise ") || line.starts_with("| --- ");
    page.lines().filter(move |line| line.starts_with("| ") && !is_head(line))
}

/// Tests named in a line, `file::name` or a whole `file`.
fn named_tests<'a>(line: &'a str) -> Vec<(&'a str, Option<&'a str>)> {
    let spans = line.split('`').skip(1).step_by(2).filter(|span| span.starts_with("tests/"));
    let parts = |span: &'a str| span.split_once("::").map_or((span, None), |(file, name)| (file, Some(name)));
    spans.map(parts).collect()
}

fn has_test(text: &str, name: &str) -> bool {
    text.contains(&format!("def {name}(")) || text.contains(&format!("fn {name}("))
}

/// Checks that README and `.ci/run` install the same packages, and that the README lists the commands of
/// `.ci/run`.
fn commands(violations: &mut Vec<String>) -> Result<()> {
    let readme = read(Path::new("README.md"))?;
    let run = read(Path::new(".ci/run"))?;
    for (name, text) in [("README.md", &readme), (".ci/run", &run)] {
        if !text.contains(APT_PACKAGES) {
            violations.push(format!("{name}: expected the packages {APT_PACKAGES}"));
        }
    }
    for line in run.lines().filter(|line| line.starts_with("cargo ")) {
        if !readme.contains(line) {
            violations.push(format!("README.md: .ci/run runs {line}, which the README does not name"));
        }
    }
    for needed in ["cargo x check", "cargo x test"] {
        if !run.lines().any(|line| line == needed) {
            violations.push(format!(".ci/run: expected the line {needed}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{
        address, cited_names, has_test, lines_of_code, link_targets, named_tests, promise_rows, wrong_address,
    };

    #[test]
    fn docstrings_of_python_are_not_code() {
        let text = "/// A.\nfn a() {\n    /// B.\n}\n";
        assert_eq!(lines_of_code(Path::new("rust/python/src/a.rs"), text), 2);
        assert_eq!(lines_of_code(Path::new("rust/core/src/a.rs"), text), 4);
    }

    #[test]
    fn packages_name_the_address_of_the_workspace_and_no_other() {
        let lines = ["[package]", "repository = \"https://a.org/b\""].join("\n");
        assert_eq!(address(&lines), Some("https://a.org/b"));
        assert_eq!(address("[package]"), None);
        let found = |text, address| wrong_address("p", text, "website = ", address);
        assert_eq!(found("website = \"https://a.org/b\"", Some("https://a.org/b")), None);
        assert_eq!(found("id = 1", None), None);
        assert!(found("website = \"https://c.org\"", Some("https://a.org/b")).unwrap().contains("c.org"));
        assert!(found("website = \"https://c.org\"", None).unwrap().contains("no repository"));
        assert!(found("id = 1", Some("https://a.org/b")).unwrap().contains("expected"));
    }

    #[test]
    fn promises_name_the_tests_that_hold_them() {
        let page = "# P\n| promise | held by |\n| --- | --- |\n| a | `tests/a.py::test_b`, `tests/c.rs` |\n";
        let rows: Vec<_> = promise_rows(page).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(named_tests(rows[0]), [("tests/a.py", Some("test_b")), ("tests/c.rs", None)]);
        assert!(has_test("def test_b(x):", "test_b") && has_test("fn b() {", "b"));
        assert!(!has_test("def test_bc():", "test_b"));
    }

    #[test]
    fn relative_links_are_found_outside_of_code() {
        let page = "[a](b.md#c) [w](https://x.org)\n```py\nf[0](1)\n```\n![i](d/e.png)";
        assert_eq!(link_targets(page), ["b.md#c", "d/e.png"]);
    }

    #[test]
    fn citations_name_a_place_in_a_paper() {
        let text = "[QN eq. 3] and [HRPD alg. 1], but not [a link](b) or [x eq y].";
        assert_eq!(cited_names(text).into_iter().collect::<Vec<_>>(), ["HRPD", "QN"]);
    }
}
