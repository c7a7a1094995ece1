//! Calls the ring knows by their id: shown by the stream, asked about, or both; and ids that have
//! been answered lately.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::call::detect::{Answered, CallSeen, Detection, Mark, Seen};
use crate::guard::GuardKind;
use crate::id::CallId;

/// Calls that are known at once; beyond that an answered one goes, then the oldest.
const MAX_KNOWN: usize = 32;
/// Answered ids that are remembered, to know an answer or a question that comes twice.
const MAX_ANSWERED: usize = 64;

/// Who tells of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Door {
    /// A hook that asks about it.
    Hook,
    /// The agent's stream that shows it.
    Stream,
}

/// Where a call is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// Nowhere yet: it was asked about, and the stream has not shown it.
    Held,
    /// On the track of its sub-agent.
    Track,
    /// On the track of calls the stream never shows.
    Beside,
    /// With an identical call of its round.
    Twin,
    /// Nowhere any more: its round or its account was closed before it was answered.
    Late,
}

/// What is known of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// There is none yet.
    Pending,
    /// It did not run.
    NotRun,
    /// It ran.
    Ran(Answered),
}

/// Why a call was refused, so that it can be said again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) guard: GuardKind,
    pub(super) seen: Seen,
    pub(super) measured: u64,
    pub(super) allowed: u64,
    /// Which refusal of the session it was.
    pub(super) number: u32,
}

impl Refusal {
    pub(super) const fn new(finding: &Detection, number: u32) -> Self {
        let Detection { guard, seen, measured, allowed, .. } = *finding;
        Self { guard, seen, measured, allowed, number }
    }
}

/// A call known by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// Identity of its id; none when the agent gave it none.
    pub(super) id: Option<Mark>,
    /// Identity of who made it.
    pub(super) agent: Mark,
    /// Identity of its round; none when it is alone.
    pub(super) round: Option<Mark>,
    /// The tool's name, its first characters.
    pub(super) name: String,
    pub(super) call: Mark,
    pub(super) number: u64,
    pub(super) mutating: bool,
    /// Whether this call was never made before in this session (A5).
    pub(super) is_first: bool,
    /// Who told of it: the stream once it has shown it.
    pub(super) door: Door,
    pub(super) place: Place,
    pub(super) refused: Option<Refusal>,
    pub(super) answer: Answer,
}

impl Known {
    /// The call as the detectors see it.
    pub(super) fn seen(&self) -> CallSeen {
        let Self { call, number, mutating, .. } = *self;
        CallSeen { tool: Mark::of_text(&self.name), call, number, mutating }
    }

    /// Whether the stream has shown it.
    fn is_shown(&self) -> bool {
        self.door == Door::Stream
    }

    const fn is_over(&self) -> bool {
        !matches!(self.answer, Answer::Pending)
    }
}

/// What an answer answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    /// The call at this place of the table.
    Call(usize),
    /// A call that was answered before.
    Again,
    /// A call nobody reported, or one that was forgotten.
    Unknown,
}

/// The table of known calls, in the order they were announced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KnownCalls {
    calls: VecDeque<Known>,
    answered: VecDeque<Mark>,
}

impl KnownCalls {
    /// A call was announced. Another one with its id is replaced: it will not be answered any more.
    pub(super) fn add(&mut self, call: Known) {
        if call.id.is_some() {
            self.calls.retain(|other| (other.id, other.agent) != (call.id, call.agent));
        }
        while self.calls.len() >= MAX_KNOWN {
            let over = self.calls.iter().position(Known::is_over).unwrap_or(0);
            self.calls.remove(over);
        }
        self.calls.push_back(call);
    }

    /// The call that is asked about and has not been answered: by its id, whoever told of it, or,
    /// where the question has none, by what it calls, among those the stream has shown.
    pub(super) fn find(&self, agent: Mark, id: &CallId, call: Mark) -> Option<&Known> {
        let id = mark(id);
        let is_it = |known: &&Known| match id {
            Some(_) => known.id == id,
            None => known.is_shown() && known.call == call,
        };
        let open = |known: &&Known| known.agent == agent && !known.is_over();
        self.calls.iter().filter(open).find(is_it)
    }

    /// A call that was asked about and that the stream shows now: by its id, or, where the question
    /// had none, by what it calls.
    pub(super) fn find_unshown(&self, agent: Mark, id: &CallId, call: Mark) -> Option<usize> {
        let position = |id: Option<Mark>, call: Option<Mark>| {
            let is_it = |known: &Known| {
                let same = call.is_none_or(|call| known.call == call);
                !known.is_shown() && known.agent == agent && known.id == id && same
            };
            self.calls.iter().position(is_it)
        };
        mark(id).and_then(|id| position(Some(id), None)).or_else(|| position(None, Some(call)))
    }

