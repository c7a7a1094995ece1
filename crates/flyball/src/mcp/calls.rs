//! The call ring of an agent session, as the tools keep it in the journal: with what each guard did,
//! so that it can be told.

use std::collections::BTreeMap;

use flyball_core::call::{CallRing, CallStatus, ToolCall, ToolResult, ValidationFailure, Verdict};
use flyball_core::door::DoorAnswer;
use flyball_core::guard::{Rung, Trip};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refused::Refused;
use super::site::{self, Site};
use crate::door::Input;

/// How many sessions are listed.
const LISTED_MAX: u32 = 200;

/// The calls of one session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallSession {
    ring: CallRing,
    /// How often each guard nudged, refused and halted.
    guards: BTreeMap<String, GuardCounts>,
}

/// What a guard did in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GuardCounts {
    /// Advice given.
    nudged: u64,
    /// Calls refused.
    refused: u64,
    /// Sessions told to end.
    halted: u64,
}

/// The ring as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RingState {
    /// Calls in all, refused ones included.
    pub(crate) calls: u64,
    /// Calls per tool.
    tools: BTreeMap<String, u64>,
    /// Calls of tools beyond those counted by name.
    other_tools: u64,
    /// Identical calls in a row.
    streak: u64,
    /// Refused calls.
    pub(crate) refusals: u32,
    /// Failed tool executions in a row, and in all.
    failure_streak: u32,
    failures: u64,
    /// Calls that could not be understood, in a row and in all.
    validation_streak: u32,
    validation_failures: u64,
    /// The highest step of context fill crossed, in percent.
    context_percent: u8,
    /// What each guard did in this session.
    guards: BTreeMap<String, GuardCounts>,
}

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

impl CallSession {
    /// The session as it was kept; a new one when there is none, or none of this version.
    pub(crate) fn read(state: Option<&[u8]>) -> Self {
        state.and_then(|state| serde_json::from_slice(state).ok()).unwrap_or_default()
    }

    /// Takes note of what a guard did.
    fn note(&mut self, verdict: &Verdict) {
        let Some(Trip { guard, .. }) = verdict.trip() else { return };
        let counts = self.guards.entry(guard.as_str().to_owned()).or_default();
        let count = match verdict.rung() {
            Rung::Pass => return,
            Rung::Nudge => &mut counts.nudged,
            Rung::Refuse | Rung::Redirect | Rung::Ask => &mut counts.refused,
            Rung::Halt => &mut counts.halted,
        };
        *count = count.saturating_add(1);
    }

    /// The context window is this full, in thousandths: what is to be said about it (A8).
    fn context(&mut self, permille: u16) -> Option<String> {
        self.ring.context(permille).map(|notice| notice.message)
    }

    pub(crate) fn state(&self) -> RingState {
        RingState::of(self.ring.status(), self.guards.clone())
    }
}

impl RingState {
    fn of(status: CallStatus, guards: BTreeMap<String, GuardCounts>) -> Self {
        Self {
            calls: status.calls,
            tools: status.tools,
            other_tools: status.other_tools,
            streak: status.streak,
            refusals: status.refusals,
            failure_streak: status.failure_streak,
            failures: status.failures,
            validation_streak: status.validation_streak,
            validation_failures: status.validation_failures,
            context_percent: status.context_percent,
            guards,
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

    fn of_run(answer: DoorAnswer) -> Self {
        Self {
            rung: answer.rung,
            message: Some(answer.message).filter(|message| !message.is_empty()),
            tripped: answer.trip.as_ref().map(Tripped::new),
            ring: RingState::of(answer.calls, BTreeMap::new()),
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
                return Ok(CallAnswer::of_run(answer));
            }
        }
        let (rules, now) = (&self.config.policy.calls, site::now());
        self.with_calls(session, |calls| {
            let notice = permille.and_then(|permille| calls.context(permille));
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
                ring: calls.state(),
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
        let mut journal = self.journal()?;
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
        let rows = self.journal()?.sessions_since(since, LISTED_MAX)?;
        let end = self.key("");
        let end = end.trim_start_matches("mcp:");
        let mine = rows.into_iter().filter_map(|row| {
            let name = row.id.strip_prefix("mcp:calls:")?.strip_suffix(end)?;
            Some((name.to_owned(), CallSession::read(Some(&row.state)).state()))
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
