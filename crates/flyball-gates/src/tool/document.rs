//! Results printed as one JSON document: jest, vitest, mocha, rspec, eslint, ruff,
//! golangci-lint, pyright, shellcheck, hadolint, Code Climate, SARIF, and others by their shape.

mod any;
mod code_climate;
mod eslint;
mod flat;
mod golangci;
mod jest;
mod mocha;
mod pyright;
mod rspec;
mod ruff;
mod sarif;

use memchr::memmem;

use crate::recogniser::{Attention, Line};
use crate::report::Report;

/// A document longer than this is given up.
const DOCUMENT_MAX: usize = 16 * 1024 * 1024;

/// So many lines of others may stand between those of a document, as warnings do; with more it is none.
const FOREIGN_MAX: usize = 8;

/// Collects a document over its lines and reads it when it is complete.
#[derive(Clone, Default)]
pub(crate) struct Documents {
    open: Option<Open>,
    reports: Vec<Report>,
}

/// A document of which the end is still to come.
#[derive(Clone)]
struct Open {
    number: u64,
    text: String,
    /// How many lines were left out that cannot be part of it.
    foreign: usize,
}

impl Documents {
    /// Takes a line that begins with a bracket, or any line while a document is open.
    pub(crate) fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text.trim_end();
        if let Some(open) = &mut self.open {
            if continues(text) {
                open.text.push_str(text);
                open.text.push('\n');
            } else {
                open.foreign += 1;
            }
            if matches!(text, "}" | "]") {
                self.close();
            } else if open.text.len() > DOCUMENT_MAX || open.foreign > FOREIGN_MAX {
                self.open = None;
            }
        } else if text.starts_with("[\"fail\",{") {
            // One event of mocha's stream.
            if let Some(report) = mocha::event(text, line.number) {
                self.add(report);
            }
        } else if begins(text) {
            if text.len() > 1 && text.ends_with(['}', ']']) {
                self.read(text, line.number);
            } else {
                let text = format!("{text}\n");
                self.open = Some(Open { number: line.number, text, foreign: 0 });
            }
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    /// What the documents say, one report per tool.
    pub(crate) fn finish(mut self) -> Vec<Report> {
        self.close();
        self.reports
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.read(&open.text, open.number);
        }
    }

    fn read(&mut self, document: &str, number: u64) {
        if let Some(report) = report(document, number) {
            self.add(report);
        }
    }

    fn add(&mut self, report: Report) {
        match self.reports.iter_mut().find(|known| known.tool == report.tool) {
            Some(known) => known.absorb(report),
            None => self.reports.push(report),
        }
    }
}

/// Whether a line begins a document and is not one event of a stream.
fn begins(text: &str) -> bool {
    const EVENTS: &[&str] =
        &["reason\"", "type\"", "Time\"", "Action\"", "Package\"", "$message_t"];
    if let Some(rest) = text.strip_prefix('{') {
        let rest = rest.trim_start();
        let Some(key) = rest.strip_prefix('"') else { return rest.is_empty() };
        return !EVENTS.iter().any(|event| key.starts_with(event));
    }
    text.strip_prefix('[').is_some_and(|rest| {
        let rest = rest.trim_start();
        rest.is_empty() || rest.starts_with(['{', ']'])
    })
}

/// Whether a line can stand inside a document: no text of a document holds a line break, so each begins with a
/// value or with what stands between values.
fn continues(text: &str) -> bool {
    let text = text.trim_start();
    match text.as_bytes() {
        [] | [b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'0'..=b'9', ..] => true,
        [b'-', next, ..] => next.is_ascii_digit(),
        _ => ["true", "false", "null"].iter().any(|word| text.starts_with(word)),
    }
}

/// The report of a document, by the keys it has.
fn report(document: &str, number: u64) -> Option<Report> {
    let has = |key: &str| memmem::find(document.as_bytes(), key.as_bytes()).is_some();
    if document.starts_with('[') {
        if has("\"filePath\"") && has("\"messages\"") {
            return eslint::report(document, number);
        }
        if has("\"filename\"") && has("\"location\"") {
            return ruff::report(document, number);
        }
        if has("\"check_name\"") && has("\"location\"") {
            return code_climate::report(document, number);
        }
        if has("\"message\"") && has("\"line\"") && (has("\"code\"") || has("\"symbol\"")) {
            let report = flat::report(document, number);
            return report.or_else(|| any::report(document, number));
        }
        return if any::may_be(has) { any::report(document, number) } else { None };
    }
    if has("\"numTotalTests\"") && has("\"testResults\"") {
        jest::report(document, number)
    } else if has("\"stats\"") && has("\"passes\"") {
        mocha::report(document, number)
    } else if has("\"examples\"") && has("\"summary\"") {
        rspec::report(document, number)
    } else if has("\"runs\"") && has("sarif") {
        sarif::report(document, number)
    } else if has("\"generalDiagnostics\"") {
        pyright::report(document, number)
    } else if has("\"Issues\"") {
        golangci::report(document, number)
    } else if has("\"comments\"") && has("\"endLine\"") {
        // shellcheck's newer form has its list one level down.
        let list = document.get(document.find('[')?..=document.rfind(']')?)?;
        flat::report(list, number)
    } else if has("\"filename\"") && has("\"location\"") && has("\"end_location\"") {
        ruff::report(document, number)
    } else if has("\"filePath\"") && has("\"messages\"") && has("\"results\"") {
        eslint::report(document, number)
    } else if any::may_be(has) {
        any::report(document, number)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Documents, FOREIGN_MAX, begins};
    use crate::recogniser::{Attention, Line};

    /// What is found, and whether the last line left a document open.
    fn read(lines: &[&str]) -> (usize, Attention) {
        let mut documents = Documents::default();
        let mut attention = Attention::Idle;
        for (number, text) in (1..).zip(lines) {
            attention = documents.line(&Line { text, number, place: None });
        }
        let found = documents.finish().iter().map(|report| report.findings.len()).sum();
        (found, attention)
    }

    #[test]
    fn a_few_lines_of_others_do_not_spoil_a_document_many_end_it() {
        let head = ["[", "  {", "    \"filePath\": \"a.js\","];
        let tail = [
            "    \"messages\": [{\"ruleId\": \"eqeqeq\", \"severity\": 2, \"line\": 1, \"message\": \"no\"}],",
            "    \"fatal\":",
            "      true",
            "  }",
            "]",
        ];
        let with = |others: usize| [&head[..], &vec!["(node:1) Warning"; others], &tail].concat();
        assert_eq!(read(&with(0)), (1, Attention::Idle));
        assert_eq!(read(&with(FOREIGN_MAX)), (1, Attention::Idle));
        let many = with(FOREIGN_MAX + 1);
        let until = &many[..=head.len() + FOREIGN_MAX];
        assert_eq!(read(until), (0, Attention::Idle), "held although it is none");
        assert_eq!(read(&until[..until.len() - 1]).1, Attention::Busy);
    }

    #[test]
    fn a_document_is_told_from_a_tag_and_from_an_event() {
        for text in ["{", "[", "[{", "[]", "{\"numTotalTests\":1}", "[ {"] {
            assert!(begins(text), "{text}");
        }
        for text in
            ["[INFO] x", "[warn] a.js", "{\"reason\":\"x\"}", "{ \"type\": \"test\" }", "{x"]
        {
            assert!(!begins(text), "{text}");
        }
    }
}
