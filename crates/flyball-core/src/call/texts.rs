//! What the call ring tells agents and people. Every text is below [`MAX_TEXT`] characters, save for
//! the path and the shown part of a large result: a cut path leads nowhere, and the part has a limit
//! of its own.

use alloc::format;
use alloc::string::String;

use super::context::ContextLevel;
use super::detect::Seen;
use super::ring::LastCall;
use super::{Chant, ToolOutcome, ValidationFailure, ValidationKind};
use crate::moment::Millis;
use crate::policy::CallRules;
use crate::text::{count, prefix};

/// No text is longer than this many characters; path and shown part of a large result not counted.
pub const MAX_TEXT: usize = 1_500;

/// Bytes of a tool name kept in the ring's state and put into a sentence.
const MAX_STORED_NAME: usize = 64;
/// Characters of arguments and results kept and put into a sentence.
const MAX_EXCERPT: usize = 160;
/// Characters shown of what could not be understood (A4).
const MAX_RECEIVED: usize = 200;
/// Characters of an expectation or an error.
const MAX_PART: usize = 300;

/// A tool's name as it is kept and told: short, and without anything that would have to be escaped.
pub(super) fn stored_name(tool: &str) -> String {
    let plain =
        tool.chars().map(|c| if c.is_control() || matches!(c, '"' | '\\') { ' ' } else { c });
    let mut name = String::new();
    for c in plain {
        if name.len() + c.len_utf8() > MAX_STORED_NAME {
            break;
        }
        name.push(c);
    }
    name
}

/// The first characters of arguments or a result, on one line.
pub(super) fn excerpt(text: &str) -> String {
    clean(text, MAX_EXCERPT)
}

