//! What whoever drives a session is told: what is wrong, and what to do next.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Evidence, RuleOutcome, SessionRules, Signal};
use crate::text;

/// Reported messages that are repeated.
const REPORTED_MAX: usize = 20;
/// Characters of the whole.
const TEXT_MAX: usize = 12_000;

pub(super) fn text(session: &SessionRules, signal: Signal, evidence: &Evidence<'_>) -> String {
    let mut lines = findings(evidence);
    lines.push(match signal {
        Signal::Complete => "Call `iteration_complete` to finish.".to_owned(),
        Signal::Blocked => "The agent says that it is blocked: remove what is in the way, or call \
             `iteration_complete` with the BLOCKED promise to end the session as blocked."
            .to_owned(),
        Signal::Escalate => {
            "A guard has tripped: stop and tell a human. `iteration_next` will end this session \
             as blocked."
                .to_owned()
        }
        Signal::Continue if evidence.passed() => {
            let promises = session.completion_promises.join("` or `");
            format!("When the work is done, say `{promises}`; else call `iteration_next`.")
        }
        Signal::Continue => {
            "Mend what fails, then call `iteration_validate` again or `iteration_next`.".to_owned()
        }
    });
    text::head(&lines.join("\n"), TEXT_MAX)
}

fn findings(evidence: &Evidence<'_>) -> Vec<String> {
    let Evidence { rules, .. } = evidence;
    if evidence.passed() {
        return Vec::from([match rules.len() {
            0 => "No validation rule checks this work.".to_owned(),
            rules => format!("All {rules} validation rules hold."),
        }]);
    }
    let red: Vec<&RuleOutcome> = rules.iter().filter(|rule| !rule.passed).collect();
    let mut lines = Vec::from([format!("{} of {} validation rules fail:", red.len(), rules.len())]);
    lines.extend(red.iter().map(|rule| format!("- {}: {}", rule.name, rule.message)));
    let reported = evidence.reported_red().into_iter().flat_map(|report| &report.messages);
    lines.extend(reported.take(REPORTED_MAX).map(|message| format!("- reported: {message}")));
    lines
}
