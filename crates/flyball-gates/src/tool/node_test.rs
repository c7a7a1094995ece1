//! node's own test runner with the spec reporter.

use std::collections::HashSet;

use crate::{Counts, Finding, FindingKind};

use super::js_frame;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Report};
use crate::{bytes, text};

/// Reads `✖ name (1.5ms)` with its error, and the totals `ℹ pass 2`.
#[derive(Clone, Default)]
pub(super) struct NodeTest {
    counts: Option<Counts>,
    /// The list of failures has begun.
    listed: bool,
    /// Whether the closing list of the spec reporter came: whatever is not in it did not fail.
    has_list: bool,
    /// Suites that were opened: their own `✖` only repeats a child's.
    suites: HashSet<String>,
    /// The place given before a failure in the closing list.
    at: Option<(String, u32, Option<u32>)>,
    open: Option<Open>,
    /// Those that are marked as failed without a word: newer versions tell everything in the list.
    bare: Vec<(u64, String)>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    depth: usize,
    /// Its title may go on in the next line: no time came yet.
    is_title: bool,
    at: Option<(String, u32, Option<u32>)>,
    block: Block,
}

const SUITES_MAX: usize = 10_000;
const BARE_MAX: usize = 1_000;
const CANCELLED: &str = "test did not finish before its parent and was cancelled";

