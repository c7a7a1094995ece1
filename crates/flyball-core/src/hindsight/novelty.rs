//! Which steps brought nothing that had not come before: what a dead tail and an effective change are
//! told by.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::call::Fingerprint;
use crate::id::SubAgent;

/// The shortest dead tail, in steps.
const SHORTEST: u64 = 6;
/// This many of ten steps of a dead tail came before.
const OLD_OF_TEN: u64 = 8;

/// Identity of a call of somebody with its answer, or of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair(u128, u128);

impl Pair {
    /// A call with its answer, if there was one.
    pub(super) fn of(agent: &SubAgent, call: Fingerprint, result: Option<Fingerprint>) -> Self {
        let who =
            if agent.as_str().is_empty() { 0 } else { Fingerprint::of_text(agent.as_str()).bits() };
        Self(who ^ call.bits(), result.map_or(0, Fingerprint::bits))
    }

    /// Words without a call.
    pub(super) fn of_words(agent: &SubAgent, words: Option<Fingerprint>) -> Self {
        Self::of(agent, Fingerprint::of_text("words without a call"), words)
    }
}

/// What has come before.
#[derive(Clone, Debug, Default)]
pub(super) struct Novelty {
    seen: BTreeSet<Pair>,
    /// The steps that were not new.
    old: Vec<u64>,
    /// Calls that will not be answered any more.
    lost: Vec<(u64, Pair)>,
}

impl Novelty {
    /// A step came to this; whether that is new.
    pub(super) fn answered(&mut self, step: u64, pair: Pair) -> bool {
        let is_new = self.seen.insert(pair);
        if !is_new {
            self.old.push(step);
        }
        is_new
    }

    /// A call that will not be answered any more.
    pub(super) fn unanswered(&mut self, step: u64, pair: Pair) {
        self.lost.push((step, pair));
    }

    /// The length of the dead tail of a session of this many steps, of which these were never answered.
    pub(super) fn dead_tail(mut self, mut open: Vec<(u64, Pair)>, steps: u64) -> u64 {
        open.append(&mut self.lost);
        open.sort_unstable();
        for (step, pair) in open {
            self.answered(step, pair);
        }
        self.old.sort_unstable();
        let tails = (1..).zip(self.old.iter().rev()).filter_map(|(count, step)| {
            let length = steps.saturating_sub(*step);
            let is_dead = length >= SHORTEST && count * 10 >= length * OLD_OF_TEN;
            is_dead.then_some(length)
        });
        tails.last().unwrap_or(0)
    }
}
