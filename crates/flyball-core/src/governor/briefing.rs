//! The briefing: what the next prompt is told about the last iterations. Bounded, in our words,
//! with one concrete way out each.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::StepOutput;
use super::advice::{self, LeftOver};
use super::judging::exit_words;
use super::phase::{Closed, End};
use super::state::Answer;
use crate::event::ExitHow;
use crate::gate::GateResult;
use crate::gate::blocking::{BlockingEvent, Refusal};
use crate::guard::{GuardKind, Rung, Trip};
use crate::id::TaskId;
use crate::policy::{GateRules, Policy};
use crate::text;

/// The longest briefing.
const BRIEFING_MAX: usize = 20_000;

/// What the next prompt will be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Briefing {
    /// Remedies of the task ring: they outlast one iteration only when given again.
    remedies: Vec<String>,
    /// What happened to the last session.
    incident: Option<String>,
    /// Advice that did not reach the last session.
    #[serde(default)]
    advice: Option<LeftOver>,
    /// What was undone in the task list.
    violations: Vec<String>,
    /// Why it is not done.
    blocking: Option<String>,
    /// What was told last, for an iteration that has to begin again.
    told: Option<Told>,
}

/// The parts of the briefing that was last given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    remedies: Vec<String>,
    incident: Option<String>,
    #[serde(default)]
    advice: Option<LeftOver>,
    violations: Vec<String>,
    blocking: Option<String>,
}

impl Briefing {
    /// The text, and the end of what it told.
    pub(super) fn compose(&mut self, answer: Option<&Answer>, out: &mut StepOutput) -> String {
        let told = Told {
            remedies: core::mem::take(&mut self.remedies),
            incident: self.incident.take(),
            advice: self.advice.take(),
            violations: core::mem::take(&mut self.violations),
            blocking: self.blocking.take(),
        };
        let mut parts: Vec<String> = Vec::new();
        parts.extend(answer.map(answered));
        parts.extend(told.remedies.iter().cloned());
        parts.extend(told.incident.iter().cloned());
        if let Some(advice) = &told.advice {
            parts.push(advice.text.clone());
            for trip in &advice.trips {
                out.tripped(trip.clone(), Rung::Nudge);
            }
        }
        if !told.violations.is_empty() {
            parts.push(undone(&told.violations));
        }
        parts.extend(told.blocking.iter().cloned());
        self.told = Some(told);
        String::from(text::prefix(&parts.join("\n\n"), BRIEFING_MAX))
    }

    /// The iteration begins again: tell it the same.
    pub(super) fn again(&mut self) {
        if let Some(told) = self.told.take() {
            self.remedies.splice(0..0, told.remedies);
            self.incident = self.incident.take().or(told.incident);
            self.advice = self.advice.take().or(told.advice);
            self.violations.splice(0..0, told.violations);
            self.blocking = self.blocking.take().or(told.blocking);
        }
    }

    /// A remedy of the task ring.
    pub(super) fn remedy(&mut self, text: String) {
        self.remedies.push(text);
    }

    /// A task was set aside for being stuck.
    pub(super) fn set_aside(&mut self, task: &TaskId, count: u32) {
        self.remedies.push(format!(
            "Task {task} was set aside: {count} iterations brought no progress on it. Do not go \
             back to it; work on the task named in this prompt."
        ));
    }

    /// What the last iteration leaves to say about itself.
    pub(super) fn after(&mut self, closed: &Closed, stuck: u32, policy: &Policy) {
        if closed.exit.how == ExitHow::Lost {
            self.again();
        }
        self.incident = incident(closed).or_else(|| idle(closed, stuck, policy));
        self.advice = advice::left_over(&closed.session, closed.ended);
        self.violations.clone_from(&closed.violations);
        if let Some(failure) = closed.exit.claims.failures.last() {
            self.violations.push(format!(
                "a promise tag in your last words was no claim: {} (expected {}, got {})",
                failure.error, failure.expected, failure.received
            ));
        }
    }