    /// The call at this place.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Known> {
        self.calls.get_mut(at)
    }

    /// Takes the call at this place out.
    pub(super) fn remove(&mut self, at: usize) -> Option<Known> {
        self.calls.remove(at)
    }

    /// An identical call of this round.
    pub(super) fn twin(&self, agent: Mark, round: Option<Mark>, call: Mark) -> Option<&Known> {
        let round = round?;
        let is_twin = |known: &&Known| {
            known.place == Place::Track
                && (known.agent, known.round, known.call) == (agent, Some(round), call)
        };
        self.calls.iter().find(is_twin)
    }

    /// What an answer answers. It is matched by id and sub-agent; one that names no sub-agent by id
    /// alone; one without an id goes to the oldest call without one, else to the oldest the stream
    /// has shown.
    pub(super) fn answers(&mut self, agent: Mark, id: &CallId) -> Answers {
        let unnamed = Mark::of_text("");
        let id = mark(id);
        let open = |call: &Known| call.id == id && !call.is_over();
        let found = self.calls.iter().position(|call| open(call) && call.agent == agent);
        let found = found.or_else(|| {
            let anyone = agent == unnamed && id.is_some();
            anyone.then(|| self.calls.iter().position(open)).flatten()
        });
        let shown = |call: &Known| call.agent == agent && call.is_shown() && !call.is_over();
        let found =
            found.or_else(|| id.is_none().then(|| self.calls.iter().position(shown)).flatten());
        // An answer told by a hook that has no ids is the one the stream tells by id.
        let id = id.or_else(|| self.calls.get(found?)?.id);
        let key = id.map(|id| agent.with(id));
        match found {
            Some(at) => {
                self.remember(key);
                Answers::Call(at)
            }
            None if key.is_some_and(|key| self.answered.contains(&key)) => Answers::Again,
            None => {
                self.remember(key);
                Answers::Unknown
            }
        }
    }

    /// The calls that are to be booked together with the one at this place, in the order announced:
    /// itself, or its whole round once that is complete. They leave the table, save for those the
    /// stream has yet to show.
    pub(super) fn take_complete(&mut self, at: usize) -> Vec<Known> {
        let Some(call) = self.calls.get_mut(at) else { return Vec::new() };
        let (agent, Some(round)) = (call.agent, call.round) else {
            if call.is_shown() || call.id.is_none() {
                return self.calls.remove(at).into_iter().collect();
            }
            return Vec::from([call.clone()]);
        };
        let belongs = |other: &Known| (other.agent, other.round) == (agent, Some(round));
        if self.calls.iter().any(|other| belongs(other) && !other.is_over()) {
            return Vec::new();
        }
        let taken = self.calls.iter().filter(|other| belongs(other)).cloned().collect();
        self.calls.retain(|other| !(belongs(other) && other.is_shown()));
        for kept in self.calls.iter_mut().filter(|other| belongs(other)) {
            kept.round = None;
        }
        taken
    }

    /// The calls of this sub-agent whose round is another one than this. Answered ones leave the
    /// table; those without an answer stay, and are too late.
    pub(super) fn close_rounds(&mut self, agent: Mark, round: Option<Mark>) -> Vec<Known> {
        let belongs =
            |other: &Known| other.agent == agent && other.round.is_some() && other.round != round;
        if !self.calls.iter().any(belongs) {
            return Vec::new();
        }
        let closed: Vec<Known> =
            self.calls.iter().filter(|other| belongs(other)).cloned().collect();
        self.calls.retain(|other| !(belongs(other) && other.is_over()));
        for late in self.calls.iter_mut().filter(|other| belongs(other)) {
            (late.place, late.round) = (Place::Late, None);
        }
        closed
    }

    /// A new beginning: what has not been answered comes too late.
    pub(super) fn begin_anew(&mut self) {
        for call in &mut self.calls {
            (call.place, call.round) = (Place::Late, None);
        }
    }

    /// Forgets the calls of a sub-agent that is no longer tracked.
    pub(super) fn forget(&mut self, agent: Mark) {
        self.calls.retain(|call| call.agent != agent);
    }

    fn remember(&mut self, key: Option<Mark>) {
        let Some(key) = key.filter(|key| !self.answered.contains(key)) else { return };
        while self.answered.len() >= MAX_ANSWERED {
            self.answered.pop_front();
        }
        self.answered.push_back(key);
    }
}

/// Identity of an id, where there is one.
pub(super) fn mark(id: &CallId) -> Option<Mark> {
    (!id.as_str().is_empty()).then(|| Mark::of_text(id.as_str()))
}
