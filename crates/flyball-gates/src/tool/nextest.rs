//! `cargo nextest`: one status line per test, its output indented below.

use std::collections::HashMap;

use crate::{Counts, Finding, FindingKind};

use super::panic;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::{bytes, text};

/// What is said of a test that printed nothing.
const SILENT: &str = "test failed";

/// Reads `FAIL [ 0.1s] (1/8) binary test` with its output, and the summary.
#[derive(Clone, Default)]
pub(super) struct Nextest {
    counts: Option<Counts>,
    /// Counted one by one, for output that ends before the summary.
    seen: Counts,
    spoke: bool,
    block: Option<Open>,
    /// With `--no-capture`, the test that runs and what it prints before its result.
    started: Option<(String, Block)>,
    /// Whether the output of the open test is not indented.
    is_flat: bool,
    /// Which tests failed, with their programs, and whether it was told why: tests of two programs
    /// may have one name.
    failed: HashMap<String, bool>,
    names: Names,
    findings: Findings,
}

/// How many failed tests are remembered.
const FAILED_MAX: usize = 1_000;

#[derive(Clone)]
struct Open {
    number: u64,
    kind: FindingKind,
    name: String,
    /// Its program and its name.
    key: String,
    output: Block,
}

impl Recogniser for Nextest {
    fn name(&self) -> &'static str {
        "nextest"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &[
                "STAR", "PASS", "FAIL", "LEAK", "LKFA", "FLAK", "TIME", "TMT", "ABOR", "SIG",
                "TRY ", "Summ", "Next", "XFAI",
            ],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text::indent(text) >= 2 && text::indent(text) <= 12 {
            if let Some(name) = start(text) {
                self.close();
                self.started = Some((name.to_owned(), Block::default()));
                return Attention::Busy;
            }
            if let Some(status) = status(text) {
                self.close();
                self.status(&status, line.number);
                return self.attention();
            }
            if is_cancelled(text) {
                self.close();
                return Attention::Idle;
            }
            if self.spoke && text.trim_start().starts_with("Summary [") {
                self.close();
                self.summary(text);
                return Attention::Idle;
            }
        } else if is_old_heading(text) {
            // Before 0.9.9x the output was not indented.
            self.is_flat = self.block.is_some();
        } else if !self.is_flat && !text.is_empty() && text::indent(text) == 0 {
            self.close();
        }
        let own = text.trim_start();
        self.spoke |= own.starts_with("Nextest run ID");
        // When it is tried again is no test's word: `   DELAY 2/3 by   0.100s (─────) area name`.
        if own.starts_with("DELAY ") && own.contains(" by ") {
            return self.attention();
        }
        if let Some((_, output)) = &mut self.started {
            output.push(text);
        } else if let Some(open) = &mut self.block {
            open.output.push(if self.is_flat { text } else { text::dedent(text, 4) });
        }
        self.attention()
    }

    fn after_routine(&self) -> Attention {
        self.attention()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        if let Some(open) = &self.block {
            // More of a failure of which nothing is kept: only the marks of nextest are in capitals.
            let (blanks, own) = bytes::after_blanks(line);
            let is_mark = own.first().is_some_and(u8::is_ascii_uppercase);
            let is_calm = self.started.is_none() && !self.is_flat && open.output.is_closed();
            return is_calm && (own.is_empty() || blanks >= 4) && !is_mark;
        }
        let is_calm = self.spoke && self.started.is_none();
        let name = if is_calm && !self.is_flat { passed(line) } else { None };
        let is_taken = name.is_some_and(|name| self.names.ran_bytes(name, str::trim));
        self.seen.passed += u64::from(is_taken);
        is_taken
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "nextest",
            counts: Some(self.counts.unwrap_or(self.seen)),
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Nextest {
    const fn attention(&self) -> Attention {
        if self.block.is_some() || self.started.is_some() {
            Attention::Busy
        } else {
            Attention::Idle
        }
    }

    fn status(&mut self, status: &Status<'_>, number: u64) {
        self.spoke = true;
        self.names.ran(status.name);
        let kind = match status.word {
            "PASS" | "LEAK" | "FLAKY" => {
                self.seen.passed += 1;
                // It was red in an earlier try, and is not any more.
                if status.is_again && self.failed.remove(status.key).is_some() {
                    let is_other = |found: &Finding| found.name.as_deref() != Some(status.name);
                    self.findings.retain(is_other);
                }
                return;
            }
            "TIMEOUT" | "TMT" => FindingKind::Timeout,
            "FAIL" | "FAIL-LEAK" | "LEAK-FAIL" | "LKFAIL" => FindingKind::Test,
            _ => FindingKind::Crash,
        };
        let known = self.failed.get(status.key);
        // With `--failure-output final` what it printed comes with the list at the end.
        let is_told = known.is_some_and(|is_told| *is_told);
        if is_told || (self.counts.is_some() && known.is_none()) {
            return;
        }
        if known.is_none() {
            self.seen.failed += 1;
        }
        let (name, key) = (status.name.to_owned(), status.key.to_owned());
        let output = self.started.take().filter(|(started, _)| *started == name);
        let output = output.map_or_else(|| self.findings.room(), |(_, output)| output);
        self.block = Some(Open { number, kind, name, key, output });
    }

    fn close(&mut self) {
        self.is_flat = false;
        let Some(mut open) = self.block.take() else { return };
        if open.output.is_closed() {
            self.findings.leave_out(1);
            return;
        }
        let output = without_harness(&open.output.take());
        let mut finding = panic::finding(&open.name, &output);
        finding.kind = open.kind;
        if open.kind != FindingKind::Test
            && let Some(note) = output.lines().find_map(|line| line.trim().strip_prefix("(test "))
        {
            finding.message = format!("test {}", note.trim_end_matches(')'));
        }
        let is_told = finding.message != SILENT;
        let is_known = if self.failed.len() < FAILED_MAX {
            self.failed.insert(open.key, is_told).is_some()
        } else {
            self.failed.contains_key(&open.key)
        };
        let name = finding.name.as_deref().unwrap_or_default();
        let is_it = |own: &Finding| own.name.as_deref() == Some(name) && own.message == SILENT;
        if is_known {
            if let Some(at) = self.findings.position(is_it).filter(|_| is_told) {
                self.findings.replace(at, finding);
            }
            return;
        }
        self.findings.push(open.number, finding);
    }

    fn summary(&mut self, text: &str) {
        let Some((_, list)) = text.split_once("run:") else { return };
        let mut counts = Counts::default();
        for (count, word) in text::tally(list) {
            let slot = match word {
                "passed" => &mut counts.passed,
                "failed" | "timed out" | "exec failed" => &mut counts.failed,
                "skipped" => &mut counts.skipped,
                _ => continue,
            };
            *slot = slot.saturating_add(count);
        }
        self.counts = Some(counts);
    }
}

/// The test of `START [         ] (1/6) ledger tests::x`.
fn start(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("START [")?.split_once("] ")?.1.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(after) => after.split_once(')')?.1.trim_start(),
        None => rest,
    };
    Some(rest.split_once(' ')?.1.trim())
}

