//! `cargo test`: the text of Rust's own test harness.

mod loose;
mod program;

use crate::{Counts, Finding, FindingKind};

use self::loose::Loose;
use self::program::Program;
use super::panic;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::text;

/// Reads `running 3 tests`, `test x ... ok`, the failure blocks and `test result:`.
#[derive(Clone, Default)]
pub(super) struct CargoTest {
    spoke: bool,
    /// Counted by `test result:` lines.
    counts: Counts,
    /// Counted one by one since the last `running` line.
    open: Option<Counts>,
    /// Names marked as failed, with the line, until their block comes.
    failed: Vec<(u64, String)>,
    /// The failure block that is open.
    block: Option<(u64, String, Block)>,
    /// A test whose result comes after its own output (`--nocapture`).
    live: Option<(u64, String, Block)>,
    part: Part,
    listed: Vec<String>,
    /// Where the run began that the list is about.
    run_begun: u64,
    /// Panics that were printed outside a block (`--nocapture`), by their thread.
    loose: Loose,
    names: Names,
    /// A test program whose harness has not spoken yet: it may have none.
    program: Option<Program>,
    /// What the first program without one has to say, unless one speaks later.
    bare: Option<(u64, Finding)>,
    crashed: Option<(u64, String)>,
    findings: Findings,
}

/// Which part of a run comes now.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Other,
    /// Below `successes:` nothing is red.
    Successes,
    /// `failures:` inside a block: the list of names, if names follow.
    MaybeList,
    /// The list of names that failed, which ends a run.
    List,
}

/// How many failed tests without a block are remembered.
const FAILED_MAX: usize = 1_000;

impl Recogniser for CargoTest {
    fn name(&self) -> &'static str {
        "cargo-test"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["test", "runn", "Runn", "----", "fail", "succ", "proc", "thre", "Erro"],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if self.part == Part::MaybeList {
            self.part = Part::Other;
            if self.is_failed(text) {
                self.close_block();
                self.part = Part::List;
            } else if let Some((_, _, block)) = &mut self.block {
                block.push("failures:");
            }
        }
        if text == "failures:" && self.part == Part::Successes {
            self.close_block();
            self.part = Part::Other;
        } else if text == "failures:" && self.block.is_some() {
            self.part = Part::MaybeList;
        } else if let Some(name) = block_header(text) {
            self.close_block();
            let is_kept = self.part != Part::Successes;
            let room = if is_kept { self.findings.room() } else { Block::closed() };
            self.block = Some((line.number, name.to_owned(), room));
        } else if let Some((_, _, block)) = self.block.as_mut().filter(|_| !is_block_end(text)) {
            block.push(text);
        } else {
            self.close_block();
            self.outside(line);
        }
        self.after_routine()
    }

    fn after_routine(&self) -> Attention {
        let is_open = self.block.is_some() || self.live.is_some() || self.part == Part::List;
        let is_open = is_open || self.program.is_some();
        if is_open || self.loose.is_open() { Attention::Busy } else { Attention::Idle }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        if let Some((_, _, block)) = &self.block {
            // More of a failure of which nothing is kept.
            let is_mark = matches!(line.first(), Some(b'f' | b'-' | b't' | b'r'));
            return block.is_closed() && self.part != Part::MaybeList && !is_mark;
        }
        let is_calm = self.live.is_none() && self.part == Part::Other;
        let Some(open) = self.open.as_mut().filter(|_| is_calm && !self.loose.is_open()) else {
            return false;
        };
        let name = line.strip_prefix(b"test ").and_then(|rest| rest.strip_suffix(b" ... ok"));
        let is_one = |name: &&[u8]| !name.starts_with(b"result: ");
        if !name.filter(is_one).is_some_and(|name| self.names.ran_bytes(name, bare)) {
            return false;
        }
        open.passed += 1;
        self.loose.forget_error();
        true
    }

    fn finish(&mut self) -> Option<Report> {
        self.close_block();
        self.close_live();
        let unfinished = self.open.is_some();
        self.close_run();
        self.close_program();
        let counts = (!unfinished || self.counts != Counts::default()).then_some(self.counts);
        let mut findings = std::mem::take(&mut self.findings);
        for (number, name) in self.failed.drain(..) {
            findings.push(number, self.loose.finding(&name));
        }
        if let Some((number, message)) = self.crashed.take().filter(|_| self.spoke) {
            findings.push(number, self.loose.taken_down(message));
        }
        if let Some((number, finding)) = self.loose.overflow.take() {
            findings.push(number, finding);
            self.spoke = true;
        }
        let names = std::mem::take(&mut self.names);
        self.spoke.then(|| Report {
            tool: "cargo-test",
            counts,
            names,
            findings,
            ..Report::default()
        })
    }
}

