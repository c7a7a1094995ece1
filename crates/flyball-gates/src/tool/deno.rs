//! deno test: the section ` ERRORS `, type errors, and the totals.

use super::js_frame;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads `name => ./a_test.ts:3:6` with the error below it.
#[derive(Clone, Default)]
pub(super) struct Deno {
    counts: Option<Counts>,
    spoke: bool,
    in_errors: bool,
    open: Option<Open>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    /// A test, or nothing for what the type checker says.
    name: Option<String>,
    code: Option<String>,
    place: Option<(String, u32, Option<u32>)>,
    text: Block,
}

impl Recogniser for Deno {
    fn name(&self) -> &'static str {
        "deno"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["ERRO", "TS", "FAILU", "FAILED", "ok |", "erro"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        match text.trim_end() {
            " ERRORS" => {
                self.close();
                self.in_errors = true;
                return Attention::Busy;
            }
            " FAILURES" => {
                self.close();
                self.in_errors = false;
            }
            _ => {}
        }
        if let Some(counts) = total(text) {
            self.close();
            (self.in_errors, self.spoke) = (false, true);
            let before = self.counts.unwrap_or_default();
            self.counts = Some(before.and(counts));
        } else if self.in_errors
            && let Some((name, at)) = title(text)
        {
            self.close();
            let place = Some((place::tidy(at.file).to_owned(), at.line, at.column));
            // A step stands behind its test.
            let (name, text) = (Some(name.replace(" ... ", " > ")), Block::default());
            self.open = Some(Open { number: line.number, name, code: None, place, text });
        } else if let Some((code, message)) = type_error(text) {
            self.close();
            self.spoke = true;
            let mut block = Block::default();
            block.push(message);
            let code = Some(code.to_owned());
            self.open =
                Some(Open { number: line.number, name: None, code, place: None, text: block });
        } else if let Some(open) = &mut self.open {
            let is_over = open.code.is_some() && text.is_empty();
            if is_over {
                self.close();
            } else {
                open.text.push(text);
            }
        } else {
            self.outside(text, line.number);
        }
        let is_open = self.open.is_some() || self.in_errors;
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "deno",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Deno {
    fn close(&mut self) {
        let Some(Open { number, name, code, place, mut text }) = self.open.take() else { return };
        let text = text.take();
        let message = message(&text);
        // Nothing runs before the types are right.
        let kind = if code.is_some() { FindingKind::Compile } else { FindingKind::Test };
        let mut finding = Finding::new(kind, message).with_excerpt(text.as_str());
        finding.name = name.or(code);
        let own = text.lines().filter(|line| !line.contains("ext:")).find_map(js_frame::own);
        if let Some(at) = own {
            finding = finding.at(place::tidy(at.file), at.line, at.column);
        } else if let Some((file, line, column)) = place {
            finding = finding.at(file, line, column);
        }
        self.findings.push(number, finding);
    }

    fn outside(&mut self, text: &str, number: u64) {
        let Some(reason) = text.strip_prefix("error: ") else { return };
        if reason.starts_with("No test modules found") {
            self.spoke = true;
            self.findings.push(number, Finding::new(FindingKind::CouldNotRun, reason));
        } else if reason.starts_with("Module not found ") || reason.contains("file:///") {
            self.spoke = true;
            let mut finding = Finding::new(FindingKind::Compile, reason);
            let at = reason.rsplit_once(" at ").and_then(|(_, at)| place::prefix(at));
            if let Some(at) = at {
                finding = finding.at(place::tidy(at.file), at.line, at.column);
            }
            self.findings.push(number, finding);
        }
    }
}

/// Test and place of `with steps ... second => ./cart_test.ts:7:11`.
fn title(text: &str) -> Option<(&str, place::Place<'_>)> {
    // A cheap question first: this looks at very many lines.
    let (name, at) = text::has(text, "=> ").then(|| text.rsplit_once(" => ")).flatten()?;
    let at = place::prefix(at).filter(|at| at.rest.is_empty())?;
    (!text.starts_with(' ')).then_some((name, at))
}

/// Code and text of `TS2322 [ERROR]: text`.
fn type_error(text: &str) -> Option<(&str, &str)> {
    let (code, message) = text::split(text, " [ERROR]: ")?;
    let digits = code.strip_prefix("TS")?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some((code, message))
}

/// What is said before the stack, without the quoted source.
fn message(text: &str) -> String {
    let mut lines: Vec<&str> =
        text.lines().take_while(|line| !js_frame::is_frame(line)).take(30).collect();
    let caret = lines.iter().rposition(|line| {
        let marks = line.trim();
        !marks.is_empty() && marks.bytes().all(|byte| matches!(byte, b'^' | b'~'))
    });
    if let Some(caret) = caret.filter(|caret| *caret > 1 || lines.len() > 2) {
        lines.truncate(caret.saturating_sub(1));
    }
    let message = lines.join("\n");
    let message = text::trim_lines(&message);
    message.strip_prefix("error: ").unwrap_or(message).to_owned()
}

/// `FAILED | 2 passed (1 step) | 3 failed (1 step) | 1 ignored (28ms)`.
fn total(text: &str) -> Option<Counts> {
    let list = text.strip_prefix("FAILED | ").or_else(|| text.strip_prefix("ok | "))?;
    let mut counts = Counts::default();
    // Without the time at the end it was printed by somebody else.
    list.strip_suffix(')').filter(|list| list.ends_with('s') && list.contains(" passed"))?;
    for part in list.split(" | ") {
        let (count, word) = text::number(part)?;
        match word.split_whitespace().next() {
            Some("passed") => counts.passed = count,
            Some("failed") => counts.failed = count,
            Some("ignored") => counts.skipped = count,
            _ => {}
        }
    }
    Some(counts)
}
