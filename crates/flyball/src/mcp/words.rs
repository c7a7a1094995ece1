//! The words of the core's types as the tools use them.

use flyball_core::iteration_session as core;
use flyball_core::task::{HeldBack, Remedy, Standing};
use flyball_core::{GuardKind, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock;

/// A remedy in one word.
pub(super) const fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Advise => "advise",
        Remedy::ForceNext => "force_next",
        Remedy::UnblockAuthority => "unblock_authority",
        Remedy::Escalate => "escalate",
    }
}

/// A standing in one word.
pub(super) const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Open => "open",
        Standing::Blocked => "blocked",
        Standing::Asked => "asked",
        Standing::SetAside => "set_aside",
        Standing::Escalated => "escalated",
        Standing::Tripped => "tripped",
        Standing::ForcedDone => "forced_done",
    }
}

/// Why a task cannot be begun, and what would have to happen.
pub(super) fn held_back(task: &TaskId, why: &HeldBack) -> String {
    let by_human = format!("a human brings it back with `flyball tasks retry {task}`");
    match why {
        HeldBack::Done => format!("task `{task}` is done; `plan_next` names the one to take"),
        HeldBack::WaitsFor(others) => {
            let others: Vec<&str> = others.iter().map(TaskId::as_str).collect();
            format!(
                "task `{task}` waits for `{}`; `plan_next` names the one to take",
                others.join("`, `")
            )
        }
        HeldBack::Stands(Standing::Tripped) => {
            format!("task `{task}` was stopped by a safety guard; {by_human}")
        }
        HeldBack::Stands(standing) => {
            format!("task `{task}` is out of planning ({}); {by_human}", standing.words())
        }
    }
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Signal {
    /// Validation passed and completion is promised: call `iteration_complete`.
    Complete,
    /// The agent cannot go on.
    Blocked,
    /// A guard tripped: a human is needed.
    Escalate,
    /// Go on: call `iteration_next`.
    Continue,
}

impl From<core::Signal> for Signal {
    fn from(signal: core::Signal) -> Self {
        match signal {
            core::Signal::Complete => Self::Complete,
            core::Signal::Blocked => Self::Blocked,
            core::Signal::Escalate => Self::Escalate,
            core::Signal::Continue => Self::Continue,
        }
    }
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionStatus {
    /// It goes on.
    Open,
    /// It was stopped by a guard or by a BLOCKED promise.
    Blocked,
    /// It is completed.
    Completed,
}

impl From<core::SessionStatus> for SessionStatus {
    fn from(status: core::SessionStatus) -> Self {
        match status {
            core::SessionStatus::Open => Self::Open,
            core::SessionStatus::Blocked => Self::Blocked,
            core::SessionStatus::Completed => Self::Completed,
        }
    }
}

/// A point the session can be looked at from later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CheckpointWords {
    /// After which iteration; 0 is the start.
    iteration: u32,
    /// When, RFC 3339.
    at: String,
    /// Why it was made.
    trigger: Trigger,
    /// The git ref that keeps the whole worktree, where there is a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    git_ref: Option<String>,
    /// The guard that tripped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guard: Option<String>,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Why a checkpoint was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Trigger {
    /// The session began.
    #[default]
    Start,
    /// An iteration ended and the next began.
    Iteration,
    /// A guard ended the session.
    Error,
    /// The agent is blocked.
    Blocked,
    /// The work is complete.
    Complete,
}

impl CheckpointWords {
    pub(super) fn of(checkpoint: &core::SessionCheckpoint) -> Self {
        let core::SessionCheckpoint { iteration, at, trigger, git_ref, guard, note } = checkpoint;
        Self {
            iteration: *iteration,
            at: clock::rfc3339(*at),
            trigger: match trigger {
                core::Trigger::Start => Trigger::Start,
                core::Trigger::Iteration => Trigger::Iteration,
                core::Trigger::Error => Trigger::Error,
                core::Trigger::Blocked => Trigger::Blocked,
                core::Trigger::Complete => Trigger::Complete,
            },
            git_ref: git_ref.clone(),
            guard: guard.map(guard_name),
            note: note.clone(),
        }
    }
}

/// The name of a guard as the safety checks report it.
pub(super) fn guard_name(guard: GuardKind) -> String {
    guard.as_str().to_owned()
}
