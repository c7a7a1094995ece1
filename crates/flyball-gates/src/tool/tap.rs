//! TAP, versions 12 to 14: from node, perl, bats, mocha, vitest and others.

mod lint;

use crate::{Counts, Finding, FindingKind};

use super::{js_frame, tap_diagnostics};
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, LOOSE_TAP, Report};
use crate::text;
use crate::{bytes, place};

/// Reads `ok` and `not ok` with what is said below them; only leaves count, not their parents.
#[derive(Clone, Default)]
pub(super) struct Tap {
    spoke: bool,
    frame: Frame,
    /// Leaves counted one by one.
    leaves: Counts,
    /// What the closing comments say.
    closing: Closing,
    /// Levels that have results: how deep, and whether one failed.
    levels: Vec<(usize, bool)>,
    open: Option<(u64, String, Block)>,
    /// The number of the open one: several may have the same name.
    mark: u64,
    /// How deep the open one stands.
    depth: usize,
    details: Details,
    /// The test whose steps come now.
    subtest: String,
    /// The open one has children of its own.
    is_parent: bool,
    /// What a file printed that could not be loaded: node hands it on as comments.
    crash: Crash,
    /// What a linter says of the open one, where that is a file.
    problems: lint::Problems,
    findings: Findings,
}

/// Whether a version or a plan was told.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Frame {
    #[default]
    None,
    Told,
}

/// Whether the details of the open test are being read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Details {
    #[default]
    None,
    Open,
}

/// An error in the comments before a result, and where it is.
#[derive(Clone, Default)]
struct Crash {
    place: Option<(String, u32)>,
    message: Option<String>,
}

#[derive(Clone, Default)]
struct Closing {
    passed: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
}

const LEVELS_MAX: usize = 64;

