//! Every limit, checked. A [`Policy`] cannot hold a senseless value: it is only built by checking
//! [`Rules`], and [`Policy::default`] is the one place where a default is written.

mod agent;
mod check;

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use serde::de::{Deserializer, IgnoredAny};
use serde::{Deserialize, Serialize};

pub use self::agent::{AgentTraits, CallRecord};
pub use self::check::PolicyError;
use crate::moment::Millis;

/// Limits that have been checked. Read through [`Deref`] to [`Rules`]; changed only by checking anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rules", into = "Rules")]
pub struct Policy(Rules);

impl Policy {
    /// Checks the rules; the first senseless value is named in the error. A preview is never longer
    /// than what makes a result large: it shrinks with that.
    pub fn new(mut rules: Rules) -> Result<Self, PolicyError> {
        rules.calls.preview = rules.calls.preview.min(rules.calls.large_response);
        check::check(&rules)?;
        Ok(Self(rules))
    }

    /// The rules, to change and check again.
    pub fn into_rules(self) -> Rules {
        self.0
    }
}

impl Deref for Policy {
    type Target = Rules;

    fn deref(&self) -> &Rules {
        &self.0
    }
}

impl TryFrom<Rules> for Policy {
    type Error = PolicyError;

    fn try_from(rules: Rules) -> Result<Self, PolicyError> {
        Self::new(rules)
    }
}

impl From<Policy> for Rules {
    fn from(policy: Policy) -> Self {
        policy.0
    }
}

/// The limits as written, not yet checked. One field per setting, grouped as in `flyball.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Budgets of the run and of one iteration.
    pub limits: LimitRules,
    /// The call ring.
    pub calls: CallRules,
    /// The iteration ring.
    pub iterations: IterationRules,
    /// The task ring.
    pub tasks: TaskRules,
    /// The review cycle.
    pub review: ReviewRules,
    /// Gates and backpressure.
    pub gates: GateRules,
}

/// `[limits]`: what a run and an iteration may use. 0 means no limit for iterations, runtime,
/// tokens and cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitRules {
    /// Iterations of one run.
    pub iterations: u32,
    /// Iterations in a row without progress.
    pub stuck: u32,
    /// Time alive and not waiting for a usage limit.
    pub runtime: Millis,
    /// Tokens, input and output together.
    pub tokens: u64,
    /// Money in US dollars.
    pub cost_usd: f64,
    /// Time of one iteration.
    pub iteration_timeout: Millis,
    /// Silence of an agent whose processes use no CPU; 0 switches the watch off.
    pub stall_after: Millis,
    /// Longest wait for one usage limit.
    pub wait: Millis,
    /// Time between the steps of stopping an agent: interrupt, terminate, kill.
    pub stop_grace: Millis,
}

/// `[calls]`: the call ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRules {
    /// Same calls with the same result that bring a nudge.
    pub nudge_after: u32,
    /// The same where that result is a success: a second look is often just that.
    #[serde(default = "nudge_after_success")]
    pub nudge_after_success: u32,
    /// Same calls in a row with the same result that still run; the next is refused.
    pub refuse_after: u32,
    /// Same calls in a row with changing results that still run; the next is refused.
    #[serde(default = "refuse_after_changing")]
    pub refuse_after_changing: u32,
    /// Whether the evidence account judges, too.
    #[serde(default = "account")]
    pub account: bool,
    /// Refusals that halt the session.
    pub max_refusals: u32,
    /// Validation failures in a row that halt the session.
    pub max_validation_failures: u32,
    /// Failed tool executions in a row that halt the session.
    pub max_consecutive_failures: u32,
    /// Characters of a tool result above which it is written to a file.
    pub large_response: u64,
    /// Characters of a large result shown to the agent.
    pub preview: u64,
    /// Read and forgotten: policies that were journalled hold it, and it does nothing any more.
    #[serde(default, skip_serializing)]
    pub polling: Gone,
    /// Arguments that are free text about a call and do not change it.
    pub free_text: Vec<String>,
}

/// The value of a setting that is no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gone;

impl<'de> Deserialize<'de> for Gone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

// Policies that were journalled before these settings lack them.

const fn nudge_after_success() -> u32 {
    3
}

const fn refuse_after_changing() -> u32 {
    25
}

const fn account() -> bool {
    true
}

/// `[iterations]`: the iteration ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IterationRules {
    /// Failed iterations in a row that open the breaker.
    pub circuit_breaker: u32,
    /// Scores looked at for a regression.
    pub regression_window: u32,
    /// Red iterations on one file without a new best score.
    pub thrashing: u32,
    /// Refused completions in a row for one task.
    pub gate_refusals: u32,
    /// What the halt of a session does to the run.
    pub on_session_halt: OnSessionHalt,
    /// What counts as progress.
    pub progress: Progress,
    /// What being stuck does.
    pub on_stuck: OnStuck,
    /// What a BLOCKED or DECIDE claim does.
    pub on_blocked: OnBlocked,
    /// Whether a COMPLETE claim is believed when there is nothing to check it with.
    pub trust_claims: bool,
}