fn clean(text: &str, max: usize) -> String {
    text.chars().take(max).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Advice for an agent that goes nowhere (A2): what was seen, how the last call went, one way out.
pub fn nudge(what: &str, last: Option<&LastCall>) -> String {
    let seen = last.map_or_else(String::new, |last| format!(" {}", outcome_sentence(last)));
    let way_out = match last.and_then(|last| last.outcome) {
        Some(ToolOutcome::Exit) => {
            "Read that output, change the code or the command, and only then run it again."
        }
        Some(ToolOutcome::Tool) => {
            "Check the arguments against what really exists, or use another tool for it."
        }
        Some(ToolOutcome::Ok | ToolOutcome::Refused) | None => {
            "It will not tell you more: use what it already told you, or ask for something else."
        }
    };
    format!("You may be going round in circles: {what}.{seen} {way_out}")
}

/// Advice for an agent whose words go nowhere (A3).
pub fn nudge_words(what: &str) -> String {
    format!(
        "You may be going round in circles: {what}. Say it no more: take the next step with a tool, \
         or say once what keeps you from going on."
    )
}

/// A chant in one sentence, without a full stop.
pub(super) fn chant(chant: &Chant) -> String {
    format!("the same words {} times in a row: \"{}\"", chant.times, excerpt(&chant.unit))
}

/// What was seen, in words without a full stop.
pub(super) fn seen(seen: Seen, tool: &str) -> String {
    match seen {
        Seen::Streak(n) | Seen::Changing(n) => {
            format!("tool '{tool}' called {n} times consecutively with identical parameters")
        }
        Seen::SameResults(n) => format!(
            "the last {n} calls of tool '{tool}' had identical parameters and the same result"
        ),
        Seen::Answered(n) => format!(
            "tool '{tool}' called {} times with identical parameters, and answered the same way \
             each time since anything changed",
            n.saturating_add(1)
        ),
        Seen::Lap(n) => format!(
            "going round through the same {}, and each brings what it brought before",
            count(n, "call")
        ),
        Seen::Old(n) => format!(
            "the last {} held little but calls made before, with the answers given before",
            count(n, "step")
        ),
        Seen::SameChange(n) => {
            format!("the same change was made {n} times with tool '{tool}'")
        }
        Seen::Stale(n) => format!(
            "the same question to tool '{tool}' got the same answer across {}",
            count(n, "change")
        ),
        Seen::Stagnant(n) => {
            format!("tool '{tool}' gave the same answer {n} times, whatever it was asked")
        }
        Seen::SameWords(n) => format!("the last {n} turns said the same and called nothing"),
    }
}

/// What every refusal says, and no tool does.
const NOT_RUN: &str = "This call was not run. Running it again will bring nothing new";

/// Whether a tool's answer is a refusal of this ring that came back through the client.
pub(super) fn is_refusal(answer: &str) -> bool {
    prefix(answer, MAX_TEXT).contains(NOT_RUN)
}

/// Why a call does not run (A2), and that another way is needed.
pub fn refusal(what: &str, refusals: u32, max: u32) -> String {
    format!(
        "{what} (blocked {refusals}/{max}). {NOT_RUN}: do something different, such as another \
         tool, other arguments, or a smaller step, or say what keeps you from going on."
    )
}

/// What goes nowhere for too long (A3). Whoever ends the session says so, with [`ended`].
pub fn halt(what: &str) -> String {
    format!("You are going nowhere: {what}. Stop here, and say what keeps you from going on.")
}

/// The last refusal there is.
pub fn refusal_halt(refusal: &str, refusals: u32) -> String {
    format!("{refusal} Stop here: {} are enough.", count(u64::from(refusals), "refused call"))
}

/// The message of a halt that ends the session.
pub fn ended(message: &str) -> String {
    format!("{message} The session ends here.")
}

/// An agent that shows no sign of life (A6).
pub fn stall(idle: Millis, elapsed: Millis, last: Option<&LastCall>) -> String {
    let seen = last.map_or_else(|| String::from("No tool has been called yet."), outcome_sentence);
    format!(
        "stalled after {}ms without a sign of life. {seen} The session has been going for \
         {elapsed}. Break the work into smaller steps and take the first one now.",
        idle.get()
    )
}

/// What the agent is told of a fixed time that is over.
pub(super) fn overdue(elapsed: Millis, timeout: Millis, last: Option<&LastCall>) -> String {
    let seen = last.map_or_else(|| String::from("No tool has been called yet."), outcome_sentence);
    format!(
        "stalled after {}ms: the time for this was {timeout}. {seen} Take another approach, or break \
         the work into smaller steps and take the first one now.",
        elapsed.get()
    )
}

/// A fixed time that is over, in one sentence.
pub(super) fn overdue_evidence(elapsed: Millis, last: Option<&LastCall>) -> String {
    let seen = last.map_or_else(String::new, |last| format!(", last tool '{}'", last.tool));
    format!("{elapsed} since its start{seen}")
}

/// A stall in one sentence.
pub(super) fn stall_evidence(idle: Millis, last: Option<&LastCall>) -> String {
    let seen = last.map_or_else(String::new, |last| format!(", last tool '{}'", last.tool));
    format!("no sign of life for {idle}{seen}")
}

/// `The last tool was 'x' and it succeeded: "…".`
pub(crate) fn outcome_sentence(last: &LastCall) -> String {
    let how = match last.outcome {
        None => "has not answered yet",
        Some(ToolOutcome::Ok) => "succeeded",
        Some(ToolOutcome::Exit) => "ran a program that exited with an error",
        Some(ToolOutcome::Tool) => "failed",
        Some(ToolOutcome::Refused) => "was refused",
    };
    let answer = last.result.trim();
    if answer.is_empty() {
        format!("The last tool, '{}', {how}.", last.tool)
    } else {
        format!("The last tool, '{}', {how}; its answer began: \"{answer}\".", last.tool)
    }
}

/// What could not be understood (A4), and to try again.
pub fn validation(failure: &ValidationFailure, streak: u32, max: u32) -> String {
    let what = kind_words(failure.kind);
    let expected = clean(&failure.expected, MAX_PART);
    let received = clean(&failure.received, MAX_RECEIVED);
    let error = clean(&failure.error, MAX_PART);
    let then = if streak >= max { "Stop here." } else { "Correct it and try again." };
    format!(
        "Your last output could not be used: {what} ({streak}/{max} in a row).\n\
         Expected: {expected}\nReceived: {received}\nError: {error}\n{then}"
    )
}

/// A validation failure in one sentence.
pub(crate) fn validation_evidence(failure: &ValidationFailure) -> String {
    format!("{}: {}", kind_words(failure.kind), clean(&failure.error, MAX_PART))
}

const fn kind_words(kind: ValidationKind) -> &'static str {
    match kind {
        ValidationKind::UnparseableJson => "the arguments are no JSON",
        ValidationKind::MissingField => "a required field is missing",
        ValidationKind::WrongType => "a field has the wrong type",
        ValidationKind::UnknownTool => "there is no such tool",
        ValidationKind::MalformedClaim => "a promise tag is malformed",
        ValidationKind::EmptyClaim => "a promise tag is empty",
        ValidationKind::TruncatedResponse => "the response was cut off by the token limit",
        ValidationKind::BadStreamLine => "a line of the event stream is no event",
    }
}

