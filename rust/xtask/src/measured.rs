//! Measured pages, listed in `docs/evidence.md`: each names the commit of its numbers, the files that they
//! depend on, and the changes of these since.

use std::path::Path;

use crate::process::{Result, command, output};
use crate::project;
use crate::project::read;

/// Page that lists all measured pages.
pub const PAGE: &str = "docs/evidence.md";
/// Entry of a page without a change of its inputs since the measurement.
const UNCHANGED: &str = "-";

/// A row of the table.
#[derive(Debug, PartialEq)]
pub struct Row<'a> {
    /// Cell with the link to the page.
    pub page: &'a str,
    by: &'a str,
    inputs: Vec<&'a str>,
    /// Digest of the inputs when the row was written.
    digest: &'a str,
}

impl Row<'_> {
    /// This row after a measurement at a commit, written as "`commit`, date".
    pub fn measured(&self, commit: &str) -> Result<String> {
        let Self { page, by, inputs, .. } = self;
        let files = inputs.iter().map(|input| format!("`{input}`")).collect::<Vec<_>>().join(" ");
        Ok(format!("| {page} | {by} | {commit} | {files} | {UNCHANGED} | `{}` |", digest(inputs)?))
    }
}

/// Checks that each row was written with the inputs of today.
pub fn check(violations: &mut Vec<String>) -> Result<()> {
    for row in rows(&read(Path::new(PAGE))?) {
        if let Some(input) = row.inputs.iter().find(|input| !project::root().join(input).exists()) {
            violations.push(format!("{PAGE}: {} depends on {input}, which is not there", row.page));
        }
        violations.extend(outdated(&row, &digest(&row.inputs)?));
    }
    Ok(())
}

/// Violation of a row whose inputs have another digest by now.
fn outdated(row: &Row<'_>, today: &str) -> Option<String> {
    (row.digest != today).then(|| {
        format!(
            "{PAGE}: {} changed after the row of {} was written; measure the page anew (cargo x measure), or \
             say in the row what has changed, and write `{today}` as its digest",
            row.inputs.join(", "),
            row.page
        )
    })
}

/// Rows of the table.
pub fn rows(text: &str) -> Vec<Row<'_>> {
    text.lines().filter(|line| line.starts_with("| [")).filter_map(row).collect()
}

/// Row of a line with six cells.
fn row(line: &str) -> Option<Row<'_>> {
    let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [page, by, _, inputs, _, digest] = cells[..] else { return None };
    let inputs = inputs.split('`').skip(1).step_by(2).collect();
    Some(Row { page, by, inputs, digest: digest.trim_matches('`') })
}

/// Digest of the code in files and folders that git tracks; comments and docstrings do not count.
fn digest(inputs: &[&str]) -> Result<String> {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for file in output(command("git").args(["ls-files", "--"]).args(inputs))?.lines() {
        let path = Path::new(file);
        let kind = path.extension().unwrap_or_default().to_string_lossy();
        fnv(&mut hash, file);
        code(&read(path)?, &kind).into_iter().for_each(|line| fnv(&mut hash, line));
    }
    Ok(format!("{:010x}", hash >> 24))
}

/// Adds a line to a hash, by Fowler, Noll and Vo.
fn fnv(hash: &mut u64, line: &str) {
    for byte in line.bytes().chain([b'\n']) {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

/// Lines of a text of this kind that are neither empty, comments nor docstrings.
fn code<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let comment = if kind == "py" { "#" } else { "//" };
    let mut inside = false;
    let mut is_code = |line: &&str| {
        let quotes = line.matches("\"\"\"").count();
        let is_docstring = kind == "py" && (inside || line.starts_with("\"\"\""));
        inside = is_docstring && (inside != (quotes % 2 == 1));
        !(is_docstring || line.is_empty() || line.starts_with(comment))
    };
    text.lines().map(str::trim).filter(&mut is_code).collect()
}

#[cfg(test)]
mod tests {
    use super::{Row, code, outdated, rows};

    #[test]
    fn a_row_whose_inputs_have_changed_is_refused() {
        let text = "| page | a | b | c | d | e |\n\
                    | [P](p.md) | `x` | `abc1234`, 2026 | `a/b.py` `c` | slower | `12ab` |\n";
        let found = rows(text);
        assert_eq!(
            found,
            [Row { page: "[P](p.md)", by: "`x`", inputs: vec!["a/b.py", "c"], digest: "12ab" }]
        );
        assert_eq!(outdated(&found[0], "12ab"), None);
        let said = outdated(&found[0], "34cd").unwrap();
        assert!(said.contains("a/b.py, c changed") && said.contains("`34cd`"), "{said}");
    }

    #[test]
    fn words_are_no_code() {
        let python = "\"\"\"A.\n\nB = 1\n\"\"\"\n# C.\nD = 2\n\ndef e():\n    \"\"\"F.\"\"\"\n    return D\n";
        assert_eq!(code(python, "py"), ["D = 2", "def e():", "return D"]);
        let rust = "//! A.\n/// B.\nconst C: i32 = 2;\n    // D.\n#[test]\n";
        assert_eq!(code(rust, "rs"), ["const C: i32 = 2;", "#[test]"]);
        assert_eq!(code("a = 1 # b\n\n# c", "toml"), ["a = 1 # b", "# c"]);
    }
}
