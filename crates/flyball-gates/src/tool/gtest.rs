//! `GoogleTest`: what stands between `[ RUN      ]` and `[  FAILED  ]`.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::{Counts, Finding, FindingKind, bytes, text};

/// Reads failures with their test; in the brief form there are no `RUN` lines.
#[derive(Clone, Default)]
pub(super) struct Gtest {
    spoke: bool,
    /// The test that runs now.
    running: Option<(u64, String)>,
    /// A name that is done with, to be used again.
    spare: String,
    failure: Option<Failure>,
    counts: Counts,
    totals: Totals,
    names: Names,
    /// What the running test has printed, if it says no more.
    last: Block,
    findings: Findings,
}

/// What of the end has come.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Totals {
    #[default]
    None,
    Counted,
    /// The names that failed follow.
    Listed,
}

#[derive(Clone, Default)]
struct Failure {
    number: u64,
    place: Option<(String, u32)>,
    /// Whether the newest failure has said something yet.
    has_text: bool,
    text: Block,
}

impl Recogniser for Gtest {
    fn name(&self) -> &'static str {
        "gtest"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["[ RU", "[   ", "[  F", "[  P", "[  S", "[===", "[---", "unkn"],
            places: Places::Before(b"F"),
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some((mark, rest)) = mark(line.text) {
            self.last.clear();
            self.mark(mark, rest, line.number);
        } else if let Some(at) = failure(line) {
            let place = match at {
                At::Place(file, line) => Some((file, line)),
                At::Unknown => None,
            };
            let failure = self.failure.get_or_insert_default();
            if failure.number == 0 {
                failure.number = line.number;
            }
            if failure.has_text {
                failure.text.push(line.text);
            } else {
                // A failure without a word was printed by the test itself.
                failure.place = place;
                failure.text.clear();
            }
            failure.has_text = false;
        } else if let Some(failure) = &mut self.failure {
            failure.has_text |= !line.text.trim().is_empty();
            failure.text.push(line.text);
        } else if self.running.is_some() {
            self.last.push(line.text);
        }
        let is_open =
            self.running.is_some() || self.failure.is_some() || self.totals == Totals::Listed;
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], number: u64) -> bool {
        if self.failure.is_some() || self.totals == Totals::Listed {
            return false;
        }
        let is_plain = |name: &&[u8]| name.iter().all(|b| b.is_ascii_graphic() && *b != b',');
        if let Some(name) = line.strip_prefix(b"[ RUN      ] ").filter(is_plain) {
            let (at, running) =
                self.running.get_or_insert_with(|| (0, std::mem::take(&mut self.spare)));
            *at = number;
            self.last.clear();
            running.clear();
            running.extend(std::str::from_utf8(name));
            return true;
        }
        let Some(rest) = line.strip_prefix(b"[       OK ] ") else { return false };
        let Some((_, running)) = &mut self.running else { return false };
        let time = rest.strip_prefix(running.as_bytes()).and_then(|rest| rest.strip_prefix(b" ("));
        if time.and_then(bytes::after_digits) != Some(b" ms)") {
            return false;
        }
        self.names.ran(running);
        self.spare = std::mem::take(running);
        self.running = None;
        true
    }

    fn after_routine(&self) -> Attention {
        if self.running.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        if self.spoke
            && let Some((number, name)) = self.running.take()
        {
            // Nothing says how it ended: it took the program down with it.
            let text = self.failure.take().map(|mut failure| failure.text.take());
            let text = text.filter(|text| !text.trim().is_empty());
            // What the program said with its last words.
            let text =
                text.or_else(|| Some(self.last.take()).filter(|last| !last.trim().is_empty()));
            let message = text.unwrap_or_else(|| "the test did not end".to_owned());
            self.findings.push(number, Finding::new(FindingKind::Crash, message).named(name));
        }
        self.spoke.then(|| Report {
            tool: "gtest",
            counts: (self.totals != Totals::None).then_some(self.counts),
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Gtest {
    fn mark(&mut self, mark: &str, rest: &str, number: u64) {
        let name = text::split(rest, " (").map_or(rest, |(name, _)| name);
        let name = text::split(name, ", where ").map_or(name, |(name, _)| name).trim();
        match mark {
            "RUN" => {
                self.running = Some((number, name.to_owned()));
                self.failure = None;
            }
            "OK" | "SKIPPED" if self.is_running(name) => {
                self.names.ran(name);
                self.running = None;
                self.failure = None;
            }
            "FAILED" if self.is_running(name) || (self.running.is_none() && timed(rest)) => {
                self.spoke = true;
                self.names.ran(name);
                self.running = None;
                let failure = self.failure.take().unwrap_or_default();
                self.findings.push(number, failure.into_finding(name));
            }
            "FAILED" if self.running.is_none() => self.list(rest, name, number),
            "PASSED" if self.running.is_none() => {
                let count = text::number(rest).map_or(0, |(count, _)| count);
                self.counts.passed = self.counts.passed.saturating_add(count);
                (self.totals, self.spoke, self.failure) = (Totals::Counted, true, None);
            }
            "SKIPPED" if self.running.is_none() && rest.contains(" listed below") => {
                let count = text::number(rest).map_or(0, |(count, _)| count);
                self.counts.skipped = self.counts.skipped.saturating_add(count);
            }
            "==========" => {
                self.spoke |= rest.starts_with("Running ") || rest.contains(" ran.");
                if self.totals == Totals::Listed {
                    self.totals = Totals::Counted;
                }
            }
            _ => {}
        }
    }

    /// The list at the end, which also names what the output did not show.
    fn list(&mut self, rest: &str, name: &str, number: u64) {
        if rest.ends_with(" listed below:") {
            let count = text::number(rest).map_or(0, |(count, _)| count);
            self.counts.failed = self.counts.failed.saturating_add(count);
            self.totals = Totals::Listed;
        } else if self.totals == Totals::Listed
            && !self.findings.kept().any(|f| f.name.as_deref() == Some(name))
        {
            self.findings.push(number, Finding::new(FindingKind::Test, "failed").named(name));
        }
    }

    fn is_running(&self, name: &str) -> bool {
        self.running.as_ref().is_some_and(|(_, running)| running == name)
    }
}

impl Failure {
    fn into_finding(mut self, name: &str) -> Finding {
        let text = self.text.take();
        let message = text::trim_lines(&text);
        let message = if message.is_empty() { "failed" } else { message };
        let finding = Finding::new(FindingKind::Test, message).named(name).with_excerpt(message);
        match self.place {
            Some((file, line)) => finding.at(file, line, None),
            None => finding,
        }
    }
}

/// Mark and text of `[  FAILED  ] Suite.Test (0 ms)`.
fn mark(text: &str) -> Option<(&str, &str)> {
    // Twelve bytes with their brackets, whatever they say.
    let (mark, rest) = text.strip_prefix('[')?.split_at_checked(10)?;
    let rest = rest.strip_prefix(']')?;
    let mark = mark.trim_matches(' ');
    let known = ["RUN", "OK", "FAILED", "PASSED", "SKIPPED", "==========", "----------"];
    known.contains(&mark).then(|| (mark, rest.trim()))
}

/// Whether it ends with how long the test took.
fn timed(rest: &str) -> bool {
    rest.ends_with(" ms)")
}

/// Where a failure is.
#[derive(Clone)]
enum At {
    Place(String, u32),
    /// `unknown file: Failure`
    Unknown,
}

/// The place of `path.cc:4: Failure`.
fn failure(line: &Line<'_>) -> Option<At> {
    if line.text == "unknown file: Failure" {
        return Some(At::Unknown);
    }
    let place = line.place.filter(|place| place.rest == "Failure" && place.column.is_none())?;
    Some(At::Place(place::tidy(place.file).to_owned(), place.line))
}