/// Too many failed tools in a row (A5).
pub fn tool_failures(evidence: &str, answer: &str) -> String {
    let answer = excerpt(answer);
    format!(
        "{evidence}. The last one said: \"{}\". What the tools need may be missing or broken, and \
         calling them again will not mend it.",
        answer.trim()
    )
}

/// Failed tools in one sentence.
pub(super) fn failures_evidence(streak: u32, tool: &str) -> String {
    let last = if tool.is_empty() { String::new() } else { format!(", last of them '{tool}'") };
    format!("{} failed in a row{last}", count(u64::from(streak), "tool call"))
}

/// The context window fills up (A8).
pub fn context(level: ContextLevel, percent: u8) -> String {
    let advice = match level {
        ContextLevel::Notice => "Read only what you need from here on.",
        ContextLevel::Warning => {
            "Finish the step at hand, write down what you know, and commit what works."
        }
        ContextLevel::Critical => {
            "Commit what works now, write down what is left to do, and stop: the next session begins \
             with a fresh context."
        }
    };
    format!("{level}: {percent}% of the context window is used. {advice}")
}

/// Context fill in one sentence.
pub(super) fn context_evidence(percent: u64) -> String {
    format!("{percent}% of the context window is used")
}

/// A large result in one sentence.
pub(super) fn large_evidence(chars: u64) -> String {
    format!("a tool result of {}", count(chars, "character"))
}

/// What the agent gets instead of a large result that was written to a file (A7).
pub fn spilled(rules: &CallRules, result: &str, chars: u64, path: &str) -> String {
    let shown = prefix(result, usize::try_from(rules.preview).unwrap_or(usize::MAX));
    format!(
        "The result has {} and was written to a file instead: {path}\n\
         Read a part of it with your file tool (give it an offset and a limit), or search it with \
         grep -n PATTERN and that path.\n\
         Its first {}:\n{shown}",
        count(chars, "character"),
        count(shown.chars().count() as u64, "character"),
    )
}

/// What the agent gets when a large result could not be written to a file (A7): its first
/// characters, and a line that says what was cut.
pub fn cut(rules: &CallRules, result: &str) -> String {
    let max = usize::try_from(rules.large_response).unwrap_or(usize::MAX);
    let shown = prefix(result, max);
    let left = result.get(shown.len()..).map_or(0, |rest| rest.chars().count());
    if left == 0 {
        return String::from(result);
    }
    format!(
        "{shown}\n[cut here: {} of {} are missing; ask for a smaller part]",
        count(left as u64, "character"),
        left.saturating_add(shown.chars().count()),
    )
}

#[cfg(test)]
mod tests;
