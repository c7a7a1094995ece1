//! What an agent's output promises, by the words the session was begun with.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::claim::read_structured;

/// What an agent's output says about the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promised {
    /// A promise of completion that stands there.
    pub complete: Option<String>,
    /// Why it cannot go on, where it says so.
    pub blocked: Option<String>,
}

impl Promised {
    /// Looks for these promises, and for a BLOCKED or DECIDE claim.
    pub fn read(promises: &[String], output: &str) -> Self {
        let claims = read_structured(output);
        let (stops, completes): (Vec<&String>, Vec<&String>) =
            promises.iter().partition(|promise| is_blocked(promise));
        let stands = |promise: &&&String| match tag(promise) {
            // A tag counts where the agent speaks, not where it quotes.
            Some(kind) if kind.eq_ignore_ascii_case("complete") => claims.complete,
            Some(_) | None => output.contains(promise.as_str()),
        };
        let blocked = claims
            .blocked
            .or_else(|| claims.decide.map(|question| format!("a human must decide: {question}")))
            .or_else(|| stops.iter().find(stands).map(|promise| (*promise).clone()));
        Self { complete: completes.iter().find(stands).map(|one| (*one).clone()), blocked }
    }
}

/// Whether a promise says that the work cannot go on: `BLOCKED`, with or without tag and reason.
pub fn is_blocked(promise: &str) -> bool {
    let words = tag(promise).unwrap_or(promise).trim_start();
    let Some(kind) = words.get(.."blocked".len()) else { return false };
    let after = words.get("blocked".len()..).and_then(|rest| rest.chars().next());
    kind.eq_ignore_ascii_case("blocked") && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// The words inside a promise tag.
fn tag(promise: &str) -> Option<&str> {
    promise.trim().strip_prefix("<promise>")?.strip_suffix("</promise>").map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_that_says_blocked_is_told_from_one_that_does_not() {
        let cases = [
            ("<promise>BLOCKED</promise>", true),
            ("<promise> blocked: no key </promise>", true),
            ("BLOCKED", true),
            ("BLOCKED: waiting", true),
            ("<promise>COMPLETE</promise>", false),
            ("blockedness is gone", false),
            ("All tests pass", false),
            ("", false),
        ];
        for (promise, blocked) in cases {
            assert_eq!(is_blocked(promise), blocked, "{promise}");
        }
    }
}