impl CargoTest {
    fn outside(&mut self, line: &Line<'_>) {
        let text = line.text;
        if self.part == Part::List && self.is_failed(text) {
            if self.listed.len() < FAILED_MAX {
                self.listed.push(text.trim().to_owned());
            }
            return;
        }
        if !self.spoke {
            self.of_program(line);
        }
        self.loose.line(line);
        if let Some(rest) = text.strip_prefix("test result: ") {
            self.close_live();
            self.result(rest);
        } else if text == "failures:" {
            self.part = Part::List;
        } else if text == "successes:" {
            self.part = Part::Successes;
        } else if let Some(rest) = text.strip_prefix("test ") {
            self.close_live();
            self.test(rest, line.number);
        } else if is_running(text) {
            self.close_live();
            self.close_run();
            self.spoke = true;
            self.program = None;
            self.open = Some(Counts::default());
            self.run_begun = line.number;
        } else if let Some(name) = text.strip_suffix(" --- FAILED") {
            self.mark_failed(name, line.number);
        } else if text.starts_with("  process didn't exit successfully")
            && !text.contains("exit status: 101")
        {
            // It may come before the first line of the tests, which takes another way.
            let message = text.trim().to_owned();
            match self.live.take() {
                Some((number, name, _)) if text.contains("(signal: ") => {
                    let finding = Finding::new(FindingKind::Crash, message).named(name);
                    self.findings.push(number, finding);
                }
                _ => self.crashed = Some((line.number, message)),
            }
        } else if let Some((_, _, block)) = &mut self.live {
            match text {
                "ok" | "FAILED" => self.end_live(text),
                _ => block.push(text),
            }
        }
    }

    /// `tests::adds ... ok`, `tests::slow ... ignored, why`, or a name whose result comes later.
    fn test(&mut self, rest: &str, number: u64) {
        // By far the most frequent line of all.
        if let Some(name) = rest.strip_suffix(" ... ok") {
            if let Some(open) = &mut self.open {
                open.passed += 1;
                self.names.ran(bare(name));
            }
            return;
        }
        let Some((name, result)) = rest.rsplit_once(" ... ") else {
            if let Some(name) = rest.strip_suffix(" ...") {
                self.live = Some((number, bare(name).to_owned(), Block::default()));
            }
            return;
        };
        let name = bare(name);
        let Some(open) = &mut self.open else { return };
        match result.split([',', ' ', '(']).next().unwrap_or_default() {
            "ok" | "bench:" => {
                open.passed += 1;
                self.names.ran(name);
            }
            "ignored" => open.skipped += 1,
            "FAILED" => {
                open.failed += 1;
                self.names.ran(name);
                self.mark_failed(name, number);
            }
            _ => {
                let mut block = Block::default();
                block.push(result);
                self.live = Some((number, name.to_owned(), block));
            }
        }
    }

    fn mark_failed(&mut self, name: &str, number: u64) {
        if self.spoke && self.failed.len() < FAILED_MAX {
            self.failed.push((number, text::clip(bare(name), 500).to_owned()));
        }
    }

    fn end_live(&mut self, result: &str) {
        let Some((number, name, mut block)) = self.live.take() else { return };
        if let Some(open) = &mut self.open {
            self.names.ran(&name);
            if result == "ok" {
                open.passed += 1;
                return;
            }
            open.failed += 1;
        }
        let own = self.loose.of(&name);
        // Tests that run side by side panic below each other's names.
        let is_others = own.is_some_and(|own| !block.as_str().contains(own.trim_end()));
        if block.is_blank() || is_others {
            self.mark_failed(&name, number);
        } else {
            self.findings.push(number, panic::finding(&name, &block.take()));
        }
    }

    /// A program failed, and no harness has told of its tests.
    fn close_program(&mut self) {
        let Some((number, finding)) = self.bare.take() else { return };
        if !self.spoke && self.loose.overflow.is_none() && !self.is_ended() {
            self.spoke = true;
            self.crashed = None;
            self.counts.failed = 1;
            self.findings.push(number, finding);
        }
    }

