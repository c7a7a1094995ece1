//! The ring itself: one session's calls, results and failures, judged one by one.
//!
//! It never forgets a refusal, never acts, and stays small: whatever a session does, its state is
//! below [`CallRing::MAX_STATE`] bytes of JSON. A halt is an answer, not a state: whoever cannot end
//! the session gets a halt again for the next refusal or failure.
//!
//! A call can be told of twice: a hook asks about it ([`CallRing::ask`]), and the agent's stream shows
//! it ([`CallRing::before`]). Both are one call, matched by sub-agent and id, or, where the question
//! has no id, by what is called:
//!
//! | first | then | what happens |
//! |---|---|---|
//! | asked, and the stream has never shown a call of this sub-agent, nor is known to show all | | judged and booked at once: for a client without a stream the questions are the record |
//! | asked, and the stream shows calls of this sub-agent | | judged at once, booked when it is shown |
//! | asked | asked again | the same answer; counts nothing |
//! | asked | shown | the verdict is the one given; booked once |
//! | shown | asked, by id or by what is called | the verdict is the one given; counts nothing |
//! | asked | answered, not shown by then | booked on a track beside that of its sub-agent, which is judged by its own calls and touches no other, nor a streak of failures; shown after all, it is booked where it belongs, too |
//!
//! A result may be told twice as well, by a hook and by the stream: the second counts nothing.

mod booking;
mod failures;
mod known;
mod last;
mod tally;
mod tracks;
mod version;

use alloc::string::String;

use serde::{Deserialize, Serialize};

use self::known::{Answer, Answers, Door, KnownCalls, Place};
pub use self::last::LastCall;
pub use self::tally::CallStatus;
use self::tally::Tally;
use self::tracks::Tracks;
use self::version::Version;
use super::context::{ContextFill, ContextNotice};
use super::detect::{Answered, Detectors, Mark};
use super::verdict::Verdict;
use super::{Chant, Fingerprint, ToolCall, ToolOutcome, ToolResult, ValidationFailure, texts};
use crate::guard::{GuardKind, Trip};
use crate::id::SubAgent;
use crate::moment::{Millis, Moment};
use crate::policy::CallRules;

/// The guards around the calls of one agent session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRing {
    version: Version,
    tracks: Tracks,
    known: KnownCalls,
    tally: Tally,
    context: ContextFill,
    last: Option<LastCall>,
    first_life: Option<Moment>,
    latest_life: Option<Moment>,
    /// Whether the stream is known to show every call, before it has shown one.
    #[serde(default)]
    streamed: bool,
}

