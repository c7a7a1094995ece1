//! What something took, by the clock and of the processors: on a loaded machine the second says more.

use std::time::Duration;

/// What something took: by the clock, and of the processors, with everything that was started.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
}

impl Cost {
    /// More than anything takes.
    pub(super) const MAX: Self = Self { wall: Duration::MAX, cpu: Duration::MAX };

    /// The smaller of each.
    pub(super) fn least(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }

    /// What each of so many took, of what this is more than the other.
    pub(super) fn each(self, few: Self, count: u32) -> Self {
        let [wall, cpu] = [(self.wall, few.wall), (self.cpu, few.cpu)]
            .map(|(many, few)| many.saturating_sub(few) / count);
        Self { wall, cpu }
    }

    /// What is left of it without so many of these.
    pub(super) fn without(self, each: Self, count: u32) -> Self {
        let [wall, cpu] = [(self.wall, each.wall), (self.cpu, each.cpu)]
            .map(|(all, each)| all.saturating_sub(each * count));
        Self { wall, cpu }
    }
}
