//! What a session of iterations answers.

use alloc::string::String;

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::IterationSession;
use super::checkpoint::CheckpointDue;
use super::rules::Report;
use crate::iteration::Safety;

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Signal {
    /// Validation passed and completion is promised.
    Complete,
    /// The agent cannot go on.
    Blocked,
    /// A guard tripped: a human is needed.
    Escalate,
    /// Go on.
    Continue,
}

/// What judging came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What is to be done next.
    pub signal: Signal,
    /// Whether all rules hold and what was reported passed.
    pub passed: bool,
    /// How good it is, 0 to 1; none when nothing was checked.
    pub score: Option<f64>,
    /// Every guard's word on it.
    pub safety: Safety,
    /// What the guard, or the agent's BLOCKED, says.
    pub message: Option<String>,
    /// The completion promise that stands in the output.
    pub promise: Option<String>,
    /// What is wrong and what to do next.
    pub feedback: String,
}

/// What [`IterationSession::next`] says.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// The iteration at hand was never judged: judge it, then ask again.
    JudgeFirst,
    /// The next iteration has begun.
    Began(CheckpointDue),
    /// A guard says no: the session is over and its task is tripped.
    Stopped {
        /// The guard's word, and those of the others.
        safety: Safety,
        /// The last checkpoint.
        due: CheckpointDue,
    },
}

/// What [`IterationSession::complete`] says.
#[derive(Clone, Debug, PartialEq)]
pub enum CompleteStep {
    /// Judge once more by these words and this report, then [`IterationSession::finish`].
    JudgeFirst {
        /// What was said, with the promise.
        said: String,
        /// What was reported last in this iteration.
        report: Option<Report>,
    },
    /// The agent says that it is blocked: the session is over, the task is not completed.
    Blocked {
        /// Why.
        reason: String,
        /// The last checkpoint.
        due: CheckpointDue,
    },
}
