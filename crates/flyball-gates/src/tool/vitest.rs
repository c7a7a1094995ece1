//! vitest: ` FAIL  path > suite > test` blocks and the totals.

use crate::{Counts, Finding, FindingKind};

use super::js_frame;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Report};
use crate::text;

/// Reads the failure blocks and the line `Tests  4 failed | 2 passed (6)`.
#[derive(Clone, Default)]
pub(super) struct Vitest {
    spoke: bool,
    counts: Option<Counts>,
    /// The tests one block speaks of: the same error is printed once for several.
    heads: Vec<(u64, String)>,
    block: Block,
    /// Whether the block has begun.
    has_begun: bool,
    /// An error that belongs to no test.
    unhandled: Option<(u64, Block)>,
    /// The test the last block spoke of.
    last: String,
    findings: Findings,
}

/// How many tests may share one block.
const HEADS_MAX: usize = 200;

impl Recogniser for Vitest {
    fn name(&self) -> &'static str {
        "vitest"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["FAIL", "RUN ", "Test"],
            also: &[(b"\xe2", Trait::Sign(&['⎯']))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some(head) = headed(text)
            && (self.spoke || head.contains(" > ") || head.contains(" [ "))
        {
            if self.has_begun {
                self.close();
            }
            self.spoke = true;
            if self.heads.is_empty() {
                self.block = self.findings.room();
            }
            if self.heads.len() < HEADS_MAX {
                self.heads.push((line.number, text::clip(head.trim(), 500).to_owned()));
            }
        } else if text.starts_with('⎯') {
            self.close();
            let title = text.trim_matches(['⎯', ' ']);
            if self.spoke
                && matches!(title, "Unhandled Rejection" | "Uncaught Exception" | "Unhandled Error")
            {
                self.unhandled = Some((line.number, Block::default()));
            }
        } else if text.starts_with("::error ") {
            // What is said to a workflow comes in between.
        } else if let Some((_, block)) = &mut self.unhandled {
            block.push(text);
        } else if !self.heads.is_empty() {
            self.has_begun |= !text.trim().is_empty();
            self.block.push(text);
        } else if text.starts_with(" RUN  v") {
            self.spoke = true;
        } else if self.spoke
            && let Some(list) = text.trim_start().strip_prefix("Tests  ")
        {
            self.total(list);
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        // More of a failure of which nothing is kept.
        let is_counted =
            !self.heads.is_empty() && self.unhandled.is_none() && self.block.is_closed();
        let is_more = is_counted && !line.starts_with(b" FAIL ") && line.first() != Some(&0xe2);
        self.has_begun |= is_more && !line.trim_ascii().is_empty();
        is_more
    }

    fn after_routine(&self) -> Attention {
        let is_open = !self.heads.is_empty() || self.unhandled.is_some();
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "vitest",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Vitest {
    fn total(&mut self, list: &str) {
        let mut counts = Counts::default();
        for (count, word) in text::tally(list) {
            match word {
                "passed" => counts.passed = count,
                "failed" => counts.failed = count,
                "skipped" | "todo" => counts.skipped = counts.skipped.saturating_add(count),
                _ => {}
            }
        }
        // Several packages have it run one after the other.
        self.counts = Some(self.counts.unwrap_or_default().and(counts));
    }

    fn close(&mut self) {
        if let Some((number, mut block)) = self.unhandled.take() {
            let mut finding = finding("", &block.take());
            // Nothing may have run for want of it.
            if finding.kind != FindingKind::Compile {
                let is_idle = self.counts.is_some_and(|counts| counts.total() == 0);
                finding.kind = if is_idle { FindingKind::CouldNotRun } else { FindingKind::Other };
            }
            finding.file = finding.file.filter(|file| !file.is_empty());
            self.findings.push(number, finding);
        }
        let text = self.block.take();
        self.has_begun = false;
        for (number, head) in self.heads.drain(..) {
            if self.findings.is_known(&[&head, &text]) {
                continue;
            }
            let more = finding(&head, &text);
            // Soft assertions, or several tries: one test has failed.
            if self.last == head
                && let Some(before) = self.findings.last()
            {
                before.message = format!("{}\n{}", before.message, more.message);
            } else {
                self.findings.push(number, more);
            }
            self.last = head;
        }
    }
}

/// What stands behind ` FAIL  `, or ` FAIL |project|  `.
fn headed(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(" FAIL ")?;
    rest.strip_prefix(' ').or_else(|| rest.starts_with('|').then_some(rest))
}

fn finding(head: &str, block: &str) -> Finding {
    // ` |project| path > suite > test`, or `path [ path ]` for a file that did not load.
    let head = head.strip_prefix('|').and_then(|rest| rest.split_once("| ")).map_or(head, |h| h.1);
    let head = head.trim_start();
    let (file, test) = match head.split_once(" > ") {
        Some((file, test)) => (file, Some(test)),
        None => (head.split(" [ ").next().unwrap_or(head), None),
    };
    let message: Vec<&str> = block
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .take_while(|line| !line.trim().is_empty() && frame(line).is_none())
        .take(15)
        .collect();
    let message = message.join("\n");
    let mut kind = js_frame::kind(&message);
    if test.is_some() && kind == FindingKind::Compile {
        kind = FindingKind::Test;
    }
    // A file whose tests could not even be gathered.
    let is_plugins = || block.lines().any(|line| line.starts_with("  Plugin: "));
    if test.is_none() && kind == FindingKind::Test && is_plugins() {
        kind = FindingKind::Compile;
    }
    let mut finding = Finding::new(kind, message).with_excerpt(block);
    finding.name = test.map(str::to_owned);
    match block.lines().find_map(|line| frame(line).or_else(|| unread(line))) {
        Some(place) => finding.at(place.file, place.line, place.column),
        None => finding.at(file, None, None),
    }
}

/// The place of a file that cannot be parsed: `At file: /test/b.test.js:2:9`.
fn unread(line: &str) -> Option<place::Place<'_>> {
    let own = ["At file: ", "  File: "].iter().find_map(|start| line.strip_prefix(start));
    place::prefix(own?)
}

/// The place in ` ❯ path:6:27` or ` ❯ fn path:6:27`.
fn frame(line: &str) -> Option<place::Place<'_>> {
    let rest = line.trim_start().strip_prefix("❯ ")?;
    let last = rest.trim_end().rsplit(' ').next()?;
    let place = place::prefix(last)?;
    (!place.file.contains("node_modules/")).then_some(place)
}
