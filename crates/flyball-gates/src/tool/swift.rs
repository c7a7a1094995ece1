//! Swift: `XCTest`, swift-testing and the compiler.

use crate::place::{self, Place};
use crate::recogniser::{Attention, Cues, Line, Places, Recogniser, Trait};
use crate::report::{Findings, Names, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads `a.swift:8: error: CartTests.testAdds : text` and `✘ Test adds() recorded an issue at …`.
#[derive(Clone, Default)]
pub(super) struct Swift {
    spoke: bool,
    /// `XCTest`'s totals and those of swift-testing.
    counts: [Option<Counts>; 2],
    names: Names,
    findings: Findings,
    warnings: Findings,
}

impl Recogniser for Swift {
    fn name(&self) -> &'static str {
        "swift"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["Test", "Exec"],
            places: Places::Of(&["swift"]),
            also: &[(b"\xe2", Trait::Sign(&['✘', '✔']))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some(place) = line.place.filter(|place| place.has_extension(&["swift"])) {
            self.diagnostic(place, line);
        } else if let Some(case) = text.strip_prefix("Test Case '") {
            if let Some((name, rest)) = case.split_once("' ") {
                if rest.starts_with("passed") || rest.starts_with("failed") {
                    self.names.ran(&plain(name));
                    self.spoke = true;
                }
                if rest.starts_with("failed") {
                    self.failed(&plain(name), line.number);
                }
            }
        } else if let Some(counts) = executed(text) {
            self.counts[0] = Some(counts);
            self.spoke = true;
        } else if let Some(own) = text.trim_start().strip_prefix("✘ ") {
            self.issue(own, line.number);
        } else if let Some(own) = text.trim_start().strip_prefix("✔ ") {
            self.run(own);
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        let counts = self.counts.into_iter().flatten().reduce(Counts::and);
        let findings = std::mem::take(&mut self.findings);
        (self.spoke || !findings.is_empty()).then(|| Report {
            tool: "swift",
            counts,
            names: std::mem::take(&mut self.names),
            findings,
            warnings: std::mem::take(&mut self.warnings),
        })
    }
}

impl Swift {
    fn diagnostic(&mut self, place: Place<'_>, line: &Line<'_>) {
        let (is_warning, message) = match place.rest.strip_prefix("error: ") {
            Some(message) => (false, message),
            None => match place.rest.strip_prefix("warning: ") {
                Some(message) => (true, message),
                None => return,
            },
        };
        let finding = match message.split_once(" : ") {
            Some((name, said)) if place.column.is_none() => {
                Finding::new(FindingKind::Test, said).named(plain(name))
            }
            _ => Finding::new(FindingKind::Compile, message),
        };
        let finding = finding.at(place.file, place.line, place.column).with_excerpt(line.text);
        if is_warning {
            self.warnings.push(line.number, finding);
            return;
        }
        // A test fails once, however many of its assertions do.
        let name = finding.name.clone();
        let earlier = self.findings.first(|f| name.is_some() && f.name == name);
        match earlier {
            Some(earlier) => more(earlier, &finding.message),
            None => self.findings.push(line.number, finding),
        }
    }

    /// A test that failed and said nothing before.
    fn failed(&mut self, name: &str, number: u64) {
        if !self.findings.kept().any(|finding| finding.name.as_deref() == Some(name)) {
            self.findings.push(number, Finding::new(FindingKind::Test, "failed").named(name));
        }
    }

    /// `Test "adds" recorded an issue at CartTests.swift:6:5: Expectation failed: …`.
    fn issue(&mut self, own: &str, number: u64) {
        self.run(own);
        let Some(rest) = own.strip_prefix("Test ") else { return };
        let Some((name, rest)) = rest.split_once(" recorded an issue ") else { return };
        self.spoke = true;
        let (_, at) = rest.split_once("at ").unwrap_or(("", rest));
        let name = title(name);
        let Some(place) = place::prefix(at) else { return };
        let finding = Finding::new(FindingKind::Test, place.rest).named(name.as_str());
        let finding = finding.at(place.file, place.line, place.column);
        let earlier = self.findings.named(&name);
        match earlier {
            Some(earlier) => more(earlier, &finding.message),
            None => self.findings.push(number, finding),
        }
    }

    /// `Test run with 3 tests failed after 0.002 seconds with 2 issues.`
    fn run(&mut self, own: &str) {
        let Some(rest) = own.strip_prefix("Test run with ") else {
            let named = own.strip_prefix("Test ").and_then(|rest| {
                rest.split_once(" passed after ").or_else(|| rest.split_once(" failed after "))
            });
            if let Some((name, _)) = named {
                self.names.ran(&title(name));
            }
            return;
        };
        let Some((all, _)) = text::number(rest) else { return };
        self.spoke = true;
        let failed = self.findings.kept().filter(|f| f.kind == FindingKind::Test).count() as u64;
        let failed = if rest.contains(" failed ") { failed.max(1).min(all) } else { 0 };
        let passed = all.saturating_sub(failed);
        self.counts[1] = Some(Counts { passed, failed, ..Counts::default() });
    }
}

fn more(earlier: &mut Finding, message: &str) {
    if earlier.message.len() < 1_500 {
        earlier.message = format!("{}\n{message}", earlier.message);
    }
}

/// `CartTests.testAdds` of `-[ShopTests.CartTests testAdds]`.
fn plain(name: &str) -> String {
    match name.strip_prefix("-[").and_then(|name| name.strip_suffix(']')) {
        Some(inner) => {
            let inner = inner.rsplit_once('.').map_or(inner, |(_, inner)| inner);
            inner.replace(' ', ".")
        }
        None => name.to_owned(),
    }
}

/// The name without its quotes or brackets: `"adds"`, `adds()`.
fn title(name: &str) -> String {
    name.trim_matches('"').trim_end_matches("()").to_owned()
}

/// `Executed 3 tests, with 2 failures (0 unexpected) in 0.0 (0.0) seconds`.
fn executed(text: &str) -> Option<Counts> {
    let rest = text.trim_start().strip_prefix("Executed ")?;
    let (all, rest) = text::number(rest)?;
    let (_, failures) = rest.split_once("with ")?;
    let (skipped, failures) = match failures.split_once(" skipped and ") {
        Some((skipped, failures)) => {
            (text::number(skipped).map_or(0, |(count, _)| count), failures)
        }
        None => (0, failures),
    };
    let (failed, _) = text::number(failures)?;
    let failed = failed.min(all);
    Some(Counts { passed: all.saturating_sub(failed).saturating_sub(skipped), failed, skipped })
}
