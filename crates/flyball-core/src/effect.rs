//! Orders, in the imperative. Reading this file tells everything flyball can do to the world.

mod ending;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use self::ending::{Ending, LeftTask, Rescue, Role, RoleSpend, Tally};
use crate::door::DoorAnswer;
use crate::event::Timer;
use crate::gate::{BlockingEvent, TamperFinding, TestBounds};
use crate::guard::{Rung, Trip};
use crate::human::{HumanReply, WordWay};
use crate::id::{IterationNo, TaskId};
use crate::moment::Moment;
use crate::outcome::Outcome;
use crate::stop::{StopTicket, StopVerdict};
use crate::task::{Attempt, ContextEntry, Standing};
use crate::tasklist::Mode;

/// An order to the shell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Effect {
    /// Start an agent with the prompt and this briefing.
    StartAgent {
        /// The iteration it works in.
        iteration: IterationNo,
        /// What it shall do.
        mode: Mode,
        /// The task at hand, when there is a task list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// What the prompt is told beyond the template; empty when there is nothing.
        briefing: String,
        /// Which agent: 0 is the configured one, then its fallbacks, then those of other roles.
        #[serde(default)]
        agent: u32,
    },
    /// Push something to the running agent, which listens.
    SteerAgent {
        /// Which.
        iteration: IterationNo,
        /// What.
        message: String,
    },
    /// Answer a question at the session's door. Each question is answered once.
    AnswerDoor {
        /// Which session.
        iteration: IterationNo,
        /// Which question.
        question: u64,
        /// What.
        answer: DoorAnswer,
    },
    /// Answer a human who wanted something of the run.
    AnswerHuman {
        /// Which asking.
        request: u64,
        /// What.
        reply: HumanReply,
    },
    /// The agent wants to stop: look at the worktree, run the gates on it, and report with the
    /// ticket.
    ExamineStop {
        /// Which agent.
        iteration: IterationNo,
        /// Which asking.
        asking: u64,
        /// To be given back.
        ticket: StopTicket,
    },
    /// Answer an agent that asked at the session's door whether it may stop.
    AnswerStop {
        /// Which agent.
        iteration: IterationNo,
        /// Which question.
        asking: u64,
        /// Whether it may.
        verdict: StopVerdict,
    },
    /// Stop the agent's whole process tree with this much force.
    StopAgent {
        /// Which.
        iteration: IterationNo,
        /// How.
        force: Force,
    },
    /// Look at the worktree, make a checkpoint of it, and report.
    SnapshotWorktree {
        /// After which iteration.
        iteration: IterationNo,
    },
    /// Run the gates on the worktree's code tree (or find their cached result), and report.
    RunGates {
        /// After which iteration; 0 is the baseline.
        iteration: IterationNo,
        /// The tree it is about.
        tree: String,
        /// Whether a completion may depend on it: then no gate is left out because what it is about
        /// was not touched.
        #[serde(default)]
        whole: bool,
    },
    /// Report when this moment has come. A later order for the same timer replaces it.
    SetTimer {
        /// Which.
        timer: Timer,
        /// For which iteration.
        iteration: IterationNo,
        /// When.
        at: Moment,
    },
    /// Write the task list anew: an illegal change was undone.
    WriteTasks {
        /// The whole text.
        text: String,
    },
    /// Write `blocked.txt`.
    WriteBlocked {
        /// The reason.
        reason: String,
    },
    /// Write `decide.txt`.
    WriteDecide {
        /// From which iteration.
        iteration: IterationNo,
        /// The question.
        question: String,
    },
    /// Remove `decide.txt`: the iteration that was given the answer has ended.
    RemoveDecide,
    /// Keep an attempt at a task for good.
    RecordAttempt(Attempt),
    /// Keep a context entry for good.
    RecordContext(ContextEntry),
    /// Keep where a task stands for good.
    MarkTask {
        /// Which.
        task: TaskId,
        /// Where it stands now.
        standing: Standing,
    },
    /// Keep what is weakened and open for later runs, in place of what was kept before.
    KeepTamper {
        /// What is open.
        findings: Vec<TamperFinding>,
        /// What the checks have run so far.
        bounds: TestBounds,
        /// Whether everything the agent left was looked at.
        examined: bool,
    },
    /// Write the iteration's row of telemetry.
    CloseIteration(IterationReport),
    /// Tell the watchers; nothing depends on it.
    Announce(Notice),
    /// The run is over.
    FinishRun(Ending),
}

