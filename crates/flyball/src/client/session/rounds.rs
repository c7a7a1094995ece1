//! Which calls belong to one turn of the model.

use std::collections::VecDeque;

use flyball_core::text::prefix;

use super::{Call, NAME};

/// Calls of which the answer is waited for, at most.
const OPEN_MAX: usize = 64;
/// Refused calls that are remembered.
const REFUSED_MAX: usize = 16;

/// The turns of one session. Where a client does not tell them, calls that are made before an earlier
/// one was answered are of one turn.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// The turn the last call was made in.
    last: String,
    /// Calls without an answer yet: sub-agent and id.
    open: Vec<(String, String)>,
    /// The latest calls that were refused at the door: their agent may show no answer to them.
    refused: VecDeque<String>,
}

impl Rounds {
    /// A tool was called: the turn it belongs to.
    pub(super) fn called(&mut self, call: &Call<'_>) -> &str {
        let (agent, id) = (prefix(call.agent, NAME), prefix(call.id, NAME));
        let goes_on = self.open.iter().any(|(other, _)| other == agent);
        if !call.round.is_empty() {
            prefix(call.round, NAME).clone_into(&mut self.last);
        } else if !goes_on {
            id.clone_into(&mut self.last);
        }
        let is_refused = self.refused.iter().any(|refused| refused == id);
        if self.open.len() < OPEN_MAX && !is_refused {
            self.open.push((agent.to_owned(), id.to_owned()));
        }
        &self.last
    }

    /// A call was answered, or turned out to be none.
    pub(super) fn answered(&mut self, id: &str) {
        self.open.retain(|(_, open)| open != prefix(id, NAME));
    }

    /// A call does not run: the refusal is its answer, whether it was shown by now or not.
    pub(super) fn refused(&mut self, id: &str) {
        self.answered(id);
        while self.refused.len() >= REFUSED_MAX {
            self.refused.pop_front();
        }
        self.refused.push_back(prefix(id, NAME).to_owned());
    }

    /// The agent said something: what it calls from now on is of another turn.
    pub(super) fn spoke(&mut self) {
        self.open.clear();
    }

    /// Whether the last call was made in this turn.
    pub(super) fn is_last(&self, turn: &str) -> bool {
        self.last == prefix(turn, NAME)
    }
}
