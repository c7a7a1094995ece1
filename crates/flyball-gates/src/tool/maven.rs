//! Maven: the compiler plugin's errors and surefire's test results; Ant's and `JUnit`'s own, which are
//! told alike.

use crate::{Counts, Finding, FindingKind};

use super::jvm;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{bytes, text};

/// Reads `[ERROR] path:[5,17] text`, `<<< FAILURE!` with its trace, and `Tests run:`.
#[derive(Clone, Default)]
pub(super) struct Maven {
    spoke: bool,
    /// From the line that sums up a module.
    counts: Option<Counts>,
    /// Summed over classes since the last module, for output that was cut.
    classes: Option<Counts>,
    /// The class whose tests are told next.
    class: Option<String>,
    /// Ant: the test whose result may stand on the next line.
    case: Option<String>,
    /// Whether `JUnit` itself prints what failed.
    is_plain: bool,
    open: Option<(u64, String, Block)>,
    compile: Option<(u64, Finding)>,
    /// Why the build failed, in Maven's own words.
    reason: Option<(u64, String)>,
    findings: Findings,
}

impl Recogniser for Maven {
    fn name(&self) -> &'static str {
        "maven"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["[ERR", "[INF", "[WAR", "Test", "JUni", "0) "], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let (tag, text) = untag(line.text);
        let case = self.case.take();
        if let Some(class) = text.strip_prefix("Testsuite: ") {
            self.close();
            self.class = Some(class.trim().to_owned());
        } else if let Some((name, _)) =
            text.strip_prefix("Testcase: ").and_then(|rest| rest.rsplit_once(" took "))
        {
            self.close();
            self.case = Some(name.to_owned());
        } else if let Some(name) = case.filter(|_| is_failure(text)) {
            self.spoke = true;
            let name = self.class.as_ref().map_or(name.clone(), |class| format!("{class}.{name}"));
            self.open = Some((line.number, name, Block::default()));
        } else if text.starts_with("JUnit version ") {
            self.is_plain = true;
        } else if let Some(name) = listed(text).filter(|_| self.is_plain) {
            self.close();
            self.spoke = true;
            self.open = Some((line.number, name, Block::default()));
        } else if let Some(name) = failed_test(text) {
            self.close();
            self.spoke = true;
            let name = match &self.class {
                Some(class) if !name.contains('.') => format!("{class}.{name}"),
                _ => name,
            };
            self.open = Some((line.number, name, Block::default()));
        } else if let Some(list) = text.strip_prefix("Tests run: ") {
            self.close();
            self.totals(list);
            if let Some((_, class)) = list.rsplit_once(" in ") {
                self.class = Some(class.trim().to_owned());
            }
        } else if tag == Some("ERROR")
            && let Some(finding) = compile_error(text)
        {
            self.close();
            self.spoke = true;
            self.compile = Some((line.number, finding));
        } else if let Some((_, finding)) = &mut self.compile {
            let more = text.trim_start();
            let says_what = more.starts_with("symbol:") || more.starts_with("location:");
            if says_what && finding.message.len() < 2_000 {
                finding.message = format!("{}\n{}", finding.message, text.trim_end());
            } else {
                self.close();
            }
        } else if let Some((_, _, block)) = &mut self.open {
            if tag.is_none() && !text.is_empty() {
                block.push(text);
            } else {
                self.close();
            }
        }
        if let Some(reason) = text.strip_prefix("Failed to execute goal ")
            && tag == Some("ERROR")
        {
            self.spoke = true;
            let reason = reason.split(" -> [Help").next().unwrap_or(reason).trim();
            self.reason.get_or_insert((line.number, reason.to_owned()));
        }
        self.spoke |= tag == Some("INFO") && text.starts_with("BUILD ");
        let open = self.open.is_some() || self.compile.is_some() || self.case.is_some();
        if open { Attention::Busy } else { Attention::Idle }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        let is_calm =
            self.spoke && self.open.is_none() && self.compile.is_none() && self.case.is_none();
        let Some((ran, skipped)) = passed(line).filter(|_| is_calm) else { return false };
        let classes = self.classes.get_or_insert_default();
        classes.passed = classes.passed.saturating_add(ran.saturating_sub(skipped));
        classes.skipped = classes.skipped.saturating_add(skipped);
        true
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        if !self.spoke {
            return None;
        }
        let mut findings = std::mem::take(&mut self.findings);
        if let Some((number, reason)) = self.reason.take()
            && findings.is_empty()
        {
            findings.push(number, Finding::new(FindingKind::Other, reason));
        }
        let counts = self.counts.or(self.classes);
        Some(Report { tool: "maven", counts, findings, ..Report::default() })
    }
}

