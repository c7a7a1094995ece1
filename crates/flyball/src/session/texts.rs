//! What a session says to its model.

use std::path::Path;

use flyball_core::call::{ValidationFailure, ValidationKind};
use flyball_core::claim::ClaimReading;
use flyball_core::text::{head, tail};
use flyball_models::{Block, Message, Role};

/// Asks for a summary.
pub(super) const SUM_UP: &str = "The context window is nearly full. Write down what you need to go on without \
     the messages so far; call no tool. Keep: the task as it was given and every wish of the human's; the \
     plan, what of it is done and what comes next; what you have learnt (files, commands, errors, decisions \
     and why). Leave out what can be looked up again.";

/// Characters of each message in a summary made without the model.
const BARE_MAX: usize = 300;
/// Lines of such a summary: the last ones.
const BARE_LINES: usize = 200;

/// What the model is told before everything else.
pub(crate) fn system(root: &Path, gates: &[String]) -> String {
    let mut text = format!(
        "You are a coding agent. You work in the folder `{}` with the tools you are given, until the task is \
         done.\n\
         - Look before you change something; make small changes and check them.\n\
         - Paths are relative to that folder; nothing outside of it can be changed.\n\
         - What you say last, without a call, ends your turn: then the work is checked. Say shortly what was \
         done and what was not.\n\
         - Where you cannot go on, end with a line `<promise>BLOCKED:reason</promise>`; where a human has to \
         decide, with `<promise>DECIDE:question</promise>`.",
        root.display()
    );
    if !gates.is_empty() {
        text.push_str("\n- These checks run when you stop after a change, and have to be green: ");
        text.push_str(&gates.join(", "));
    }
    text
}

/// An answer that the token limit cut off (A4).
pub(super) fn cut_off(words: &str) -> ValidationFailure {
    ValidationFailure::new(
        ValidationKind::TruncatedResponse,
        "a whole answer",
        tail(words, BARE_MAX),
        "the answer was cut off by the token limit: go on in smaller steps",
    )
}

/// A call that could not even be written.
pub(super) fn malformed(words: &str) -> ValidationFailure {
    ValidationFailure::new(
        ValidationKind::UnparseableJson,
        "a call of one of the tools",
        words,
        "the call could not be read",
    )
}

/// The first of the claims that are none.
pub(super) fn bad_claim(claims: &ClaimReading) -> Option<ValidationFailure> {
    claims.failures.first().cloned()
}

/// A summary without the model: who said what, shortly.
pub(super) fn bare_summary(messages: &[Message]) -> String {
    let mut lines = Vec::new();
    // The task is kept word for word before it.
    for message in messages.iter().skip(1) {
        for block in &message.blocks {
            let line = match (block, message.role) {
                (Block::Text(text), Role::Assistant) => format!("- I said: {}", short(&text.text)),
                (Block::Text(text), Role::User) => format!("- I was told: {}", short(&text.text)),
                (Block::Call(call), _) => format!("- I called `{}`", call.name),
                (Block::Result(result), _) => format!("  result: {}", short(&result.content)),
                (Block::Thought(_), _) => continue,
            };
            lines.push(line);
        }
    }
    let left = lines.len().saturating_sub(BARE_LINES);
    lines.drain(..left);
    lines.join("\n")
}

fn short(text: &str) -> String {
    head(&text.split_whitespace().collect::<Vec<_>>().join(" "), BARE_MAX)
}
