//! What the call ring answers.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::guard::Rung;
use crate::guard::Trip;
use crate::outcome::Outcome;

/// The call ring's answer to a call, a result or a failure: four rungs of the ladder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Go on.
    Pass,
    /// Go on, and tell the agent this.
    Nudge {
        /// What the agent is told.
        message: String,
        /// What was measured.
        trip: Trip,
    },
    /// The call does not run; the agent gets this as its result.
    Refuse {
        /// What the agent is told.
        message: String,
        /// What was measured.
        trip: Trip,
    },
    /// The session ends; a call asked about does not run.
    Halt {
        /// What the agent is told, where it can still be told something.
        message: String,
        /// What was measured.
        trip: Trip,
    },
}

impl Verdict {
    /// Its rung of the ladder.
    pub const fn rung(&self) -> Rung {
        match self {
            Self::Pass => Rung::Pass,
            Self::Nudge { .. } => Rung::Nudge,
            Self::Refuse { .. } => Rung::Refuse,
            Self::Halt { .. } => Rung::Halt,
        }
    }

    /// The firmer of two answers: to a call, and to its result.
    #[must_use]
    pub fn firmer(self, later: Self) -> Self {
        if later.rung() > self.rung() { later } else { self }
    }

    /// Whether a call that was asked about may run.
    pub const fn may_run(&self) -> bool {
        matches!(self, Self::Pass | Self::Nudge { .. })
    }

    /// Whether the session ends.
    pub const fn is_halt(&self) -> bool {
        matches!(self, Self::Halt { .. })
    }

    /// What the session ends with, if it does.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Halt { trip, .. } => trip.guard.outcome(),
            Self::Pass | Self::Nudge { .. } | Self::Refuse { .. } => None,
        }
    }

    /// What the agent is told, if anything.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Pass => None,
            Self::Nudge { message, .. }
            | Self::Refuse { message, .. }
            | Self::Halt { message, .. } => Some(message),
        }
    }

    /// What was measured, unless it passed.
    pub const fn trip(&self) -> Option<&Trip> {
        match self {
            Self::Pass => None,
            Self::Nudge { trip, .. } | Self::Refuse { trip, .. } | Self::Halt { trip, .. } => {
                Some(trip)
            }
        }
    }
}
