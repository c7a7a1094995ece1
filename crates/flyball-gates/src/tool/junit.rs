//! `JUnit` XML, in the dialects of pytest, jest, vitest, mocha, node, surefire and others.

mod case;

use crate::Counts;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use self::case::{Case, CaseVerdict};
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};

/// A report longer than this is given up.
const DOCUMENT_MAX: usize = 16 * 1024 * 1024;

/// Collects `<testsuites>…</testsuites>` and reads it event by event; a cut report gives what it
/// has.
#[derive(Clone, Default)]
pub(super) struct Junit {
    document: String,
    number: u64,
    collecting: bool,
    /// The name of the suite: linters put the path of a file there.
    suite: String,
    counts: Option<Counts>,
    findings: Findings,
}

impl Recogniser for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn cues(&self) -> Cues {
        Cues { first: b"<", ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let mut text = line.text;
        if !self.collecting {
            let Some(at) = text.find("<testsuite") else { return Attention::Idle };
            text = text.get(at..).unwrap_or(text);
            self.collecting = true;
            self.number = line.number;
        }
        if self.document.len().saturating_add(text.len()) > DOCUMENT_MAX {
            self.document.clear();
            self.collecting = false;
            return Attention::Idle;
        }
        self.document.push_str(text);
        self.document.push('\n');
        let end =
            if self.document.starts_with("<testsuites") { "</testsuites>" } else { "</testsuite>" };
        if text.contains(end) {
            self.read();
        }
        if self.collecting { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.read();
        let counts = self.counts?;
        Some(Report {
            tool: "junit",
            counts: Some(counts),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Junit {
    fn read(&mut self) {
        self.collecting = false;
        let document = std::mem::take(&mut self.document);
        let mut reader = Reader::from_str(&document);
        reader.config_mut().check_end_names = false;
        let mut case = None;
        loop {
            match reader.read_event() {
                Ok(Event::Start(tag)) => self.start(&tag, &mut case),
                Ok(Event::Empty(tag)) => {
                    self.start(&tag, &mut case);
                    self.end(tag.local_name().as_ref(), &mut case);
                }
                Ok(Event::End(tag)) => self.end(tag.local_name().as_ref(), &mut case),
                Ok(Event::Text(text)) => append(&mut case, &String::from_utf8_lossy(&text)),
                Ok(Event::CData(text)) => append(&mut case, &String::from_utf8_lossy(&text)),
                Ok(Event::GeneralRef(entity)) => {
                    if let Some(character) = character(&entity) {
                        append(&mut case, character.encode_utf8(&mut [0; 4]));
                    }
                }
                Ok(Event::Eof) | Err(_) => break,
                Ok(_) => {}
            }
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, case: &mut Option<Case>) {
        let attribute = |name: &str| {
            let value = tag.try_get_attribute(name).ok().flatten()?;
            value.unescape_value().ok().map(std::borrow::Cow::into_owned)
        };
        let verdict = match tag.local_name().as_ref() {
            b"testsuites" | b"testsuite" => {
                self.counts.get_or_insert_default();
                self.suite = attribute("name").unwrap_or_default();
                return;
            }
            b"testcase" => {
                *case = Some(Case {
                    name: attribute("name").unwrap_or_default(),
                    class: attribute("classname").unwrap_or_default(),
                    file: attribute("file"),
                    line: attribute("line").and_then(|line| line.parse().ok()),
                    ..Case::default()
                });
                return;
            }
            b"failure" | b"error" => CaseVerdict::Failed,
            b"skipped" => CaseVerdict::Skipped,
            _ => return,
        };
        if let Some(case) = case {
            // Linters tell several problems of one rule in one test, each at its place.
            if verdict == CaseVerdict::Failed
                && let Some(earlier) = case.lint_before()
            {
                self.findings.push(self.number, earlier.in_file(&self.suite).into_finding());
            }
            case.verdict = case.verdict.max(verdict);
            case.reading = verdict == CaseVerdict::Failed;
            if case.message.is_none() {
                case.message = attribute("message");
                case.class_of_error = attribute("type").unwrap_or_default();
            }
        }
    }

    fn end(&mut self, tag: &[u8], case: &mut Option<Case>) {
        match tag {
            b"failure" | b"error" => {
                if let Some(case) = case {
                    case.reading = false;
                }
            }
            b"testcase" => {
                let Some(case) = case.take() else { return };
                let counts = self.counts.get_or_insert_default();
                match case.verdict {
                    CaseVerdict::Passed => counts.passed += 1,
                    CaseVerdict::Skipped => counts.skipped += 1,
                    CaseVerdict::Failed => {
                        counts.failed += 1;
                        if self.findings.is_only_counted() {
                            return;
                        }
                        let problems = case.problems();
                        if problems.is_empty() {
                            let case = case.in_file(&self.suite);
                            self.findings.push(self.number, case.into_finding());
                        }
                        for problem in problems {
                            self.findings.push(self.number, problem);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

fn append(case: &mut Option<Case>, text: &str) {
    if let Some(case) = case
        && case.reading
    {
        case.append(text);
    }
}

/// The character an entity stands for.
fn character(entity: &BytesRef<'_>) -> Option<char> {
    if let Ok(Some(character)) = entity.resolve_char_ref() {
        return Some(character);
    }
    match &**entity {
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"amp" => Some('&'),
        b"apos" => Some('\''),
        b"quot" => Some('"'),
        _ => None,
    }
}
