//! Facts, in the past tense. Everything the governor ever learns comes in as one of these.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::call::{Chant, Fingerprint, ToolCall, ToolResult, ValidationFailure};
use crate::claim::ClaimReading;
use crate::door::DoorQuestion;
use crate::gate::{Finding, GateResult, TamperSight};
use crate::human::HumanWish;
use crate::id::{GateName, IterationNo, RunId, SubAgent};
use crate::moment::Moment;
use crate::policy::Policy;
pub use crate::policy::{AgentTraits, CallRecord};
use crate::stop::StopTicket;
use crate::task::{AttemptReport, TaskMemory};
pub use crate::tasklist::TasksSnapshot;
pub use crate::worktree::{Commit, WorktreeSnapshot};

/// A fact. Journalled before it is acted on; `noun.verb` in the past when stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Event {
    /// A run was asked for, and this is how the world looked.
    #[serde(rename = "run.started")]
    RunStarted(Box<RunStart>),
    /// flyball died or was stopped, and goes on with this run; any agent it had is gone.
    #[serde(rename = "run.resumed")]
    RunResumed(Box<Resume>),
    /// Something about the agent of this iteration.
    #[serde(rename = "agent")]
    Agent {
        /// The iteration the agent belongs to; a fact about another one is late and ignored.
        iteration: IterationNo,
        /// What happened.
        fact: AgentFact,
    },
    /// The worktree was looked at after an iteration.
    #[serde(rename = "worktree.seen")]
    WorktreeSeen {
        /// After which iteration.
        iteration: IterationNo,
        /// What was seen.
        #[serde(rename = "sight")]
        snapshot: Box<WorktreeSnapshot>,
    },
    /// The gates ran on a tree, or their cached result for it was found.
    #[serde(rename = "gates.finished")]
    GatesFinished {
        /// After which iteration; 0 is the baseline.
        iteration: IterationNo,
        /// What they said, with the tree that was ordered; a word on another tree is ignored.
        result: Box<GateResult>,
        /// Weakened tests or gates compared with the tree the run began on.
        #[serde(default)]
        tamper: Vec<Finding>,
    },
    /// A timer set by an effect ran out.
    #[serde(rename = "timer.fired")]
    TimerFired {
        /// Which timer.
        timer: Timer,
        /// The iteration it was set in; a timer of another one is late and ignored.
        iteration: IterationNo,
    },
    /// Someone asked the run to end.
    #[serde(rename = "stop.requested")]
    StopRequested {
        /// Who.
        cause: StopCause,
    },
    /// A human wants something of the run while it goes on.
    #[serde(rename = "human.asked")]
    HumanAsked {
        /// Which asking, so that it can be answered.
        request: u64,
        /// What.
        wish: HumanWish,
    },
    /// Nothing happened, for a while: keeps the runtime true should flyball die next.
    #[serde(rename = "time.passed")]
    TimePassed,
    /// flyball's own state is no longer the one the run began with: nothing read there is believed.
    #[serde(rename = "state.replaced")]
    StateReplaced {
        /// What was found, in words.
        why: String,
    },
    /// The shell could not perform an order at all (disk full, git broken).
    #[serde(rename = "shell.failed")]
    ShellFailed {
        /// What failed, in words.
        why: String,
    },
}

/// How the world looked when a run was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStart {
    /// The run.
    pub run: RunId,
    /// Its limits; read once, so an agent that edits the config changes nothing.
    pub policy: Policy,
    /// The gates, in order.
    pub gates: Vec<GateName>,
    /// The worktree before the first iteration.
    #[serde(rename = "sight")]
    pub snapshot: WorktreeSnapshot,
    /// What humans left: a blocker, a question, an answer.
    #[serde(rename = "desk")]
    pub human_files: HumanFiles,
    /// What is remembered of tasks from earlier runs.
    pub memory: TaskMemory,
    /// What is known of the configured agent.
    pub agent: AgentTraits,
    /// The other agents there are, in their order.
    #[serde(default)]
    pub other_agents: Vec<AgentTraits>,
    /// What the agents are called, the configured one first.
    #[serde(default)]
    pub agent_names: Vec<String>,
    /// How many of the others go on when one cannot: the first ones.
    #[serde(default)]
    pub fallbacks: u32,
    /// The agent that reviews, by its number; none where nobody else does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<u32>,
    /// The agent that takes one iteration before a guard ends the run, by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescue: Option<u32>,
    /// The one task of a run that was given it on the command line; the task list is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// What is known when a run goes on after a death.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resume {
    /// The journalled policy with the flags given now.
    pub policy: Policy,
    /// What humans left in the meantime.
    #[serde(rename = "desk")]
    pub human_files: HumanFiles,
    /// Whether the run had ended properly before: then a human wants it to go on. Otherwise
    /// flyball died, perhaps while ending it.
    #[serde(default)]
    pub closed: bool,
    /// The task list as it stands now, for a run that had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TasksSnapshot>,
    /// The weakened checks there are now, for a run that had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tamper: Option<TamperSight>,
}

/// What humans left beside the loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanFiles {
    /// The reason in `blocked.txt`, when the file is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// The question in `decide.txt`, when the file is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The answer given to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The folder both are in, as people find it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Weakened tests a human has accepted, by finding identity.
    #[serde(default)]
    pub accepted_tamper: Vec<String>,
}

