//! The stop ring (B10, B11): an agent that wants to stop while a gate is red, its story's state is
//! not legal or its work is not committed is sent back with what is missing, a few times at most.
//!
//! Two steps, and nothing is done in between but what the ring asks for: [`StopRing::ask`] lets the
//! agent go at once or hands out a [`StopTicket`]; whoever asked looks at the worktree, runs the
//! gates, and comes back with the ticket to [`StopRing::judge`].
//!
//! ```
//! use flyball_core::Policy;
//! use flyball_core::event::WorktreeSnapshot;
//! use flyball_core::gate::{Check, GateResult};
//! use flyball_core::starting_point::StartingPoint;
//! use flyball_core::stop::{StopAsked, StopEvidence, StopRing, StopRules, StopStep};
//!
//! let rules = StopRules::of(&Policy::default());
//! let mut ring = StopRing::default();
//! let StopStep::Examine(ticket) = ring.ask(rules, &StopAsked::in_run("done")) else { panic!() };
//! let red = GateResult { tree: "t1".into(), checks: vec![Check::failed("tests")] };
//! let verdict = ring.judge(
//!     rules,
//!     &ticket,
//!     &StopEvidence {
//!         start: &StartingPoint::default(),
//!         assignment: None,
//!         snapshot: &WorktreeSnapshot::default(),
//!         gates: Some(&red),
//!         weakened: &[],
//!     },
//! );
//! assert!(verdict.reason().unwrap().starts_with("# Completion Blocked: tests failed"));
//! ```

mod heard;
#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use self::heard::HeardSoFar;
use crate::claim::read_structured;
use crate::gate::GateResult;
use crate::gate::blocking::{BlockingEvent, Refusal};
use crate::policy::{Baseline, Policy};
use crate::starting_point::StartingPoint;
use crate::tasklist::{Transition, check_at_stop};
use crate::worktree::WorktreeSnapshot;

/// What holds for the stops of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopRules {
    /// How many stops may be refused.
    pub refusals: u32,
    /// What red gates of before mean.
    pub baseline: Baseline,
    /// Whether the agent is told everything, or only how the gates stand.
    pub backpressure: bool,
}

impl StopRules {
    /// The rules of a policy.
    pub fn of(policy: &Policy) -> Self {
        let gates = &policy.gates;
        let (baseline, backpressure) = (gates.baseline, gates.backpressure);
        Self { refusals: gates.stop_refusals, baseline, backpressure }
    }

    /// The same, with no more refusals than the agent program itself puts up with.
    #[must_use]
    pub fn at_most(mut self, refusals: u32) -> Self {
        self.refusals = self.refusals.min(refusals);
        self
    }
}

/// An agent wants to stop.
#[derive(Clone, Copy, Debug)]
pub struct StopAsked<'a> {
    /// Its last words; some clients tell everything since the prompt.
    pub said: &'a str,
    /// Calls it has made so far, where a stop without a new call needs no look: a person's session,
    /// in which most stops only end an answer. None in a run, where every stop is looked at.
    pub calls: Option<u64>,
    /// What tells this asking from others; none where nothing does. Hooks that are installed twice
    /// ask twice about the same stop, perhaps one after the other.
    pub asking: Option<&'a str>,
}

impl<'a> StopAsked<'a> {
    /// A stop that is looked at in any case.
    pub const fn in_run(said: &'a str) -> Self {
        Self { said, calls: None, asking: None }
    }
}

/// What [`StopRing::ask`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopStep {
    /// The agent may stop; nothing needs to be looked at.
    LetGo(LetGo),
    /// The worktree and the gates have to be looked at first.
    Examine(StopTicket),
}

/// Which stop is being looked at. Whoever looks gives it back with what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopTicket {
    /// Refusals there had been when it was asked.
    refusals: u32,
    /// Calls there had been.
    calls: Option<u64>,
    heard: HeardSoFar,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asking: Option<String>,
}

/// What was found when a stop was looked at.
#[derive(Clone, Copy, Debug)]
pub struct StopEvidence<'a> {
    /// How the work was found.
    pub start: &'a StartingPoint,
    /// What the session was given to do; none where nobody gave it anything.
    pub assignment: Option<&'a Assignment<'a>>,
    /// The worktree.
    pub snapshot: &'a WorktreeSnapshot,
    /// The gates' word; none when there are none, or they could not run.
    pub gates: Option<&'a GateResult>,
    /// Weakened checks the agent has not been told of, in words.
    pub weakened: &'a [String],
}

/// What a session was given to do.
#[derive(Clone, Debug)]
pub struct Assignment<'a> {
    /// What was asked for, in the words of the task.
    pub request: &'a str,
    /// The task list as it stood before, when there is one.
    pub tasks: Option<&'a str>,
    /// What may be changed in it.
    pub given: Transition,
}

/// May the agent stop?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum StopVerdict {
    /// Yes.
    Allow {
        /// Why.
        why: LetGo,
    },
    /// No.
    Refuse {
        /// What is missing, for the agent.
        reason: String,
        /// The same in one line.
        summary: String,
        /// Whether this very stop was refused before, by another hook that was asked about it.
        again: bool,
    },
}

impl StopVerdict {
    /// What is missing, for the agent; none when it may stop.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Allow { .. } => None,
            Self::Refuse { reason, .. } => Some(reason),
        }
    }
}

