//! Reads promise tags (B1): `<promise>COMPLETE</promise>`, `<promise>BLOCKED:reason</promise>`,
//! `<promise>DECIDE:question</promise>`.
//!
//! The kind may be written in any case and white space around kind and text does not count; a colon
//! inside the text stays and the text may have several lines. `COMPLETE:anything` is a COMPLETE: what
//! follows cannot make the claim truer, and it is checked anyway. A tag inside a quote is no tag, and
//! a claim's own text may hold quotes. A tag that another tag opens inside of, or that is never
//! closed, is unclosed. Of each kind of failure the first is reported.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::quotes::{is_fence, quoted};
use super::{Claim, ClaimReading};
use crate::call::{ValidationFailure, ValidationKind};
use crate::text;

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";
const EXPECTED: &str = "<promise>COMPLETE</promise>, <promise>BLOCKED:reason</promise> or \
                        <promise>DECIDE:question</promise>";

/// Characters kept of a reason or a question.
const MAX_CLAIM: usize = 8_000;
/// Characters kept of what was received (A4).
const MAX_RECEIVED: usize = 200;

/// Reads the final words of an agent whose output is a stream of events: nothing but its own text.
pub fn read_structured(text: &str) -> ClaimReading {
    let mut reading = ClaimReading::default();
    let mut open: Option<usize> = None;
    for tag in tags(text) {
        match (tag, open) {
            (Tag::Open(at), None) => open = Some(at),
            (Tag::Open(at), Some(earlier)) => {
                unclosed(&mut reading, text.get(earlier..at).unwrap_or(""));
                open = Some(at);
            }
            (Tag::Close(at), Some(from)) => {
                let words = text.get(from + OPEN.len()..at).unwrap_or("");
                match claim(words) {
                    Ok(claim) => take(&mut reading, claim),
                    Err(failure) => fail(&mut reading, failure),
                }
                open = None;
            }
            // An end without a beginning promises nothing.
            (Tag::Close(_), None) => {}
        }
    }
    if let Some(from) = open {
        unclosed(&mut reading, text.get(from..).unwrap_or(""));
    }
    reading
}

/// Reads the output of an agent that prints plain text and may echo its prompt: lines that hold a tag
/// and equal a whole line of the prompt are taken out first. A prompt's line that is nothing but one
/// tag takes nothing out, or the agent could never say it.
pub fn read_plain(text: &str, prompt: &str) -> ClaimReading {
    let echoes: BTreeSet<&str> = prompt.lines().map(str::trim).filter(|l| is_echo(l)).collect();
    if echoes.is_empty() {
        return read_structured(text);
    }
    let kept: String =
        text.split_inclusive('\n').filter(|line| !echoes.contains(line.trim())).collect();
    read_structured(&kept)
}

/// Whether a line of the prompt is one that an agent can only echo. Lines without a tag stay (they
/// claim nothing), and so do fences: without them what they quote would be a claim.
fn is_echo(line: &str) -> bool {
    (line.contains(OPEN) || line.contains(CLOSE)) && !is_bare_tag(line) && !is_fence(line)
}

fn is_bare_tag(line: &str) -> bool {
    line.strip_prefix(OPEN)
        .and_then(|rest| rest.strip_suffix(CLOSE))
        .is_some_and(|words| !words.contains(OPEN) && !words.contains(CLOSE))
}

/// One end of a tag, by where it stands.
#[derive(Clone, Copy)]
enum Tag {
    Open(usize),
    Close(usize),
}

impl Tag {
    const fn at(self) -> usize {
        match self {
            Self::Open(at) | Self::Close(at) => at,
        }
    }
}

/// The ends of tags outside of quotes, in order.
fn tags(text: &str) -> Vec<Tag> {
    if !text.contains(OPEN) {
        return Vec::new();
    }
    let mut quotes = quoted(text).into_iter().peekable();
    text.match_indices('<')
        .filter_map(|(at, _)| {
            let rest = text.get(at..)?;
            if rest.starts_with(OPEN) {
                Some(Tag::Open(at))
            } else {
                rest.starts_with(CLOSE).then_some(Tag::Close(at))
            }
        })
        .filter(|tag| {
            while quotes.next_if(|quote| quote.end <= tag.at()).is_some() {}
            quotes.peek().is_none_or(|quote| quote.start > tag.at())
        })
        .collect()
}

/// What stands between the ends of a tag, as a claim.
fn claim(words: &str) -> Result<Claim, ValidationFailure> {
    let (kind, rest) = words.split_once(':').unwrap_or((words, ""));
    let (kind, rest) = (kind.trim(), rest.trim());
    let is = |name: &str| kind.eq_ignore_ascii_case(name);
    if is("COMPLETE") {
        return Ok(Claim::Complete);
    }
    let empty = |what: &str| failure(ValidationKind::EmptyClaim, words, format!("{what} is empty"));
    if is("BLOCKED") {
        return if rest.is_empty() { Err(empty("the reason")) } else { Ok(blocked(rest)) };
    }
    if is("DECIDE") {
        return if rest.is_empty() { Err(empty("the question")) } else { Ok(decide(rest)) };
    }
    let error = format!("`{}` is no kind of claim", text::prefix(kind, 40));
    Err(failure(ValidationKind::MalformedClaim, words, error))
}

fn blocked(reason: &str) -> Claim {
    Claim::Blocked { reason: text::head(reason, MAX_CLAIM) }
}

fn decide(question: &str) -> Claim {
    Claim::Decide { question: text::head(question, MAX_CLAIM) }
}

fn failure(kind: ValidationKind, words: &str, error: String) -> ValidationFailure {
    let received = format!("{OPEN}{words}{CLOSE}");
    let received = String::from(text::prefix(&received, MAX_RECEIVED));
    ValidationFailure { kind, expected: String::from(EXPECTED), received, error }
}

fn unclosed(reading: &mut ClaimReading, from_tag: &str) {
    let failure = ValidationFailure {
        kind: ValidationKind::MalformedClaim,
        expected: String::from(EXPECTED),
        received: String::from(text::prefix(from_tag, MAX_RECEIVED)),
        error: format!("`{OPEN}` is not closed by `{CLOSE}`"),
    };
    fail(reading, failure);
}

/// The last claim of its kind counts.
fn take(reading: &mut ClaimReading, claim: Claim) {
    match claim {
        Claim::Complete => reading.complete = true,
        Claim::Blocked { reason } => reading.blocked = Some(reason),
        Claim::Decide { question } => reading.decide = Some(question),
    }
}

/// The first failure of its kind counts, so that a text full of them is one bad answer and small.
fn fail(reading: &mut ClaimReading, failure: ValidationFailure) {
    if !reading.failures.iter().any(|known| known.kind == failure.kind) {
        reading.failures.push(failure);
    }
}

#[cfg(test)]
mod tests;
