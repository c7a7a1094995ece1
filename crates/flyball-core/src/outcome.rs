//! How a run ends. The only thing that has an exit code besides an error of flyball's own.

use core::fmt;

use serde::{Deserialize, Serialize};

/// How a run (or one session) ended. One enum for all rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything is done, and flyball has checked it.
    Complete,
    /// The agent says it is done and `--trust-claims` was given; nothing was checked.
    CompleteUnverified,
    /// The allowed number of iterations is used up.
    MaxIterations,
    /// The agent, or the task ring, cannot go on without a human.
    Blocked,
    /// The agent needs a human decision.
    Decide,
    /// Iterations came and went without progress.
    Stuck,
    /// The allowed time is used up.
    MaxRuntime,
    /// The allowed tokens are used up.
    MaxTokens,
    /// The allowed money is used up.
    MaxCost,
    /// Too many failed iterations in a row.
    CircuitBreaker,
    /// The score kept falling.
    QualityRegression,
    /// The same files were changed again and again without a better score.
    Thrashing,
    /// Tools failed too often in a row inside one session.
    ConsecutiveFailures,
    /// The agent's output could not be understood too often in a row.
    ValidationFailure,
    /// The agent repeated itself and did not stop when refused.
    RepetitionLoop,
    /// The agent gave no sign of life, or took longer than one iteration may.
    Stalled,
    /// Completion was claimed and refused too often for the same task.
    QualityGateExhausted,
    /// flyball's own state was changed from under it.
    Tampered,
    /// The agent program could not be started.
    AgentNotStarted,
    /// The agent's service refused its credentials.
    AgentRefused,
    /// A usage limit would last longer than flyball may wait.
    UsageLimit,
    /// Interrupted from the keyboard.
    Interrupted,
    /// Asked to end by a signal or by `flyball stop`.
    Terminated,
    /// flyball itself failed; never an outcome of the work.
    Fault,
}

impl Outcome {
    /// Every outcome, in the order of the exit-code table.
    pub const ALL: [Self; 24] = [
        Self::Complete,
        Self::CompleteUnverified,
        Self::MaxIterations,
        Self::Blocked,
        Self::Decide,
        Self::Stuck,
        Self::MaxRuntime,
        Self::MaxTokens,
        Self::MaxCost,
        Self::CircuitBreaker,
        Self::QualityRegression,
        Self::Thrashing,
        Self::ConsecutiveFailures,
        Self::ValidationFailure,
        Self::RepetitionLoop,
        Self::Stalled,
        Self::QualityGateExhausted,
        Self::Tampered,
        Self::AgentNotStarted,
        Self::AgentRefused,
        Self::UsageLimit,
        Self::Interrupted,
        Self::Terminated,
        Self::Fault,
    ];

    /// The name used in config, JSON, CSV and the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::CompleteUnverified => "complete_unverified",
            Self::MaxIterations => "max_iterations",
            Self::Blocked => "blocked",
            Self::Decide => "decide",
            Self::Stuck => "stuck",
            Self::MaxRuntime => "max_runtime",
            Self::MaxTokens => "max_tokens",
            Self::MaxCost => "max_cost",
            Self::CircuitBreaker => "circuit_breaker",
            Self::QualityRegression => "quality_regression",
            Self::Thrashing => "thrashing",
            Self::ConsecutiveFailures => "consecutive_failures",
            Self::ValidationFailure => "validation_failure",
            Self::RepetitionLoop => "repetition_loop",
            Self::Stalled => "stalled",
            Self::QualityGateExhausted => "quality_gate_exhausted",
            Self::Tampered => "tampered",
            Self::AgentNotStarted => "agent_not_started",
            Self::AgentRefused => "agent_refused",
            Self::UsageLimit => "usage_limit",
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
            Self::Fault => "fault",
        }
    }

    /// Whether the work is done. True only for a completion.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Complete | Self::CompleteUnverified)
    }

    /// Whether a guard that judges the work or the session ended it, rather than the work, a used-up
    /// budget, a human or the agent's absence.
    pub const fn is_guard(self) -> bool {
        matches!(
            self,
            Self::Stuck
                | Self::CircuitBreaker
                | Self::QualityRegression
                | Self::Thrashing
                | Self::ConsecutiveFailures
                | Self::ValidationFailure
                | Self::RepetitionLoop
                | Self::Stalled
                | Self::QualityGateExhausted
        )
    }

    /// What the process exits with. The agent's own exit code never shows here.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Complete | Self::CompleteUnverified => 0,
            Self::MaxIterations => 1,
            Self::Blocked => 2,
            Self::Decide => 3,
            Self::Stuck => 4,
            Self::MaxRuntime | Self::MaxTokens | Self::MaxCost => 5,
            Self::CircuitBreaker
            | Self::QualityRegression
            | Self::Thrashing
            | Self::ConsecutiveFailures
            | Self::ValidationFailure
            | Self::RepetitionLoop
            | Self::Stalled
            | Self::QualityGateExhausted
            | Self::Tampered => 6,
            Self::AgentNotStarted | Self::AgentRefused | Self::UsageLimit => 7,
            Self::Fault => 70,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// One sentence for a person.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Complete => "The work is done and was checked by flyball itself.",
            Self::CompleteUnverified => "The agent says the work is done; nothing checked it.",
            Self::MaxIterations => "The allowed number of iterations is used up.",
            Self::Blocked => "The work cannot go on until a human removes what blocks it.",
            Self::Decide => "The agent needs a decision from a human.",
            Self::Stuck => "Several iterations in a row brought no progress.",
            Self::MaxRuntime => "The allowed time is used up.",
            Self::MaxTokens => "The allowed tokens are used up.",
            Self::MaxCost => "The allowed money is used up.",
            Self::CircuitBreaker => "Too many iterations failed in a row.",
            Self::QualityRegression => "The score kept falling: the work was getting worse.",
            Self::Thrashing => "The same files were changed again and again without improvement.",
            Self::ConsecutiveFailures => "The agent's tools failed too often in a row.",
            Self::ValidationFailure => "The agent's output could not be understood.",
            Self::RepetitionLoop => "The agent repeated the same call and would not stop.",
            Self::Stalled => "The agent gave no sign of life or took too long.",
            Self::QualityGateExhausted => "Completion was claimed and refused too often.",
            Self::Tampered => "flyball's own state was changed from under it.",
            Self::AgentNotStarted => "The agent program could not be started.",
            Self::AgentRefused => "The agent's service refused its credentials.",
            Self::UsageLimit => "A usage limit lasts longer than flyball may wait.",
            Self::Interrupted => "Interrupted from the keyboard.",
            Self::Terminated => "Asked to end.",
            Self::Fault => "flyball itself failed.",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn only_a_completion_exits_with_zero() {
        for outcome in Outcome::ALL {
            assert_eq!(outcome.exit_code() == 0, outcome.is_success(), "{outcome}");
        }
    }

    #[test]
    fn names_are_unique_and_are_what_serde_writes() {
        let names: BTreeSet<_> = Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
        assert_eq!(names.len(), Outcome::ALL.len());
        for outcome in Outcome::ALL {
            let json = serde_json::to_string(&outcome).unwrap();
            assert_eq!(json.trim_matches('"'), outcome.as_str());
        }
    }

    #[test]
    fn nothing_is_both_a_success_and_a_guards_halt() {
        assert!(!Outcome::ALL.iter().any(|o| o.is_success() && o.is_guard()));
    }
}
