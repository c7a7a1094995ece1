//! A guarded loop of iterations for agent builders (D): the same guards a run has, driven by whoever
//! builds the agent.
//!
//! The order of calls: [`IterationSession::begin`]; then, as often as wanted,
//! [`IterationSession::judge`] with what the rules came to; [`IterationSession::next`] for the next
//! iteration; [`IterationSession::complete`] and [`IterationSession::finish`] for the end. Nothing
//! here runs a rule: where one has to be run first, the answer says so.
//!
//! ```
//! use flyball_core::iteration_session::{Evidence, IterationSession, NextStep, RuleOutcome};
//! use flyball_core::iteration_session::{SessionRules, Signal};
//! use flyball_core::{Moment, Policy};
//!
//! let (policy, at) = (Policy::default(), Moment::from_millis(0));
//! let mut session = IterationSession::begin(SessionRules::new(5), at)?;
//! let red = [RuleOutcome::failed("tests", "2 of 9 fail")];
//! let judged = session.judge(&policy, at, &Evidence { rules: &red, ..Evidence::default() });
//! assert_eq!(judged.signal, Signal::Continue);
//! assert!(matches!(session.next(&policy)?, NextStep::Began(_)));
//! assert_eq!(session.iteration(), 2);
//! # Ok::<(), flyball_core::iteration_session::SessionError>(())
//! ```

mod checkpoint;
mod feedback;
mod promise;
mod rules;
mod step;
#[cfg(test)]
mod tests;

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

pub use self::checkpoint::{CheckpointDue, SessionCheckpoint, Trigger};
pub use self::promise::{Promised, is_blocked};
pub use self::rules::{Evidence, Report, RuleOutcome, SessionError, SessionRules};
pub use self::step::{CompleteStep, Judged, NextStep, Signal};
use crate::gate::GateResult;
use crate::guard::Trip;
use crate::id::IterationNo;
use crate::iteration::{Change, FindingSets, IterationRing, IterationVerdict, Safety, Validation};
use crate::moment::{Millis, Moment};
use crate::policy::Policy;

/// How many checkpoints are kept of a session: every iteration's, and the last.
const CHECKPOINTS_MAX: usize = 128;

/// A guarded loop of iterations: bounded, serialisable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationSession {
    rules: SessionRules,
    started: Moment,
    /// The iteration at hand, from 1.
    iteration: u32,
    status: SessionStatus,
    /// What the iterations before this one came to.
    ring: IterationRing,
    /// What this one came to, by its latest validation.
    current: Option<Judgement>,
    /// What the rules came to in the iteration before this one, where it was judged.
    before: Option<GateResult>,
    /// Every set of findings the iterations before this one had.
    seen: FindingSets,
    checkpoints: VecDeque<SessionCheckpoint>,
    /// Why it ended, where it did.
    ending: Option<String>,
}

/// What the latest validation of the iteration at hand came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Judgement {
    validation: Validation,
    results: GateResult,
    /// What the caller reported with it.
    report: Option<Report>,
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// It goes on.
    Open,
    /// It was stopped by a guard or by a BLOCKED promise.
    Blocked,
    /// It is completed.
    Completed,
}

/// What a safety check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    ThisIteration,
    NextIteration,
}

impl IterationSession {
    /// A session with these rules; senseless ones are an error.
    pub fn begin(rules: SessionRules, at: Moment) -> Result<Self, SessionError> {
        rules.check()?;
        Ok(Self {
            rules,
            started: at,
            iteration: 1,
            status: SessionStatus::Open,
            ring: IterationRing::default(),
            current: None,
            before: None,
            seen: FindingSets::default(),
            checkpoints: VecDeque::new(),
            ending: None,
        })
    }

