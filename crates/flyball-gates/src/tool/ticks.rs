//! The tests that jest, vitest and mocha tick off one by one: `✓ adds (3 ms)`. Whose they are is known
//! only at the end, so that all of them are read here.

use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Findings, Names, Report, TICKS};
use crate::{Finding, FindingKind, bytes, text};

/// Reads ticks and crosses, and the suites above them.
#[derive(Clone, Default)]
pub(super) struct Ticks {
    /// The file the tests below are in, where it is told.
    file: String,
    /// The suites the next test is in: how deep, and what they are called.
    suites: Vec<(usize, String)>,
    /// How many lines came since the last tick.
    quiet: u32,
    /// Whether a suite may have been missed, so that names say nothing.
    is_unsure: bool,
    /// Whether the line before was empty.
    after_blank: bool,
    /// How far it has come.
    part: Part,
    names: Names,
    /// Tests that were crossed off, for runners whose own words on them got lost.
    crossed: Findings,
}

/// What is known of who ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Unknown,
    /// Tests have come without their file: no file is told later.
    Fileless,
    /// mocha has counted: what follows is the list of failures.
    Counted,
}

/// After so many lines without a tick only ticks are looked at.
const QUIET_MAX: u32 = 200;
/// How deep suites may be.
const DEPTH_MAX: usize = 20;
/// What stands between the parts of a name.
const JOINT: &str = " > ";

impl Recogniser for Ticks {
    fn name(&self) -> &'static str {
        TICKS
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["PASS", "FAIL"],
            also: &[(b"\xe2", Trait::Sign(&['✓', '✔', '✕', '❯']))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let own = text::trim_start(line.text);
        let depth = text::indent(line.text);
        let is_passed = own.starts_with("✓ ") || own.starts_with("✔ ");
        let is_failed = own.starts_with("✕ ") || own.starts_with("× ");
        let sign = if is_passed || is_failed { own.split_once(' ') } else { None };
        if let Some((_, name)) = sign.filter(|(_, name)| depth > 0 && !name.is_empty()) {
            self.test(name, depth, is_failed.then_some(line.number));
        } else if let Some(name) = failed(own).filter(|_| self.may_fail(depth)) {
            self.test(name, depth, None);
        } else {
            self.quiet = self.quiet.saturating_add(1);
            self.other(line.text, own, depth);
        }
        self.after_blank = own.is_empty();
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], number: u64) -> bool {
        if let Some(file) = line.strip_prefix(b"PASS ").filter(|_| self.part == Part::Unknown) {
            return self.passed(file);
        }
        let (depth, own) = bytes::after_blanks(line);
        let (b"\xe2\x9c\x93" | b"\xe2\x9c\x94" | b"\xe2\x9c\x95", [b' ', name @ ..]) =
            own.split_at_checked(3).unwrap_or_default()
        else {
            return false;
        };
        // Others tick off tests as well, at the edge or one blank from it.
        let is_own = depth > 1 || (depth == 1 && name.ends_with(b"ms") && has_joint(name));
        if !is_own {
            return false;
        }
        if self.names.is_full() && (self.quiet < QUIET_MAX || depth < 3) {
            self.names.leave_out(1);
            self.quiet = 0;
        } else if let Ok(name) = std::str::from_utf8(name) {
            self.test(name, depth, own.starts_with("✕".as_bytes()).then_some(number));
        } else {
            return false;
        }
        self.after_blank = false;
        true
    }

    fn after_routine(&self) -> Attention {
        if self.quiet < QUIET_MAX { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        let names = std::mem::take(&mut self.names);
        let is_told = !names.is_empty() && !self.is_unsure;
        let findings = std::mem::take(&mut self.crossed);
        is_told.then(|| Report { tool: TICKS, names, findings, ..Report::default() })
    }
}

impl Ticks {
    /// jest: the tests of a file passed. Where it is told without an error, nobody else cares.
    fn passed(&mut self, file: &[u8]) -> bool {
        let is_path = file.iter().all(u8::is_ascii_graphic) && file.contains(&b'.');
        let Some(file) = std::str::from_utf8(file).ok().filter(|_| is_path) else { return false };
        text::clip(file, 200).clone_into(&mut self.file);
        self.suites.clear();
        (self.quiet, self.after_blank) = (0, false);
        true
    }

    /// Whether mocha may tell here that a test failed.
    fn may_fail(&self, depth: usize) -> bool {
        depth > 1 && self.quiet < QUIET_MAX && self.part != Part::Counted && self.file.is_empty()
    }

