//! The points a session of iterations can be looked at from later.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::guard::GuardKind;
use crate::moment::Moment;

/// A checkpoint the shell is to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointDue {
    /// After which iteration; 0 is the start.
    pub iteration: u32,
    /// Why.
    pub trigger: Trigger,
    /// The guard that tripped.
    pub guard: Option<GuardKind>,
    /// What is to be said.
    pub note: Option<String>,
}

/// A point the session can be looked at from later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCheckpoint {
    /// After which iteration; 0 is the start.
    pub iteration: u32,
    /// When.
    pub at: Moment,
    /// Why it was made.
    pub trigger: Trigger,
    /// The git ref that keeps the whole worktree, where there is a repository.
    pub git_ref: Option<String>,
    /// The guard that tripped.
    pub guard: Option<GuardKind>,
    /// What it said.
    pub note: Option<String>,
}

/// Why a checkpoint was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The session began.
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
