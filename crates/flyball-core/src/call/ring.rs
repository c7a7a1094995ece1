//! The ring itself: one session's calls, results and failures, judged one by one.
//!
//! It never forgets a refusal, never acts, and stays small: whatever a session does, its state is
//! below [`CallRing::MAX_STATE`] bytes of JSON. A halt is an answer, not a state: whoever cannot end
//! the session gets a halt again for the next refusal or failure.

mod last;
mod pending;
mod tally;
mod tracks;
mod version;

use alloc::string::String;

use serde::{Deserialize, Serialize};

pub use self::last::LastCall;
use self::pending::{Answer, Pending, PendingCalls};
pub use self::tally::CallStatus;
use self::tally::Tally;
use self::tracks::Tracks;
use self::version::Version;
use super::context::{ContextFill, ContextNotice};
use super::detect::{CallSeen, Finding, ResultSeen, Severity};
use super::verdict::Verdict;
use super::{Fingerprint, ToolCall, ToolOutcome, ToolResult, ValidationFailure, texts};
use crate::guard::{GuardKind, Trip};
use crate::moment::{Millis, Moment};
use crate::policy::CallRules;

/// The guards around the calls of one agent session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRing {
    version: Version,
    tracks: Tracks,
    pending: PendingCalls,
    tally: Tally,
    context: ContextFill,
    last: Option<LastCall>,
    first_life: Option<Moment>,
    latest_life: Option<Moment>,
}

/// An agent that shows no sign of life (A6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Time since the last sign of life.
    pub idle: Millis,
    /// Time since the first.
    pub elapsed: Millis,
    /// What was measured.
    pub trip: Trip,
    /// What the agent is told, where it can be.
    pub message: String,
}

impl CallRing {
    /// What the state never exceeds, in bytes of JSON.
    pub const MAX_STATE: usize = 64 * 1024;

    /// A ring for a session that has just begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// A call is about to run: may it? Each call is reported once; one that cannot be prevented is
    /// reported all the same, and its result is then ignored if it was refused here.
    pub fn before(&mut self, rules: &CallRules, at: Moment, call: &ToolCall) -> Verdict {
        self.life(at);
        self.tally.count_call(&call.tool);
        let agent = Fingerprint::of_text(call.agent.as_str());
        let id = Fingerprint::of_text(call.id.as_str());
        if let Some(forgotten) = self.tracks.make_room(agent) {
            self.pending.forget(forgotten);
        }
        let track = self.tracks.get_or_begin(agent, self.tally.calls());
        let seen = CallSeen { tool: &call.tool, call: call.call, number: track.next_number() };
        let finding = track.detectors.before(rules, &seen);
        let refused = finding.as_ref().is_some_and(|f| f.severity == Severity::Refuse);
        let mut last = LastCall::new(&call.tool, &call.preview, id);
        last.outcome = refused.then_some(ToolOutcome::Refused);
        self.last = Some(last);
        self.pending.add(Pending {
            id: (!call.id.as_str().is_empty()).then_some(id),
            agent,
            number: seen.number,
            call: call.call,
            tool: texts::stored_name(&call.tool),
            refused,
        });
        match finding {
            None => Verdict::Pass,
            Some(finding) if refused => self.refuse(rules, &finding),
            Some(finding) => self.nudge(&finding),
        }
    }

    /// A tool answered. Answers may come late, in any order, twice or never.
    pub fn after(&mut self, rules: &CallRules, at: Moment, result: &ToolResult) -> Verdict {
        self.life(at);
        let agent = Fingerprint::of_text(result.agent.as_str());
        let answer = self.pending.take(agent, &result.id);
        if let Some(last) = &mut self.last {
            last.answer(result);
        }
        let call = match answer {
            Answer::To(call) if call.refused => return Verdict::Pass,
            Answer::To(call) => Some(call),
            Answer::Again => return Verdict::Pass,
            Answer::ToUnknown => None,
        };
        if result.outcome == ToolOutcome::Refused {
            return Verdict::Pass;
        }
        let nudge = call.as_ref().and_then(|call| self.observe(rules, call, result));
        let tool = call.as_ref().map_or("", |call| call.tool.as_str());
        self.count_outcome(rules, tool, result).or(nudge).unwrap_or(Verdict::Pass)
    }

    /// The agent said something that could not be understood (A4).
    pub fn invalid(
        &mut self,
        rules: &CallRules,
        at: Moment,
        failure: &ValidationFailure,
    ) -> Verdict {
        self.life(at);
        let (measured, allowed) =
            (self.tally.count_invalid(), rules.max_validation_failures.max(1));
        let evidence = texts::validation_evidence(failure);
        let trip = Trip::new(GuardKind::Validation, measured, allowed, evidence);
        let message = texts::validation(failure, measured, allowed);
        if measured >= allowed {
            Verdict::Halt { message, trip }
        } else {
            Verdict::Nudge { message, trip }
        }
    }