impl Recogniser for Tap {
    fn name(&self) -> &'static str {
        "tap"
    }

    fn cues(&self) -> Cues {
        Cues { first: b"}", starts: &["ok ", "not ", "TAP ", "0..", "Bail", "# "], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let depth = text::indent(line.text);
        let trimmed = text::trim_start(line.text);
        if let Some((number, name, block)) = &mut self.open
            && (self.details == Details::Open || trimmed == "---")
            && (depth > self.depth || trimmed.is_empty())
        {
            // What a test printed may stand there in the words of a result.
            if trimmed == "..." {
                self.details = Details::None;
            } else if line.number == *number + 1 {
                self.details = Details::Open;
            }
            block.push(line.text);
            self.problems.line(name, line.text);
            return Attention::Busy;
        }
        // Nobody indents subtests by one or three.
        if let Some(result) = result(trimmed).filter(|_| depth.is_multiple_of(2)) {
            self.close();
            self.depth = depth;
            self.result(&result, depth, line.number);
        } else if is_plan(trimmed) || trimmed.starts_with("TAP version ") {
            self.close();
            self.spoke |= trimmed.starts_with("TAP ");
            self.frame = Frame::Told;
        } else if let Some(name) = trimmed.strip_prefix("# Subtest:") {
            self.close();
            if depth == 0 {
                name.trim().clone_into(&mut self.subtest);
            }
        } else if trimmed == "}" && (self.open.is_none() || depth < self.depth) {
            self.close();
            self.levels.retain(|(level, _)| *level <= depth);
        } else if let Some(reason) = line.text.strip_prefix("Bail out!") {
            self.close();
            (self.spoke, self.frame) = (true, Frame::Told);
            let reason = reason.trim();
            let message = if reason.is_empty() { "the tests bailed out" } else { reason };
            self.findings.push(line.number, Finding::new(FindingKind::Crash, message));
        } else if depth == 0
            && self.spoke
            && let Some((word, count)) = comment_total(trimmed)
        {
            self.close();
            self.closing.take(word, count);
        } else if let Some((_, name, block)) = &mut self.open {
            block.push(line.text);
            self.problems.line(name, line.text);
        } else if let Some(comment) = line.text.strip_prefix("# ").filter(|_| self.spoke) {
            self.crash.take(comment);
        }
        self.after_routine()
    }

    fn after_routine(&self) -> Attention {
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        if let Some((_, _, block)) = &self.open {
            // More of a failure of which nothing is kept.
            let own = line.trim_ascii_start();
            let marks: [&[u8]; 6] = [b"ok", b"not ok", b"1..", b"TAP ", b"#", b"Bail"];
            let is_mark = own.starts_with(b"---") || own.starts_with(b"...");
            let is_mark = is_mark || marks.iter().any(|mark| own.starts_with(mark));
            return block.is_closed() && !is_mark;
        }
        let is_flat = matches!(self.levels.as_slice(), [(0, _)]);
        let is_passed = is_flat && self.crash.is_empty() && is_plain(line);
        self.leaves.passed += u64::from(is_passed);
        is_passed
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: if self.frame == Frame::Told { "tap" } else { LOOSE_TAP },
            counts: Some(Counts {
                passed: self.closing.passed.unwrap_or(self.leaves.passed),
                failed: self.closing.failed.unwrap_or(self.leaves.failed),
                skipped: self.closing.skipped.unwrap_or(self.leaves.skipped),
            }),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Tap {
    fn result(&mut self, result: &TestLine<'_>, depth: usize, number: u64) {
        self.spoke = true;
        let deeper = self.levels.iter().any(|(level, _)| *level > depth);
        let child_failed = self.levels.iter().any(|(level, failed)| *level > depth && *failed);
        self.levels.retain(|(level, _)| *level <= depth);
        let failed = result.verdict == Mark::Failed;
        if let Some((level, any)) = self.levels.last_mut()
            && *level == depth
        {
            *any |= failed;
        } else if self.levels.len() < LEVELS_MAX {
            self.levels.push((depth, failed));
        }
        if result.opens || (deeper && !failed) {
            return;
        }
        if deeper && child_failed {
            // It fails with its children, unless its own hooks do.
            self.open = Some((number, result.name.to_owned(), Block::default()));
            self.is_parent = result.verdict == Mark::Failed;
            return;
        }
        match result.verdict {
            Mark::Excused => self.leaves.skipped += 1,
            Mark::Passed => {
                self.leaves.passed += 1;
                self.crash = Crash::default();
            }
            Mark::Failed => {
                self.leaves.failed += 1;
                self.mark = result.number;
                self.open = Some((number, result.name.to_owned(), self.findings.room()));
            }
        }
    }

    fn close(&mut self) {
        self.details = Details::None;
        let Some((number, name, mut block)) = self.open.take() else { return };
        let problems = self.problems.take(&name);
        if !problems.is_empty() {
            for problem in problems {
                self.findings.push(number, problem);
            }
            return;
        }
        if block.is_closed() {
            self.findings.leave_out(1);
            return;
        }
        let text = block.take();
        let (mark, is_parent) = (self.mark, std::mem::take(&mut self.is_parent));
        // What was cancelled was so because of something else.
        let has = |key: &str| text.lines().any(|line| line.trim() == key);
        if (is_parent && !has("failureType: 'hookFailed'"))
            || has("failureType: 'cancelledByParent'")
        {
            return;
        }
        let mut finding = tap_diagnostics::finding(&name, &text);
        // Steps of deno have no name of their own.
        if text.starts_with("      ---\n      {") {
            finding = finding.named(format!("{} > {name}", self.subtest));
        }
        let crash = std::mem::take(&mut self.crash);
        if finding.message == "test failed"
            && let Some(message) = crash.message
        {
            finding.message = message;
            finding.kind = FindingKind::Compile;
            if let Some((file, line)) = crash.place {
                finding = finding.at(file, line, None);
            }
        }
        self.findings.push_as(mark, number, finding);
    }
}

impl Crash {
    const fn is_empty(&self) -> bool {
        self.place.is_none() && self.message.is_none()
    }

    fn take(&mut self, comment: &str) {
        if let Some(place) = place::prefix(comment).filter(|place| place.rest.is_empty()) {
            let is_own = !place.file.starts_with("node:");
            let own = is_own.then(|| (place.file.to_owned(), place.line));
            *self = Self { place: own, message: None };
        } else if self.message.is_none() && js_frame::is_error(comment) {
            self.message = Some(text::clip(comment, 1_000).to_owned());
        }
    }
}

impl Closing {
    fn take(&mut self, word: &str, count: u64) {
        let slot = match word {
            "pass" => &mut self.passed,
            "fail" | "cancelled" => &mut self.failed,
            "skipped" | "todo" => &mut self.skipped,
            _ => return,
        };
        *slot = Some(slot.unwrap_or(0).saturating_add(count));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Passed,
    Failed,
    /// Marked with SKIP or TODO, whatever came out.
    Excused,
}

struct TestLine<'a> {
    verdict: Mark,
    /// Its subtests follow in braces.
    opens: bool,
    number: u64,
    name: &'a str,
}

/// `not ok 2 - name # TODO why`.
fn result(text: &str) -> Option<TestLine<'_>> {
    let (ok, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok")?),
    };
    let rest = rest.strip_prefix(' ')?.trim_start();
    let (number, rest) = match text::number(rest) {
        Some((number, rest)) if rest.is_empty() || rest.starts_with(' ') => {
            (Some(number), rest.trim_start())
        }
        _ => (None, rest),
    };
    if number.is_none() && !rest.starts_with("- ") {
        return None;
    }
    let opens = rest.ends_with('{');
    let rest = rest.trim_end_matches('{').trim_end();
    let (name, directive) = split_directive(rest);
    let directive = directive.trim_start().get(..4).unwrap_or_default();
    let excused = directive.eq_ignore_ascii_case("skip") || directive.eq_ignore_ascii_case("todo");
    let name = name.strip_prefix("- ").unwrap_or(name).trim();
    let verdict = match (excused, ok) {
        (true, _) => Mark::Excused,
        (false, true) => Mark::Passed,
        (false, false) => Mark::Failed,
    };
    Some(TestLine { verdict, opens, number: number.unwrap_or(0), name })
}

/// Name and directive of `name # TODO later`, `name # time=3ms`: a mark without such a word belongs to the
/// name.
fn split_directive(rest: &str) -> (&str, &str) {
    let mut marks = memchr::memchr_iter(b'#', rest.as_bytes());
    let split = marks.find_map(|at| {
        let (name, directive) = (rest.get(..at)?, rest.get(at + 1..)?.trim_start());
        let is_apart = name.is_empty() || name.ends_with(' ');
        let is_one = ["skip", "todo", "time", "duration"].iter().any(|word| {
            directive.get(..word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word))
        });
        (is_apart && is_one).then_some((name, directive))
    });
    split.unwrap_or((rest, ""))
}

/// `ok 3 - name` with nothing more to say.
fn is_plain(line: &[u8]) -> bool {
    let name = line.strip_prefix(b"ok ").and_then(bytes::after_digits);
    name.and_then(|rest| rest.strip_prefix(b" - ")).is_some_and(|name| {
        !name.ends_with(b"{") && !name.ends_with(b" ") && memchr::memchr(b'#', name).is_none()
    })
}

/// `1..6`.
fn is_plan(text: &str) -> bool {
    text.strip_prefix("1..")
        .and_then(text::number)
        .is_some_and(|(_, rest)| rest.trim().is_empty() || rest.starts_with(" #"))
}

/// `# pass 2`.
fn comment_total(text: &str) -> Option<(&str, u64)> {
    let (word, count) = text.strip_prefix("# ")?.trim().split_once(' ')?;
    Some((word, count.trim().parse().ok()?))
}
