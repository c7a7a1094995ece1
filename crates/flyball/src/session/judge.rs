//! Who judges a session: a ring of its own, or, in a run, the run's one ring at its door.

mod alone;
mod in_run;

use std::time::Duration;

use flyball_core::call::{ToolCall, ToolResult, ValidationFailure, Verdict};
use flyball_core::event::Spend;
use flyball_core::guard::{Rung, Trip};
use flyball_core::{Outcome, SubAgent};

pub(crate) use self::alone::Alone;
pub(crate) use self::in_run::InRun;
use crate::error::CliError;
use crate::gate::Observe;

/// What a judge says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    /// How firmly.
    pub(crate) rung: Rung,
    /// What the model is told.
    pub(crate) message: Option<String>,
    /// What was measured.
    pub(crate) trip: Option<Trip>,
}

impl Spoken {
    /// Nothing.
    pub(crate) const fn pass() -> Self {
        Self { rung: Rung::Pass, message: None, trip: None }
    }

    /// The session ends.
    pub(crate) fn halt(trip: Trip) -> Self {
        Self { rung: Rung::Halt, message: Some(trip.evidence.clone()), trip: Some(trip) }
    }

    fn of(verdict: &Verdict) -> Self {
        let message = verdict.message().map(str::to_owned);
        Self { rung: verdict.rung(), message, trip: verdict.trip().cloned() }
    }

    /// Whether what was asked about may be done.
    pub(crate) fn may_run(&self) -> bool {
        self.rung < Rung::Refuse
    }

    /// Whether the session ends.
    pub(crate) fn ends(&self) -> bool {
        self.rung == Rung::Halt
    }

    /// What it ends as; a run that ends it says itself as what.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.trip.as_ref().and_then(|trip| trip.guard.outcome())
    }
}

/// What becomes of a model that wants to rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It may.
    Allowed,
    /// It may not: this is missing.
    Refused(String),
    /// It was sent back as often as it may be, and something is still missing.
    Exhausted,
}

/// What is kept of a judge, so that another can go on for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Its ring, as `status` and `log` read it.
    pub(crate) calls: Vec<u8>,
    /// Its stops.
    pub(crate) stops: Vec<u8>,
}

/// The judge of a session.
pub(crate) trait Judge {
    /// A call is about to be made.
    fn before(&mut self, call: &ToolCall) -> Spoken;
    /// A call is over.
    fn after(&mut self, result: &ToolResult) -> Spoken;
    /// What the model said could not be understood.
    fn invalid(&mut self, failure: &ValidationFailure) -> Spoken;
    /// The model answered in words alone.
    fn spoke(&mut self, agent: &SubAgent, words: &str) -> Spoken;
    /// The window is so full, in thousandths.
    fn filled(&mut self, permille: u16) -> Spoken;
    /// The model has cost this.
    fn spent(&mut self, spend: Spend) -> Spoken;
    /// How long the model may go on; none where nobody counts, or somebody else does.
    fn time_left(&self) -> Option<Duration>;
    /// The model showed life.
    fn life(&mut self);
    /// The model has been silent for too long: what it is told.
    fn stalled(&mut self) -> Spoken;
    /// A human spoke, after a while in which nothing was spent.
    fn human(&mut self);
    /// A human has the session go on in the middle of its turn.
    fn resumed(&mut self);
    /// The model wants to rest, and said this; somebody watches the gates.
    fn rest(&mut self, said: &str, watch: Observe<'_>) -> Result<Rest, CliError>;
    /// What is kept; nothing where somebody else keeps it.
    fn kept(&self) -> Option<Kept>;
}
