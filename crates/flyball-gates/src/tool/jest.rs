//! jest: `● suite › test` blocks and the totals.

use crate::{Counts, Finding, FindingKind};

use super::js_frame;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Report};
use crate::skim::Skimmed;
use crate::{skim, text};

/// What is told like a failure and is none.
const NO_FAILURES: [&str; 3] = ["Console", "Deprecation Warning", "Validation Warning"];

/// Reads the failure blocks below `FAIL path` and the line `Tests: …`.
#[derive(Clone, Default)]
pub(super) struct Jest {
    spoke: bool,
    counts: Option<Counts>,
    file: String,
    open: Option<(u64, String, Block)>,
    /// The title of the open one may go on: a blank line ends it.
    is_title: bool,
    findings: Findings,
    warnings: Findings,
}

impl Recogniser for Jest {
    fn name(&self) -> &'static str {
        "jest"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["FAIL", "PASS", "Test", "Jest"],
            also: &[(b"\xe2", Trait::Sign(&['●', '›']))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some(name) = text.strip_prefix("  ● ") {
            self.close();
            if !NO_FAILURES.contains(&name) {
                let room = self.findings.room();
                // What can only be counted needs no name.
                let name = if room.is_closed() { String::new() } else { name.trim().to_owned() };
                self.open = Some((line.number, name, room));
                self.is_title = true;
            }
        } else if self.is_title
            && !text.is_empty()
            && !text.starts_with("  ")
            && !is_outside(text)
            && let Some((_, name, _)) = &mut self.open
        {
            *name = format!("{} {}", text::clip(name, 500), text.trim());
        } else if text.starts_with("  ") || text.is_empty() {
            self.is_title = false;
            if let Some((_, _, block)) = &mut self.open {
                block.push(text::dedent(text, 4));
            }
        } else {
            self.is_title = false;
            self.close();
            self.outside(text, line.number);
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        // More of a failure of which nothing is kept.
        self.is_passing()
            && (line.is_empty() || (line.starts_with(b"  ") && line.get(2) != Some(&0xe2)))
    }

    fn many(&self, lines: &[u8]) -> Skimmed {
        if !self.is_passing() {
            return Skimmed::default();
        }
        skim::up_to_other(lines, |[first, second, third]| {
            let is_deep = first == b' ' && second == b' ' && third != 0xe2;
            !is_deep && first != b'\n'
        })
    }

    fn together(&mut self, lines: &[u8]) -> Skimmed {
        // One more failure of which nothing is kept: its title, and the blank line that ends it.
        let is_counted = self.is_passing() && self.findings.is_full();
        let title = lines.strip_prefix("  ● ".as_bytes()).filter(|_| is_counted);
        let end = title.and_then(|title| memchr::memchr(b'\n', title));
        let Some((title, end)) = title.zip(end) else { return Skimmed::default() };
        let (name, below) = title.split_at_checked(end).unwrap_or_default();
        let is_other = NO_FAILURES.iter().any(|other| other.as_bytes() == name);
        if is_other || !below.starts_with(b"\n\n") {
            return Skimmed::default();
        }
        self.spoke |= !self.file.is_empty();
        self.findings.leave_out(1);
        Skimmed { bytes: lines.len() - below.len() + 2, lines: 2 }
    }

    fn after_routine(&self) -> Attention {
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "jest",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl Jest {
    /// Whether nothing is kept of the failure that is told now.
    fn is_passing(&self) -> bool {
        !self.is_title && self.open.as_ref().is_some_and(|(_, _, block)| block.is_closed())
    }

    fn outside(&mut self, text: &str, number: u64) {
        // With colours the word has a blank on each side.
        let word = text.strip_prefix(' ').unwrap_or(text);
        if let Some(rest) = word.strip_prefix("FAIL ").or_else(|| word.strip_prefix("PASS ")) {
            // `FAIL project path (5 s)`: the path is the last word that looks like one.
            let path = text::split(rest, " (").map_or(rest, |(path, _)| path).trim();
            let last = memchr::memrchr(b' ', path.as_bytes()).map_or(0, |blank| blank + 1);
            path.get(last..).unwrap_or(path).clone_into(&mut self.file);
        } else if let Some(list) = text.strip_prefix("Tests:  ")
            && list.trim_end().ends_with(" total")
        {
            self.spoke = true;
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
        } else if text.starts_with("Test Suites: ") {
            self.spoke = true;
        } else if text.starts_with("Jest: ") && text.contains(" threshold") {
            let finding = Finding::new(FindingKind::Other, text.trim_end()).named("coverage");
            self.findings.push(number, finding);
        } else if let Some(reason) =
            text.strip_prefix(" › ").filter(|r| r.contains(" obsolete from "))
        {
            // It makes a run red only where nothing may be written.
            self.warnings.push(number, Finding::new(FindingKind::Other, reason));
        }
    }

    fn close(&mut self) {
        let Some((number, name, mut block)) = self.open.take() else { return };
        self.spoke |= !self.file.is_empty();
        if block.is_closed() && self.findings.is_only_counted() {
            return;
        }
        let text = block.take();
        if self.findings.is_known(&[&self.file, &name, &text]) {
            return;
        }
        let is_suite = name == "Test suite failed to run";
        let (message, mut kind) = message(&text);
        // None of its tests ran, whatever was in the way.
        if is_suite && kind == FindingKind::Test {
            kind = FindingKind::Compile;
        }
        if !is_suite && kind == FindingKind::Compile {
            kind = FindingKind::Test;
        }
        let mut finding = Finding::new(kind, message).with_excerpt(text.as_str());
        if !is_suite {
            finding = finding.named(name);
        } else if !self.file.is_empty() {
            finding = finding.named(place::tidy(&self.file));
        }
        let syntax = syntax_place(&finding.message).or_else(|| typed_place(&finding.message));
        if let Some((file, line, column)) = syntax {
            finding = finding.at(file, line, column);
        } else if let Some(place) = text.lines().find_map(js_frame::own) {
            finding = finding.at(place.file, place.line, place.column);
        } else if !self.file.is_empty() {
            finding = finding.at(self.file.as_str(), None, None);
        }
        self.findings.push(number, finding);
    }
}

/// Whether a line is one of those that end a failure.
fn is_outside(text: &str) -> bool {
    let own = text.trim_start();
    ["FAIL ", "PASS ", "Test Suites: ", "Tests: "].iter().any(|start| own.starts_with(start))
}

/// The place ts-jest puts before what the type checker says: `a.test.ts:1:7 - error TS2322: text`.
fn typed_place(message: &str) -> Option<(String, u32, u32)> {
    let place = place::prefix(message.lines().next()?)?;
    let is_typed = place.rest.starts_with("- error TS");
    is_typed.then(|| (place.file.to_owned(), place.line, place.column.unwrap_or(1)))
}

/// The message of a block: its lines up to the quoted source or the stack.
fn message(block: &str) -> (String, FindingKind) {
    // What caused an error stands below it, and is not what was thrown.
    let mut own = block.lines().take_while(|line| line.trim() != "Cause:");
    if let Some(syntax) = own.find(|line| line.trim().starts_with("SyntaxError: ")) {
        return (syntax.trim().to_owned(), FindingKind::Compile);
    }
    let kept: Vec<&str> = block
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .take_while(|line| !is_source(line) && !js_frame::is_frame(line))
        .take(25)
        .map(str::trim_end)
        .collect();
    let message = text::trim_lines(&kept.join("\n")).to_owned();
    let kind = js_frame::kind(&message);
    (message, kind)
}

/// Whether a line quotes source: `  > 6 |     expect(…)`.
fn is_source(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("> ").trim_start();
    text::number(line).is_some_and(|(_, rest)| rest.starts_with(" |"))
}

/// The place in `SyntaxError: /path/x.js: Unexpected token (2:8)`, whose column counts from 0.
pub(super) fn syntax_place(message: &str) -> Option<(String, u32, u32)> {
    let rest = message.strip_prefix("SyntaxError: ")?;
    let (file, rest) = rest.split_once(": ")?;
    let (_, at) = rest.rsplit_once('(')?;
    let (line, at) = text::small(at)?;
    let (column, _) = text::small(at.strip_prefix(':')?)?;
    (!file.contains(' ')).then(|| (place::tidy(file).to_owned(), line, column.saturating_add(1)))
}
