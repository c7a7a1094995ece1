//! Where a run stands. The data a phase needs is inside it, never beside it.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::advice::Deferred;
use super::human::Words;
use crate::call::CallRing;
use crate::effect::{Effect, Ending, Force};
use crate::event::{Exit, Spend, StopCause, WorktreeSnapshot};
use crate::guard::Trip;
use crate::id::{IterationNo, TaskId};
use crate::moment::Moment;
use crate::resource::Resource;
use crate::stop::StopRing;
use crate::task::AttemptReports;
use crate::tasklist::Mode;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// The gates run on the tree the run begins with.
    Baselining,
    /// An agent runs.
    Iterating(Box<SessionState>),
    /// An agent was told to stop and has not yet gone.
    Stopping(Box<Stop>),
    /// The agent is gone; the worktree is being looked at.
    Inspecting(Box<Closed>),
    /// The gates run on what it left.
    Gating(Box<Closed>),
    /// A usage limit is being waited for; no agent runs.
    Waiting(Wait),
    /// The run is over.
    Finished(Box<Finished>),
}

/// Where a run stands, as watchers are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    /// The gates run on the tree the run begins with.
    Baselining,
    /// An agent runs.
    Iterating,
    /// An agent was told to stop and has not yet gone.
    Stopping,
    /// The agent is gone; the worktree is being looked at.
    Inspecting,
    /// The gates run on what it left.
    Gating,
    /// A usage limit is being waited for.
    Waiting,
    /// The run is over.
    Finished,
}

impl RunPhase {
    /// The word used in JSON and in the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Baselining => "baselining",
            Self::Iterating => "iterating",
            Self::Stopping => "stopping",
            Self::Inspecting => "inspecting",
            Self::Gating => "gating",
            Self::Waiting => "waiting",
            Self::Finished => "finished",
        }
    }
}

impl Phase {
    /// What watchers are told of it.
    pub(super) fn shown(&self) -> RunPhase {
        match self {
            Self::Baselining => RunPhase::Baselining,
            Self::Iterating(_) => RunPhase::Iterating,
            Self::Stopping(_) => RunPhase::Stopping,
            Self::Inspecting(_) => RunPhase::Inspecting,
            Self::Gating(_) => RunPhase::Gating,
            Self::Waiting(_) => RunPhase::Waiting,
            Self::Finished(_) => RunPhase::Finished,
        }
    }

    /// The iteration at hand, while there is one.
    pub(super) fn iteration(&self) -> Option<IterationNo> {
        match self {
            Self::Waiting(wait) => Some(wait.iteration),
            Self::Baselining
            | Self::Iterating(_)
            | Self::Stopping(_)
            | Self::Inspecting(_)
            | Self::Gating(_)
            | Self::Finished(_) => self.session().map(|session| session.iteration),
        }
    }

    /// Until when a usage limit is waited for, while it is.
    pub(super) fn waiting_until(&self) -> Option<Moment> {
        match self {
            Self::Waiting(wait) => Some(wait.until),
            Self::Baselining
            | Self::Iterating(_)
            | Self::Stopping(_)
            | Self::Inspecting(_)
            | Self::Gating(_)
            | Self::Finished(_) => None,
        }
    }

    /// The session at hand, while there is one.
    pub(super) fn session(&self) -> Option<&SessionState> {
        match self {
            Self::Iterating(session) => Some(session),
            Self::Stopping(stop) => Some(&stop.session),
            Self::Inspecting(closed) | Self::Gating(closed) => Some(&closed.session),
            Self::Baselining | Self::Waiting(_) | Self::Finished(_) => None,
        }
    }
}

/// One agent process at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionState {
    pub(super) iteration: IterationNo,
    pub(super) mode: Mode,
    pub(super) task: Option<TaskId>,
    pub(super) started: Moment,
    pub(super) calls: CallRing,
    pub(super) last_life: Moment,
    /// When it was told that it seems to stall; none once it showed life again.
    pub(super) stall_told: Option<Moment>,
    pub(super) spent: Spend,
    pub(super) trouble: Option<Trouble>,
    /// What would have ended the run, where another agent was called to help first.
    #[serde(default)]
    pub(super) rescue: Option<Trip>,
    /// Resources that ran out under its tools.
    #[serde(default)]
    pub(super) exhausted: BTreeSet<Resource>,
    /// What the agent said through a tool of its attempts.
    #[serde(default)]
    pub(super) reports: AttemptReports,
    /// Advice that has not reached it yet.
    #[serde(default)]
    pub(super) advice: Deferred,
    /// Words of a human that have not reached it yet.
    #[serde(default)]
    pub(super) words: Words,
    /// Words of a human it was given. Where it is lost with flyball, nobody knows whether they came.
    #[serde(default)]
    pub(super) given: Words,
    /// Whether anything was asked at its door so far.
    #[serde(default)]
    pub(super) door_used: bool,
    #[serde(default)]
    pub(super) stops: StopRing,
    /// How many stops its client lets be refused.
    #[serde(default)]
    pub(super) client_stop_cap: u32,
    /// It asked whether it may stop and waits for the gates: silence is flyball's doing.
    #[serde(default)]
    pub(super) awaits_answer: bool,
}

/// What keeps an agent from working, through no fault of its own work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Trouble {
    /// A usage limit, with its reset where known.
    Limit { resets_at: Option<Moment>, message: String },
    /// The model cannot be reached.
    Unreachable { message: String },
    /// The credentials are refused.
    Refused { message: String },
    /// The client's own loop guard.
    OwnGuard { message: String },
}

/// Why a session ended, beyond the agent's own exit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// By itself.
    Own,
    /// A guard of the call ring halted it.
    Halted(Trip),
    /// A budget of the run ran out in mid-iteration.
    Spent(Trip),
    /// It sat waiting for a limit it had reported.
    Troubled,
    /// A human or a signal asked.
    Human(StopCause),
}

/// An agent being stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stop {
    pub(super) session: SessionState,
    pub(super) end: End,
    pub(super) force: Force,
    /// How often it was killed without going.
    pub(super) kills: u8,
}

/// A session whose agent is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Closed {
    pub(super) session: SessionState,
    pub(super) end: End,
    pub(super) exit: Exit,
    pub(super) ended: Moment,
    /// What it left, once seen.
    pub(super) snapshot: Option<WorktreeSnapshot>,
    /// What it did to the task list that had to be undone.
    pub(super) violations: Vec<String>,
    /// Stories it legally finished.
    pub(super) newly_done: Vec<TaskId>,
    /// Whether its story was legally handed on to a review.
    #[serde(default)]
    pub(super) handed_on: bool,
}

/// A wait for a usage limit or an unreachable model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wait {
    /// The iteration that goes on afterwards.
    pub(super) iteration: IterationNo,
    pub(super) until: Moment,
    pub(super) message: String,
}

/// A run that is over, with the orders that closed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) ending: Ending,
    /// Given again when the shell died before it could perform them.
    pub(super) orders: Vec<Effect>,
}