impl Recogniser for NodeTest {
    fn name(&self) -> &'static str {
        "node-test"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["test", "Fail"],
            also: &[(b"\xe2", Trait::Sign(&['ℹ', '▶', '✖', '✔']))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if line.text == "Failed tests:" {
            self.listed = true;
        }
        if self.open.is_none()
            && line.text.starts_with(['t', 'F'])
            && !line.text.starts_with("test at ")
        {
            return Attention::Idle;
        }
        let depth = text::indent(line.text);
        let trimmed = text::trim_start(line.text);
        if let Some(total) = trimmed.strip_prefix("ℹ ") {
            self.close();
            self.total(total);
        } else if let Some(name) = trimmed.strip_prefix("▶ ") {
            self.close();
            if self.suites.len() < SUITES_MAX {
                self.suites.insert(text::clip(without_time(name), 500).to_owned());
            }
        } else if trimmed.starts_with("✔ ") || trimmed.starts_with("✖ failing tests:") {
            self.close();
            self.has_list |= trimmed.starts_with('✖');
        } else if let Some(name) = trimmed.strip_prefix("✖ ") {
            self.close();
            // What is still to be done, or left out, may say why behind its time.
            if is_total(name)
                || name.contains(" # TODO")
                || name.contains(" # SKIP")
                || name.contains("ms) # ")
            {
                self.at = None;
                return Attention::Idle;
            }
            // What was cancelled took no time.
            self.failure(without_time(name), depth, line.number);
            if let Some(open) = &mut self.open {
                open.is_title = timed(name).is_none();
            }
        } else if let Some(at) = line.text.strip_prefix("test at ") {
            self.close();
            self.at = place::prefix(at).map(|p| (p.file.to_owned(), p.line, p.column));
        } else if let Some(open) = &mut self.open
            && open.is_title
            && let Some(more) = timed(line.text)
        {
            open.name = format!("{} {}", open.name, more.trim());
            open.is_title = false;
        } else if let Some(open) = &mut self.open {
            open.is_title = false;
            if !trimmed.is_empty() && depth <= open.depth {
                self.close();
            } else {
                open.block.push(text::dedent(line.text, open.depth + 2));
            }
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        // More of a failure of which nothing is kept.
        let is_counted = |open: &&Open| open.block.is_closed() && !open.is_title;
        let Some(open) = self.open.as_ref().filter(is_counted) else {
            return false;
        };
        let (blanks, own) = bytes::after_blanks(line);
        own.is_empty() || (blanks > open.depth && !matches!(own.first(), Some(0xe2 | b'\t')))
    }

    fn after_routine(&self) -> Attention {
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let bare = std::mem::take(&mut self.bare).into_iter().filter(|_| !self.has_list);
        for (number, name) in bare {
            let finding = Finding::new(FindingKind::Test, "test failed").named(name);
            self.findings.push(number, finding);
        }
        // The dot reporter gives no totals.
        let is_listed = self.listed && !self.findings.is_empty();
        (self.counts.is_some() || is_listed).then(|| Report {
            tool: "node-test",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl NodeTest {
    fn total(&mut self, total: &str) {
        let Some((word, count)) = total.trim().split_once(' ') else { return };
        let Ok(count) = count.parse::<u64>() else { return };
        // Others put this sign before numbers as well.
        let mut counts = self.counts.unwrap_or_default();
        match word {
            "tests" | "suites" => {}
            "pass" => counts.passed = counts.passed.saturating_add(count),
            "fail" | "cancelled" => counts.failed = counts.failed.saturating_add(count),
            "skipped" | "todo" => counts.skipped = counts.skipped.saturating_add(count),
            _ => return,
        }
        self.counts = Some(counts);
    }

    fn failure(&mut self, name: &str, depth: usize, number: u64) {
        let at = self.at.take();
        // In the closing list everything is said again, with the place of the test; or it is said there
        // alone, and several tests may have one name.
        if at.is_some() && !self.bare.iter().any(|(_, bare)| bare == name) {
            let known = self.findings.named(name);
            if let Some(finding) = known {
                complete(finding, at.as_ref());
                return;
            }
        }
        let name = name.to_owned();
        let block = self.findings.room();
        self.open = Some(Open { number, name, depth, is_title: false, at, block });
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if open.block.is_closed() {
            // Suites fail with their tests, and are not counted once more.
            let is_one = !self.suites.contains(&open.name);
            self.findings.leave_out(u64::from(is_one));
            return;
        }
        let block = open.block.take();
        let is_bare = block.trim().is_empty() && open.at.is_none();
        if is_bare && !self.suites.contains(&open.name) && self.bare.len() < BARE_MAX {
            self.bare.push((open.number, open.name));
            return;
        }
        let bare = self.bare.iter().position(|(_, name)| *name == open.name);
        let bare = bare.filter(|_| open.at.is_some()).map(|at| self.bare.remove(at));
        let (message, place) = js_frame::of_stack(&block);
        let first = message.lines().next().unwrap_or_default();
        let quoted = first.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\''));
        let whole = message.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\''));
        let message = quoted.or(whole).unwrap_or(&message);
        // A suite fails with its tests; only what its own hooks say is new. And what was cancelled
        // was so because of something else.
        let is_suite = self.suites.contains(&open.name);
        let repeats = message.ends_with(" subtest failed") || message.ends_with(" subtests failed");
        if repeats || (is_suite && message.is_empty()) || message == CANCELLED {
            return;
        }
        // A title of several lines is known whole only now.
        let known = self.findings.named(&open.name);
        if let Some(known) = known.filter(|_| open.at.is_some() && bare.is_none()) {
            complete(known, open.at.as_ref());
            return;
        }
        let mut finding = Finding::new(js_frame::kind(message), message).named(open.name);
        if let Some(place) = place {
            finding = finding.at(place.file, place.line, place.column);
        }
        complete(&mut finding, open.at.as_ref());
        self.findings.push(open.number, finding.with_excerpt(block));
    }
}

/// Whether a linter counts: `10 problems (10 errors, 0 warnings)`.
fn is_total(name: &str) -> bool {
    text::number(name).is_some_and(|(_, rest)| rest.starts_with(" problem")) && name.ends_with(')')
}

/// Adds the place of the test where the error's own is not known.
fn complete(finding: &mut Finding, at: Option<&(String, u32, Option<u32>)>) {
    let Some((file, line, column)) = at else { return };
    if finding.file.is_none() {
        finding.file = Some(file.clone());
        finding.line = Some(*line);
        finding.column = *column;
    }
}

/// The name in `name (1.5ms)`, nothing when there is no time.
fn timed(text: &str) -> Option<&str> {
    // What is left out may say why behind its time.
    let text = text.find("ms) # ").and_then(|end| text.get(..end + 3)).unwrap_or(text).trim_end();
    let (name, time) = text.strip_suffix("ms)")?.rsplit_once(" (")?;
    text::number(time).map(|_| name)
}

fn without_time(text: &str) -> &str {
    timed(text).unwrap_or_else(|| text.trim_end())
}
