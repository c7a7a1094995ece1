//! How a run ended, in numbers and words.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::IterationResult;
use crate::guard::{GuardKind, Trip};
use crate::id::{GateName, IterationNo, TaskId};
use crate::outcome::Outcome;
use crate::task::Standing;

/// How the run ended, with everything the summary says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// The outcome.
    pub outcome: Outcome,
    /// Why, with evidence, in one or few sentences.
    pub why: String,
    /// What tripped, when a guard ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trip: Option<Trip>,
    /// Guards that would have ended it too.
    #[serde(default)]
    pub also: Vec<Trip>,
    /// Tasks left behind, with where they stand and why.
    #[serde(default)]
    pub left: Vec<LeftTask>,
    /// Whether it ended because every task that remains was left.
    #[serde(default)]
    pub nothing_left: bool,
    /// Iterations another agent took before a guard ended the run.
    #[serde(default)]
    pub rescues: Vec<Rescue>,
    /// What each role used, the work first.
    #[serde(default)]
    pub roles: Vec<RoleSpend>,
    /// Checks that were of both colours on one tree, and what was red.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flaky: BTreeMap<GateName, String>,
    /// What to look at and what to type now, in this order.
    #[serde(default)]
    pub next_steps: Vec<String>,
    /// The numbers.
    pub tally: Tally,
}

/// What an agent is there for in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It works on the stories.
    Work,
    /// It reviews them.
    Review,
    /// It helps before a guard ends the run.
    Rescue,
    /// It goes on where another could not.
    Fallback,
}

impl Role {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Review => "review",
            Self::Rescue => "rescue",
            Self::Fallback => "fallback",
        }
    }
}

/// What one agent used in one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleSpend {
    /// The role.
    pub role: Role,
    /// The agent, by its name.
    pub agent: String,
    /// How many sessions it had.
    pub sessions: u32,
    /// Tokens used.
    pub tokens: u64,
    /// Money used, in millionths of a dollar.
    pub cost_micro_usd: u64,
}

/// An iteration another agent takes before a guard ends the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rescue {
    /// Which iteration.
    pub iteration: IterationNo,
    /// At which task, when there is a task list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Which agent, as in [`Effect::StartAgent`](super::Effect::StartAgent).
    pub agent: u32,
    /// The guard that would have ended the run.
    pub guard: GuardKind,
    /// What the iteration came to, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<IterationResult>,
}

/// A task the run leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftTask {
    /// Which.
    pub task: TaskId,
    /// Where it stands.
    pub standing: Standing,
    /// Why.
    pub why: String,
}

/// The numbers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Iterations counted.
    pub iterations: u32,
    /// Iterations without progress, all in all.
    pub stuck_iterations: u32,
    /// Time alive and not waiting, in milliseconds.
    pub runtime_ms: u64,
    /// Stories passed.
    pub stories_complete: u32,
    /// Stories in all.
    pub stories_total: u32,
    /// Tokens used.
    pub tokens: u64,
    /// Money used, in millionths of a dollar.
    pub cost_micro_usd: u64,
}
