//! The calls of an agent session, judged by the run it works in or by a ring of its own.

use flyball_core::call::{ToolCall, ToolResult, ValidationFailure};
use flyball_core::door::DoorAnswer;
use flyball_core::guard::{Rung, Trip};
use schemars::JsonSchema;
use serde::Serialize;

use super::refused::Refused;
use super::site::{self, Site};
pub(super) use crate::call_session::RingState;
use crate::call_session::{CallSession, GuardTally, RunCalls};
use crate::door::Input;

/// How many sessions are listed.
const LISTED_MAX: u32 = 200;

/// What a guard found just now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Tripped {
    /// Which.
    guard: &'static str,
    /// What it measured.
    measured: u64,
    /// What is allowed.
    allowed: u64,
    /// In words.
    evidence: String,
}

impl Tripped {
    fn new(trip: &Trip) -> Self {
        Self {
            guard: trip.guard.as_str(),
            measured: trip.measured,
            allowed: trip.allowed,
            evidence: trip.evidence.clone(),
        }
    }
}

/// What is asked or told about the calls of a session.
pub(super) enum CallQuestion {
    /// A call is about to run.
    Before(ToolCall),
    /// A call was answered.
    After(ToolResult),
    /// A call could not be understood.
    Invalid(ValidationFailure),
}

/// What comes of it.
pub(super) struct CallAnswer {
    rung: Rung,
    pub(super) message: Option<String>,
    pub(super) tripped: Option<Tripped>,
    pub(super) ring: RingState,
}

impl CallAnswer {
    /// Whether a call that was asked about may run.
    pub(super) fn may_run(&self) -> bool {
        self.rung < Rung::Refuse
    }

    /// The verdict in one word.
    pub(super) const fn word(&self) -> &'static str {
        match self.rung {
            Rung::Pass => "pass",
            Rung::Nudge => "nudge",
            Rung::Refuse | Rung::Redirect | Rung::Ask => "refuse",
            Rung::Halt => "halt",
        }
    }

    fn of_run(answer: DoorAnswer, guards: GuardTally) -> Self {
        Self {
            rung: answer.rung,
            message: Some(answer.message).filter(|message| !message.is_empty()),
            tripped: answer.trip.as_ref().map(Tripped::new),
            ring: RingState::of(answer.calls, guards),
        }
    }
}

impl Site {
    /// Has a question judged: by the run the agent works in, or by the session's own ring.
    pub(super) fn judge_call(
        &self,
        session: &str,
        question: &CallQuestion,
        permille: Option<u16>,
    ) -> Result<CallAnswer, Refused> {
        if let Some(enclosing) = self.enclosing_run(&self.journal()?)? {
            let input = match question {
                CallQuestion::Before(call) => Input::Call(call.clone()),
                CallQuestion::After(result) => Input::Result(result.clone()),
                CallQuestion::Invalid(failure) => Input::Invalid(failure.clone()),
            };
            if let Some(answer) = self.ask_run(&enclosing, input, permille)? {
                let state = self.journal()?.session_state(&RunCalls::key(&enclosing.run))?;
                let kept = RunCalls::read(state.as_deref()).unwrap_or_default();
                return Ok(CallAnswer::of_run(answer, kept.guards));
            }
        }
        let (rules, now) = (&self.config.policy.calls, site::now());
        self.with_calls(session, |calls| {
            let notice = permille.and_then(|permille| calls.ring.context(permille));
            let notice = notice.map(|notice| notice.message);
            let verdict = match question {
                CallQuestion::Before(call) => calls.ring.before(rules, now, call),
                CallQuestion::After(result) => calls.ring.after(rules, now, result),
                CallQuestion::Invalid(failure) => calls.ring.invalid(rules, now, failure),
            };
            calls.note(&verdict);
            CallAnswer {
                rung: verdict.rung(),
                message: joined(notice.as_deref(), verdict.message()),
                tripped: verdict.trip().map(Tripped::new),
                ring: calls.state(0),
            }
        })
    }

    /// Has the calls of a session changed; they outlive the server.
    fn with_calls<R>(
        &self,
        session: &str,
        change: impl FnOnce(&mut CallSession) -> R,
    ) -> Result<R, Refused> {
        let key = self.key(&format!("calls:{session}"));
        let mut journal = self.scratch()?;
        let result = journal.with_session(&key, site::now(), |state| {
            let mut calls = CallSession::read(state);
            let result = change(&mut calls);
            (serde_json::to_vec(&calls).ok(), result)
        })?;
        Ok(result)
    }

    /// The sessions of this repository whose calls were asked about in the last day.
    pub(super) fn call_sessions(&self) -> Result<Vec<(String, RingState)>, Refused> {
        let day = flyball_core::Millis::from_secs(24 * 3600);
        let since =
            flyball_core::Moment::from_millis(site::now().as_millis().saturating_sub(day.get()));
        let rows = self.scratch()?.sessions_since(since, LISTED_MAX)?;
        let end = self.key("");
        let end = end.trim_start_matches("mcp:");
        let mine = rows.into_iter().filter_map(|row| {
            let name = row.id.strip_prefix("mcp:calls:")?.strip_suffix(end)?;
            Some((name.to_owned(), CallSession::read(Some(&row.state)).state(0)))
        });
        Ok(mine.collect())
    }
}

/// What is to be told: a notice about the context, then what a guard says.
fn joined(notice: Option<&str>, verdict: Option<&str>) -> Option<String> {
    let parts: Vec<&str> = notice.into_iter().chain(verdict).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// A share of the context window, in thousandths; refused when it is none.
pub(super) fn permille(used: Option<f64>) -> Result<Option<u16>, Refused> {
    match used {
        None => Ok(None),
        Some(used) if (0.0..=1.0).contains(&used) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 1000"
            )]
            let permille = (used * 1000.0).round() as u16;
            Ok(Some(permille))
        }
        Some(used) => {
            Err(Refused::arguments(format!("`context_used` is {used}; it must be 0 to 1")))
        }
    }
}
