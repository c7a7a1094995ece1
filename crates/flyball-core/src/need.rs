//! What a run that is not at work needs of a human. One rule for all who show it.

use alloc::string::String;

use serde::Serialize;

use crate::event::HumanFiles;
use crate::gate::TamperFinding;
use crate::gate::tamper::{is_question, question_after};
use crate::outcome::Outcome;

/// What is asked of a human.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// The agent asks.
    Decide,
    /// flyball asks: tests or gates were weakened.
    Tamper,
    /// The agent cannot go on.
    Blocked,
    /// The run did not end, and its process is gone.
    Lost,
}

impl AskKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Decide, Self::Tamper, Self::Blocked, Self::Lost];

    /// In one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Tamper => "tamper",
            Self::Blocked => "blocked",
            Self::Lost => "lost",
        }
    }

    /// What can be done about it, by the names of the acts.
    pub const fn acts(self) -> &'static [&'static str] {
        match self {
            Self::Decide => &["answer", "resume"],
            Self::Tamper => &["restore-tamper", "accept-tamper", "resume"],
            Self::Blocked => &["unblock", "resume"],
            Self::Lost => &["resume"],
        }
    }
}

/// What an ended run needs of a human, and the words of it: what it asks, what blocks it, or what is
/// weakened and open where it worked. The last is asked however the run ended: a breaker or a limit
/// can be faster than the question, and what was weakened stays so.
pub fn need_of_ended(
    outcome: Option<Outcome>,
    files: &HumanFiles,
    weakened: &[&TamperFinding],
) -> Option<(AskKind, String)> {
    if matches!(outcome, Some(Outcome::Blocked | Outcome::Decide)) {
        if let Some(asked) = &files.question {
            let kind = if is_question(asked) { AskKind::Tamper } else { AskKind::Decide };
            // With the answer in its place the next step is the run's.
            return files.answer.is_none().then(|| (kind, asked.clone()));
        }
        if let Some(reason) = &files.blocked {
            return Some((AskKind::Blocked, reason.clone()));
        }
    }
    (!weakened.is_empty()).then(|| (AskKind::Tamper, question_after(weakened)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_ended_a_run_weakened_checks_need_somebody() {
        let finding = TamperFinding::about("test:t", "`t` was deleted");
        let files = HumanFiles::default();
        for outcome in Outcome::ALL {
            assert_eq!(need_of_ended(Some(outcome), &files, &[]), None, "{outcome}");
            let need = need_of_ended(Some(outcome), &files, &[&finding]);
            let (kind, text) = need.unwrap();
            assert_eq!(kind, AskKind::Tamper, "{outcome}");
            assert!(text.contains("- `t` was deleted"), "{text}");
            assert!(!is_question(&text), "nothing says that the work verifies: {text}");
        }
    }

    #[test]
    fn what_the_run_itself_asks_comes_first() {
        use Outcome::{Blocked, CircuitBreaker, Decide};

        let finding = TamperFinding::about("test:t", "`t` was deleted");
        let ask = |outcome, question: Option<&str>, answer: Option<&str>, blocked: Option<&str>| {
            let own = |text: Option<&str>| text.map(String::from);
            let (question, answer, blocked) = (own(question), own(answer), own(blocked));
            let files = HumanFiles { blocked, question, answer, ..HumanFiles::default() };
            need_of_ended(Some(outcome), &files, &[&finding]).map(|(kind, _)| kind)
        };
        assert_eq!(ask(Decide, Some("A or B?"), None, None), Some(AskKind::Decide));
        assert_eq!(ask(Decide, Some("A or B?"), Some("A"), None), None, "it is answered");
        assert_eq!(ask(Blocked, None, None, Some("no key")), Some(AskKind::Blocked));
        // What stood there before this run is not what it asks.
        assert_eq!(ask(CircuitBreaker, Some("A or B?"), None, Some("x")), Some(AskKind::Tamper));
    }
}
