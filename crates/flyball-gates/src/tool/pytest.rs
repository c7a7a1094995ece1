//! pytest: failure sections, the short summary and the last line.

mod counted;
mod ended;
mod nested;
mod node;
mod progress;
mod section;
mod sessions;
mod stacks;

use crate::{Counts, Finding, FindingKind};

use self::ended::{cannot_run, conftest, coverage};
use self::node::{is_summary, split_node, split_word, title_of, values_of};
use self::progress::{passed, ran};
use self::section::{Section, kind};
use self::sessions::{Sessions, counts, is_last};
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::skim::Skimmed;
use crate::{place, text};

/// How many one-line tracebacks (`--tb=line`) are remembered for the summary to name.
const LINES_MAX: usize = 400;

/// Reads `____ test_x ____` sections and `FAILED path::test_x - why` lines.
#[derive(Clone, Default)]
pub(super) struct Pytest {
    sessions: Sessions,
    stacks: stacks::Stacks,
    spoke: bool,
    part: Part,
    section: Option<Section>,
    /// Inside of a session that a test printed.
    nested: bool,
    /// Findings of sections, by the name in the heading.
    sections: Vec<(u64, String, Finding)>,
    sections_left_out: u64,
    /// `path:line: message` lines outside sections.
    lines: Vec<(String, u32, String)>,
    /// Node ids of tests that ran, with `-v`.
    names: Names,
    /// Those marked as failed while tests ran.
    marked: Vec<(u64, String)>,
    /// Where pytest itself broke, in the project's own code.
    broke_at: Option<(String, u32)>,
    /// How many failures the summary of this session told.
    summed: u64,
    /// Node ids already summed up.
    findings: Findings,
}

/// Which part of the output comes now.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    /// Nothing of pytest was seen: the output may have been cut before it.
    #[default]
    Unknown,
    /// Tests run and may print what they like.
    Running,
    /// Below `FAILURES` or `ERRORS`.
    Failures,
    /// Below `short test summary info`.
    Summary,
    /// Below a heading of no interest: warnings, coverage, durations.
    Other,
}

impl Recogniser for Pytest {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn cues(&self) -> Cues {
        Cues {
            first: b"_",
            starts: &[
                "====", "FAIL", "ERRO", "SUBF", "Test", "pyte", "INTE", "Impo", "Synt", "Modu",
                "Cove", "Fata", "Curr", "0 fa", "0 pa", "0 er", "0 sk", "0 de", "0 wa", "0 xf",
                "0 xp", "no t", "!!!!",
            ],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if self.is_nested(text) {
            return Attention::Busy;
        }
        if let Some(title) = self.heading(text) {
            self.close();
            let room = if self.is_counting() { Block::closed() } else { Block::default() };
            self.section = Some(Section::new(title, line.number, room));
        } else if text.starts_with("=====") || is_last(text) {
            self.rule(text);
        } else if self.may_sum_up() && is_summary(text) {
            self.close();
            self.summary(text, line.number);
        } else if let Some(reason) = coverage(text) {
            self.close();
            self.spoke = true;
            let finding = Finding::new(FindingKind::Other, reason).named("coverage");
            self.findings.push(line.number, finding);
        } else if let Some(file) = conftest(text) {
            self.close();
            self.spoke = true;
            let title = format!("ERROR collecting {file}");
            self.section = Some(Section::new(&title, line.number, Block::default()));
        } else if let Some(section) = &mut self.section {
            section.line(text);
        } else if !self.stacks.line(text, line.number) {
            self.outside(line);
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], number: u64) -> bool {
        if self.section.is_some() {
            return self.is_passing() && self.counted(line);
        }
        if self.part == Part::Summary {
            let text = std::str::from_utf8(line).ok().filter(|text| is_summary(text));
            let text = text.filter(|_| self.findings.is_full());
            return text.map(|text| self.summary(text, number)).is_some();
        }
        let is_calm = self.part == Part::Running && self.spoke && self.section.is_none();
        let node = if is_calm { passed(line) } else { None };
        node.is_some_and(|node| self.names.ran_bytes(node, |node| node))
    }

    fn many(&self, lines: &[u8]) -> Skimmed {
        if self.is_passing() { counted::plain(lines) } else { Skimmed::default() }
    }

