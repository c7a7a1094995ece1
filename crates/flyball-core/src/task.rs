//! The task ring (C): attempts at tasks across iterations and runs, and what is done about loops.
//!
//! A [`TaskRing`] remembers attempts, remedies and where tasks stand. [`TaskRing::detect`] only
//! looks; [`TaskRing::apply`] performs a remedy in memory and hands out what has to be written
//! down. It never touches the task list: a task set aside is not done.
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use flyball_core::policy::Policy;
//! use flyball_core::task::{Attempt, AttemptStatus, Remedy, Standing, TaskMemory, TaskRing};
//! use flyball_core::{Moment, RunId, TaskId};
//!
//! let rules = &Policy::default().tasks; // 3 attempts make a pattern
//! let (run, task) = (RunId::new("run-1"), TaskId::new("login"));
//! let mut ring = TaskRing::new(TaskMemory::default());
//!
//! let mut remedies = Vec::new();
//! for minute in 1..=6 {
//!     let now = Moment::from_millis(minute * 60_000);
//!     ring.record(Attempt {
//!         task: task.clone(),
//!         at: now,
//!         run: run.clone(),
//!         iteration: Default::default(),
//!         status: AttemptStatus::Blocked,
//!         blockers: BTreeSet::from(["no database".to_string()]),
//!         work: BTreeSet::new(),
//!         session: "s".to_string(),
//!     });
//!     if let Some(found) = ring.detect(rules, &run, now, &task) {
//!         let applied = ring.apply(rules, now, &found, format!("entry-{minute}"));
//!         // Tell the agent `applied.briefing`, store `applied.entries`, and where
//!         // `applied.notify` is set, tell a human.
//!         remedies.extend(found.remedy.map(|remedy| (minute, remedy)));
//!     }
//! }
//!
//! assert_eq!(remedies, [(3, Remedy::UnblockAuthority), (6, Remedy::Escalate)]);
//! assert_eq!(ring.standing(&task), Standing::Escalated);
//! ```

mod catalogue;
mod detect;
mod plan;
mod remedy;
mod report;
mod ring;
mod texts;

#[cfg(test)]
mod tests;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use self::catalogue::{KnownBlocker, Resolution, catalogue, is_alike};
pub use self::detect::Detection;
pub use self::plan::HeldBack;
pub use self::remedy::{Applied, TaskStage};
pub use self::report::{AttemptReport, AttemptReports};
pub use self::ring::{TaskRing, TaskStatus};
use crate::guard::GuardKind;
use crate::id::{IterationNo, RunId, TaskId};
use crate::moment::Moment;
pub use crate::tasklist::Standing;

/// One attempt at a task: what one iteration (or one report through a tool) came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Which task.
    pub task: TaskId,
    /// When it ended.
    pub at: Moment,
    /// The run it belongs to; empty when reported from outside a run.
    #[serde(default)]
    pub run: RunId,
    /// The iteration of that run.
    #[serde(default)]
    pub iteration: IterationNo,
    /// Where the task stood after it.
    pub status: AttemptStatus,
    /// What was in the way.
    #[serde(default)]
    pub blockers: BTreeSet<String>,
    /// What was done: commits, files, findings fixed.
    #[serde(default)]
    pub work: BTreeSet<String>,
    /// The agent session.
    #[serde(default)]
    pub session: String,
}

/// Where a task stood after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// Not begun.
    Pending,
    /// Begun, not finished.
    InProgress,
    /// Something is in the way.
    Blocked,
    /// Finished.
    Done,
}

impl AttemptStatus {
    /// The word used in JSON and in sentences.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
        }
    }
}

/// The four patterns, in the order they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// A finished task is attempted again.
    CompletedTaskRevisit,
    /// The same blockers, nothing new done.
    BlockedTaskSpin,
    /// The same status and nothing new done.
    NoProgressRepeat,
    /// Going round between tasks.
    TaskCycle,
}

impl Pattern {
    /// The guard it is reported as.
    pub const fn guard(self) -> GuardKind {
        match self {
            Self::CompletedTaskRevisit => GuardKind::CompletedTaskRevisit,
            Self::BlockedTaskSpin => GuardKind::BlockedTaskSpin,
            Self::NoProgressRepeat => GuardKind::NoProgressRepeat,
            Self::TaskCycle => GuardKind::TaskCycle,
        }
    }
}

/// What is done about a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Advice to change the approach.
    Advise,
    /// Leave the task and take the next.
    ForceNext,
    /// The agent may remove exactly these blockers itself.
    UnblockAuthority,
    /// A human is asked; the task is blocked.
    Escalate,
}

/// A remedy that was applied, remembered so that the next rung needs further attempts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedRemedy {
    /// For which task.
    pub task: TaskId,
    /// For which pattern.
    pub pattern: Pattern,
    /// What was done.
    pub remedy: Remedy,
    /// When.
    pub at: Moment,
    /// How many attempts at the task there had been by then, ever.
    pub attempts: u64,
    /// The blockers it was about.
    #[serde(default)]
    pub blockers: BTreeSet<String>,
    /// How often it has been given now.
    #[serde(default = "once")]
    pub times: u32,
}

const fn once() -> u32 {
    1
}

/// What is remembered of tasks across runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMemory {
    /// Attempts, oldest first.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// Remedies applied, oldest first.
    #[serde(default)]
    pub remedies: Vec<AppliedRemedy>,
    /// Tasks that do not simply stand open.
    #[serde(default)]
    pub standings: Vec<(TaskId, Standing)>,
    /// Blockers met before in whatever project, of which it is known how they went away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownBlocker>,
}

/// What a remedy leaves in writing: for the agent, for people, for later runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextEntry {
    /// Unique in its run.
    pub id: String,
    /// When.
    pub at: Moment,
    /// Always `decision`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `loop_recovery`, `loop_recovery_directive`, `unblock_authority` or `loop_escalation`.
    pub topic: String,
    /// The text.
    pub content: String,
    /// The tasks it is about.
    pub related_tasks: Vec<TaskId>,
    /// How sure, in percent.
    pub confidence: u8,
    /// The attempts it rests on.
    pub evidence: Vec<Attempt>,
}
