//! A human's word in between: to the agent by the first way that is open, else in the next briefing;
//! to the run at once.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::phase::{End, Phase, SessionState};
use super::state::RunState;
use super::{StepOutput, finish, iterating, stopping, waiting};
use crate::effect::{Effect, Notice};
use crate::guard::Rung;
use crate::human::{HumanReply, HumanWish, LimitChange, WORD_MAX, WORDS_MAX, WordWay};
use crate::iteration::budget_trip;
use crate::text;

/// Words of a human that have not reached an agent yet, the oldest first; never more than a briefing
/// holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Words(Vec<String>);

impl Words {
    /// Keeps a word; the oldest is forgotten, and said to be, when there are too many.
    pub(super) fn keep(&mut self, word: &str, out: &mut StepOutput) {
        self.0.push(text::head(word.trim(), WORD_MAX));
        while self.0.len() > WORDS_MAX {
            let word = self.0.remove(0);
            out.announce(Notice::WordOnItsWay { text: word, way: WordWay::Forgotten });
        }
    }

    /// Remembers a word that was given; the oldest goes when there are too many.
    fn remember(&mut self, word: &str) {
        self.0.push(String::from(word));
        if self.0.len() > WORDS_MAX {
            self.0.remove(0);
        }
    }

    /// Words that were meant for an earlier session come first.
    pub(super) fn take_back(&mut self, earlier: &mut Self, out: &mut StepOutput) {
        let later = core::mem::take(&mut self.0);
        for word in core::mem::take(&mut earlier.0).into_iter().chain(later) {
            self.keep(&word, out);
        }
    }

    /// Hands everything out by this way.
    pub(super) fn give(&mut self, way: WordWay, out: &mut StepOutput) -> Vec<String> {
        self.announce(way, out);
        core::mem::take(&mut self.0)
    }

    /// Says that these go this way.
    pub(super) fn announce(&self, way: WordWay, out: &mut StepOutput) {
        for text in &self.0 {
            out.announce(Notice::WordOnItsWay { text: text.clone(), way });
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &String> {
        self.0.iter()
    }
}

/// A word as an agent reads it in the middle of its work.
pub(super) fn said(word: &str) -> String {
    format!("A human says: {word}\nHeed it from now on.")
}

/// What a human wants, done.
pub(super) fn asked(
    phase: Phase,
    (request, wish): (u64, &HumanWish),
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    let place = out.effects.len();
    let (phase, reply) = match (phase, wish) {
        // Whoever asks sees that it is over.
        (Phase::Finished(finished), _) => return Phase::Finished(finished),
        (phase, HumanWish::Tell { text }) => tell(phase, text, state, out),
        (phase, HumanWish::ChangeLimits { limits }) => change_limits(phase, limits, state, out),
        (phase, HumanWish::StopAfterIteration) => stop_after(phase, state, out),
    };
    // First: nothing is ordered after the end of a run, and this may be one.
    out.effects.insert(place, Effect::AnswerHuman { request, reply });
    phase
}

fn tell(
    mut phase: Phase,
    word: &str,
    state: &mut RunState,
    out: &mut StepOutput,
) -> (Phase, HumanReply) {
    let Phase::Iterating(session) = &mut phase else {
        state.briefing.word(word, out);
        return (phase, HumanReply::NextBriefing);
    };
    if state.can_push() {
        // A3: what was refused before counts no longer once a human has spoken.
        session.calls.human(out.at);
        let text = text::head(word.trim(), WORD_MAX);
        session.given.remember(&text);
        let (iteration, message) = (session.iteration, said(&text));
        out.order(Effect::SteerAgent { iteration, message });
        out.announce(Notice::WordOnItsWay { text, way: WordWay::Steer });
        return (phase, HumanReply::Steered);
    }
    session.words.keep(word, out);
    let reply = if session.door_used { HumanReply::AtItsDoor } else { HumanReply::NextBriefing };
    (phase, reply)
}

/// What the agent hears with an answer at its door.
pub(super) fn at_the_door(session: &mut SessionState, out: &mut StepOutput) -> Vec<String> {
    if session.words.is_empty() {
        return Vec::new();
    }
    session.calls.human(out.at);
    let words = session.words.give(WordWay::Door, out);
    for word in &words {
        session.given.remember(word);
    }
    words.iter().map(|word| said(word)).collect()
}

/// The session is over: what it did not hear the next one reads.
pub(super) fn unheard(session: &mut SessionState, state: &mut RunState, out: &mut StepOutput) {
    state.briefing.words_before(&mut session.words, out);
}

/// flyball died, and the session with it, perhaps before it was given what it was to be given.
pub(super) fn lost(session: &mut SessionState, state: &mut RunState, out: &mut StepOutput) {
    unheard(session, state, out);
    state.briefing.words_before(&mut session.given, out);
}

fn change_limits(
    phase: Phase,
    limits: &[LimitChange],
    state: &mut RunState,
    out: &mut StepOutput,
) -> (Phase, HumanReply) {
    let policy = match LimitChange::applied(limits, &state.given_policy) {
        Ok(policy) => policy,
        Err(error) => return (phase, HumanReply::Refused { why: error.to_string() }),
    };
    state.take_policy(policy);
    (hold(phase, state, out), HumanReply::Changed)
}

/// The limits hold at once, also those that were lowered below what is used up.
fn hold(phase: Phase, state: &mut RunState, out: &mut StepOutput) -> Phase {
    match phase {
        Phase::Iterating(session) => {
            if let Some(trip) = budget_trip(&state.ring.meters, &state.policy.limits) {
                out.tripped(trip.clone(), Rung::Halt);
                return stopping::begin(session, End::Spent(trip), out, state);
            }
            iterating::set_timers(&session, state, out);
            Phase::Iterating(session)
        }
        Phase::Inspecting(closed) => {
            iterating::set_runtime_timer(&closed.session, state, out);
            Phase::Inspecting(closed)
        }
        Phase::Waiting(wait) => waiting::allowed(wait, state, out),
        Phase::Baselining | Phase::Stopping(_) | Phase::Gating(_) | Phase::Finished(_) => phase,
    }
}

fn stop_after(phase: Phase, state: &mut RunState, out: &mut StepOutput) -> (Phase, HumanReply) {
    match phase.session().map(|session| session.iteration) {
        Some(iteration) => {
            state.human.stops_after_iteration = true;
            (phase, HumanReply::StopsAfter { iteration })
        }
        // Nothing is under way that could be finished.
        None => (finish::after_iteration(state, out), HumanReply::EndsNow),
    }
}
