//! Counts of test results, and the closing table of all suites.

use std::time::Duration;

use crate::process::{Result, heading};

/// Counts from the closing lines of a suite.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Passed tests.
    pub passed: usize,
    /// Failed tests.
    pub failed: usize,
    /// Skipped tests.
    pub skipped: usize,
}

/// Outcome of one suite.
pub struct Outcome {
    /// Name in the table.
    pub suite: String,
    /// Counts of the suite's tests.
    pub tally: Tally,
    /// `true` if the process succeeded and no test failed.
    pub succeeded: bool,
    /// Duration.
    pub time: Duration,
}

/// Prints the closing table; returns an error if a suite failed.
pub fn summarise(outcomes: &[Outcome]) -> Result<()> {
    heading("summary");
    println!("{:<28} {:>7} {:>7} {:>7} {:>8}", "suite", "passed", "failed", "skipped", "seconds");
    let mut total = Tally::default();
    for Outcome { suite, tally, succeeded, time } in outcomes {
        let verdict = if *succeeded { "" } else { "  FAILED" };
        let Tally { passed, failed, skipped } = tally;
        println!("{suite:<28} {passed:>7} {failed:>7} {skipped:>7} {:>8.1}{verdict}", time.as_secs_f64());
        total.add(tally);
    }
    println!("{:<28} {:>7} {:>7} {:>7}", "total", total.passed, total.failed, total.skipped);
    let failed: Vec<_> = outcomes.iter().filter(|it| !it.succeeded).map(|it| it.suite.as_str()).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

impl Outcome {
    /// An empty outcome for a suite.
    pub fn new(suite: &str) -> Self {
        Self { suite: suite.to_owned(), tally: Tally::default(), succeeded: true, time: Duration::ZERO }
    }
}

impl Tally {
    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Adds the counts of a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
    pub fn add_cargo(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.add(&Self::from_words(counts));
        }
    }

    /// Counts a character from the list of failed checks in its JSON report.
    pub fn add_character(&mut self, line: &str) {
        if line.starts_with("{\"file\"") {
            let failed = line.contains("\"failed\": [\"");
            self.passed += usize::from(!failed);
            self.failed += usize::from(failed);
        }
    }

    /// Counts a window test from its JSON report.
    pub fn add_window(&mut self, line: &str) {
        if line.starts_with("{\"test\"") {
            let says = |outcome| usize::from(line.contains(&format!("\"outcome\": \"{outcome}\"")));
            self.passed += says("passed");
            self.failed += says("failed");
            self.skipped += says("skipped");
        }
    }

    /// Reads pytest's closing line, such as `== 5 passed, 1 skipped in 0.31s ==`.
    pub fn from_pytest(line: &str) -> Option<Self> {
        let (counts, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
        let seconds = time.split_whitespace().next()?.strip_suffix('s')?;
        seconds.parse::<f64>().ok().map(|_| Self::from_words(counts))
    }

    /// Sums the numbers before known words.
    fn from_words(text: &str) -> Self {
        let words: Vec<_> = text.split_whitespace().map(|word| word.trim_matches([',', ';', '.'])).collect();
        let mut tally = Self::default();
        for pair in words.windows(2) {
            let Ok(count) = pair[0].parse::<usize>() else { continue };
            match pair[1] {
                "passed" | "xpassed" => tally.passed += count,
                "failed" | "error" | "errors" => tally.failed += count,
                "skipped" | "ignored" | "xfailed" => tally.skipped += count,
                _ => {}
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn closing_lines_of_pytest_are_read() {
        let tally =
            Tally::from_pytest("==== 1 failed, 5 passed, 2 skipped, 1 error in 75.31s (0:01:15) ====");
        assert_eq!(tally, Some(Tally { passed: 5, failed: 2, skipped: 2 }));
        assert_eq!(Tally::from_pytest("tests/python/test_mesh.py ....  [ 10%]"), None);
        assert_eq!(Tally::from_pytest("an error in 3 places"), None);
    }

    #[test]
    fn closing_lines_of_cargo_add_up() {
        let mut tally = Tally::default();
        tally.add_cargo(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0s",
        );
        tally.add_cargo("test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out");
        assert_eq!(tally, Tally { passed: 5, failed: 1, skipped: 1 });
    }

    #[test]
    fn characters_are_counted_by_their_failed_checks() {
        let mut tally = Tally::default();
        tally.add_character(r#"{"file": "a.fbx", "checks": "10 passed", "failed": [], "notes": []}"#);
        tally.add_character(r#"{"file": "b.fbx", "checks": "crashed", "failed": ["exit code 1"]}"#);
        tally.add_character("Traceback (most recent call last):");
        assert_eq!(tally, Tally { passed: 1, failed: 1, skipped: 0 });
    }

    #[test]
    fn tests_in_a_window_are_counted_by_their_outcome() {
        let mut tally = Tally::default();
        tally.add_window(r#"{"test": "test_a", "outcome": "passed", "seconds": 0.1, "why": ""}"#);
        tally.add_window(r#"{"test": "test_b", "outcome": "skipped", "seconds": 0.1, "why": "no data"}"#);
        tally.add_window(r#"{"finished": "test_c"}"#);
        assert_eq!(tally, Tally { passed: 1, failed: 0, skipped: 1 });
    }
}
