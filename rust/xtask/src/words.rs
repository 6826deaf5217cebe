//! Rules for the text of sources: no wide lines, and doc blocks that open with a noun or a verb.

use std::collections::BTreeSet;
use std::path::Path;

/// Longest line, in characters.
const WIDTH: usize = 110;
/// Openings that put a clause or a pronoun in the place of a noun.
const CLAUSES: [&str; 14] = [
    "What", "How", "Where", "Whether", "Of", "Its", "Those", "Which", "Whatever", "Whose", "That",
    "Likewise", "Whoever", "Wherever",
];

/// Violations of a source file, with their lines.
pub fn violations(file: &Path, text: &str) -> Vec<String> {
    let wide = text.lines().zip(1..).filter(|(line, _)| is_wide(line));
    let wide = wide.map(|(_, number)| format!("{}:{number}: wider than {WIDTH}", file.display()));
    let clauses = openings(text).into_iter().filter(|(_, word)| CLAUSES.contains(word));
    let clauses = clauses.map(|(number, word)| {
        format!("{}:{number}: open this text with a noun or a verb, not \"{word}\"", file.display())
    });
    wide.chain(clauses).collect()
}

/// `true` for a line beyond the width, unless it ends with a remark to a tool.
fn is_wide(line: &str) -> bool {
    line.chars().count() > WIDTH && !line.contains("  # noqa: ")
}

/// First words of doc comments and docstrings, with their lines.
fn openings(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (line, number) in text.lines().map(str::trim_start).zip(1..) {
        let comment = ["/// ", "//! "].into_iter().find_map(|mark| line.strip_prefix(mark));
        let start = if inside { None } else { comment }.or_else(|| line.strip_prefix("\"\"\""));
        inside = line.starts_with("///") || line.starts_with("//!");
        let words = start.and_then(|text| text.split(|letter: char| !letter.is_alphabetic()).next());
        found.extend(words.map(|word| (number, word)));
    }
    found
}

/// Violations of a glossary: terms with two meanings, out of order in their table, or used nowhere in
/// `others`, a lower-case text.
pub fn glossary(text: &str, others: &str) -> Vec<String> {
    let (mut known, mut last, mut found) = (BTreeSet::new(), String::new(), Vec::new());
    for line in text.lines() {
        let Some(row) = line.strip_prefix("| ") else {
            last.clear();
            continue;
        };
        let terms = row.split(" | ").next().unwrap_or_default().replace('*', "").to_lowercase();
        if ["term", "---"].contains(&terms.as_str()) {
            continue;
        }
        for term in terms.split(',').map(|term| term.split(" (").next().unwrap_or_default().trim()) {
            if !known.insert(term.to_owned()) {
                found.push(format!("glossary: \"{term}\" has two rows"));
            }
            if !others.contains(term) {
                found.push(format!("glossary: nothing uses \"{term}\""));
            }
        }
        if terms < last {
            found.push(format!("glossary: \"{terms}\" belongs before \"{last}\""));
        }
        last = terms;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_and_wide_lines_are_found() {
        let found = |text: &str| violations(Path::new("a.rs"), text).len();
        assert_eq!(found("/// Length of a bone.\n/// What follows goes on.\nfn a() {}\n"), 0);
        assert_eq!(found("/// Length of a bone.\n///\n/// What follows goes on.\nfn a() {}\n"), 0);
        assert_eq!(found("/// Length of a bone.\nfn a() {}\n/// What it weighs.\nfn b() {}\n"), 1);
        assert_eq!(found("def a():\n    \"\"\"Whether it is held.\"\"\"\n"), 1);
        assert_eq!(found("def a():\n    \"\"\"True if it is held.\"\"\"\n    b = 'What'\n"), 0);
        let line = "x".repeat(WIDTH);
        assert_eq!(
            [found(&line), found(&format!("{line}x")), found(&format!("{line}  # noqa: A"))],
            [0, 1, 0]
        );
    }
    #[test]
    fn a_glossary_has_each_used_term_once_and_in_order() {
        let table = |rows: &str| format!("# A\n\n| term | meaning |\n| --- | --- |\n{rows}");
        let found = |rows: &str| glossary(&table(rows), "a mode of a cage, *bone core*, core").len();
        assert_eq!(found("| Cage | a |\n| Core, *Bone Core* | b |\n\n## B\n\n| A | c |\n"), 0);
        assert_eq!(found("| Cage | a |\n| Cage | b |\n"), 1);
        assert_eq!(found("| Mode | a |\n| Cage | b |\n"), 1);
        assert_eq!(found("| Cell | a |\n"), 1);
    }
}