/// Why an agent may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LetGo {
    /// Nothing is missing.
    Done,
    /// It says itself that it cannot go on, or that a person has to decide.
    GaveUp,
    /// Nothing happened since it was last let go.
    NothingNew,
    /// It was sent back as often as it may be.
    Exhausted,
    /// It is being stopped anyway.
    BeingStopped,
}

/// The stops of one session: bounded, serialisable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StopRing {
    refusals: u32,
    /// What had been said at the last refusal.
    heard: HeardSoFar,
    /// The asking that was refused last, until it has come a second time: who asks the same a third
    /// time says the same again, and that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// Calls there had been when it was last let go.
    calls: u64,
    /// The gates' last word, for what changed since.
    gates: Option<GateResult>,
    /// The code tree when the turn began, where somebody said that it began.
    turn: Option<String>,
}

impl StopRing {
    /// A person spoke, or the session began: what is there now is not the doing of this turn.
    pub fn turn_began(&mut self, code_tree: &str) {
        self.turn = Some(String::from(code_tree)).filter(|tree| !tree.is_empty());
    }

    /// Whether the turn has changed nothing: then it was a question, and whatever is red is not its
    /// affair. Unknown where nobody said when it began.
    pub fn changed_nothing(&self, snapshot: &WorktreeSnapshot) -> bool {
        self.turn.as_ref() == Some(&snapshot.code_tree)
    }

    /// The agent wants to stop: does anything have to be looked at?
    pub fn ask(&self, rules: StopRules, asked: &StopAsked<'_>) -> StopStep {
        let is_same = asked.asking.is_some() && self.refused.as_deref() == asked.asking;
        // What was said before the last refusal has been answered by it.
        let claims = read_structured(self.heard.new_in(asked.said));
        if claims.blocked.is_some() || claims.decide.is_some() {
            return StopStep::LetGo(LetGo::GaveUp);
        }
        if self.refusals >= rules.refusals && !is_same {
            return StopStep::LetGo(LetGo::Exhausted);
        }
        if asked.calls == Some(self.calls) {
            return StopStep::LetGo(LetGo::NothingNew);
        }
        let (refusals, heard) = (self.refusals, HeardSoFar::of(asked.said));
        let asking = asked.asking.map(String::from);
        StopStep::Examine(StopTicket { refusals, calls: asked.calls, heard, asking })
    }

    /// Decides on what was found. The cap holds for stops at the same time too; hooks that are
    /// installed twice ask twice about the same stop, which is refused once then.
    pub fn judge(
        &mut self,
        rules: StopRules,
        ticket: &StopTicket,
        evidence: &StopEvidence<'_>,
    ) -> StopVerdict {
        let verdict = self.verdict(rules, ticket, evidence);
        match &verdict {
            StopVerdict::Allow { .. } => {
                self.calls = ticket.calls.unwrap_or(self.calls);
                // What comes next is another turn, whether or not somebody says so.
                if ticket.calls.is_some() {
                    self.turn_began(&evidence.snapshot.code_tree);
                }
            }
            StopVerdict::Refuse { again: true, .. } => self.refused = None,
            StopVerdict::Refuse { again: false, .. } => {
                self.refusals = self.refusals.saturating_add(1);
                self.heard = ticket.heard;
                self.refused.clone_from(&ticket.asking);
            }
        }
        self.gates = evidence.gates.map(GateResult::without_tails);
        verdict
    }

    fn verdict(
        &self,
        rules: StopRules,
        ticket: &StopTicket,
        evidence: &StopEvidence<'_>,
    ) -> StopVerdict {
        let Some(event) = self.objection(rules, evidence) else {
            return StopVerdict::Allow { why: LetGo::Done };
        };
        let is_same = ticket.asking.is_some() && self.refused == ticket.asking;
        let again = self.refusals > ticket.refusals || is_same;
        if !again && self.refusals >= rules.refusals {
            return StopVerdict::Allow { why: LetGo::Exhausted };
        }
        let reason = if rules.backpressure {
            event.to_text()
        } else {
            let lines = event.gate_result.status_lines().join("\n");
            format!("# Completion Blocked: {}\n{lines}", event.summary)
        };
        StopVerdict::Refuse { reason, summary: event.summary, again }
    }

    /// Why the agent may not stop; none when it may.
    fn objection(&self, rules: StopRules, evidence: &StopEvidence<'_>) -> Option<BlockingEvent> {
        let StopEvidence { start, assignment, snapshot, gates, weakened } = *evidence;
        let mut missing = weakened.to_vec();
        if let Some(assignment) = assignment {
            missing.extend(assignment.violations(snapshot));
            missing.extend(start.uncommitted_work(snapshot));
            missing.extend(gates.and_then(GateResult::edited_words));
        }
        let is_red = gates.is_some_and(|gates| !start.accepts(rules.baseline, gates));
        if !is_red && missing.is_empty() {
            return None;
        }
        Some(BlockingEvent::new(Refusal {
            request: assignment.map_or("", |assignment| assignment.request),
            now: gates.unwrap_or(&GateResult::default()),
            before: self.gates.as_ref(),
            baseline: &start.failing,
            missing: &missing,
        }))
    }

    /// Stops refused so far.
    pub fn refusals(&self) -> u32 {
        self.refusals
    }
}

impl Assignment<'_> {
    /// What is not legal in the task list, with what to do about it (B11).
    fn violations(&self, snapshot: &WorktreeSnapshot) -> Vec<String> {
        let before = self.tasks;
        before.map_or_else(Vec::new, |before| check_at_stop(before, &snapshot.tasks, &self.given))
    }
}