/// How hard an agent is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Force {
    /// SIGINT: most agents save their session.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGKILL, and again until nothing is left.
    Kill,
}

/// One iteration, closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationReport {
    /// Which.
    pub iteration: IterationNo,
    /// What it was for.
    pub mode: Mode,
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// When it began.
    pub started: Moment,
    /// When it ended.
    pub ended: Moment,
    /// The last commit it made; none when it made none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Stories passed.
    pub stories_complete: u32,
    /// Stories in all.
    pub stories_total: u32,
    /// The stuck count after it.
    pub stuck: u32,
    /// Tokens it used.
    pub tokens: u64,
    /// Money it used, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Gate status: green, red, or none ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub green: Option<bool>,
    /// The score, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How it ended, in one word of the outcome's or the iteration's own.
    pub result: IterationResult,
}

/// How an iteration ended, seen from the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationResult {
    /// The agent ended by itself and the gates are green.
    Passed,
    /// The agent ended by itself and nothing checked what it left.
    Unchecked,
    /// The gates are red.
    Red,
    /// Red, but it moved on and nothing turned red.
    Improved,
    /// The session was halted by a guard.
    Halted(Outcome),
    /// The agent died by itself.
    Died,
    /// flyball died during it.
    Lost,
    /// A limit of the run or a human ended it.
    Cut(Outcome),
}

/// Something worth telling the watchers (terminal, JSON lines, notifications).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// The run begins with red gates.
    BeginsRed {
        /// The red gates.
        gates: Vec<String>,
    },
    /// Nothing checks this work.
    NothingChecks,
    /// A guard tripped; this is what is done about it.
    Tripped {
        /// What tripped.
        trip: Trip,
        /// The rung of the ladder.
        rung: Rung,
    },
    /// A guard found something worth a word, and nobody listens: it is told in the next briefing.
    Noticed {
        /// What tripped.
        trip: Trip,
    },
    /// A completion was claimed and not verified.
    CompletionRefused(Box<BlockingEvent>),
    /// An illegal change of the task list was undone.
    TasksRepaired {
        /// What was undone, one sentence each.
        violations: Vec<String>,
    },
    /// Waiting for a usage limit or an unreachable model.
    Waiting {
        /// Until when.
        until: Moment,
        /// Why, in the agent's words.
        message: String,
    },
    /// A usage limit, an unreachable model, or an agent that cannot work: another one goes on.
    AgentChanged {
        /// Which: 0 is the configured one, then its fallbacks.
        agent: u32,
        /// Why, in the words of the one before.
        message: String,
    },
    /// A guard would end the run: another agent takes one iteration first.
    RescueCalled(Rescue),
    /// A session told nothing of what it used: it is charged by the size of its text.
    UsageEstimated {
        /// Bytes of what it printed.
        bytes: u64,
        /// Tokens charged.
        tokens: u64,
    },
    /// A finished task is worked on again and again; a human should know. It stays done.
    TaskRevisited {
        /// Which.
        task: TaskId,
        /// What was seen.
        why: String,
    },
    /// A task was set aside, blocked, or left as done.
    TaskLeft {
        /// Which.
        task: TaskId,
        /// Where it stands now.
        standing: Standing,
        /// Why.
        why: String,
    },
    /// A human's answer was put into the next briefing.
    AnswerDelivered,
    /// A human's word reaches the agent, or never will.
    WordOnItsWay {
        /// The word.
        text: String,
        /// How.
        way: WordWay,
    },
    /// The agent's context window fills up.
    ContextFilling {
        /// In percent, the step crossed.
        percent: u8,
        /// What the agent is told.
        message: String,
    },
}
