//! The briefing: what the next prompt is told about the last iterations. Bounded, in our words,
//! with one concrete way out each.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::StepOutput;
use super::advice::{self, LeftOver};
use super::human::Words;
use super::judging::exit_words;
use super::phase::{Closed, End};
use super::state::Answer;
use crate::call::ValidationFailure;
use crate::effect::Ending;
use crate::event::ExitHow;
use crate::gate::GateResult;
use crate::gate::blocking::{BlockingEvent, Refusal};
use crate::guard::{GuardKind, Rung, Trip};
use crate::human::WordWay;
use crate::iteration::{IterationRing, Validation};
use crate::policy::{GateRules, Policy};
use crate::text;

/// The longest briefing.
const BRIEFING_MAX: usize = 20_000;

/// What the next prompt will be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Briefing {
    /// What is to be said once.
    next: Parts,
    /// What was told last, for an iteration that has to begin again.
    told: Option<Parts>,
}

/// The parts of a briefing that are said once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Parts {
    /// Why this session begins at all: a human's word to go on, or a call for help.
    occasion: Option<String>,
    /// What a human says in between.
    #[serde(default)]
    human: Words,
    /// What happened to the last session.
    incident: Option<String>,
    /// Advice that did not reach the last session.
    #[serde(default)]
    advice: Option<LeftOver>,
    /// What was undone in the task list.
    violations: Vec<String>,
    /// What was changed that is not the agent's to change.
    #[serde(default)]
    not_yours: Vec<String>,
    /// A promise tag that was none.
    malformed: Option<String>,
    /// Why it is not done.
    blocking: Option<String>,
}

impl Briefing {
    /// The text, and the end of what it tells once. Directives stand in every briefing they
    /// concern, so they are handed in each time.
    pub(super) fn compose(
        &mut self,
        answer: Option<&Answer>,
        directives: Vec<String>,
        out: &mut StepOutput,
    ) -> String {
        let told = core::mem::take(&mut self.next);
        let mut parts: Vec<String> = Vec::new();
        parts.extend(answer.map(answered));
        if !told.human.is_empty() {
            parts.push(human_says(&told.human));
            // Kept as well: an iteration that begins again is told the same.
            told.human.announce(WordWay::Briefing, out);
        }
        parts.extend(told.occasion.iter().cloned());
        parts.extend(directives);
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
        if !told.not_yours.is_empty() {
            parts.push(format!("# Not Yours To Change\n- {}", told.not_yours.join("\n- ")));
        }
        parts.extend(told.malformed.iter().cloned());
        parts.extend(told.blocking.iter().cloned());
        self.told = Some(told);
        String::from(text::prefix(&parts.join("\n\n"), BRIEFING_MAX))
    }

    /// The iteration begins again: tell it the same.
    pub(super) fn again(&mut self, out: &mut StepOutput) {
        if let Some(mut told) = self.told.take() {
            let next = &mut self.next;
            next.human.take_back(&mut told.human, out);
            next.occasion = next.occasion.take().or(told.occasion);
            next.incident = next.incident.take().or(told.incident);
            next.advice = next.advice.take().or(told.advice);
            next.violations.splice(0..0, told.violations);
            next.not_yours.splice(0..0, told.not_yours);
            next.malformed = next.malformed.take().or(told.malformed);
            next.blocking = next.blocking.take().or(told.blocking);
        }
    }

    /// A human says something that no agent can hear now.
    pub(super) fn word(&mut self, word: &str, out: &mut StepOutput) {
        self.next.human.keep(word, out);
    }

    /// Words that a session did not hear come before those said since.
    pub(super) fn words_before(&mut self, words: &mut Words, out: &mut StepOutput) {
        self.next.human.take_back(words, out);
    }

    /// The run ends: says which words of a human no agent has heard.
    pub(super) fn announce_unheard(&self, out: &mut StepOutput) {
        self.next.human.announce(WordWay::Unheard, out);
    }

    /// A human goes on with a run that had ended.
    pub(super) fn goes_on(&mut self, ending: &Ending) {
        let outcome = ending.outcome;
        if !outcome.is_guard() {
            return;
        }
        self.next.occasion = Some(format!(
            "# Going On After A Halt\nThis run was ended as `{outcome}`: {}\nA human has looked at it \
             and wants it to go on. Do not go on as before: look at what was tried, choose another \
             way, and take one small step that can be checked.",
            text::head(&ending.why, 800)
        ));
    }

    /// Another agent is called before a guard ends the run.
    pub(super) fn rescue(&mut self, trip: &Trip, task: Option<&str>, ring: &IterationRing) {
        let at = task.map_or_else(|| String::from("this work"), |task| format!("task {task}"));
        let history: Vec<&Validation> = ring.history().collect();
        let last: Vec<String> = history
            .iter()
            .skip(history.len().saturating_sub(5))
            .map(|entry| format!("- iteration {}: {}", entry.iteration, entry.words()))
            .collect();
        let text = format!(
            "# You Are Called To Help\nAnother agent worked at {at} and does not get further: {}\n\
             You have one iteration. What its last ones came to:\n{}\nRead its commits and what is \
             red with fresh eyes, find out why its approach fails, and do not repeat it. Make the \
             smallest change that moves the work, check it, and commit it before you stop.",
            text::head(&trip.evidence, 800),
            last.join("\n")
        );
        self.next.occasion = Some(text);
    }

    /// What the last iteration leaves to say about itself.
    pub(super) fn after(
        &mut self,
        closed: &Closed,
        stuck: u32,
        policy: &Policy,
        out: &mut StepOutput,
    ) {
        if closed.exit.how == ExitHow::Lost {
            self.again(out);
        }
        self.next.incident = incident(closed).or_else(|| idle(closed, stuck, policy));
        self.next.advice = advice::left_over(&closed.session, closed.ended);
        self.next.violations.clone_from(&closed.violations);
        self.next.malformed = closed.exit.claims.failures.last().map(malformed);
    }

    /// The agent changed something that says what is wanted.
    pub(super) fn not_yours(&mut self, what: &str) {
        self.next.not_yours.push(String::from(what));
    }

    /// Why it is not done.
    pub(super) fn blocked(&mut self, event: &BlockingEvent, rules: &GateRules) {
        self.next.blocking = Some(explained(event, "Completion Blocked", rules));
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
        self.next.blocking = Some(explained(&event, "Red Before This Run Began", rules));
    }
}

/// What is red and what else is missing, in detail or, without backpressure, by gate.
fn explained(event: &BlockingEvent, heading: &str, rules: &GateRules) -> String {
    if rules.backpressure {
        return event.to_text_under(heading);
    }
    let lines = event.gate_result.status_lines().join("\n");
    format!("# {heading}: {}\n{lines}", event.summary)
}

/// A promise tag that was none.
fn malformed(failure: &ValidationFailure) -> String {
    format!(
        "# Malformed Promise\nA promise tag in the last words was no claim: {} (expected {}, got {}). \
         Write it exactly so, outside of quotes and code.",
        failure.error, failure.expected, failure.received
    )
}

/// What a human says in between.
fn human_says(words: &Words) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    format!("# A Human Says\n{}\nHeed it in this iteration.", words.join("\n\n"))
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
        .map(|call| match text::head(&call.args, 160) {
            args if args.is_empty() => format!("Its last call was `{}`.", call.tool),
            args => format!("Its last call was `{}` with `{args}`.", call.tool),
        })
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