    /// Whether a signal ended the program.
    fn is_ended(&self) -> bool {
        self.crashed.as_ref().is_some_and(|(_, how)| how.contains("(signal: "))
    }

    /// A line of a program that may have no harness, as long as none has spoken.
    fn of_program(&mut self, line: &Line<'_>) {
        if let Some(program) = Program::begun(line.text) {
            self.program = Some(program);
        } else if line.text.starts_with("{ \"type\": ") {
            // A harness that tells its events.
            self.program = None;
        } else if let Some(program) = &mut self.program
            && let Some(finding) = program.line(line.text)
        {
            self.program = None;
            self.bare.get_or_insert((line.number, finding));
        }
    }

    /// A live test whose end never came: the program died in it.
    fn close_live(&mut self) {
        self.live = None;
    }

    fn close_block(&mut self) {
        let Some((number, name, mut block)) = self.block.take() else { return };
        if self.part == Part::Successes {
            return;
        }
        if self.findings.is_full() {
            self.findings.leave_out(1);
            if let Some(at) = self.failed.iter().position(|(_, failed)| *failed == name) {
                self.failed.swap_remove(at);
            }
            return;
        }
        self.failed.retain(|(_, failed)| *failed != name);
        let mut output = block.take();
        // With `--nocapture` only a part of it stands in the block.
        if let Some(panic) = self.loose.of(&name) {
            output.push_str(panic);
        }
        if self.findings.is_known(&[&name, &output]) {
            return;
        }
        self.findings.push(number, panic::finding(&name, &output));
    }

    /// Whether this is a line of the list of failed names.
    fn is_failed(&self, text: &str) -> bool {
        let name = text.strip_prefix("    ").map(str::trim_end);
        let is_open = |name: &str| self.block.as_ref().is_some_and(|(_, open, _)| open == name);
        let is_marked = |name: &str| self.failed.iter().any(|(_, failed)| failed == name);
        let is_found = |name: &str| self.findings.kept().any(|f| f.name.as_deref() == Some(name));
        // Of very many not all names are remembered.
        let is_any = |name: &str| self.findings.is_full() && !name.starts_with(' ');
        let is_one =
            |name: &str| is_any(name) || is_open(name) || is_marked(name) || is_found(name);
        name.is_some_and(is_one)
    }

    fn result(&mut self, rest: &str) {
        let Some((_, list)) = rest.split_once(". ") else { return };
        self.spoke = true;
        (self.open, self.part) = (None, Part::Other);
        // What the list does not name was printed by a test.
        let listed = std::mem::take(&mut self.listed);
        if !listed.is_empty() {
            let begun = self.run_begun;
            self.failed.retain(|(number, name)| *number < begun || listed.contains(name));
        }
        for (count, word) in text::tally(list) {
            match word {
                "passed" => self.counts.passed = self.counts.passed.saturating_add(count),
                "failed" => self.counts.failed = self.counts.failed.saturating_add(count),
                "ignored" => self.counts.skipped = self.counts.skipped.saturating_add(count),
                _ => {}
            }
        }
    }

    /// A run without a result line: what was counted one by one stands.
    fn close_run(&mut self) {
        if let Some(open) = self.open.take() {
            self.counts.passed = self.counts.passed.saturating_add(open.passed);
            self.counts.failed = self.counts.failed.saturating_add(open.failed);
            self.counts.skipped = self.counts.skipped.saturating_add(open.skipped);
        }
    }
}

/// The name in `---- tests::x stdout ----`.
fn block_header(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("---- ")?.strip_suffix(" ----")?;
    inner.strip_suffix(" stdout").or_else(|| inner.strip_suffix(" stderr"))
}

fn is_block_end(text: &str) -> bool {
    text == "failures:" || text.starts_with("test result: ") || is_running(text)
}

fn is_running(text: &str) -> bool {
    text.strip_prefix("running ")
        .and_then(text::number)
        .is_some_and(|(_, rest)| matches!(rest, " test" | " tests"))
}

/// The name without what the harness says about it.
fn bare(name: &str) -> &str {
    let name = name.trim_end();
    name.strip_suffix(" - should panic").unwrap_or(name)
}
