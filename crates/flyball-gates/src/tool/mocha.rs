//! mocha: the list of failures after `5 failing`.

use crate::{Counts, Finding, FindingKind};

use super::js_frame;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::text;

/// Reads `1 passing`, `2 pending`, `5 failing` and the numbered failures.
#[derive(Clone, Default)]
pub(super) struct Mocha {
    counts: Option<Counts>,
    /// The totals have begun: what stands before them was printed by tests.
    passing: bool,
    failing: bool,
    open: Option<Open>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    titles: Vec<String>,
    titled: bool,
    block: Block,
}

impl Recogniser for Mocha {
    fn name(&self) -> &'static str {
        "mocha"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["0 pa", "0 pe", "0 fa", "Exce", "Erro"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some((count, word)) = total(text)
            && (self.passing || word == "passing")
        {
            self.close();
            let counts = self.counts.get_or_insert_default();
            match word {
                "passing" => {
                    counts.passed = counts.passed.saturating_add(count);
                    (self.passing, self.failing) = (true, false);
                }
                "pending" => counts.skipped = counts.skipped.saturating_add(count),
                _ => {
                    counts.failed = counts.failed.saturating_add(count);
                    self.failing = true;
                }
            }
        } else if let Some(title) = self.head(text) {
            self.close();
            let titles = vec![title.trim_end().trim_end_matches(':').to_owned()];
            let block = self.findings.room();
            self.open = Some(Open { number: line.number, titles, titled: false, block });
        } else if let Some(error) = text.strip_prefix(" Exception during run: ") {
            self.close();
            let mut block = Block::default();
            block.push(error);
            let titles = Vec::new();
            self.open = Some(Open { number: line.number, titles, titled: true, block });
            self.counts.get_or_insert_default();
        } else if text.starts_with("Error: No test files found") {
            self.counts.get_or_insert_default();
            self.findings.push(line.number, Finding::new(FindingKind::CouldNotRun, text.trim()));
        } else if let Some(open) = &mut self.open {
            open.line(text);
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        // More of a failure of which nothing is kept: what begins or ends one is not so deep.
        self.open.as_ref().is_some_and(|open| open.block.is_closed())
            && (line.is_empty() || line.starts_with(b"   "))
    }

    fn after_routine(&self) -> Attention {
        if self.failing || self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        let loaded = findings.kept().all(|finding| finding.name.is_some());
        let counts = self.counts?;
        let counts = (loaded || counts != Counts::default()).then_some(counts);
        Some(Report { tool: "mocha", counts, findings, ..Report::default() })
    }
}

impl Mocha {
    /// The first title of a numbered failure.
    fn head<'a>(&self, text: &'a str) -> Option<&'a str> {
        if !self.failing || text::indent(text) != 2 {
            return None;
        }
        text::number(text.trim_start())?.1.strip_prefix(") ")
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let number = open.number;
            if !self.findings.is_known(&[&open.titles.join(" "), open.block.as_str()]) {
                self.findings.push(number, open.into_finding());
            }
        }
    }
}

impl Open {
    fn line(&mut self, text: &str) {
        if self.titled {
            self.block.push(text);
        } else if text.trim().is_empty() {
            self.titled = true;
        } else if text::indent(text) <= 5 {
            // Without a suite the error comes right below the title.
            self.titled = true;
            self.block.push(text);
        } else {
            let title = text.trim();
            self.titled = title.ends_with(':') || self.titles.len() >= 20;
            self.titles.push(title.trim_end_matches(':').to_owned());
        }
    }

    fn into_finding(mut self) -> Finding {
        let block = self.block.take();
        let kept: Vec<&str> = block
            .lines()
            .skip_while(|line| line.trim().is_empty())
            .take_while(|line| {
                !js_frame::is_frame(line)
                    && line.trim() != "+ expected - actual"
                    && !line.starts_with("Require stack:")
            })
            .take(25)
            .map(str::trim_end)
            .collect();
        // Only the first line of an error is indented by mocha itself.
        let mut message = kept.join("\n").trim().to_owned();
        let loading = self.titles.is_empty();
        // A file that cannot be parsed: its place, the line, a mark, and then the error.
        let unread = block.lines().next().and_then(place::prefix).filter(|_| loading);
        if unread.is_some()
            && let Some(error) = block.lines().find(|line| js_frame::is_error(line))
        {
            error.trim_end().clone_into(&mut message);
        }
        let mut kind = js_frame::kind(&message);
        if !loading && kind == FindingKind::Compile {
            kind = FindingKind::Test;
        } else if loading && kind == FindingKind::Test {
            kind = FindingKind::Crash;
        }
        let mut finding = Finding::new(kind, message).with_excerpt(block.as_str());
        if !loading {
            finding = finding.named(self.titles.join(" "));
        }
        if let Some(place) = unread.or_else(|| block.lines().find_map(js_frame::own)) {
            return finding.at(place.file, place.line, place.column);
        }
        // A timeout names its file at the end of the message.
        let file = finding.message.strip_suffix(')').and_then(|text| text.rsplit_once('('));
        match file.map(|(_, file)| file.to_owned()) {
            Some(file) if file.contains('/') && !file.contains(' ') => finding.at(file, None, None),
            _ => finding,
        }
    }
}

/// `  5 failing` and its like.
fn total(text: &str) -> Option<(u64, &str)> {
    if text::indent(text) != 2 {
        return None;
    }
    let (count, rest) = text::number(text.trim_start())?;
    let word = rest.strip_prefix(' ')?.split(' ').next()?;
    matches!(word, "passing" | "pending" | "failing").then_some((count, word))
}
