//! Output nobody understands: the places it mentions.

use std::collections::HashSet;

use crate::{Finding, FindingKind};

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::MENTIONS;
use crate::report::{Findings, Report};

/// How many mentions are kept.
const MENTIONS_MAX: usize = 50;
/// After so many lines that may mention a place nobody looks any more.
const LOOKS_MAX: u32 = 20_000;

/// Collects lines that begin with `path:line` and say something, and of others one per place.
#[derive(Clone, Default)]
pub(super) struct Generic {
    seen: HashSet<(String, u32)>,
    looks: u32,
    /// The last frame of a Python traceback, until its error comes.
    traced: Option<(String, u32)>,
    findings: Findings,
    /// Places of what only warns.
    warnings: Findings,
}

impl Recogniser for Generic {
    fn name(&self) -> &'static str {
        MENTIONS
    }

    fn cues(&self) -> Cues {
        // Any letter, digit, path mark or opening bracket.
        const FIRST: &[u8] =
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./[(<'\"`!*-#>~_@";
        // `File` for the frames of Python.
        Cues { starts: &["File"], also: &[(FIRST, Trait::ColonNumber)], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        self.looks = self.looks.saturating_add(1);
        if self.seen.len() >= MENTIONS_MAX || self.looks > LOOKS_MAX {
            return Attention::Idle;
        }
        if let Some((file, number)) = python_frame(line.text) {
            // The innermost frame of the project's own code is the one that helps.
            let is_own = !file.contains("/lib/python") && !file.starts_with('<');
            if self.traced.is_none() || is_own {
                self.traced = Some((file.to_owned(), number));
            }
        } else if let Some((file, number)) = self.traced.take() {
            self.traceback(line, file, number);
        } else if !may_mention(line.text) || place::is_foreign(line.text) {
            return Attention::Idle;
        } else if is_harmless(line.text) {
            if let Some(place) = complaint(line.text).filter(|_| self.warnings.len() < MENTIONS_MAX)
            {
                let finding = Finding::new(FindingKind::Other, line.text.trim());
                let finding = finding.at(place::tidy(place.file), place.line, place.column);
                self.warnings.push(line.number, finding);
            }
            return Attention::Idle;
        } else if let Some(place) = complaint(line.text).or_else(|| closing(line.text)) {
            // Several may be about one line.
            let is_unread = place.rest.starts_with("syntax error");
            let kind = if is_unread { FindingKind::Compile } else { FindingKind::Other };
            let finding = Finding::new(kind, line.text.trim());
            let finding = finding.at(place::tidy(place.file), place.line, place.column);
            self.findings.push(line.number, finding);
        } else if let Some(place) = place::mention(line.text) {
            let file = place::tidy(place.file);
            // What calls itself an error is one more, whatever was said of that line before.
            let is_error = line.text.starts_with("error") || line.text.starts_with("Error");
            if self.seen.insert((file.to_owned(), place.line)) || is_error {
                let finding = Finding::new(FindingKind::Other, line.text.trim());
                self.findings.push(line.number, finding.at(file, place.line, place.column));
            }
        }
        if self.traced.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        let warnings = std::mem::take(&mut self.warnings);
        let has_any = !findings.is_empty() || !warnings.is_empty();
        has_any.then(|| Report { tool: MENTIONS, findings, warnings, ..Report::default() })
    }
}

impl Generic {
    /// A line below a Python frame: more of the traceback, or the error it ends with.
    fn traceback(&mut self, line: &Line<'_>, file: String, number: u32) {
        if line.text.starts_with(' ') {
            self.traced = Some((file, number));
        } else if self.seen.insert((file.clone(), number)) {
            const UNREAD: [&str; 3] = ["SyntaxError: ", "IndentationError: ", "TabError: "];
            let is_unread = UNREAD.iter().any(|error| line.text.starts_with(error));
            let kind = if is_unread { FindingKind::Compile } else { FindingKind::Other };
            let finding = Finding::new(kind, line.text.trim());
            self.findings.push(line.number, finding.at(place::tidy(&file), number, None));
        }
    }
}

/// The place a line begins with that then says something in several words: what most linters print.
fn complaint(text: &str) -> Option<place::Place<'_>> {
    if crate::text::indent(text) > 4 {
        return None;
    }
    let own = crate::text::trim_start(text);
    // `psql:schema.sql:14: text`: who says it stands before the path.
    let place = place::prefix(own)?;
    let teller = place.file.split_once(':').filter(|(teller, file)| {
        teller.len() > 1 && !teller.contains(['.', '/', '\\']) && file.contains('.')
    });
    let own = teller.and_then(|(teller, _)| own.get(teller.len() + 1..)).unwrap_or(own);
    let place = if teller.is_some() { place::prefix(own)? } else { place };
    // `path(3,7): text` is no place inside of a sentence.
    let is_bracketed = own.as_bytes().get(place.file.len()) == Some(&b'(');
    let is_named =
        is_bracketed || place::mention(own).is_some_and(|mention| mention.file == place.file);
    let is_frame = place.rest.starts_with("in ") || place.rest.starts_with("at ");
    (is_named && !is_frame && place.rest.contains(' ')).then_some(place)
}

/// The place a line ends with that begins with how grave it is: `error  rule  text  a.js:3:7`.
fn closing(text: &str) -> Option<place::Place<'_>> {
    let (level, rest) = text.split_once(' ')?;
    if !matches!(level, "error" | "fatal" | "ERROR" | "Error") {
        return None;
    }
    let (_, last) = rest.trim_end().rsplit_once("  ")?;
    place::mention(last).filter(|place| place.rest.is_empty())
}

/// Whether a line says that all is well, or only warns.
fn is_harmless(text: &str) -> bool {
    // Further frames of Ruby, and comments that say where a step is defined.
    let is_frame = crate::text::trim_start(text).starts_with("from ");
    if is_frame || text.rsplit_once(" # ").is_some_and(|(_, place)| !place.contains(' ')) {
        return true;
    }
    let ends = [":PASS", " PASS", " PASSED", " ok", ": ok", " passed"];
    ends.iter().any(|end| text.ends_with(end))
        || ["PASS ", "PASSED ", "ok ", "\u{2713} ", "\u{2714} "]
            .iter()
            .any(|start| text.starts_with(start))
        || ["Warning: ", "warning: ", "WARN ", "WARNING"]
            .iter()
            .any(|word| crate::text::has(text, word))
}

/// File and line of `  File "x.py", line 3, in f`.
fn python_frame(text: &str) -> Option<(&str, u32)> {
    let rest = text.strip_prefix("  File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    Some((file, crate::text::small(rest)?.0))
}

/// A cheap look before the thorough one: is there an extension, a colon and a digit?
fn may_mention(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b':', bytes).any(|at| {
        if !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            return false;
        }
        let before = bytes.get(..at).unwrap_or_default();
        let name = before.iter().rev().take(11).take_while(|b| b.is_ascii_alphanumeric()).count();
        name > 0 && before.iter().rev().nth(name) == Some(&b'.')
    })
}
