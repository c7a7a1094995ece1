//! `go build` and `go vet`: problems listed below `# package`.

use crate::{Finding, FindingKind};

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Findings, Report};

/// Reads `path.go:3:8: text` below `# package`.
#[derive(Clone)]
pub(super) struct GoBuild {
    vet: Vet,
    spoke: bool,
    /// Inside a package's list: how many lines in a row were not about it.
    strangers: Option<u32>,
    last: Option<(u64, Finding)>,
    findings: Findings,
}

/// Whether `go vet` speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vet {
    No,
    /// Among others.
    Maybe,
    /// Nobody else does: places without a heading are vet's as well.
    Alone,
}

/// So many lines of others may come between two problems of a package.
const STRANGERS_MAX: u32 = 3;

impl GoBuild {
    pub(super) fn new(command: &str) -> Self {
        let is_alone = command.trim_start().starts_with("go vet ");
        let vet = match command.contains("vet") {
            true if is_alone => Vet::Alone,
            true => Vet::Maybe,
            false => Vet::No,
        };
        Self { vet, spoke: false, strangers: None, last: None, findings: Findings::default() }
    }

    fn close(&mut self) {
        let Some((number, finding)) = self.last.take() else { return };
        // vet says once more what the compiler has said.
        let is_again = self.vet != Vet::No && finding.kind == FindingKind::Compile;
        let is_same = |own: &Finding| {
            is_again
                && (&own.file, own.line, own.column)
                    == (&finding.file, finding.line, finding.column)
                && own.message == finding.message
        };
        if let Some(own) = self.findings.first(is_same) {
            own.kind = finding.kind;
        } else {
            self.findings.push(number, finding);
        }
    }
}

impl Recogniser for GoBuild {
    fn name(&self) -> &'static str {
        if self.vet == Vet::No { "go-build" } else { "go-vet" }
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["# ", "vet:", "found", "impo"], places: Places::Of(&["go"]), ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        let (vetted, place) = match text.strip_prefix("vet: ") {
            Some(rest) => (true, place::prefix(rest)),
            None => (false, line.place),
        };
        if is_of_packages(text) {
            self.close();
            self.spoke = true;
            let message = text.trim().strip_prefix("imports ").unwrap_or(text.trim());
            let message = message
                .split_once(": ")
                .filter(|_| text.starts_with('\t'))
                .map_or(message, |(_, why)| why);
            self.findings
                .push(line.number, Finding::new(FindingKind::Compile, message).with_excerpt(text));
        } else if let Some(package) = text.strip_prefix("# ") {
            self.close();
            let name = package.split(" [").next().unwrap_or(package);
            self.strangers = (!name.contains(' ') && !name.is_empty()).then_some(0);
        } else if let Some(place) = place
            && place.has_extension(&["go"])
            && (self.strangers.is_some()
                || vetted
                || is_of_imports(place.rest)
                || (self.vet == Vet::Alone && place.column.is_some()))
            && !(text.starts_with('\t') && self.last.is_some())
        {
            self.close();
            self.strangers = self.strangers.map(|_| 0);
            self.spoke = true;
            // What vet says with its name in front is a compile error it stumbled over.
            let is_lint = self.vet != Vet::No && !vetted && !is_of_imports(place.rest);
            let kind = if is_lint { FindingKind::Lint } else { FindingKind::Compile };
            let finding = Finding::new(kind, place.rest);
            self.last = Some((line.number, finding.at(place.file, place.line, place.column)));
        } else if text.starts_with('\t')
            && let Some((_, finding)) = &mut self.last
        {
            if finding.message.len() < 2_000 {
                finding.message = format!("{}\n{}", finding.message, text.trim_end());
            }
        } else {
            self.close();
            self.strangers = self.strangers.map(|n| n + 1).filter(|n| *n <= STRANGERS_MAX);
        }
        if self.strangers.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        let tool = self.name();
        self.spoke.then(|| Report { tool, findings, ..Report::default() })
    }
}

/// What go says of an import before it compiles anything: there is no heading above it then.
fn is_of_imports(text: &str) -> bool {
    [
        "no required module provides package ",
        "cannot find package ",
        "cannot find module providing package ",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        || (text.starts_with("package ") && text.contains(" is not in "))
        || (text.starts_with("import \"") && text.ends_with("not an importable package"))
        || (text.starts_with("use of internal package ") && text.ends_with(" not allowed"))
}

/// What go says of packages before it compiles any: that they import each other, or are two in one
/// folder.
fn is_of_packages(text: &str) -> bool {
    (text.starts_with("\timports ") && text.ends_with(": import cycle not allowed"))
        || (text.starts_with("found packages ")
            && text.contains(" and ")
            && text.contains(".go) in "))
}