    /// A test, and in which line it was crossed off.
    fn test(&mut self, name: &str, depth: usize, crossed: Option<u64>) {
        if self.file.is_empty() && depth > 1 && self.part == Part::Unknown {
            self.part = Part::Fileless;
        }
        // A suite between this tick and the last one may have gone by.
        self.is_unsure |= self.quiet >= QUIET_MAX && depth > 2;
        self.quiet = 0;
        if self.names.is_full() {
            return self.names.leave_out(1);
        }
        let name = bytes::untimed(name);
        // vitest: a whole file, `a.test.ts (3 tests)`.
        let is_file = name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).is_some_and(
            |(_, count)| text::number(count).is_some_and(|(_, rest)| rest.starts_with(" test")),
        );
        if is_file {
            return;
        }
        while self.suites.last().is_some_and(|(above, _)| *above >= depth) {
            self.suites.pop();
        }
        let is_whole = depth == 1 && name.contains(JOINT);
        let mut path = if is_whole { String::new() } else { self.file.clone() };
        for suite in self.suites.iter().map(|(_, suite)| suite.as_str()).chain([name]) {
            if !path.is_empty() {
                path.push_str(JOINT);
            }
            path.push_str(suite);
        }
        self.names.ran(&path);
        if let Some(number) = crossed {
            let name = path.strip_prefix(&self.file).unwrap_or(&path).trim_start_matches(JOINT);
            let mut finding = Finding::new(FindingKind::Test, "test failed").named(name);
            finding.file = Some(self.file.clone()).filter(|file| !file.is_empty());
            self.crossed.push(number, finding);
        }
    }

    /// A line that is no test: a file, or the name of a suite.
    fn other(&mut self, text: &str, own: &str, depth: usize) {
        let file = ["PASS ", "FAIL "].iter().find_map(|word| own.strip_prefix(word));
        let file = file.filter(|_| depth < 2).or_else(|| own.strip_prefix("❯ "));
        if depth == 2 && text::number(own).is_some_and(|(_, rest)| rest.starts_with(" passing (")) {
            self.part = Part::Counted;
        }
        // No name is put together any more.
        if self.names.is_full() {
            if file.is_some() && self.part == Part::Unknown {
                self.quiet = 0;
            }
            return;
        }
        if let Some(file) = file.filter(|_| self.part == Part::Unknown) {
            let file = file.trim_start();
            let file = text::split(file, " (").map_or(file, |(file, _)| file);
            text::clip(file.trim_end(), 200).clone_into(&mut self.file);
            self.suites.clear();
            self.quiet = 0;
            return;
        }
        // jest prints nothing else below a file; mocha an empty line before every first suite.
        let is_suite = depth >= 2
            && !own.is_empty()
            && (!self.file.is_empty() || depth > 2 || self.after_blank)
            && text.starts_with("  ");
        if is_suite && self.suites.len() < DEPTH_MAX {
            while self.suites.last().is_some_and(|(above, _)| *above >= depth) {
                self.suites.pop();
            }
            self.suites.push((depth, text::clip(own.trim_end(), 200).to_owned()));
        }
    }
}

/// The test of mocha's `1) subtracts`.
fn failed(own: &str) -> Option<&str> {
    text::number(own)?.1.strip_prefix(") ")
}

fn has_joint(name: &[u8]) -> bool {
    memchr::memmem::find(name, JOINT.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::Ticks;
    use crate::recogniser::{Line, Recogniser as _};

    fn names(output: &str) -> Vec<String> {
        let mut ticks = Ticks::default();
        for (at, text) in output.lines().enumerate() {
            ticks.line(&Line { text, number: at as u64 + 1, place: None });
        }
        let report = ticks.finish();
        let names = report.map(|report| report.names.all()).unwrap_or_default();
        names.into_iter().collect()
    }

    #[test]
    fn tests_have_their_file_and_their_suites() {
        let jest = "PASS src/a.test.js (5.2 s)\n  cart\n    ✓ adds (3 ms)\n    deep\n      ✓ adds\n  \
                    other\n    ✕ adds (1 ms)\n    ○ skipped x\n  ✓ alone\n";
        let want = ["alone", "cart > adds", "cart > deep > adds", "other > adds"];
        assert_eq!(names(jest), want.map(|name| format!("src/a.test.js > {name}")));
        let mocha = "\n  Array\n    #indexOf()\n      ✔ finds (42ms)\n      1) fails\n\n  Other\n    \
                     ✔ finds\n\n  2 passing (4ms)\n  1 failing\n";
        let want = ["Array > #indexOf() > fails", "Array > #indexOf() > finds", "Other > finds"];
        assert_eq!(names(mocha), want);
        let vitest = " ✓ a.test.ts > cart > adds 3ms\n ✓ b.test.ts (3 tests) 4ms\n";
        assert_eq!(names(vitest), ["a.test.ts > cart > adds"]);
    }

    #[test]
    fn names_that_may_lack_a_suite_are_not_told() {
        let noise = "noise\n".repeat(300);
        assert!(names(&format!("{noise}    ✔ adds\n")).is_empty());
        assert_eq!(
            names(&format!("{noise}PASS a.js\n  cart\n    ✓ adds\n")),
            ["a.js > cart > adds"]
        );
    }
}