    /// The agent said something well-formed: the streak of validation failures ends.
    pub fn spoke(&mut self, at: Moment) {
        self.life(at);
        self.tally.end_invalid();
    }

    /// The agent showed life: it started, printed something, or one of its processes used CPU.
    pub fn life(&mut self, at: Moment) {
        self.first_life = Some(self.first_life.unwrap_or(at));
        self.latest_life = self.latest_life.max(Some(at));
    }

    /// The context window is this full, in thousandths; a notice when a step is crossed (A8).
    pub fn context(&mut self, permille: u16) -> Option<ContextNotice> {
        self.context.fill(permille)
    }

    /// Whether the agent has shown no sign of life for `stall_after` (A6); 0 switches it off.
    /// Before the first sign of life there is nothing to measure: report the start with
    /// [`CallRing::life`].
    pub fn stalled(&self, now: Moment, stall_after: Millis) -> Option<Stall> {
        let idle = now.since(self.latest_life?);
        if stall_after.is_zero() || idle < stall_after {
            return None;
        }
        let elapsed = now.since(self.first_life?);
        let message = texts::stall(idle, elapsed, self.last.as_ref());
        let evidence = texts::stall_evidence(idle, self.last.as_ref());
        let trip = Trip::new(GuardKind::Stall, idle.get(), stall_after.get(), evidence);
        Some(Stall { idle, elapsed, trip, message })
    }

    /// Whether a tool result of this many characters is too large for the agent's context (A7).
    pub fn large(rules: &CallRules, chars: u64) -> Option<Trip> {
        (chars > rules.large_response).then(|| {
            let evidence = texts::large_evidence(chars);
            Trip::new(GuardKind::LargeResponse, chars, rules.large_response, evidence)
        })
    }

    /// What has been counted.
    pub fn status(&self) -> CallStatus {
        self.tally.status(self.tracks.latest_streak(), self.context.percent())
    }

    /// The latest call, with its outcome once there is one.
    pub const fn last_call(&self) -> Option<&LastCall> {
        self.last.as_ref()
    }

    /// How the latest call went, once it is known.
    pub fn last_outcome(&self) -> Option<ToolOutcome> {
        self.last.as_ref().and_then(|last| last.outcome)
    }

    fn refuse(&mut self, rules: &CallRules, finding: &Finding) -> Verdict {
        let (refusals, max) = (self.tally.count_refusal(), rules.max_refusals.max(1));
        let what = finding.what.clone();
        let message = texts::refusal(&what, refusals, max);
        if refusals >= max {
            let message = texts::refusal_halt(&message, refusals);
            let trip = Trip::new(GuardKind::Repetition, refusals, max, what);
            return Verdict::Halt { message, trip };
        }
        let trip = Trip::new(GuardKind::Repetition, finding.measured, finding.allowed, what);
        Verdict::Refuse { message, trip }
    }

    fn nudge(&self, finding: &Finding) -> Verdict {
        Self::nudge_about(finding, self.last.as_ref())
    }

    fn nudge_about(finding: &Finding, last: Option<&LastCall>) -> Verdict {
        let message = texts::nudge(&finding.what, last);
        let what = finding.what.clone();
        let trip = Trip::new(GuardKind::Repetition, finding.measured, finding.allowed, what);
        Verdict::Nudge { message, trip }
    }

    fn observe(
        &mut self,
        rules: &CallRules,
        call: &Pending,
        result: &ToolResult,
    ) -> Option<Verdict> {
        let track = self.tracks.get(call.agent)?;
        let seen = ResultSeen {
            of: CallSeen { tool: &call.tool, call: call.call, number: call.number },
            result: result.result,
            outcome: result.outcome,
        };
        let finding = track.detectors.after(rules, &seen)?;
        let last = LastCall::answered(&call.tool, result);
        Some(Self::nudge_about(&finding, Some(&last)))
    }

    /// Counts a success or a failure; a halt when there were too many failures in a row (A5).
    fn count_outcome(
        &mut self,
        rules: &CallRules,
        tool: &str,
        result: &ToolResult,
    ) -> Option<Verdict> {
        match result.outcome {
            ToolOutcome::Refused => None,
            ToolOutcome::Ok | ToolOutcome::Exit => {
                self.tally.count_success();
                None
            }
            ToolOutcome::Tool => {
                let (measured, allowed) =
                    (self.tally.count_failure(), rules.max_consecutive_failures.max(1));
                (measured >= allowed).then(|| {
                    let evidence = texts::failures_evidence(measured, tool);
                    let message = texts::tool_failures(&evidence, &result.preview);
                    let trip = Trip::new(GuardKind::ToolFailures, measured, allowed, evidence);
                    Verdict::Halt { message, trip }
                })
            }
        }
    }
}

#[cfg(test)]
mod tests;
