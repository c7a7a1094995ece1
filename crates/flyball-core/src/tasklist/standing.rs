//! Where a task stands beyond what the list says: blocked, asked about, left, escalated.

use serde::{Deserialize, Serialize};

/// Where a task stands for planning, beyond what the task list says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// To be worked on.
    #[default]
    Open,
    /// Blocked by its own claim: at the end of the queue, still plannable.
    Blocked,
    /// Waits for a human's answer: not plannable in this run.
    Asked,
    /// Left by `force_next` or for being stuck: out of planning, never counted as passed.
    SetAside,
    /// Escalated to a human: out of planning.
    Escalated,
    /// Blocked by a safety guard of an iteration session: out of planning and not begun again until
    /// a human brings it back.
    Tripped,
    /// Marked done by `force_next_marks = "done"`.
    ForcedDone,
}

impl Standing {
    /// How it reads in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Blocked => "blocked",
            Self::Asked => "asked",
            Self::SetAside => "set aside",
            Self::Escalated => "needs a human",
            Self::Tripped => "stopped by a guard",
            Self::ForcedDone => "left as done",
        }
    }
}