/// A fact about the agent of one iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum AgentFact {
    /// Its process runs.
    Started {
        /// Its process id, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
    },
    /// The program could not be started.
    CouldNotStart {
        /// Why, naming the program.
        why: String,
    },
    /// It called a tool.
    #[serde(alias = "called_judged")]
    CalledTool(ToolCall),
    /// A tool answered.
    ToolReturned(ToolResult),
    /// It said something well-formed.
    Spoke,
    /// A whole turn of the model held words and no call.
    OnlySpoke {
        /// Whose model it is.
        #[serde(default)]
        agent: SubAgent,
        /// Identity of what it said, where that was a word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<Fingerprint>,
    },
    /// A turn of the model ended in words said again and again.
    Chanted(Chant),
    /// A human spoke to it in mid-session.
    HeardHuman,
    /// It said something that could not be understood.
    SpokeNonsense(ValidationFailure),
    /// It used tokens or money, counted since the last such fact.
    Spent(Spend),
    /// So much it has printed in the whole session: what it is charged by should it have told
    /// nothing of what it used.
    Printed {
        /// Bytes on its standard output.
        bytes: u64,
        /// What as much text would cost, in millionths of a US dollar, where that is known.
        #[serde(default)]
        cost_micro_usd: u64,
    },
    /// Its context window is this full.
    FilledContext {
        /// In thousandths.
        permille: u16,
    },
    /// One of its processes used CPU, or it printed something.
    ShowedLife,
    /// A usage or rate limit stopped it.
    HitLimit {
        /// When it is lifted, where the agent says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Moment>,
        /// In its own words.
        message: String,
    },
    /// The model could not be reached: network, overload.
    LostModel {
        /// In its own words.
        message: String,
    },
    /// Its service refused its credentials.
    RefusedCredentials {
        /// In its own words.
        message: String,
    },
    /// The agent program's own loop guard stopped it.
    StoppedItself {
        /// In its own words.
        message: String,
    },
    /// The worktree and the gates were looked at because it wants to stop.
    StopExamined(StopExamined),
    /// It, or a program it started, asked or told something at the session's door.
    Asked(DoorQuestion),
    /// It said through a tool how its attempt at a task stands.
    ReportedAttempt(AttemptReport),
    /// Its process is gone.
    Exited(Exit),
}

/// What was found when an agent wanted to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopExamined {
    /// Which asking.
    pub asking: u64,
    /// As it was given with the order to look.
    pub ticket: StopTicket,
    /// The worktree.
    pub snapshot: Box<WorktreeSnapshot>,
    /// The gates' word on it; none when there are none, or they could not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<Box<GateResult>>,
}

/// What was used since the last such fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// Tokens read.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens written.
    #[serde(default)]
    pub output_tokens: u64,
    /// Millionths of a US dollar.
    #[serde(default)]
    pub cost_micro_usd: u64,
}

/// How the agent's process ended, and its last words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// How.
    pub how: ExitHow,
    /// What it claimed in its final words.
    #[serde(default)]
    pub claims: ClaimReading,
    /// The end of its final words, for people and for briefings.
    #[serde(default)]
    pub last_words: String,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitHow {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody saw it: flyball was dead.
    Lost,
}

impl ExitHow {
    /// Whether the program itself says that it ended well.
    pub const fn is_clean(self) -> bool {
        matches!(self, Self::Code(0))
    }
}

/// A timer the governor can set. Each belongs to the iteration it was set in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// The iteration's own time limit.
    IterationTimeout,
    /// The run's time limit.
    Runtime,
    /// Silence.
    Stall,
    /// The next step of stopping an agent.
    StopGrace,
    /// The end of a wait for a usage limit.
    Wait,
}

/// Who asked the run to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// SIGINT.
    Interrupt,
    /// SIGTERM or SIGHUP.
    Terminate,
    /// `flyball stop`.
    Command,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As they were journalled before calls had rounds and results a second identity.
    #[test]
    fn older_facts_are_still_read() {
        let digits = "0123456789abcdef0123456789abcdef";
        let called = alloc::format!(
            r#"{{"fact":"called_tool","id":"1","agent":"","tool":"t","call":"{digits}","preview":""}}"#
        );
        let returned = alloc::format!(
            r#"{{"fact":"tool_returned","id":"1","outcome":"refused","result":"{digits}","chars":3}}"#
        );
        let AgentFact::CalledTool(call) = serde_json::from_str(&called).unwrap() else { panic!() };
        assert!(!call.mutating && call.round.as_str().is_empty());
        let AgentFact::ToolReturned(result) = serde_json::from_str(&returned).unwrap() else {
            panic!()
        };
        assert!(result.raw.is_none() && !result.empty && !result.outcome.ran());
        let mut rules = serde_json::to_value(Policy::default()).unwrap();
        let calls = rules.get_mut("calls").and_then(serde_json::Value::as_object_mut).unwrap();
        for later in ["account", "nudge_after_success", "refuse_after_changing"] {
            calls.remove(later);
        }
        calls.insert("polling".into(), serde_json::json!(["wait"]));
        assert_eq!(serde_json::from_value::<Policy>(rules).unwrap(), Policy::default());
    }
}
