//! The same words-only turn again and again, without a call in between (A3, nudge only).

use serde::{Deserialize, Serialize};

use super::{Detection, Mark, Seen, Severity};
use crate::guard::GuardKind;

/// The same turn this often in a row is worth a word, and again when that doubles.
const NUDGE: u32 = 3;

/// What the model's last turns said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SameWords {
    said: Option<u32>,
    times: u32,
    nudge_at: u32,
}

impl SameWords {
    /// A call, or a new beginning: what was said before it is done with.
    pub(super) const fn ended(&mut self) {
        (self.said, self.times, self.nudge_at) = (None, 0, 0);
    }

    /// A turn said this and called nothing; none where it held no word, or nobody told which.
    pub(super) fn said(&mut self, words: Option<Mark>) -> Option<Detection> {
        let said = words.map(Mark::short);
        if said.is_none() || self.said != said {
            *self = Self { said, times: 0, nudge_at: NUDGE };
        }
        self.times = self.times.saturating_add(1);
        if said.is_none() || self.times < self.nudge_at {
            return None;
        }
        self.nudge_at = self.times.saturating_mul(2);
        Some(Detection {
            guard: GuardKind::GoingNowhere,
            severity: Severity::Nudge,
            measured: self.times.into(),
            allowed: NUDGE.into(),
            seen: Seen::SameWords(self.times.into()),
        })
    }

    /// Whether nothing is kept.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
