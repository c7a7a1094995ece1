//! `JUnit` XML, in the dialects of pytest, jest, vitest, mocha, node, surefire and others.

mod case;

use crate::Counts;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use self::case::{Case, CaseVerdict};
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};

/// So much of a report is held; what is complete of a longer one is read before the rest comes.
const HELD_MAX: usize = 64 * 1024;
/// One test that is longer than this ends the report.
const TEST_MAX: usize = 16 * 1024 * 1024;

/// Collects `<testsuites>…</testsuites>` and reads it event by event; a cut report gives what it
/// has.
#[derive(Clone, Default)]
pub(super) struct Junit {
    /// What was not read yet.
    document: String,
    /// How long it must be before complete tests are looked for in it.
    enough: usize,
    /// What ends it.
    end: &'static str,
    number: u64,
    at: At,
    /// The name of the suite: linters put the path of a file there.
    suite: String,
    counts: Option<Counts>,
    findings: Findings,
}

/// Where the last line has left a report.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum At {
    /// None has begun, or it has ended.
    #[default]
    Outside,
    /// Behind the end of a test or the start of a suite.
    Between,
    /// In a test.
    Test,
    /// In a text, where tests are what somebody printed.
    Text,
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
        if self.at == At::Outside {
            let Some(at) = text.find("<testsuite") else { return Attention::Idle };
            text = text.get(at..).unwrap_or(text);
            self.at = At::Between;
            self.number = line.number;
            self.enough = HELD_MAX;
            let is_many = text.starts_with("<testsuites");
            self.end = if is_many { "</testsuites>" } else { "</testsuite>" };
        }
        self.document.push_str(text);
        self.document.push('\n');
        self.follow(text.trim());
        if text.contains(self.end) || self.document.len() > TEST_MAX {
            self.read();
        } else if self.document.len() > self.enough {
            self.read_complete();
        }
        if self.at == At::Outside { Attention::Idle } else { Attention::Busy }
    }

    /// A test that passed, on a line of its own.
    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        let own = line.trim_ascii();
        let is_passed = self.at == At::Between
            && own.starts_with(b"<testcase ")
            && own.ends_with(b"/>")
            && memchr::memchr(b'>', own) == own.len().checked_sub(1);
        if is_passed {
            self.counts.get_or_insert_default().passed += 1;
        }
        is_passed
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
    /// Where a line has left the report.
    fn follow(&mut self, line: &str) {
        let is_end = line.ends_with("</testcase>")
            || (line.ends_with("/>") && line.starts_with("<testcase "))
            || (line.ends_with('>') && line.starts_with("<testsuite"));
        self.at = match is_open(line) {
            Some(true) => At::Text,
            None if self.at == At::Text => At::Text,
            _ if is_end => At::Between,
            _ => At::Test,
        };
    }

    /// Reads the tests of which the next one shows that they are complete, and keeps the rest.
    fn read_complete(&mut self) {
        let at = last_test(&self.document).unwrap_or_default();
        let rest = self.document.split_off(at);
        let complete = std::mem::replace(&mut self.document, rest);
        self.read_text(&complete);
        // A long test is not searched again with every line of it.
        self.enough = HELD_MAX.max(self.document.len().saturating_mul(2));
    }

    fn read(&mut self) {
        self.at = At::Outside;
        let document = std::mem::take(&mut self.document);
        self.read_text(&document);
    }

    fn read_text(&mut self, document: &str) {
        let mut reader = Reader::from_str(document);
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

/// Where the last test begins that is none of a text that some test printed.
fn last_test(document: &str) -> Option<usize> {
    let mut before = document;
    loop {
        let at = before.rfind("<testcase")?;
        before = before.get(..at)?;
        if is_open(before) != Some(true) {
            return Some(at);
        }
    }
}

/// Whether a text was begun and not ended; none where there is neither beginning nor end of one.
fn is_open(document: &str) -> Option<bool> {
    match (document.rfind("<![CDATA["), document.rfind("]]>")) {
        (Some(begin), end) => Some(end.is_none_or(|end| end < begin)),
        (None, end) => end.map(|_| false),
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

#[cfg(test)]
mod tests {
    use super::{HELD_MAX, Junit, last_test};
    use crate::recogniser::{Line, Recogniser as _};

    #[test]
    fn a_test_in_what_a_test_printed_is_none() {
        let text = "<testcase name=\"a\"/><testcase><system-out><![CDATA[<testcase name=\"x\">";
        assert_eq!(last_test(text), Some(20));
        assert_eq!(last_test("<testsuite><![CDATA[]]><testcase/>"), Some(23));
        assert_eq!(last_test("<testsuite name=\"none\">"), None);
    }

    #[test]
    fn a_long_report_is_read_while_it_comes_and_gives_the_same() {
        let mut junit = Junit::default();
        let mut number = 0;
        let mut longest = 0;
        let mut line = |junit: &mut Junit, text: &str| {
            number += 1;
            let _attention = junit.line(&Line { text, number, place: None });
            longest = longest.max(junit.document.len());
        };
        line(&mut junit, "<testsuites>");
        line(&mut junit, "<testsuite name=\"all\">");
        for test in 0..5_000 {
            if test % 100 != 7 {
                let passed = format!("<testcase classname=\"c\" name=\"number {test}\"/>");
                if !junit.routine(passed.as_bytes(), 0) {
                    line(&mut junit, &passed);
                }
                continue;
            }
            line(&mut junit, &format!("<testcase classname=\"c\" name=\"number {test}\">"));
            line(&mut junit, "<failure message=\"it is &lt;3&gt;\"><![CDATA[Error");
            line(&mut junit, "</testsuite><testcase name=\"printed\"><failure/></testcase>");
            assert!(!junit.routine(b"<testcase name=\"printed\"/>", 0), "a test printed it");
            line(&mut junit, "<testcase name=\"printed\"/>");
            line(&mut junit, "]]></failure>");
            line(&mut junit, "</testcase>");
        }
        line(&mut junit, "</testsuite>");
        line(&mut junit, "</testsuites>");
        assert!(longest < HELD_MAX + 200, "{longest}");
        let report = junit.finish().expect("a report");
        let counts = report.counts.expect("counts");
        assert_eq!((counts.passed, counts.failed), (4_950, 50));
        assert_eq!(report.findings.len(), 50);
    }
}
