//! A session inside of what a test printed, as tests of plugins have it: nobody's but that test's.

use super::Pytest;
use super::sessions::counts;
use crate::text;

impl Pytest {
    /// Whether a line belongs to such a session: from its first line to its numbers.
    pub(super) fn is_nested(&mut self, line: &str) -> bool {
        if !line.starts_with("=====") {
            return self.nested;
        }
        let title = text::in_rule(line, '=').unwrap_or_else(|| line.trim());
        let is_printed = self.section.as_ref().is_some_and(|section| section.is_captured);
        if is_printed && title == "test session starts" {
            self.nested = true;
        }
        if self.nested && counts(title).is_some() {
            self.nested = false;
            return true;
        }
        self.nested
    }
}

#[cfg(test)]
mod tests {
    use crate::Parser;

    #[test]
    fn what_a_session_inside_of_a_test_says_is_not_told() {
        let rule = "=".repeat(20);
        let dashes = "-".repeat(20);
        let heading = format!("{} test_outer {}", "_".repeat(30), "_".repeat(30));
        let output = format!(
            "{rule} test session starts {rule}\na.py F\n\n{rule} FAILURES {rule}\n{heading}\n\nE   assert 0\n\n\
             a.py:3: AssertionError\n{dashes} Captured stdout call {dashes}\n{rule} test session starts {rule}\n\
             inner.py F\n{rule} short test summary info {rule}\nFAILED inner.py::test_inner - boom\n\
             {rule} 1 failed in 0.01s {rule}\n{rule} short test summary info {rule}\n\
             FAILED a.py::test_outer - assert 0\n{rule} 1 failed in 0.02s {rule}\n"
        );
        let mut parser = Parser::new("pytest");
        parser.feed(output.as_bytes());
        let parsed = parser.finish(Some(1));
        let names: Vec<_> =
            parsed.findings.iter().filter_map(|found| found.name.as_deref()).collect();
        assert_eq!(names, ["a.py::test_outer"]);
        assert_eq!(parsed.counts.map(|counts| counts.failed), Some(1));
    }
}
