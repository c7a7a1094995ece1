//! Advice on its way to the agent (A9): given by the next door that can carry it, else in the next
//! briefing. What nobody can receive is not announced as given.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::StepOutput;
use super::phase::SessionState;
use super::state::RunState;
use crate::call::texts::outcome_sentence;
use crate::effect::{Effect, Notice};
use crate::guard::{Rung, Trip};
use crate::moment::Moment;

/// Advice kept until it can be given; beyond that the oldest is forgotten.
const KEPT_MAX: usize = 3;

/// One piece of advice, and the trip it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Advice {
    pub(super) message: String,
    pub(super) trip: Trip,
}

/// Advice that has not reached the agent yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Deferred(VecDeque<Advice>);

impl Deferred {
    /// Keeps advice; the oldest is forgotten when there is too much.
    pub(super) fn defer(&mut self, advice: Advice) {
        while self.0.len() >= KEPT_MAX {
            self.0.pop_front();
        }
        self.0.push_back(advice);
    }

    /// Hands everything out: it reaches the agent now, and so it is announced.
    pub(super) fn give(&mut self, out: &mut StepOutput) -> Vec<String> {
        let give = |advice: Advice| {
            out.tripped(advice.trip, Rung::Nudge);
            advice.message
        };
        self.0.drain(..).map(give).collect()
    }
}

/// Advises the agent: at once where it can be pushed, else at its next door. Where no door has been
/// used so far nobody may ever listen: that is noticed, and told with the next briefing at the latest.
pub(super) fn advise(
    session: &mut SessionState,
    message: String,
    trip: Trip,
    state: &RunState,
    out: &mut StepOutput,
) {
    if state.can_push() {
        out.tripped(trip, Rung::Nudge);
        out.order(Effect::SteerAgent { iteration: session.iteration, message });
        return;
    }
    if !session.door_used {
        out.announce(Notice::Noticed { trip: trip.clone() });
    }
    session.advice.defer(Advice { message, trip });
}

/// What the next briefing says of advice that reached nobody; nothing when all of it did.
pub(super) fn left_over(session: &SessionState, ended: Moment) -> Option<LeftOver> {
    let kept = &session.advice.0;
    if kept.is_empty() {
        return None;
    }
    let elapsed = ended.since(session.started);
    let last = session.calls.last_call().map(outcome_sentence).unwrap_or_default();
    let words: Vec<&str> = kept.iter().map(|advice| advice.message.as_str()).collect();
    let words = words.join("\n");
    let text =
        format!("# Advice From The Last Session\nThat session lasted {elapsed}. {last}\n{words}");
    Some(LeftOver { text, trips: kept.iter().map(|advice| advice.trip.clone()).collect() })
}

/// Advice that goes into the next briefing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeftOver {
    pub(super) text: String,
    /// Announced as given when the briefing is.
    pub(super) trips: Vec<Trip>,
}