/// `--- STDERR:              ledger tests::x ---`
fn is_old_heading(text: &str) -> bool {
    (text.starts_with("--- STDOUT: ") || text.starts_with("--- STDERR: ")) && text.ends_with("---")
}

/// `  Cancelling due to test failure: 1 test still running`, between the results.
fn is_cancelled(text: &str) -> bool {
    let own = text.trim_start();
    own.starts_with("Cancelling due to ") || own.starts_with("Canceling due to ")
}

struct Status<'a> {
    word: &'a str,
    name: &'a str,
    /// Its program and its name.
    key: &'a str,
    /// Whether it is another try.
    is_again: bool,
}

/// `FAIL [   0.1s] (3/8) ledger tests::x`, also `TRY 2 FAIL [   0.1s] ledger tests::x`.
fn status(text: &str) -> Option<Status<'_>> {
    let (head, rest) = text.trim_start().split_once(" [")?;
    let (time, rest) = rest.split_once("] ")?;
    if !time.trim_start_matches('>').trim().ends_with('s') {
        return None;
    }
    let is_again = head.starts_with("TRY ") || head == "FLAKY";
    let head = head
        .strip_prefix("TRY ")
        .map_or(head, |again| again.split_once(' ').map_or(again, |(_, word)| word));
    let is_word = head.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    if !is_word || matches!(head, "SLOW" | "TERMINATING" | "START" | "SETUP" | "SKIP" | "RETRY") {
        return None;
    }
    let mut words = rest.trim_start();
    if let Some(after) = words.strip_prefix('(') {
        words = after.split_once(')')?.1;
    }
    let key = words.trim();
    let (_, name) = key.split_once(' ')?;
    Some(Status { word: head, name: name.trim(), key, is_again })
}

/// The name of `        PASS [   0.004s] (1/9) ledger tests::x`.
fn passed(line: &[u8]) -> Option<&[u8]> {
    let (blanks, rest) = bytes::after_blanks(line);
    let (_, rest) = bytes::after_blanks(rest.strip_prefix(b"PASS [")?);
    let rest = bytes::after_digits(bytes::after_digits(rest)?.strip_prefix(b".")?)?;
    let (_, rest) = bytes::after_blanks(rest.strip_prefix(b"s] ")?);
    let rest = match rest.strip_prefix(b"(") {
        Some(after) => after.get(memchr::memchr(b')', after)? + 1..)?.strip_prefix(b" ")?,
        None => rest,
    };
    let (_, rest) = bytes::after_blanks(rest);
    let name = rest.get(memchr::memchr(b' ', rest)? + 1..)?;
    (2..=12).contains(&blanks).then_some(name)
}

/// The captured output without the harness's own lines and nextest's headings.
fn without_harness(output: &str) -> String {
    let mut kept = String::new();
    let mut in_list = false;
    for line in output.lines() {
        let trimmed = line.trim();
        if trimmed == "failures:" {
            in_list = true;
        } else if trimmed.starts_with("---- ") {
            in_list = false;
        }
        let harness = in_list && (trimmed == "failures:" || line.starts_with("    "))
            || trimmed.starts_with("running 1 test")
            || trimmed.starts_with("test result: ")
            || (trimmed.starts_with("test ") && trimmed.ends_with("... FAILED"))
            || trimmed.ends_with("───")
            || is_old_heading(trimmed)
            || (trimmed.starts_with("---- ") && trimmed.ends_with(" ----"));
        if !harness && !(trimmed.is_empty() && (kept.is_empty() || in_list)) {
            kept.push_str(line);
            kept.push('\n');
        }
        if trimmed.starts_with("test result: ") {
            in_list = false;
        }
    }
    kept
}
