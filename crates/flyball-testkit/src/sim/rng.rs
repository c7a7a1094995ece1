//! Chance that can be repeated: a small generator that gives the same numbers for the same seed.

/// A `SplitMix64` generator.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The generator of this seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, but not including, `end`; 0 when `end` is 0.
    pub(crate) const fn below(&mut self, end: u64) -> u64 {
        match self.next().checked_rem(end) {
            Some(number) => number,
            None => 0,
        }
    }

    /// A number from `first` to `last`, both included.
    pub(crate) const fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first) + 1)
    }

    /// The same for small numbers.
    pub(crate) fn small(&mut self, first: u32, last: u32) -> u32 {
        u32::try_from(self.between(first.into(), last.into())).unwrap_or(last)
    }

    /// True in this many of a hundred cases.
    pub(crate) const fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, first: T, rest: &[T]) -> T {
        let number = usize::try_from(self.below(rest.len() as u64 + 1)).unwrap_or(0);
        number.checked_sub(1).and_then(|number| rest.get(number)).copied().unwrap_or(first)
    }
}
