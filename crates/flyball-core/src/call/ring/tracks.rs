//! One track per sub-agent, so that parallel sub-agents neither hide nor fake a streak (A2). Calls
//! that are asked about and never shown by the stream of a sub-agent have a track of their own
//! beside its track.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::call::detect::{Detectors, Mark};

/// Sub-agents that are tracked at once; beyond that the one silent for longest is forgotten. The
/// unnamed one (the main agent) never is.
const MAX_TRACKS: usize = 24;

/// What is known of one sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Track {
    number: u64,
    used: u64,
    /// Whether the stream has shown a call of it.
    pub(super) shown: bool,
    pub(super) detectors: Detectors,
}

impl Track {
    /// Counts a call and gives its number.
    pub(super) const fn next_number(&mut self) -> u64 {
        self.number = self.number.saturating_add(1);
        self.number
    }
}

/// The name of the track beside that of a sub-agent.
pub(super) fn beside(agent: Mark) -> Mark {
    agent.with(Mark::of_text("asked"))
}

/// All tracks, by the identity of their sub-agent's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Tracks(BTreeMap<Mark, Track>);

impl Tracks {
    /// Makes room for this sub-agent if it is new and there is none; the one forgotten for it.
    pub(super) fn make_room(&mut self, agent: Mark) -> Option<Mark> {
        if self.0.len() < MAX_TRACKS || self.0.contains_key(&agent) {
            return None;
        }
        let main = Mark::of_text("");
        let others = self.0.iter().filter(|(agent, _)| **agent != main);
        let forgotten = *others.min_by_key(|(_, track)| track.used)?.0;
        self.0.remove(&forgotten);
        Some(forgotten)
    }

    /// The track of this sub-agent, begun if need be, used with the session's call number `now`.
    pub(super) fn get_or_begin(&mut self, agent: Mark, now: u64) -> &mut Track {
        let track = self.0.entry(agent).or_default();
        track.used = now;
        track
    }

    /// The track of this sub-agent.
    pub(super) fn get(&self, agent: Mark) -> Option<&Track> {
        self.0.get(&agent)
    }

    /// The track of this sub-agent.
    pub(super) fn get_mut(&mut self, agent: Mark) -> Option<&mut Track> {
        self.0.get_mut(&agent)
    }

    /// A new beginning for everyone.
    pub(super) fn begin_anew(&mut self) {
        for track in self.0.values_mut() {
            track.detectors = Detectors::default();
        }
    }

    /// Whether the stream has shown a call of anyone.
    pub(super) fn any_shown(&self) -> bool {
        self.0.values().any(|track| track.shown)
    }

    /// The track of the sub-agent that made the latest call.
    pub(super) fn latest(&self) -> Option<&Track> {
        self.0.values().max_by_key(|track| track.used)
    }
}
