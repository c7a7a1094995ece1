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
    pub(super) epoch: u16,
    /// How often in all.
    pub(super) total: u8,
    /// How often in a row the call was answered like this in its epoch.
    pub(super) same_answer: u8,
    /// How often in its epoch, at most 15.
    pub(super) count: u8,
    /// How often in a row with the very same raw result, at most 15.
    pub(super) raw_count: u8,
}

/// Bytes of a stored pair.
const PACKED: usize = 21;
/// Counts that only matter when they are small go no further.
const MOST: u8 = 15;

impl Pair {
    /// A pair that has not been seen yet.
    pub(super) fn new(call: u32, result: u32) -> Self {
        Self { call, result, ..Self::default() }
    }

    /// The call was answered otherwise since.
    pub(super) const fn interrupted(&mut self) {
        self.same_answer = 0;
    }

    /// It is seen in this epoch and step. What was never seen counts from 0.
    pub(super) fn seen_again(&mut self, raw: u32, epoch: u16, step: u32) {
        let is_known = self.epoch == epoch;
        self.count = if is_known { (self.count + 1).min(MOST) } else { 1 };
        self.same_answer = if is_known { self.same_answer.saturating_add(1) } else { 1 };
        let is_same = self.raw == raw;
        self.raw_count = if is_same { (self.raw_count + 1).min(MOST) } else { 1 };
        self.raw = raw;
        (self.epoch, self.at) = (epoch, step);
        self.total = self.total.saturating_add(1);
    }

    fn pack(self) -> [u8; PACKED] {
        let mut bytes = [0; PACKED];
        let numbers = [self.call, self.result, self.raw, self.at];
        let counts = [self.total, self.same_answer, (self.count << 4) | self.raw_count];
        let numbers = numbers.into_iter().flat_map(u32::to_le_bytes);
        for (byte, value) in
            bytes.iter_mut().zip(numbers.chain(self.epoch.to_le_bytes()).chain(counts))
        {
            *byte = value;
        }
        bytes
    }

    fn unpack(bytes: [u8; PACKED]) -> Self {
        let number = |index: usize| packed::number(&bytes, index * 4);
        let [.., low, high, total, same_answer, counts] = bytes;
        Self {
            call: number(0),
            result: number(1),
            raw: number(2),
            at: number(3),
            epoch: u16::from_le_bytes([low, high]),
            total,
            same_answer,
            count: counts >> 4,
            raw_count: counts & MOST,
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
    pub(super) fn latest_of(&self, call: u32, epoch: Option<u16>) -> Option<Pair> {
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
