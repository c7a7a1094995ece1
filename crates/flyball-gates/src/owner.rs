//! Whose lines are whose: between two marks of a test runner stands what the tested program printed,
//! and that is nobody else's finding.

use crate::text;

/// Knows in whose part of the output the next line stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owner {
    inside: Option<Part>,
    /// Whether the line before was one that a part may follow.
    before: Before,
}

/// A part of the output that belongs to one runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A session of pytest, up to its last line.
    Pytest,
    /// The tests of one program of `cargo test`.
    Cargo,
    /// The failures of unittest.
    Unittest,
    /// The title of one failure, up to a blank line: it may go on at the very left.
    JestTitle,
    /// One failure, or what a test said on the console.
    Jest,
    /// One failure.
    Vitest,
    /// What a test printed, up to a blank line.
    VitestPrinted,
    /// The tests of one package.
    Go,
    /// The list of failures.
    Rspec,
    /// The details of one failure.
    Tap,
    /// What one test printed.
    Nextest,
    /// What a test prints while it runs, with `--no-capture`.
    NextestLive,
    /// A report in XML.
    Junit,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Other,
    /// A line of `=` alone.
    Rule,
    /// `not ok 3 - name`.
    NotOk,
}

impl Owner {
    /// The part the next line stands in, unless it ends it.
    pub(crate) const fn part(&self) -> Option<Part> {
        self.inside
    }

    /// Lines came that neither begin nor end a part.
    pub(crate) const fn pass(&mut self) {
        self.before = Before::Other;
    }

    /// The runner this line belongs to alone, if it does. The marks themselves are for everyone.
    pub(crate) fn of(&mut self, line: &str) -> Option<Part> {
        if let Some(part) = self.inside {
            if part == Part::JestTitle && (line.is_empty() || is_deep(line)) {
                self.inside = Some(Part::Jest);
                return Some(Part::Jest);
            }
            if !part.ends(line) {
                if part == Part::Jest && line.starts_with("  \u{25cf} ") {
                    self.inside = Some(Part::JestTitle);
                }
                return Some(part);
            }
            self.inside = None;
        }
        self.inside = begun(line, self.before);
        self.before = before(line);
        None
    }
}

fn before(line: &str) -> Before {
    match line.as_bytes().first() {
        Some(b'=') if text::is_rule(line, '=', 60) => Before::Rule,
        Some(b'n' | b' ') if line.as_bytes().get(text::indent(line)) == Some(&b'n') => {
            let is_not_ok = text::trim_start(line).starts_with("not ok ");
            if is_not_ok { Before::NotOk } else { Before::Other }
        }
        _ => Before::Other,
    }
}

/// The part that begins after this line.
fn begun(line: &str, before: Before) -> Option<Part> {
    match line.as_bytes().first()? {
        b'=' => {
            if line.starts_with("=== RUN   ") {
                return Some(Part::Go);
            }
            let title = line.starts_with("====").then(|| text::in_rule(line, '=')).flatten()?;
            matches!(title, "test session starts" | "FAILURES" | "ERRORS").then_some(Part::Pytest)
        }
        b'r' => is_running(line).then_some(Part::Cargo),
        b'-' => (line.starts_with("--- FAIL: ") && line.ends_with("s)")).then_some(Part::Go),
        b'F' | b'E' if before == Before::Rule => {
            (line.starts_with("FAIL: ") || line.starts_with("ERROR: ")).then_some(Part::Unittest)
        }
        b'F' => (line == "Failures:").then_some(Part::Rspec),
        b's' => (line.starts_with("stdout | ") || line.starts_with("stderr | "))
            .then_some(Part::VitestPrinted),
        b' ' => indented(line, before),
        b'<' => is_report(line).then_some(Part::Junit),
        _ => None,
    }
}

/// Whether a line is indented as what stands below the title of a failure, and is no title.
fn is_deep(line: &str) -> bool {
    line.starts_with("  ") && !line.starts_with("  \u{25cf} ")
}

/// `<testsuites …>` or `<testsuite …>` whose end comes later.
fn is_report(line: &str) -> bool {
    line.starts_with("<testsuite") && !line.contains("</testsuite") && !line.ends_with("/>")
}

fn indented(line: &str, before: Before) -> Option<Part> {
    let depth = text::indent(line);
    // Most lines are indented, and few of them begin like one of these.
    if !matches!(line.as_bytes().get(depth)?, b'-' | b'c' | b'F' | b's' | b'S' | 0xe2) {
        return None;
    }
    let own = text::trim_start(line);
    if own == "---" && before == Before::NotOk {
        return Some(Part::Tap);
    }
    if line.starts_with("  \u{25cf} ") {
        return Some(Part::JestTitle);
    }
    if is_console(line) {
        return Some(Part::Jest);
    }
    let is_headed = line.starts_with(" FAIL  ") || line.starts_with(" FAIL |");
    if is_headed && (line.contains(" > ") || line.contains(" [ ")) {
        return Some(Part::Vitest);
    }
    if own.starts_with("START [") {
        return Some(Part::NextestLive);
    }
    let heading = own.strip_prefix("stdout ").or_else(|| own.strip_prefix("stderr "))?;
    heading.starts_with("\u{2500}\u{2500}\u{2500}").then_some(Part::Nextest)
}

/// `  console.log` alone on its line.
fn is_console(line: &str) -> bool {
    line.strip_prefix("  console.")
        .is_some_and(|kind| matches!(kind.trim_end(), "log" | "error" | "warn" | "info" | "debug"))
}

fn is_running(line: &str) -> bool {
    line.strip_prefix("running ")
        .and_then(text::number)
        .is_some_and(|(_, rest)| matches!(rest, " test" | " tests"))
}

