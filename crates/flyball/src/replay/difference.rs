//! What two governors decided on the same event, where it is not the same.

use flyball_core::effect::{Effect, Notice};
use flyball_core::guard::Rung;
use flyball_core::{GuardKind, IterationNo, Moment, Outcome};
use serde::Serialize;

/// A decision that matters to somebody who looks back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// A guard spoke.
    Guard {
        /// Which.
        guard: GuardKind,
        /// On which rung.
        rung: Rung,
        /// What it measured.
        measured: u64,
        /// What is allowed.
        allowed: u64,
    },
    /// A completion was refused.
    Refused,
    /// An agent was started.
    Starts {
        /// In which iteration.
        iteration: IterationNo,
        /// Which: 0 is the configured one.
        agent: u32,
    },
    /// The run ended.
    Ends {
        /// How.
        outcome: Outcome,
    },
}

impl Decision {
    /// The decisions among orders.
    pub(super) fn all(effects: &[Effect]) -> Vec<Self> {
        effects.iter().filter_map(Self::of).collect()
    }

    fn of(effect: &Effect) -> Option<Self> {
        if let Effect::Announce(Notice::Tripped { trip, rung }) = effect {
            let (guard, measured, allowed) = (trip.guard, trip.measured, trip.allowed);
            (*rung != Rung::Pass).then_some(Self::Guard { guard, rung: *rung, measured, allowed })
        } else if let Effect::Announce(Notice::CompletionRefused(_)) = effect {
            Some(Self::Refused)
        } else if let Effect::StartAgent { iteration, agent, .. } = effect {
            Some(Self::Starts { iteration: *iteration, agent: *agent })
        } else if let Effect::FinishRun(ending) = effect {
            Some(Self::Ends { outcome: ending.outcome })
        } else {
            None
        }
    }

    /// Whether it ends a session.
    pub(super) const fn is_halt(&self) -> bool {
        matches!(self, Self::Guard { rung: Rung::Halt, .. })
    }

    /// Whether it ends the run.
    pub(super) const fn is_end(&self) -> bool {
        matches!(self, Self::Ends { .. })
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::Guard { guard, rung, measured, allowed } => {
                format!("{} {} ({measured} of {allowed})", guard.as_str(), rung.as_str())
            }
            Self::Refused => "completion refused".to_owned(),
            Self::Starts { iteration, agent: 0 } => format!("iteration {iteration} begins"),
            Self::Starts { iteration, agent } => {
                format!("iteration {iteration} begins with agent {agent}")
            }
            Self::Ends { outcome } => format!("the run ends: {outcome}"),
        }
    }
}

/// Where both decided otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// On which event of the run.
    pub seq: u64,
    /// When.
    pub at: Moment,
    /// In which iteration.
    pub iteration: Option<IterationNo>,
    /// What was decided, and would not have been.
    pub was: Vec<Decision>,
    /// What would have been decided, and was not.
    pub would: Vec<Decision>,
}

impl Difference {
    /// None where both decided the same. What is measured against another limit is the same word.
    pub(super) fn between(
        (seq, at, iteration): (u64, Moment, Option<IterationNo>),
        was: &[Decision],
        would: &[Decision],
    ) -> Option<Self> {
        let without = |some: &[Decision], others: &[Decision]| -> Vec<Decision> {
            some.iter()
                .filter(|one| !others.iter().any(|other| is_same(one, other)))
                .cloned()
                .collect()
        };
        let (was, would) = (without(was, would), without(would, was));
        (!was.is_empty() || !would.is_empty()).then_some(Self { seq, at, iteration, was, would })
    }
}

fn is_same(one: &Decision, other: &Decision) -> bool {
    match (one, other) {
        (
            Decision::Guard { guard, rung, .. },
            Decision::Guard { guard: other_guard, rung: other_rung, .. },
        ) => guard == other_guard && rung == other_rung,
        (
            Decision::Guard { .. }
            | Decision::Refused
            | Decision::Starts { .. }
            | Decision::Ends { .. },
            _,
        ) => one == other,
    }
}
