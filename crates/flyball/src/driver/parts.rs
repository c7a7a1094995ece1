//! What a driver consists of.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::JoinHandle;

use flyball_core::event::{StopCause, StopExamined, WorktreeSnapshot};
use flyball_core::gate::{Finding, GateResult};
use flyball_core::{Event, IterationNo, Moment};

use super::door::DoorWatch;
use super::enclosure::Enclosure;
use super::gates::GateJob;
use super::guards::GuardWatch;
use super::look::{Eyes, LookJob, Looked};
use super::session::Session;
use super::timers::Timers;
use super::vault::VaultJob;
use super::wanted::Wanted;
use super::watchdog::Watchdog;
use crate::config::Config;
use crate::door::Knocked;
use crate::gate::tamper::Watch;
use crate::gate::{GatePlan, GateProgress};
use crate::journal::WorktreeLock;
use crate::loopdir::LoopDir;
use crate::process::{ProcessEvent, ReadyKeeper, Supervised};
use crate::worktree::Worktree;

/// What was agreed before the run began.
pub(super) struct Terms {
    pub(super) config: Config,
    pub(super) plan: GatePlan,
    /// The one task it was given on the command line.
    pub(super) request: Option<String>,
    /// What was there when the run began, and is not the agent's to change.
    pub(super) guarded: Guarded,
    /// What holds agents and gates.
    pub(super) enclosure: Enclosure,
}

/// What was there when the run began, and is not the agent's to change.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    pub(super) watch: Watch,
    pub(super) template: String,
    pub(super) wanted: Wanted,
}

/// Where it all happens.
pub(super) struct Places {
    pub(super) worktree: Worktree,
    pub(super) loop_dir: LoopDir,
    pub(super) state_dir: PathBuf,
    /// A folder of this run's own in the state folder: prompts, hook settings.
    pub(super) private_dir: PathBuf,
    /// Held as long as the run lives: nobody else runs here.
    pub(super) _lock: WorktreeLock,
}

/// The agent at work, and what is known of it.
#[derive(Default)]
pub(super) struct AgentSide {
    pub(super) session: Option<Session>,
    /// The process of the session before: what is left of it is its keeper, on its way out.
    pub(super) leaving: Option<Supervised>,
    /// The keeper of the session before, where it serves for the next one too.
    pub(super) kept: Option<ReadyKeeper>,
    /// The keeper of the next session, being made ready.
    pub(super) ready: Option<JoinHandle<Option<ReadyKeeper>>>,
    pub(super) doors: DoorWatch,
    /// What each guard did in this run.
    pub(super) guards: GuardWatch,
    pub(super) starts: u64,
}

/// What goes on beside the driver.
pub(super) struct Jobs {
    /// Not there while a look is under way.
    pub(super) eyes: Option<Eyes>,
    pub(super) look: Option<LookJob>,
    /// What the last look saw.
    pub(super) latest: WorktreeSnapshot,
    pub(super) vault: Option<VaultJob>,
    pub(super) gates: Option<GateJob>,
    /// Looks at what agents leave that want to stop, by question.
    pub(super) stops: BTreeMap<u64, GateJob>,
}

/// Something that happened outside.
pub(super) enum DriverInput {
    /// The agent process of this start did something.
    Agent { start: u64, event: ProcessEvent },
    /// A gate began or ended.
    GateProgress(GateProgress),
    /// The gates are done.
    GatesDone { iteration: IterationNo, result: GateResult, tamper: Vec<Finding> },
    /// The worktree was looked at.
    Looked { iteration: IterationNo, looked: Box<Looked> },
    /// What an agent leaves that wants to stop was looked at.
    StopExamined { iteration: IterationNo, asking: u64, found: Option<StopExamined> },
    /// Something that people should know.
    Note(String),
    /// A signal came.
    Stop(StopCause),
    /// The terminal has another width.
    Resized,
    /// Someone asks at the session's door.
    Knocked(Knocked),
}

/// What comes in.
pub(super) struct Mail {
    pub(super) inbox: Receiver<DriverInput>,
    pub(super) outbox: SyncSender<DriverInput>,
    /// What follows from what came in, and is to be taken first.
    pub(super) queue: VecDeque<Event>,
}

/// What happens because time passes.
pub(super) struct Pace {
    pub(super) watchdog: Watchdog,
    pub(super) timers: Timers,
    pub(super) next_beat: Moment,
    /// When the last event was written.
    pub(super) journalled: Moment,
}