impl Part {
    /// Whether it is nothing but what a test printed.
    pub(crate) const fn is_printed(self) -> bool {
        matches!(self, Self::VitestPrinted)
    }

    /// The runner it belongs to.
    pub(crate) const fn runner(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Cargo => "cargo-test",
            Self::Unittest => "unittest",
            Self::JestTitle | Self::Jest => "jest",
            Self::Vitest | Self::VitestPrinted => "vitest",
            Self::Go => "go-test",
            Self::Rspec => "rspec",
            Self::Tap => "tap",
            Self::Nextest | Self::NextestLive => "nextest",
            Self::Junit => "junit",
        }
    }

    /// Whether the part is over with this line.
    fn ends(self, line: &str) -> bool {
        match self {
            Self::Pytest => is_last_of_pytest(line),
            Self::Cargo => {
                line.starts_with("test result: ")
                    || line.starts_with("error: test failed")
                    || line.starts_with("error: doctest failed")
                    || line.starts_with("     Running ")
                    || line.starts_with("   Doc-tests ")
            }
            Self::Unittest => line.starts_with("Ran ") && line.contains(" test"),
            Self::JestTitle => ["FAIL ", "PASS ", "Test Suites: ", "Tests: "]
                .iter()
                .any(|own| line.starts_with(own)),
            Self::Jest => !line.is_empty() && !line.starts_with(' '),
            Self::Vitest => line.starts_with('\u{23af}'),
            Self::VitestPrinted => line.is_empty(),
            Self::Go => {
                matches!(line, "PASS" | "FAIL")
                    || line.starts_with("FAIL\t")
                    || line.starts_with("ok  \t")
                    || line.starts_with("?   \t")
                    || line.starts_with("exit status ")
                    || (line.starts_with("# ") && line.contains(['/', '.']))
            }
            // Cucumber's list has the same heading.
            Self::Rspec => {
                line.starts_with("Finished in ")
                    || line.starts_with("Failed examples:")
                    || text::number(line).is_some_and(|(_, rest)| rest.starts_with(") Scenario: "))
            }
            Self::Tap => line.trim() == "..." || text::indent(line) == 0,
            Self::NextestLive => is_status(line),
            Self::Junit => line.trim_start().starts_with("</testsuite"),
            Self::Nextest => !line.is_empty() && text::indent(line) < 4 || is_status(line),
        }
    }
}

/// `        FAIL [   0.1s] …` and its like, which are indented as deep as what tests print.
fn is_status(line: &str) -> bool {
    let Some((word, rest)) = line.trim_start().split_once(' ') else { return false };
    word.bytes().all(|byte| byte.is_ascii_uppercase()) && rest.trim_start().starts_with('[')
}

/// `=== 1 failed in 2.05s ===`, and the same without rules.
fn is_last_of_pytest(line: &str) -> bool {
    const WORDS: &[&str] =
        &["passed", "failed", "error", "skipped", "deselected", "warning", "xfailed"];
    // Cheap questions first: this looks at every line of a session.
    let first = line.bytes().find(|byte| !matches!(byte, b'=' | b' '));
    let last = line.as_bytes().last();
    if !matches!((first, last), (Some(b'n' | b'0'..=b'9'), Some(b'=' | b' ' | b's' | b')'))) {
        return false;
    }
    let line = line.trim_matches(['=', ' ']);
    if !line.ends_with(['s', ')']) {
        return false;
    }
    let Some((list, time)) = line.rsplit_once(" in ") else { return false };
    let is_count = text::number(list)
        .is_some_and(|(_, rest)| WORDS.iter().any(|word| rest.trim_start().starts_with(word)));
    text::number(time).is_some() && (is_count || list == "no tests ran")
}

#[cfg(test)]
mod tests {
    use super::Owner;

    /// The lines that belong to one runner alone, by number.
    fn owned(output: &str) -> Vec<usize> {
        let mut owner = Owner::default();
        let lines = output.lines().enumerate();
        lines.filter(|(_, line)| owner.of(line).is_some()).map(|(at, _)| at + 1).collect()
    }

    #[test]
    fn what_tests_print_belongs_to_their_runner_and_what_follows_to_everyone() {
        let pytest = "=== test session starts ===\nx\nsrc/a.ts(3,5): error TS2322: no\n=== 1 failed in 2.05s ===\na";
        assert!(owned(pytest).is_empty(), "short rules are no rules");
        let pytest = pytest.replace("===", "=====");
        assert_eq!(owned(&pytest), [2, 3]);
        assert_eq!(owned("running 2 tests\na\ntest result: FAILED. 1 passed\nb"), [2]);
        assert_eq!(owned("  \u{25cf} a\n\n    error TS2322\nTest Suites: 1 failed\nb"), [2, 3]);
        assert_eq!(owned("  console.log\n    error: x\n\nPASS a.js\nb"), [2, 3]);
        assert_eq!(
            owned("=== RUN   TestA\nerror: x\n--- PASS: TestA (0.00s)\nok  \ta\t0.1s\nb"),
            [2, 3]
        );
        assert_eq!(owned("stdout | a.test.js > x\nerror: x\n\nb"), [2]);
        assert_eq!(owned("<testsuites>\n<testsuite>\nnot ok 1\n</testsuite>\nb"), [2, 3]);
        assert_eq!(owned("not ok 1 - a\n  ---\n  error: x\n  ...\nb"), [3]);
        let rule = "=".repeat(70);
        assert_eq!(owned(&format!("{rule}\nFAIL: a (b.C)\nx\nRan 1 test in 1s\nb")), [3]);
    }
}
