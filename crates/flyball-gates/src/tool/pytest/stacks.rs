//! Stacks in the middle of a run, after which there is nothing more: pytest-timeout prints those of all
//! threads and ends the program, Python itself that of the thread in which it broke.

use crate::report::Findings;
use crate::{Counts, Finding, FindingKind, text};

/// The test that was running when time was up.
#[derive(Clone, Default)]
pub(super) struct Stacks {
    /// The line that says so.
    number: Option<u64>,
    /// What Python said when it broke.
    fatal: Option<String>,
    /// File, line and name of the innermost test in the stacks.
    test: Option<(String, u32, String)>,
}

impl Stacks {
    /// Takes a line; whether it is about stacks.
    pub(super) fn line(&mut self, text: &str, number: u64) -> bool {
        // A cheap question first: this looks at very many lines.
        let may_begin = memchr::memchr2(b'+', b'P', text.as_bytes()).is_some();
        if may_begin && text::has(text, "+++ Timeout +++") {
            self.number.get_or_insert(number);
            return true;
        }
        // It may stand behind the dots of tests that passed.
        let begins = if may_begin { text::find(text, "Fatal Python error: ") } else { None };
        let begins = begins.and_then(|at| text.get(at..));
        let begins = begins
            .or_else(|| text.starts_with("Current thread 0x").then_some("Fatal Python error"));
        if let Some(fatal) = begins.filter(|_| self.number.is_none()) {
            (self.number, self.fatal) = (Some(number), Some(fatal.trim().to_owned()));
            return true;
        }
        if self.number.is_none() {
            return false;
        }
        // A worker may break while others go on. Here the innermost frame is the first.
        let is_dump = text.trim().is_empty()
            || text.starts_with("  ")
            || ["Current thread ", "Thread 0x", "Extension modules: "]
                .iter()
                .any(|start| text.starts_with(start));
        if self.fatal.is_some() && (!is_dump || self.test.is_some()) {
            return is_dump;
        }
        let frame =
            text.trim_start().strip_prefix("File \"").and_then(|rest| rest.split_once("\", line "));
        if let Some((file, rest)) = frame
            && let Some((line, rest)) = text::small(rest)
            && let Some(name) = rest.trim_start_matches(',').strip_prefix(" in ")
            && name.starts_with("test")
        {
            self.test = Some((file.to_owned(), line, name.trim_end().to_owned()));
        }
        true
    }

    /// Whether frames may follow.
    pub(super) const fn is_open(&self) -> bool {
        self.fatal.is_some() && self.test.is_none()
    }

    /// Whether Python broke inside of a test.
    pub(super) const fn is_fatal(&self) -> bool {
        self.fatal.is_some() && self.test.is_some()
    }

    /// Tells it, unless pytest could go on and tell it itself.
    pub(super) fn tell(&mut self, findings: &mut Findings, counts: Option<Counts>) {
        let Some(number) = self.number.take().filter(|_| counts.is_none()) else { return };
        let finding = match self.fatal.take() {
            Some(fatal) => Finding::new(FindingKind::Crash, fatal),
            None => Finding::new(FindingKind::Timeout, "Timeout"),
        };
        let finding = match self.test.take() {
            Some((file, line, name)) => finding.named(name).at(file, line, None),
            None => finding,
        };
        findings.push(number, finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::{FindingKind, Parser};

    #[test]
    fn a_test_in_which_python_broke_is_named() {
        let mut parser = Parser::new("pytest -q");
        parser.feed(
            b".Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n\
              \x20 File \"tests/test_n.py\", line 5 in read\n  File \"tests/test_n.py\", line 13 in test_null\n",
        );
        let found = parser.finish(Some(139)).findings;
        let named = found.iter().find(|found| found.name.as_deref() == Some("test_null"));
        let named = named.expect("the test");
        assert_eq!((named.kind, named.line), (FindingKind::Crash, Some(13)));
    }
}
