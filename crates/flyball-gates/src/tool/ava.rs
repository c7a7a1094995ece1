//! AVA: `✘ [fail]: title`, and a block for each between two short rules.

use super::js_frame;
use crate::place;
use std::collections::HashSet;

use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Names, Report};
use crate::{Counts, Finding, FindingKind, text};

/// How many titles are remembered until their blocks come.
const TITLES_MAX: usize = 500;

/// Reads the list of tests, then the blocks of those that failed.
#[derive(Clone, Default)]
pub(super) struct Ava {
    titles: HashSet<String>,
    names: Names,
    counts: Counts,
    in_blocks: bool,
    /// Whether the line before was empty.
    after_blank: bool,
    /// A file that could not be loaded, until it is said why.
    uncaught: Option<(u64, String)>,
    open: Option<(u64, String, Block)>,
    findings: Findings,
}

/// What follows a title in the list.
const WHYS: &[&str] = &[
    " Error thrown in test",
    " Rejected promise returned by test",
    " Test finished without",
    " Test was expected to fail",
];

impl Recogniser for Ava {
    fn name(&self) -> &'static str {
        "ava"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["Unca"], also: &[(b"\xe2", Trait::Sign(&['✘', '✔', '─']))], ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let own = line.text.strip_prefix("  ").unwrap_or(line.text);
        if let Some(file) = own.strip_prefix("Uncaught exception in ").filter(|_| !self.in_blocks) {
            self.uncaught = Some((line.number, file.trim_end().to_owned()));
            return Attention::Busy;
        }
        if let Some((number, file)) = self.uncaught.take() {
            if own.trim().is_empty() {
                self.uncaught = Some((number, file));
                return Attention::Busy;
            }
            let finding = Finding::new(FindingKind::Compile, own.trim()).at(file, None, None);
            self.findings.push(number, finding);
        }
        let failed = own.strip_prefix("✘ [fail]: ");
        if let Some(title) = failed.or_else(|| own.strip_prefix("✘ [unexpected pass]: ")) {
            let title =
                WHYS.iter().find_map(|why| Some(text::split(title, why)?.0)).unwrap_or(title);
            self.counts.failed = self.counts.failed.saturating_add(1);
            self.names.ran(title.trim_end());
            if self.titles.len() < TITLES_MAX {
                self.titles.insert(title.trim_end().to_owned());
            }
        } else if !self.titles.is_empty() && own.trim() == "─" {
            self.close();
            self.in_blocks = !self.in_blocks;
        } else if self.in_blocks {
            let own_title = own.trim_end();
            // What an assertion was told to say stands behind the title in the list.
            let is_told = |title: &String| {
                title.strip_prefix(own_title).is_some_and(|why| why.starts_with(' '))
            };
            let is_title = self.after_blank || self.titles.contains(own_title);
            let is_known = || self.titles.contains(own_title) || self.titles.iter().any(is_told);
            if is_title && text::indent(own) == 0 && is_known() {
                self.close();
                self.open = Some((line.number, own_title.to_owned(), Block::default()));
            } else if let Some((_, _, block)) = &mut self.open {
                block.push(own);
            }
        } else if !self.titles.is_empty() && own.starts_with("✔ ") {
            self.counts.passed = self.counts.passed.saturating_add(1);
        } else {
            self.total(own);
        }
        self.after_blank = own.trim().is_empty();
        let is_open = !self.titles.is_empty();
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let has_spoken = !self.titles.is_empty() || !self.findings.is_empty();
        has_spoken.then(|| Report {
            tool: "ava",
            counts: Some(self.counts),
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Ava {
    fn close(&mut self) {
        let Some((number, name, mut block)) = self.open.take() else { return };
        let text = block.take();
        let lines = || text.lines().map(str::trim_end);
        let said: Vec<&str> = lines()
            .filter(|line| !line.starts_with('›') && !js_frame::is_frame(line) && !is_source(line))
            .filter(|line| whole_place(line).is_none())
            .take(25)
            .collect();
        let message = said.join("\n");
        let finding = Finding::new(FindingKind::Test, text::trim_lines(&message)).named(name);
        let mut finding = finding.with_excerpt(text.as_str());
        if let Some(at) = lines().find_map(whole_place) {
            finding = finding.at(place::tidy(at.file), at.line, None);
        } else if let Some(at) = text.lines().find_map(js_frame::own) {
            finding = finding.at(place::tidy(at.file), at.line, at.column);
        }
        self.findings.push(number, finding);
    }

    /// `3 tests failed`, `1 test passed`.
    fn total(&mut self, own: &str) {
        let Some((count, rest)) = text::number(own) else { return };
        match rest.trim() {
            "test passed" | "tests passed" => self.counts.passed = count,
            "test failed" | "tests failed" => self.counts.failed = count,
            "test skipped" | "tests skipped" => self.counts.skipped = count,
            _ => {}
        }
    }
}

/// A line that is nothing but `test.js:2`.
fn whole_place(line: &str) -> Option<place::Place<'_>> {
    let place = place::prefix(line.trim())?;
    let known = ["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"];
    (place.rest.is_empty() && place.has_extension(&known)).then_some(place)
}

/// ` 2: test('adds two', …`.
fn is_source(line: &str) -> bool {
    text::number(line.trim_start()).is_some_and(|(_, rest)| rest.starts_with(": "))
}
