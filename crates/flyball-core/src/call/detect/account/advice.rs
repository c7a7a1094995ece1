//! Two things an agent is told about and never more: an answer that no change changes, and an
//! answer that no question changes. Told when they are reached and when they have doubled.

use alloc::vec::Vec;

use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

use crate::call::packed;

/// The same answer to the same question across this many epochs.
pub(super) const STALE_EPOCHS: u32 = 4;
/// The same answer this often from one tool with moving arguments.
pub(super) const STAGNANT: u32 = 6;
/// Questions that are remembered.
const QUESTIONS: usize = 16;

/// Bytes of a stored question.
const PACKED: usize = 11;

/// A question, its last answer, and across how many epochs it stayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Question {
    call: u32,
    result: u32,
    epoch: u16,
    epochs: u8,
}

impl Question {
    fn pack(self) -> [u8; PACKED] {
        let mut bytes = [0; PACKED];
        let numbers = [self.call, self.result].into_iter().flat_map(u32::to_le_bytes);
        let rest = self.epoch.to_le_bytes().into_iter().chain([self.epochs]);
        for (byte, value) in bytes.iter_mut().zip(numbers.chain(rest)) {
            *byte = value;
        }
        bytes
    }

    fn unpack(bytes: [u8; PACKED]) -> Self {
        let [.., low, high, epochs] = bytes;
        let (call, result) = (packed::number(&bytes, 0), packed::number(&bytes, 4));
        Self { call, result, epoch: u16::from_le_bytes([low, high]), epochs }
    }
}

/// The questions asked last, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stale(Vec<Question>);

impl Stale {
    /// A question was answered in this epoch: across how many changes the answer stayed, when that
    /// is to be said.
    pub(super) fn answered(&mut self, call: u32, result: u32, epoch: u16) -> Option<u32> {
        let found = self.0.iter().position(|question| question.call == call);
        let old = found.map(|at| self.0.remove(at)).filter(|old| old.result == result);
        let epochs = old.map_or(0, |old| old.epochs.saturating_add((epoch > old.epoch).into()));
        if self.0.len() >= QUESTIONS {
            self.0.remove(0);
        }
        self.0.push(Question { call, result, epoch, epochs });
        let moved = old.is_some_and(|old| old.epochs != epochs);
        let epochs = u32::from(epochs);
        (moved && is_due(epochs, STALE_EPOCHS)).then_some(epochs)
    }
}

impl Serialize for Stale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        packed::serialize(self.0.iter().map(|question| question.pack()), serializer)
    }
}

impl<'de> Deserialize<'de> for Stale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let questions = packed::deserialize(deserializer)?;
        Ok(Self(questions.into_iter().take(QUESTIONS).map(Question::unpack).collect()))
    }
}

/// One answer from one tool, whatever it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stagnant {
    tool_and_result: Option<(u32, u32)>,
    times: u32,
    first: u32,
    /// Whether it was asked different things.
    moved: bool,
    /// The count that is told next.
    next: u32,
}

impl Stagnant {
    /// A tool answered: how often like this, when that is to be said.
    pub(super) fn answered(&mut self, tool: u32, result: u32, call: u32) -> Option<u32> {
        if self.tool_and_result != Some((tool, result)) {
            let tool_and_result = Some((tool, result));
            *self = Self { tool_and_result, first: call, next: STAGNANT, ..Self::default() };
        }
        self.times = self.times.saturating_add(1);
        self.moved |= call != self.first;
        if !self.moved || self.times < self.next {
            return None;
        }
        self.next = self.times.saturating_mul(2);
        Some(self.times)
    }
}

/// Whether a count is reached, or has doubled since it was told.
const fn is_due(count: u32, limit: u32) -> bool {
    count >= limit && count.is_multiple_of(limit) && (count / limit).is_power_of_two()
}