    fn after_routine(&self) -> Attention {
        let is_open = self.section.is_some() || self.stacks.is_open();
        if is_open || self.spoke { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke |= self.stacks.is_fatal();
        if !self.spoke {
            return None;
        }
        // Sections that no summary line has named.
        for (number, _, finding) in std::mem::take(&mut self.sections) {
            self.findings.push(number, finding);
        }
        self.findings.leave_out(self.sections_left_out);
        let counts = self.sessions.total();
        self.stacks.tell(&mut self.findings, counts);
        let is_cut = self.part == Part::Running && counts.is_none();
        if is_cut && self.findings.is_empty() {
            let message = "pytest began and ended without a result";
            self.findings.push(u64::MAX, Finding::new(FindingKind::Crash, message));
        }
        // It was ended before it could say why they failed, or was told to keep it to itself.
        let has_failed = counts.is_some_and(|counts| counts.failed > 0);
        let is_told = !is_cut && (!has_failed || !self.findings.is_empty());
        for (number, node) in std::mem::take(&mut self.marked).into_iter().filter(|_| !is_told) {
            let file = node.split("::").next().unwrap_or_default().to_owned();
            let finding = Finding::new(FindingKind::Test, "test failed").at(file, None, None);
            self.findings.push(number, finding.named(node));
        }
        if counts == Some(Counts::default()) && self.findings.is_empty() {
            let finding = Finding::new(FindingKind::CouldNotRun, "no tests ran");
            self.findings.push(u64::MAX, finding);
        }
        ended::without_fixtures(&mut self.findings, counts);
        Some(Report {
            tool: "pytest",
            counts,
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Pytest {
    /// The title of a section: only where failures are told, or as pytest-sugar draws it.
    fn heading<'a>(&self, text: &'a str) -> Option<&'a str> {
        if text.starts_with('―') {
            return text::in_rule(text, '―');
        }
        // pytest-instafail tells failures while tests run, over the whole width.
        let is_told = match self.part {
            Part::Failures => true,
            Part::Running => text.len() >= 60,
            Part::Unknown | Part::Summary | Part::Other => false,
        };
        if !is_told || !text.starts_with('_') {
            return None;
        }
        // A long title leaves room for one mark on each side only.
        let long = || text.strip_prefix("_ ")?.strip_suffix(" _");
        let title = text::in_rule(text, '_').or_else(long)?;
        title.contains(|c: char| c != '_' && c != ' ').then_some(title)
    }

    /// Whether `FAILED …` can be pytest's own: below its heading, or where the output was cut.
    const fn may_sum_up(&self) -> bool {
        matches!(self.part, Part::Summary | Part::Unknown)
    }

    /// Whether further sections can only be counted.
    fn is_counting(&self) -> bool {
        self.sections.len() >= LINES_MAX || self.findings.is_full()
    }

    fn close(&mut self) {
        let Some(section) = self.section.take() else { return };
        if section.is_counted() {
            self.sections_left_out = self.sections_left_out.saturating_add(1);
            return;
        }
        let number = section.number;
        let Some(finding) = section.into_finding() else { return };
        let title = finding.name.clone().unwrap_or_default();
        if self.sections.len() < LINES_MAX {
            self.sections.push((number, title, finding));
        } else {
            self.sections_left_out = self.sections_left_out.saturating_add(1);
        }
    }

    fn rule(&mut self, text: &str) {
        let title = text::in_rule(text, '=').unwrap_or_else(|| text.trim());
        let part = match title {
            "test session starts" => Part::Running,
            "FAILURES" | "ERRORS" => Part::Failures,
            "short test summary info" => Part::Summary,
            _ if title.contains("warnings summary")
                || title.contains("coverage")
                || title.contains("slowest ")
                || matches!(title, "PASSES" | "XFAILURES" | "XPASSES") =>
            {
                Part::Other
            }
            _ => {
                if let Some(counts) = counts(title) {
                    if !self.section.as_ref().is_some_and(|section| section.is_captured) {
                        self.close();
                    }
                    self.spoke = true;
                    if self.part != Part::Running {
                        self.sessions.go_on();
                    }
                    self.sessions.count(counts);
                    self.settle(counts);
                }
                return;
            }
        };
        self.close();
        let is_next = part == Part::Failures && self.part != Part::Running;
        if part == Part::Running || is_next {
            self.sessions.go_on();
        }
        if part == Part::Summary {
            self.summed = 0;
        }
        self.part = part;
        self.spoke |= matches!(part, Part::Running | Part::Summary);
    }

    /// At the numbers of a session: where its summary has told every failure, other sections are what tests printed.
    fn settle(&mut self, counts: Counts) {
        let is_whole = self.part == Part::Summary && self.summed == counts.failed;
        if is_whole && !self.findings.is_full() {
            self.sections.clear();
        }
    }

    fn outside(&mut self, line: &Line<'_>) {
        let text = line.text;
        if let Some(node) = ran(text).filter(|_| self.part == Part::Running) {
            self.names.ran(node);
            let is_red = text.contains(" FAILED ") || text.contains(" ERROR ");
            if is_red && self.marked.len() < LINES_MAX {
                self.marked.push((line.number, text::clip(node, 500).to_owned()));
            }
        } else if let Some(rest) = text.strip_prefix("pytest: error: ") {
            self.spoke = true;
            self.findings.push(line.number, Finding::new(FindingKind::CouldNotRun, rest));
        } else if let Some(rest) = text.strip_prefix("INTERNALERROR> ") {
            if let Some(at) = place::of_python(rest) {
                self.broke_at = Some(at);
            } else if !rest.starts_with(' ') && !rest.starts_with("Traceback") {
                self.spoke = true;
                let finding = Finding::new(FindingKind::Crash, rest);
                self.findings.push(
                    line.number,
                    match self.broke_at.take() {
                        Some((file, at)) => finding.at(file, at, None),
                        None => finding,
                    },
                );
            }
        } else if text.starts_with("Test session starts (platform: ") {
            (self.spoke, self.part) = (true, Part::Running);
        } else if self.spoke
            && let Some(reason) = cannot_run(text)
        {
            self.findings.push(line.number, Finding::new(FindingKind::CouldNotRun, reason));
        } else if self.part == Part::Failures && text.starts_with("[XPASS(strict)]") {
            // It comes in the order of the others, and has no place.
            if self.lines.len() < LINES_MAX {
                self.lines.push((String::new(), 0, text.trim().to_owned()));
            }
        } else if let Some(place) = line.place
            && (self.spoke || self.part == Part::Failures)
            && self.lines.len() < LINES_MAX
            && !place.rest.is_empty()
        {
            let message = text::clip(place.rest, 2_000).to_owned();
            self.lines.push((place.file.to_owned(), place.line, message));
        }
    }

    /// `FAILED path::Class::test[x] - why`, `SUBFAILED(i=0) path::…` or `ERROR path - why`.
    fn summary(&mut self, text: &str, number: u64) {
        let Some((word, rest)) = split_word(text) else { return };
        let is_full = self.findings.is_full();
        let known = |node: &str| {
            if is_full { None } else { self.section_of(&title_of(word, node)) }
        };
        let (node, why) = split_node(rest, known);
        let (file, test) = match node.split_once("::") {
            Some((file, test)) => (file, Some(test)),
            None => (node, None),
        };
        if !file.contains('.') || (file.contains(' ') && test.is_none()) {
            return;
        }
        self.spoke = true;
        self.summed += 1;
        if self.findings.is_full() {
            // Its section was counted, or it is.
            match self.sections_left_out.checked_sub(1) {
                Some(left) => self.sections_left_out = left,
                None => self.sections.truncate(self.sections.len().saturating_sub(1)),
            }
            self.findings.leave_out(1);
            return;
        }
        if let Some(at) = self.section_of(&title_of(word, node)) {
            let (number, title, mut finding) = self.sections.remove(at);
            finding.name = Some(match test {
                Some(_) => format!("{node}{}", values_of(word)),
                None => title,
            });
            finding.file.get_or_insert_with(|| file.to_owned());
            self.findings.push(number, finding);
            return;
        }
        let kind = if word == "ERROR" && test.is_none() { FindingKind::Compile } else { kind(why) };
        let name = format!("{node}{}", values_of(word));
        let finding = Finding::new(kind, why).at(file, None, None).named(name);
        let mut finding = self.with_line(finding, word);
        if finding.message.is_empty() {
            "test failed".clone_into(&mut finding.message);
        }
        self.findings.push(number, finding);
    }

    /// Where the section of this title is.
    fn section_of(&self, title: &str) -> Option<usize> {
        let is_same = |name: &str| {
            name == title || name.strip_prefix("[doctest] ").is_some_and(|name| name == title)
        };
        self.sections.iter().position(|(_, name, _)| is_same(name))
    }

    /// The place of a one-line traceback with the same words, or of the next one: they come in the
    /// same order as the summary.
    fn with_line(&mut self, mut finding: Finding, word: &str) -> Finding {
        let start = finding.message.trim_end_matches("...").to_owned();
        let same = |(_, _, message): &(String, u32, String)| message.starts_with(start.as_str());
        let first = self.lines.first().filter(|first| word == "FAILED" && same(first)).map(|_| 0);
        let at = first.or_else(|| self.lines.iter().position(same).filter(|_| !start.is_empty()));
        if let Some(at) = at {
            let (file, line, message) = self.lines.remove(at);
            finding.message = message;
            return if file.is_empty() { finding } else { finding.at(file, line, None) };
        }
        finding
    }
}
