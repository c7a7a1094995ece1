//! The guards by name, the rungs of the ladder, and what a guard says when it trips.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

/// Every guard there is. A test fails when one of them never fires in the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardKind {
    /// A2: the same call again and again.
    Repetition,
    /// A3: going nowhere, in whatever order.
    GoingNowhere,
    /// A4: output that cannot be understood.
    Validation,
    /// A5: tools that fail.
    ToolFailures,
    /// A6: no sign of life.
    Stall,
    /// A6: one iteration took too long.
    IterationTimeout,
    /// A7: a tool result too large for the context.
    LargeResponse,
    /// A8: the context fills up.
    ContextFill,
    /// B1: a completion that does not verify.
    Completion,
    /// B3: no progress.
    Stuck,
    /// B4: iterations.
    MaxIterations,
    /// B4: tokens.
    MaxTokens,
    /// B4: money.
    MaxCost,
    /// B4: time.
    MaxRuntime,
    /// B6: failed iterations in a row.
    CircuitBreaker,
    /// B7: falling scores.
    QualityRegression,
    /// B8: the same files without improvement.
    Thrashing,
    /// B10: refused completions in a row.
    GateRefusals,
    /// B10: weakened tests or gates.
    Tamper,
    /// B11: an illegal change of the task list.
    TaskList,
    /// B13: a usage limit.
    UsageLimit,
    /// C2: a finished task attempted again.
    CompletedTaskRevisit,
    /// C2: the same blockers again.
    BlockedTaskSpin,
    /// C2: attempts without anything new.
    NoProgressRepeat,
    /// C2: going round between tasks.
    TaskCycle,
}

impl GuardKind {
    /// Every guard.
    pub const ALL: [Self; 25] = [
        Self::Repetition,
        Self::GoingNowhere,
        Self::Validation,
        Self::ToolFailures,
        Self::Stall,
        Self::IterationTimeout,
        Self::LargeResponse,
        Self::ContextFill,
        Self::Completion,
        Self::Stuck,
        Self::MaxIterations,
        Self::MaxTokens,
        Self::MaxCost,
        Self::MaxRuntime,
        Self::CircuitBreaker,
        Self::QualityRegression,
        Self::Thrashing,
        Self::GateRefusals,
        Self::Tamper,
        Self::TaskList,
        Self::UsageLimit,
        Self::CompletedTaskRevisit,
        Self::BlockedTaskSpin,
        Self::NoProgressRepeat,
        Self::TaskCycle,
    ];

    /// The name used in JSON and the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Repetition => "repetition",
            Self::GoingNowhere => "going_nowhere",
            Self::Validation => "validation",
            Self::ToolFailures => "tool_failures",
            Self::Stall => "stall",
            Self::IterationTimeout => "iteration_timeout",
            Self::LargeResponse => "large_response",
            Self::ContextFill => "context_fill",
            Self::Completion => "completion",
            Self::Stuck => "stuck",
            Self::MaxIterations => "max_iterations",
            Self::MaxTokens => "max_tokens",
            Self::MaxCost => "max_cost",
            Self::MaxRuntime => "max_runtime",
            Self::CircuitBreaker => "circuit_breaker",
            Self::QualityRegression => "quality_regression",
            Self::Thrashing => "thrashing",
            Self::GateRefusals => "gate_refusals",
            Self::Tamper => "tamper",
            Self::TaskList => "task_list",
            Self::UsageLimit => "usage_limit",
            Self::CompletedTaskRevisit => "completed_task_revisit",
            Self::BlockedTaskSpin => "blocked_task_spin",
            Self::NoProgressRepeat => "no_progress_repeat",
            Self::TaskCycle => "task_cycle",
        }
    }

    /// Whether it watches what a run may use, rather than what it does.
    pub const fn is_budget(self) -> bool {
        matches!(self, Self::MaxIterations | Self::MaxTokens | Self::MaxCost | Self::MaxRuntime)
    }

    /// What a run (or session) ends with when this guard halts it; none where it never halts.
    pub const fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Repetition | Self::GoingNowhere => Some(Outcome::RepetitionLoop),
            Self::Validation => Some(Outcome::ValidationFailure),
            Self::ToolFailures => Some(Outcome::ConsecutiveFailures),
            Self::Stall | Self::IterationTimeout => Some(Outcome::Stalled),
            Self::Stuck => Some(Outcome::Stuck),
            Self::MaxIterations => Some(Outcome::MaxIterations),
            Self::MaxTokens => Some(Outcome::MaxTokens),
            Self::MaxCost => Some(Outcome::MaxCost),
            Self::MaxRuntime => Some(Outcome::MaxRuntime),
            Self::CircuitBreaker => Some(Outcome::CircuitBreaker),
            Self::QualityRegression => Some(Outcome::QualityRegression),
            Self::Thrashing => Some(Outcome::Thrashing),
            Self::GateRefusals => Some(Outcome::QualityGateExhausted),
            Self::Tamper => Some(Outcome::Decide),
            Self::UsageLimit => Some(Outcome::UsageLimit),
            Self::BlockedTaskSpin | Self::TaskCycle => Some(Outcome::Blocked),
            Self::LargeResponse
            | Self::ContextFill
            | Self::Completion
            | Self::TaskList
            | Self::CompletedTaskRevisit
            | Self::NoProgressRepeat => None,
        }
    }
}

impl fmt::Display for GuardKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A rung of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Nothing is done.
    Pass,
    /// Advice is added to the agent's context.
    Nudge,
    /// A call or a stop does not happen.
    Refuse,
    /// Fresh start, next task, unblock authority.
    Redirect,
    /// A human decides.
    Ask,
    /// The session or the run ends.
    Halt,
}

impl Rung {
    /// The name used in JSON and in texts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Nudge => "nudge",
            Self::Refuse => "refuse",
            Self::Redirect => "redirect",
            Self::Ask => "ask",
            Self::Halt => "halt",
        }
    }
}

/// A guard's finding: which guard, what it measured, what is allowed, and the evidence in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trip {
    /// Which guard.
    pub guard: GuardKind,
    /// What was measured.
    pub measured: u64,
    /// What is allowed.
    pub allowed: u64,
    /// The evidence, one sentence.
    pub evidence: String,
}

impl Trip {
    /// A trip of this guard.
    pub fn new(
        guard: GuardKind,
        measured: impl Into<u64>,
        allowed: impl Into<u64>,
        evidence: impl Into<String>,
    ) -> Self {
        Self {
            guard,
            measured: measured.into(),
            allowed: allowed.into(),
            evidence: evidence.into(),
        }
    }
}