    /// Judges the iteration at hand; the latest judgement of an iteration is the one that counts.
    /// A guard outranks BLOCKED, and BLOCKED outranks COMPLETE.
    pub fn judge(&mut self, policy: &Policy, at: Moment, evidence: &Evidence<'_>) -> Judged {
        let results = evidence.results();
        let score = evidence.score();
        let mut validation = Validation::green(IterationNo::new(self.iteration), at);
        validation.verdict = self.verdict(evidence, &results);
        validation.score = score;
        validation.files = evidence.files();
        let report = evidence.report.cloned();
        self.current = Some(Judgement { validation, results, report });
        let safety = self.safety(policy, Of::ThisIteration);
        let promised = Promised::read(&self.rules.completion_promises, evidence.output);
        let passed = evidence.passed();
        let signal = if !safety.can_continue() {
            Signal::Escalate
        } else if promised.blocked.is_some() {
            Signal::Blocked
        } else if passed && promised.complete.is_some() {
            Signal::Complete
        } else {
            Signal::Continue
        };
        let message = match signal {
            Signal::Escalate => safety.message().map(String::from),
            Signal::Blocked => promised.blocked,
            Signal::Complete | Signal::Continue => None,
        };
        let feedback = feedback::text(&self.rules, signal, evidence);
        Judged { signal, passed, score, safety, message, promise: promised.complete, feedback }
    }

    /// Whether this iteration passed, failed, or failed and moved on all the same (B6).
    fn verdict(&self, evidence: &Evidence<'_>, results: &GateResult) -> IterationVerdict {
        if evidence.passed() {
            let nothing_checked = evidence.rules.is_empty() && evidence.report.is_none();
            return if nothing_checked {
                IterationVerdict::Unjudged
            } else {
                IterationVerdict::Passed
            };
        }
        let change =
            Change { before: self.before.as_ref(), now: Some(results), story_passed: false };
        if self.seen.is_progress(change) {
            IterationVerdict::Improved
        } else {
            IterationVerdict::Failed
        }
    }

    /// Every safety check, in the order of D: `max_iterations`, `circuit_breaker`,
    /// `quality_regression`, `thrashing`.
    fn safety(&self, policy: &Policy, of: Of) -> Safety {
        let mut ring = self.ring.clone();
        if let Some(current) = &self.current {
            ring.record(current.validation.clone());
        }
        ring.meters.iterations = match of {
            Of::ThisIteration => self.iteration.saturating_sub(1),
            Of::NextIteration => self.iteration,
        };
        ring.may_start(&self.limits(policy))
    }

    /// The policy with this session's own limits; what only a run has does not count here.
    fn limits(&self, policy: &Policy) -> Policy {
        let mut rules = policy.clone().into_rules();
        rules.limits.iterations = self.rules.max_iterations;
        rules.limits.tokens = 0;
        rules.limits.cost_usd = 0.0;
        rules.limits.runtime = Millis::ZERO;
        rules.iterations.circuit_breaker = self.rules.circuit_breaker_threshold;
        Policy::new(rules).unwrap_or_else(|_| policy.clone())
    }

    /// Goes on to the next iteration, if every guard agrees.
    pub fn next(&mut self, policy: &Policy) -> Result<NextStep, SessionError> {
        self.must_be_open()?;
        let safety = self.safety(policy, Of::NextIteration);
        if let Some(trip) = safety.trip.clone() {
            return Ok(self.stop(&trip, safety));
        }
        let Some(Judgement { validation, results, .. }) = self.current.take() else {
            return Ok(NextStep::JudgeFirst);
        };
        let due = self.due(Trigger::Iteration);
        self.ring.record(validation);
        self.seen.saw(&results);
        self.before = Some(results);
        self.iteration = self.iteration.saturating_add(1);
        Ok(NextStep::Began(due))
    }

    fn stop(&mut self, trip: &Trip, safety: Safety) -> NextStep {
        let message = String::from(safety.message().unwrap_or_default());
        let guard = trip.guard;
        self.end(SessionStatus::Blocked, format!("{}: {message}", guard.as_str()));
        let due = self.due(Trigger::Error);
        let due = CheckpointDue { guard: Some(guard), note: Some(message), ..due };
        NextStep::Stopped { safety, due }
    }