impl Maven {
    fn close(&mut self) {
        if let Some((number, finding)) = self.compile.take() {
            self.findings.push(number, finding);
        }
        let Some((number, name, mut block)) = self.open.take() else { return };
        let trace = block.take();
        let class = name.rsplit_once('.').map_or("", |(class, _)| class);
        let mut finding = Finding::new(FindingKind::Test, jvm::message(&trace));
        if let Some(frame) = jvm::own_frame(&trace, class) {
            finding = finding.at(frame.file, frame.line, None);
        }
        self.findings.push(number, finding.named(name).with_excerpt(trace));
    }

    fn totals(&mut self, list: &str) {
        self.spoke = true;
        let run = text::number(list).map_or(0, |(run, _)| run);
        let (mut failed, mut skipped) = (0_u64, 0_u64);
        for (name, count) in text::assignments(list) {
            match name {
                "Failures" | "Errors" => failed = failed.saturating_add(count),
                "Skipped" => skipped = count,
                _ => {}
            }
        }
        let passed = run.saturating_sub(failed).saturating_sub(skipped);
        let is_class = list.contains("Time elapsed");
        let slot = if is_class { &mut self.classes } else { &mut self.counts };
        let before = slot.unwrap_or_default();
        *slot = Some(Counts {
            passed: before.passed.saturating_add(passed),
            failed: before.failed.saturating_add(failed),
            skipped: before.skipped.saturating_add(skipped),
        });
    }
}

/// How many tests ran and were skipped in a class where none failed:
/// `[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 s -- in shop.CartTest`.
fn passed(line: &[u8]) -> Option<(u64, u64)> {
    let (ran, rest) = bytes::number(line.strip_prefix(b"[INFO] Tests run: ")?)?;
    let rest = rest.strip_prefix(b", Failures: 0, Errors: 0, Skipped: ")?;
    let (skipped, rest) = bytes::number(rest)?;
    let rest = rest.strip_prefix(b", Time elapsed: ")?;
    // A class may have brackets and numbers in its name.
    let is_plain = |byte: &u8| !matches!(byte, b',' | b'(' | b')' | b'=' | b'<');
    rest.iter().all(is_plain).then_some((ran, skipped))
}

/// Splits `[ERROR] text`.
fn untag(text: &str) -> (Option<&str>, &str) {
    let tagged = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match tagged {
        Some((tag @ ("ERROR" | "INFO" | "WARNING"), rest)) => {
            (Some(tag), rest.strip_prefix(' ').unwrap_or(rest))
        }
        _ => (None, text),
    }
}

/// `raises(shop.CartTest)  Time elapsed: 0 s  <<< ERROR!`, since surefire 3
/// `shop.CartTest.raises -- Time elapsed: 0.001 s <<< ERROR!`.
fn failed_test(text: &str) -> Option<String> {
    if !text.ends_with("<<< FAILURE!") && !text.ends_with("<<< ERROR!") {
        return None;
    }
    let (name, _) = text.split_once("Time elapsed")?;
    let name = name.trim_end().trim_end_matches("--").trim_end();
    if name.starts_with("Tests run:") {
        return None;
    }
    match name.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        Some((test, class)) => Some(format!("{class}.{test}")),
        None => Some(name.to_owned()),
    }
}

/// `2) adds(shop.MoneyTest)` of `JUnit`'s own list.
fn listed(text: &str) -> Option<String> {
    let (_, rest) = text::number(text)?;
    let (test, class) = rest.strip_prefix(") ")?.strip_suffix(')')?.rsplit_once('(')?;
    let is_class = !class.is_empty() && !class.contains(' ');
    is_class.then(|| format!("{class}.{test}"))
}

/// What Ant says below the name of a test that failed.
fn is_failure(text: &str) -> bool {
    matches!(text.trim(), "FAILED" | "Caused an ERROR")
}

/// `/repo/Cart.java:[5,17] text`.
fn compile_error(text: &str) -> Option<Finding> {
    let (file, rest) = text.split_once(":[")?;
    let (at, message) = rest.split_once(']')?;
    let (line, rest) = text::small(at)?;
    let column = rest.strip_prefix(',').and_then(text::small).map(|(column, _)| column);
    let finding = Finding::new(FindingKind::Compile, message.trim());
    (!file.contains(' ')).then(|| finding.at(file, line, column))
}