/// What the halt of a session does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnSessionHalt {
    /// The iteration failed; the next one starts fresh with a briefing.
    Restart,
    /// The run ends with that outcome.
    Stop,
}

/// What counts as progress of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// A new commit with a tree not seen before.
    Commit,
    /// Any tree not seen before, committed or not.
    Tree,
}

/// What being stuck does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnStuck {
    /// The run ends.
    Halt,
    /// The task is set aside and the next one taken.
    Next,
}

/// What a BLOCKED or DECIDE claim does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnBlocked {
    /// The run ends and waits for a human.
    Halt,
    /// The run goes on with other tasks while there are any.
    Next,
}

/// `[tasks]`: the task ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRules {
    /// Attempts that make a pattern.
    pub max_attempts: u32,
    /// How long before now an attempt of an earlier run still counts.
    pub attempt_window: Millis,
    /// Whether a spin is first answered with unblock authority.
    pub auto_unblock: bool,
    /// Attempts without progress after which the task is left.
    pub max_attempts_before_force_next: u32,
    /// What leaving a task makes of it.
    pub force_next_marks: ForceNextMarks,
}

/// What `force_next` makes of an unfinished task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForceNextMarks {
    /// Out of planning, never counted as passed.
    SetAside,
    /// Done, as the original did it.
    Done,
}

/// Named sets of task-ring limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Slow and safe: 5 attempts, 8 before leaving, a human unblocks.
    Conservative,
    /// The default: 3, 5, unblock authority first.
    Recommended,
    /// Fast: 2, 3, unblock authority first.
    Aggressive,
}

impl TaskRules {
    /// These rules with the limits of a preset.
    #[must_use]
    pub fn with_preset(mut self, preset: Preset) -> Self {
        let (attempts, force_next, auto_unblock) = match preset {
            Preset::Conservative => (5, 8, false),
            Preset::Recommended => (3, 5, true),
            Preset::Aggressive => (2, 3, true),
        };
        self.max_attempts = attempts;
        self.max_attempts_before_force_next = force_next;
        self.auto_unblock = auto_unblock;
        self
    }
}

/// `[review]`: the review cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewRules {
    /// Whether stories are reviewed before they pass.
    pub enabled: bool,
    /// Reviews after which a story is approved anyway.
    pub cap: u32,
}

/// `[gates]`: what flyball's own checks do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRules {
    /// Whether findings are handed back in detail.
    pub backpressure: bool,
    /// Whether failures from before the run block.
    pub baseline: Baseline,
    /// What weakened tests or gates do.
    pub on_tamper: OnTamper,
    /// Paths the work itself may change, whatever they check.
    #[serde(default)]
    pub may_change: Vec<String>,
    /// Stops refused in one session by the agent's own hooks.
    pub stop_refusals: u32,
}

/// What failures from before the run do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// They block like any other.
    Block,
    /// Only new failures block.
    Ignore,
}

/// What weakened tests or gates do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTamper {
    /// The agent is told once, then a human decides.
    Ask,
    /// Completion is refused while it lasts.
    Refuse,
    /// It is shown and does not block.
    Report,
}

impl Default for Policy {
    fn default() -> Self {
        Self(Rules {
            limits: LimitRules {
                iterations: 15,
                stuck: 3,
                runtime: Millis::from_secs(4 * 3600),
                tokens: 0,
                cost_usd: 0.0,
                iteration_timeout: Millis::from_secs(3600),
                stall_after: Millis::from_secs(600),
                wait: Millis::from_secs(6 * 3600),
                stop_grace: Millis::from_secs(5),
            },
            calls: CallRules {
                nudge_after: 2,
                nudge_after_success: nudge_after_success(),
                refuse_after: 5,
                refuse_after_changing: refuse_after_changing(),
                account: account(),
                max_refusals: 3,
                max_validation_failures: 3,
                max_consecutive_failures: 5,
                large_response: 200_000,
                preview: 1_000,
                polling: Gone,
                free_text: ["description", "explanation", "reason", "thought"]
                    .map(String::from)
                    .to_vec(),
            },
            iterations: IterationRules {
                circuit_breaker: 3,
                regression_window: 3,
                thrashing: 5,
                gate_refusals: 5,
                on_session_halt: OnSessionHalt::Restart,
                progress: Progress::Commit,
                on_stuck: OnStuck::Halt,
                on_blocked: OnBlocked::Halt,
                trust_claims: false,
            },
            tasks: TaskRules {
                max_attempts: 3,
                attempt_window: Millis::from_secs(3600),
                auto_unblock: true,
                max_attempts_before_force_next: 5,
                force_next_marks: ForceNextMarks::SetAside,
            },
            review: ReviewRules { enabled: true, cap: 5 },
            gates: GateRules {
                backpressure: true,
                baseline: Baseline::Block,
                on_tamper: OnTamper::Ask,
                may_change: Vec::new(),
                stop_refusals: 3,
            },
        })
    }
}
