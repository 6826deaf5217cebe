//! Measured pages, listed in `docs/evidence.md`: each names the commit of its numbers, and what has changed
//! since in the files that they depend on.

use std::path::Path;

use crate::process::{Result, command, output};
use crate::project;
use crate::repository::read;

/// Page that lists all measured pages.
const PAGE: &str = "docs/evidence.md";
/// Entry of a page whose inputs are those of today.
const UNCHANGED: &str = "-";

/// A row of the table.
#[derive(Debug, PartialEq)]
struct Row<'a> {
    page: &'a str,
    commit: &'a str,
    inputs: Vec<&'a str>,
    changed: &'a str,
}

/// Checks that the list says of each measured page if its inputs have changed since it was measured.
pub fn check(violations: &mut Vec<String>) -> Result<()> {
    for row in rows(&read(Path::new(PAGE))?) {
        if let Some(input) = row.inputs.iter().find(|input| !project::root().join(input).exists()) {
            violations.push(format!("{PAGE}: {} depends on {input}, which is not there", row.page));
        }
        let since = format!("{}..HEAD", row.commit);
        // Without the history, as in a shallow clone, nothing can be said.
        let log = output(command("git").args(["log", "--format=%h", &since, "--"]).args(&row.inputs));
        violations.extend(log.ok().and_then(|log| silence(&row, log.lines().count())));
    }
    Ok(())
}

/// Violation of a row that keeps silent about changes of its inputs.
fn silence(row: &Row<'_>, changes: usize) -> Option<String> {
    (changes > 0 && row.changed == UNCHANGED).then(|| {
        let inputs = row.inputs.join(", ");
        format!(
            "{PAGE}: {} was measured at {}, and {inputs} changed since, {changes} times; measure it anew and \
             name the commit, or say in the last column what has changed",
            row.page, row.commit
        )
    })
}

/// Rows of the table.
fn rows(text: &str) -> Vec<Row<'_>> {
    text.lines().filter(|line| line.starts_with("| [")).filter_map(row).collect()
}

/// Row of a line with five cells.
fn row(line: &str) -> Option<Row<'_>> {
    let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [page, _, measured, inputs, changed] = cells[..] else { return None };
    let commit = measured.split('`').nth(1)?;
    Some(Row { page, commit, inputs: inputs.split('`').skip(1).step_by(2).collect(), changed })
}

#[cfg(test)]
mod tests {
    use super::{Row, rows, silence};

    #[test]
    fn a_row_that_keeps_silent_about_changes_is_refused() {
        let text = "| page | a | b | c | d |\n| [P](p.md) | `x` | `abc1234`, 2026 | `a/b.py` `c` | - |\n";
        let found = rows(text);
        assert_eq!(
            found,
            [Row { page: "[P](p.md)", commit: "abc1234", inputs: vec!["a/b.py", "c"], changed: "-" }]
        );
        assert_eq!(silence(&found[0], 0), None);
        assert!(silence(&found[0], 2).unwrap().contains("a/b.py, c changed since, 2 times"));
        let said = Row { changed: "smaller motion", ..rows(text).remove(0) };
        assert_eq!(silence(&said, 2), None);
    }
}
