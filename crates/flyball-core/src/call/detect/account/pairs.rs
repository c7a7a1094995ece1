//! The pairs an account remembers: the 64 seen last. Beyond that the one seen longest ago goes.

use alloc::vec::Vec;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::call::packed;

/// Pairs that are remembered.
pub(super) const TABLE: usize = 64;

/// A call with one of its answers. Identities are short: the table is small, and what a false match
/// could do is far below what would refuse a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) call: u32,
    pub(super) result: u32,
    /// The latest result as it stood.
    pub(super) raw: u32,
    /// The step and the epoch it was seen in last.
    pub(super) at: u32,
    pub(super) epoch: u32,
    /// How often in all.
    pub(super) total: u8,
    /// How often in its epoch.
    pub(super) count: u8,
    /// How often in a row the call was answered like this in its epoch.
    pub(super) same_answer: u8,
    /// How often in a row with the very same raw result.
    pub(super) raw_count: u8,
}

/// Bytes of a stored pair.
const PACKED: usize = 24;

impl Pair {
    /// A pair that has not been seen yet.
    pub(super) fn new(call: u32, result: u32) -> Self {
        Self { call, result, ..Self::default() }
    }

    /// It is seen in this epoch and step; `was_latest`: it was the call's latest answer, too.
    pub(super) fn seen_again(&mut self, raw: u32, epoch: u32, step: u32, was_latest: bool) {
        let is_known = self.total > 0 && self.epoch == epoch;
        self.count = if is_known { self.count.saturating_add(1) } else { 1 };
        let goes_on = is_known && was_latest;
        self.same_answer = if goes_on { self.same_answer.saturating_add(1) } else { 1 };
        let is_same = self.total > 0 && self.raw == raw;
        self.raw_count = if is_same { self.raw_count.saturating_add(1) } else { 1 };
        self.raw = raw;
        (self.epoch, self.at) = (epoch, step);
        self.total = self.total.saturating_add(1);
    }

    fn pack(self) -> [u8; PACKED] {
        let mut bytes = [0; PACKED];
        let numbers = [self.call, self.result, self.raw, self.at, self.epoch];
        let counts = [self.total, self.count, self.same_answer, self.raw_count];
        let all = numbers.into_iter().flat_map(u32::to_le_bytes).chain(counts);
        for (byte, value) in bytes.iter_mut().zip(all) {
            *byte = value;
        }
        bytes
    }

    fn unpack(bytes: [u8; PACKED]) -> Self {
        let number = |index: usize| packed::number(&bytes, index * 4);
        let count = |index: usize| bytes.get(20 + index).copied().unwrap_or(0);
        Self {
            call: number(0),
            result: number(1),
            raw: number(2),
            at: number(3),
            epoch: number(4),
            total: count(0),
            count: count(1),
            same_answer: count(2),
            raw_count: count(3),
        }
    }
}

/// The table, in no particular order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs(Vec<Pair>);

impl Pairs {
    /// Takes this pair out, if it is there.
    pub(super) fn take(&mut self, call: u32, result: u32) -> Option<Pair> {
        let found = self.0.iter().position(|pair| (pair.call, pair.result) == (call, result))?;
        Some(self.0.swap_remove(found))
    }

    /// Puts a pair in that is not there.
    pub(super) fn put(&mut self, pair: Pair) {
        if self.0.len() < TABLE {
            self.0.push(pair);
        } else if let Some(oldest) = self.0.iter_mut().min_by_key(|other| other.at) {
            *oldest = pair;
        }
    }

    /// The pair of this call that was seen last, of all epochs or of one.
    pub(super) fn latest_of(&self, call: u32, epoch: Option<u32>) -> Option<Pair> {
        let is_asked = |pair: &&Pair| pair.call == call && epoch.is_none_or(|it| pair.epoch == it);
        self.0.iter().filter(is_asked).max_by_key(|pair| pair.at).copied()
    }

    /// How often this call was answered, in all its pairs.
    pub(super) fn total_of(&self, call: u32) -> u32 {
        self.0.iter().filter(|pair| pair.call == call).map(|pair| u32::from(pair.total)).sum()
    }
}

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        packed::serialize(self.0.iter().map(|pair| pair.pack()), serializer)
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs: Vec<Pair> =
            packed::deserialize(deserializer)?.into_iter().map(Pair::unpack).collect();
        if pairs.len() > TABLE {
            return Err(D::Error::custom("an account of more than 64 pairs"));
        }
        Ok(Self(pairs))
    }
}
