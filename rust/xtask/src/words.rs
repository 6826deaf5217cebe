//! Rules for the text of sources: no wide lines, and doc blocks that open with a noun or a verb.

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
}
