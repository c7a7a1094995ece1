//! The task ring (C): attempts at tasks across iterations and runs, and what is done about loops.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::id::{IterationNo, RunId, TaskId};
use crate::moment::Moment;

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
    /// Marked done by `force_next_marks = "done"`.
    ForcedDone,
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