/// An agent that shows no sign of life (A6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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
    pub const MAX_STATE: usize = 80 * 1024;

    /// A ring for a session that has just begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// A ring for a session whose stream shows every call: from the first one on, what is only asked
    /// about is booked when it is shown.
    pub fn streamed() -> Self {
        Self { streamed: true, ..Self::default() }
    }

    /// A hook asks whether this call may run. Judged at once; the same call asked about again, or
    /// shown by the stream, gets the same answer and counts nothing.
    pub fn ask(&mut self, rules: &CallRules, at: Moment, call: &ToolCall) -> Verdict {
        self.life(at);
        let agent = Mark::of_text(call.agent.as_str());
        if let Some(known) = self.known.find(agent, &call.id, Mark::of(call.call)) {
            return booking::remembered(rules, known);
        }
        if self.streamed || self.tracks.get(agent).is_some_and(|track| track.shown) {
            return self.judge_unshown(rules, agent, call);
        }
        self.judge(rules, agent, call, Door::Hook)
    }

    /// The agent's stream shows a call that is about to run: may it? Each call is reported once; one
    /// that cannot be prevented is reported all the same. Calls of one round (the calls of one
    /// model's turn) are booked in this order once all of them are answered.
    pub fn before(&mut self, rules: &CallRules, at: Moment, call: &ToolCall) -> Verdict {
        self.life(at);
        let agent = Mark::of_text(call.agent.as_str());
        let closed = self.close_rounds(rules, agent, booking::round(call));
        let asked = self.known.find_unshown(agent, &call.id, Mark::of(call.call));
        let verdict = match asked.and_then(|at| self.known.remove(at)) {
            Some(known) => self.show(rules, known, call),
            None => self.judge(rules, agent, call, Door::Stream),
        };
        booking::firmer(verdict, closed)
    }

    /// Whether this call was asked about or shown already, and has not been answered: then
    /// [`CallRing::ask`] and [`CallRing::before`] give the verdict that was given.
    pub fn has_judged(&self, call: &ToolCall) -> bool {
        let agent = Mark::of_text(call.agent.as_str());
        self.known.find(agent, &call.id, Mark::of(call.call)).is_some()
            || self.known.find_unshown(agent, &call.id, Mark::of(call.call)).is_some()
    }

    /// A tool answered. Answers may come late, in any order, twice or never.
    pub fn after(&mut self, rules: &CallRules, at: Moment, result: &ToolResult) -> Verdict {
        self.answer(rules, at, result, Door::Stream)
    }

    /// A hook tells that a tool answered. Where the stream shows the calls, an answer to a call that
    /// nobody knows counts nothing: anyone can call a hook.
    pub fn told(&mut self, rules: &CallRules, at: Moment, result: &ToolResult) -> Verdict {
        self.answer(rules, at, result, Door::Hook)
    }

    fn answer(
        &mut self,
        rules: &CallRules,
        at: Moment,
        result: &ToolResult,
        door: Door,
    ) -> Verdict {
        self.life(at);
        let agent = Mark::of_text(result.agent.as_str());
        let answers = self.known.answers(agent, &result.id);
        if let Some(last) = &mut self.last {
            last.answer(result);
        }
        let ran = result.outcome != ToolOutcome::Refused;
        let at = match answers {
            Answers::Call(at) => at,
            Answers::Unknown if ran && (door == Door::Stream || !self.is_shown()) => {
                return self.count_stranger(rules, result);
            }
            Answers::Unknown | Answers::Again => return Verdict::Pass,
        };
        let answer = Answered {
            result: Mark::of(result.result),
            raw: Mark::of(result.raw.unwrap_or(result.result)),
            outcome: result.outcome,
            empty: result.empty,
        };
        if let Some(known) = self.known.get_mut(at) {
            known.answer = if ran { Answer::Ran(answer) } else { Answer::NotRun };
            // What was only asked about ends no streak: it may never have been made.
            let is_made = !matches!(known.place, Place::Held | Place::Beside);
            if ran && is_made && known.refused.is_none() {
                self.tally.count_answer(result.outcome);
            }
        }
        self.book_unshown(at);
        let complete = self.known.take_complete(at);
        self.book(rules, &complete, Some(result)).unwrap_or(Verdict::Pass)
    }

    /// Whether the stream shows calls.
    fn is_shown(&self) -> bool {
        self.streamed || self.tracks.any_shown()
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

    /// A turn of the model was words alone and held no call at all (A3): well-formed, and a sign that
    /// it does not just go round, unless it says the same turn after turn. `words` is their identity
    /// ([`fingerprint_words`](super::fingerprint_words)), where it is known.
    pub fn only_spoke(
        &mut self,
        rules: &CallRules,
        at: Moment,
        agent: &SubAgent,
        words: Option<Fingerprint>,
    ) -> Verdict {
        self.spoke(at);
        let agent = Mark::of_text(agent.as_str());
        if let Some(forgotten) = self.tracks.make_room(agent) {
            self.known.forget(forgotten);
        }
        let track = self.tracks.get_or_begin(agent, self.tally.calls());
        let finding = track.detectors.only_spoke(rules, words.map(Mark::of));
        finding.map_or(Verdict::Pass, |finding| booking::found_in_words(&finding))
    }

    /// A turn of the model ended in a chant (A3), whatever else it held: worth a word, never more.
    pub fn chanted(&mut self, rules: &CallRules, at: Moment, chant: &Chant) -> Verdict {
        self.life(at);
        if !rules.account {
            return Verdict::Pass;
        }
        let what = texts::chant(chant);
        let trip = Trip::new(GuardKind::GoingNowhere, chant.times, Chant::TIMES, what.clone());
        Verdict::Nudge { message: texts::nudge_words(&what), trip }
    }

    /// A human spoke to the agent in mid-session: a new beginning. Streaks, accounts and the count of
    /// refusals start anew; totals stay.
    pub fn human(&mut self, at: Moment) {
        self.life(at);
        self.tracks.begin_anew();
        self.known.begin_anew();
        self.tally.begin_anew();
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

    /// Whether the session has taken `timeout` since its first sign of life, however busy it is: the
    /// time-out of loops that give each task a fixed time. 0 switches it off.
    pub fn overdue(&self, now: Moment, timeout: Millis) -> Option<Stall> {
        let elapsed = now.since(self.first_life?);
        if timeout.is_zero() || elapsed < timeout {
            return None;
        }
        let idle = now.since(self.latest_life?);
        let message = texts::overdue(elapsed, timeout, self.last.as_ref());
        let evidence = texts::overdue_evidence(elapsed, self.last.as_ref());
        let trip = Trip::new(GuardKind::IterationTimeout, elapsed.get(), timeout.get(), evidence);
        Some(Stall { idle, elapsed, trip, message })
    }

    /// Whether a tool result of this many characters is too large for the agent's context (A7).
    pub fn large(rules: &CallRules, chars: u64) -> Option<Trip> {
        (chars > rules.large_response).then(|| {
            let evidence = texts::large_evidence(chars);
            Trip::new(GuardKind::LargeResponse, chars, rules.large_response, evidence)
        })
    }

    /// What speaks for a sub-agent's going nowhere, 0 to 40 (A3).
    pub fn evidence(&self, agent: &SubAgent) -> u8 {
        let track = self.tracks.get(Mark::of_text(agent.as_str()));
        track.map_or(0, |track| track.detectors.balance())
    }

    /// What has been counted.
    pub fn status(&self) -> CallStatus {
        let latest = self.tracks.latest().map(|track| &track.detectors);
        let streak = latest.map_or(0, Detectors::streak);
        let evidence = latest.map_or(0, Detectors::balance);
        self.tally.status(streak, evidence, self.context.percent())
    }

    /// The latest call, with its outcome once there is one.
    pub const fn last_call(&self) -> Option<&LastCall> {
        self.last.as_ref()
    }
}

#[cfg(test)]
mod tests;
