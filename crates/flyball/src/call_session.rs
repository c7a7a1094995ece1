//! The calls of a session, with what each guard did: kept in the journal, and told by status, log and
//! tools.

use std::collections::BTreeMap;

use flyball_core::GuardKind;
use flyball_core::call::{CallRing, CallStatus};
use flyball_core::effect::RoleSpend;
use flyball_core::guard::Rung;
use serde::{Deserialize, Serialize};

/// What each guard did, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub(crate) struct GuardTally(BTreeMap<String, GuardCounts>);

/// What a guard did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
struct GuardCounts {
    /// Advice given.
    nudged: u64,
    /// Calls, stops and completions refused.
    refused: u64,
    /// Sessions and runs ended.
    halted: u64,
}

impl GuardTally {
    /// What each guard did, in words: `repetition: 1 nudged, 2 refused`; empty for nothing.
    pub(crate) fn words(&self) -> String {
        let one = |(guard, counts): (&String, &GuardCounts)| {
            let parts =
                [(counts.nudged, "nudged"), (counts.refused, "refused"), (counts.halted, "halted")];
            let told = parts.iter().filter(|(count, _)| *count > 0);
            let told: Vec<String> = told.map(|(count, what)| format!("{count} {what}")).collect();
            format!("{guard}: {}", told.join(", "))
        };
        self.0.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    /// Takes note of what a guard did.
    pub(crate) fn note(&mut self, guard: GuardKind, rung: Rung) {
        if rung == Rung::Pass {
            return;
        }
        let counts = self.0.entry(guard.as_str().to_owned()).or_default();
        let count = match rung {
            Rung::Pass | Rung::Nudge => &mut counts.nudged,
            Rung::Refuse | Rung::Redirect | Rung::Ask => &mut counts.refused,
            Rung::Halt => &mut counts.halted,
        };
        *count = count.saturating_add(1);
    }
}

/// The calls of one session outside of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallSession {
    pub(crate) ring: CallRing,
    guards: GuardTally,
}

impl CallSession {
    /// The session as it was kept; a new one when there is none, or none of this version.
    pub(crate) fn read(state: Option<&[u8]>) -> Self {
        state.and_then(|state| serde_json::from_slice(state).ok()).unwrap_or_default()
    }

    /// The ring as it stands, with the stops that were refused beside it.
    pub(crate) fn state(&self, stops_refused: u32) -> RingState {
        let mut guards = self.guards.clone();
        for _ in 0..stops_refused {
            guards.note(GuardKind::Completion, Rung::Refuse);
        }
        RingState::of(self.ring.status(), guards)
    }
}

#[cfg(any(feature = "mcp", feature = "session"))]
impl CallSession {
    /// Takes note of what the ring said.
    pub(crate) fn note(&mut self, verdict: &flyball_core::call::Verdict) {
        if let Some(trip) = verdict.trip() {
            self.guards.note(trip.guard, verdict.rung());
        }
    }
}

/// The calls of a run's latest session, and what each guard did in the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunCalls {
    pub(crate) calls: CallStatus,
    pub(crate) guards: GuardTally,
    /// What each role has used.
    #[serde(default)]
    pub(crate) roles: Vec<RoleSpend>,
}

impl RunCalls {
    /// What they are kept under.
    pub(crate) fn key(run: &flyball_core::RunId) -> String {
        format!("run/{run}/calls")
    }

    /// As they were kept; none when they were not.
    pub(crate) fn read(state: Option<&[u8]>) -> Option<RingState> {
        let kept: Self = serde_json::from_slice(state?).ok()?;
        Some(RingState::of(kept.calls, kept.guards))
    }

    /// What each role has used, as it was kept.
    pub(crate) fn roles(state: Option<&[u8]>) -> Vec<RoleSpend> {
        let kept = state.and_then(|state| serde_json::from_slice::<Self>(state).ok());
        kept.map_or(Vec::new(), |kept| kept.roles)
    }
}

/// A call ring as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
pub(crate) struct RingState {
    /// Calls in all, refused ones included.
    pub(crate) calls: u64,
    /// Calls per tool.
    tools: BTreeMap<String, u64>,
    /// Calls of tools beyond those counted by name.
    other_tools: u64,
    /// Identical calls in a row.
    streak: u64,
    /// Evidence that the calls lead nowhere; refused from 14 on.
    evidence: u64,
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
    /// What each guard did.
    pub(crate) guards: GuardTally,
}

impl RingState {
    /// A ring with these counts, and what each guard did.
    pub(crate) fn of(status: CallStatus, guards: GuardTally) -> Self {
        Self {
            calls: status.calls,
            tools: status.tools,
            other_tools: status.other_tools,
            streak: status.streak,
            evidence: u64::from(status.evidence),
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
