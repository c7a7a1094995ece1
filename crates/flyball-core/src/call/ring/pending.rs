//! Calls that have not been answered yet, and ids that have been answered lately.

use alloc::collections::VecDeque;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::call::Fingerprint;
use crate::id::CallId;

/// Unanswered calls that are remembered; beyond that the oldest is forgotten.
const MAX_PENDING: usize = 48;
/// Answered ids that are remembered, to know an answer that comes twice.
const MAX_ANSWERED: usize = 64;

/// A call without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    /// Identity of its id; none when the agent gave it none.
    pub(super) id: Option<Fingerprint>,
    /// Identity of who made it.
    pub(super) agent: Fingerprint,
    /// Its number among the calls of that sub-agent.
    pub(super) number: u64,
    /// Identity of the call.
    pub(super) call: Fingerprint,
    /// The tool's name, its first characters.
    pub(super) tool: String,
    /// Whether it was refused: then no answer counts.
    pub(super) refused: bool,
}

/// What an answer answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// This call, now no longer pending.
    To(Pending),
    /// A call that was answered before.
    Again,
    /// A call nobody reported, or one that was forgotten.
    ToUnknown,
}

/// The table of unanswered calls, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingCalls {
    calls: VecDeque<Pending>,
    answered: VecDeque<Fingerprint>,
}

impl PendingCalls {
    /// A call was made. Another one with its id is replaced: it will not be answered any more.
    pub(super) fn add(&mut self, call: Pending) {
        if call.id.is_some() {
            self.calls.retain(|other| (other.id, other.agent) != (call.id, call.agent));
        }
        while self.calls.len() >= MAX_PENDING {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
    }

    /// An answer came. It is matched by id and sub-agent; one that names no sub-agent by id alone;
    /// one without an id goes to the oldest call without one.
    pub(super) fn take(&mut self, agent: Fingerprint, id: &CallId) -> Answer {
        let unnamed = Fingerprint::of_text("");
        let id = (!id.as_str().is_empty()).then(|| Fingerprint::of_text(id.as_str()));
        let found = self
            .calls
            .iter()
            .position(|call| call.id == id && call.agent == agent)
            .or_else(|| {
                let anyone = agent == unnamed && id.is_some();
                anyone.then(|| self.calls.iter().position(|call| call.id == id)).flatten()
            })
            .and_then(|at| self.calls.remove(at));
        let key = id.map(|id| key(agent, id));
        match found {
            Some(call) => {
                self.remember(key);
                Answer::To(call)
            }
            None if key.is_some_and(|key| self.answered.contains(&key)) => Answer::Again,
            None => {
                self.remember(key);
                Answer::ToUnknown
            }
        }
    }

    /// Forgets the calls of a sub-agent that is no longer tracked.
    pub(super) fn forget(&mut self, agent: Fingerprint) {
        self.calls.retain(|call| call.agent != agent);
    }

    fn remember(&mut self, key: Option<Fingerprint>) {
        let Some(key) = key.filter(|key| !self.answered.contains(key)) else { return };
        while self.answered.len() >= MAX_ANSWERED {
            self.answered.pop_front();
        }
        self.answered.push_back(key);
    }
}

/// One key for sub-agent and id: both are hashes already, so mixing them is enough.
const fn key(agent: Fingerprint, id: Fingerprint) -> Fingerprint {
    Fingerprint::from_bits(agent.bits().rotate_left(1) ^ id.bits())
}