    /// The work is said to be complete, by a promise or in the agent's words. A BLOCKED promise ends
    /// the session and never completes its task.
    pub fn complete(
        &mut self,
        output: &str,
        promise: Option<&str>,
    ) -> Result<CompleteStep, SessionError> {
        self.must_be_open()?;
        let promises = &self.rules.completion_promises;
        let says_blocked = promise.filter(|promise| is_blocked(promise));
        if let Some(promise) = promise
            && says_blocked.is_none()
            && Promised::read(promises, promise).complete.is_none()
        {
            let known = promises.join("`, `");
            return Err(SessionError::UnknownPromise { promise: promise.into(), known });
        }
        let said = match promise {
            Some(promise) => format!("{output}\n{promise}"),
            None => String::from(output),
        };
        let blocked = Promised::read(promises, &said).blocked;
        if let Some(reason) = blocked.or(says_blocked.map(String::from)) {
            self.end(SessionStatus::Blocked, reason.clone());
            let due = CheckpointDue { note: Some(reason.clone()), ..self.due(Trigger::Blocked) };
            return Ok(CompleteStep::Blocked { reason, due });
        }
        let report = self.current.as_ref().and_then(|current| current.report.clone());
        Ok(CompleteStep::JudgeFirst { said, report })
    }

    /// Ends the session as completed, if what was judged allows it.
    pub fn finish(&mut self, judged: &Judged) -> Result<CheckpointDue, SessionError> {
        self.must_be_open()?;
        if !judged.passed {
            return Err(SessionError::Fails { feedback: judged.feedback.clone() });
        }
        if let Some(message) = judged.safety.message() {
            return Err(SessionError::Tripped { message: message.into() });
        }
        if judged.promise.is_none() {
            let known = self.rules.completion_promises.join("`, `");
            return Err(SessionError::NoPromise { known });
        }
        self.end(SessionStatus::Completed, String::from("its validation passed"));
        Ok(self.due(Trigger::Complete))
    }

    /// The first checkpoint, before anything is done.
    pub fn first_checkpoint() -> CheckpointDue {
        CheckpointDue { iteration: 0, trigger: Trigger::Start, guard: None, note: None }
    }

    fn due(&self, trigger: Trigger) -> CheckpointDue {
        CheckpointDue { iteration: self.iteration, trigger, guard: None, note: None }
    }

    /// A checkpoint that was due was made.
    pub fn checkpointed(&mut self, due: CheckpointDue, at: Moment, git_ref: Option<String>) {
        let CheckpointDue { iteration, trigger, guard, note } = due;
        if self.checkpoints.len() >= CHECKPOINTS_MAX {
            self.checkpoints.pop_front();
        }
        self.checkpoints.push_back(SessionCheckpoint {
            iteration,
            at,
            trigger,
            git_ref,
            guard,
            note,
        });
    }

    fn end(&mut self, status: SessionStatus, why: String) {
        self.status = status;
        self.ending = Some(why);
    }

    fn must_be_open(&self) -> Result<(), SessionError> {
        let status = match self.status {
            SessionStatus::Open => return Ok(()),
            SessionStatus::Blocked => "blocked",
            SessionStatus::Completed => "completed",
        };
        Err(SessionError::Over { status, why: self.ending.clone().unwrap_or_default() })
    }

    /// Refuses what only an open session can do.
    pub fn check_open(&self) -> Result<(), SessionError> {
        self.must_be_open()
    }

    /// Its rules.
    pub fn rules(&self) -> &SessionRules {
        &self.rules
    }

    /// When it began.
    pub fn started(&self) -> Moment {
        self.started
    }

    /// The iteration at hand, from 1.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// How many iterations may still follow this one.
    pub fn remaining(&self) -> u32 {
        self.rules.max_iterations.saturating_sub(self.iteration)
    }

    /// Where it stands.
    pub fn status(&self) -> SessionStatus {
        self.status
    }

    /// Failed iterations in a row, the one at hand included.
    pub fn failures(&self) -> u32 {
        let mut ring = self.ring.clone();
        if let Some(current) = &self.current {
            ring.record(current.validation.clone());
        }
        ring.failures()
    }

    /// Its checkpoints, oldest first.
    pub fn checkpoints(&self) -> impl DoubleEndedIterator<Item = &SessionCheckpoint> {
        self.checkpoints.iter()
    }
}