    /// Why it is not done.
    pub(super) fn blocked(&mut self, event: &BlockingEvent, rules: &GateRules) {
        self.blocking = Some(if rules.backpressure {
            event.to_text()
        } else {
            format!("# Completion Blocked: {}\n{}", event.summary, plain(&event.gate_result))
        });
    }

    /// The run begins with red gates.
    pub(super) fn begins_red(&mut self, result: &GateResult, rules: &GateRules) {
        let baseline = result.failing();
        let event = BlockingEvent::new(Refusal {
            request: "",
            now: result,
            before: None,
            baseline: &baseline,
            missing: &[],
        });
        self.blocked(&event, rules);
        if let Some(text) = &mut self.blocking {
            *text = format!("These gates were red before this run began.\n\n{text}");
        }
    }
}

fn plain(result: &GateResult) -> String {
    result.status_lines().join("\n")
}

fn answered(answer: &Answer) -> String {
    format!(
        "# A Human Answered\nQuestion: {}\nAnswer: {}\nAct on this answer now; do not ask again.",
        text::head(answer.question.trim(), 2_000),
        text::head(answer.text.trim(), 6_000)
    )
}

fn undone(violations: &[String]) -> String {
    let mut out = String::from("# Undone In The Task List\n");
    for violation in violations.iter().take(10) {
        out.push_str("- ");
        out.push_str(&text::head(violation, 300));
        out.push('\n');
    }
    out.push_str(
        "Your other work was kept. Change the task list only as the rules of your mode say.",
    );
    out
}

/// What happened to a session that did not simply end.
fn incident(closed: &Closed) -> Option<String> {
    match &closed.end {
        End::Halted(trip) => Some(halted(closed, trip)),
        End::Own if closed.exit.how == ExitHow::Lost => Some(String::from(
            "# Fresh Start\nThe last session was cut off when flyball itself was interrupted. What \
             it did is in the worktree: look at it before you go on.",
        )),
        End::Own if !closed.exit.how.is_clean() => Some(died(closed)),
        End::Own | End::Spent(_) | End::Troubled | End::Human(_) => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only guards of the call ring halt a session")]
fn halted(closed: &Closed, trip: &Trip) -> String {
    let took = closed.ended.since(closed.session.started);
    let last = closed
        .session
        .calls
        .last_call()
        .map(|call| format!("Its last call was `{}`.", call.tool))
        .unwrap_or_default();
    let advice = match trip.guard {
        GuardKind::Repetition => {
            "Do not make that call again: choose another tool or other arguments."
        }
        GuardKind::GoingNowhere => {
            "Do not go through the same steps again: write down what they told you, and try \
             something none of them was."
        }
        GuardKind::Validation => "Write complete, valid tool calls; one at a time if need be.",
        GuardKind::ToolFailures => "Find out why the tool fails before you use it again.",
        GuardKind::Stall | GuardKind::IterationTimeout => {
            "Take a smaller step: one that ends within minutes, and commit it."
        }
        _ => "Choose another approach.",
    };
    format!(
        "# Fresh Start\nThe last session was stopped after {took}: {}. {last}\n{advice}",
        text::head(&trip.evidence, 400)
    )
}

fn died(closed: &Closed) -> String {
    let words = super::inspecting::last_words(closed)
        .map(|words| format!(" Its last words:\n{words}"))
        .unwrap_or_default();
    format!(
        "# Fresh Start\nThe last session ended badly: {}.{words}\nLook at what it left in the \
         worktree, keep what is good, and commit before you stop.",
        exit_words(&closed.exit)
    )
}

fn idle(closed: &Closed, stuck: u32, policy: &Policy) -> Option<String> {
    let limit = policy.limits.stuck;
    (stuck > 0 && closed.exit.claims.blocked.is_none()).then(|| {
        format!(
            "# No Progress\nThe last {} no new commit ({stuck} of {limit} allowed). Do one small \
             piece of the task, verify it, and commit it before you stop. If something outside the \
             repository really stands in the way, say so with a BLOCKED promise.",
            if stuck == 1 {
                String::from("iteration left")
            } else {
                format!("{stuck} iterations left")
            }
        )
    })
}
