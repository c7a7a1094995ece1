//! When a conversation has to be made shorter, and where it is cut: the older part becomes a summary,
//! the latest stays word for word.
//!
//! ```
//! use flyball_core::compaction::{Compaction, Weight};
//!
//! let rules = Compaction { window: 1_000, at_percent: 80 };
//! // A task, then turns with their results, 100 tokens each.
//! let weights: Vec<Weight> =
//!     (0..8).map(|n| Weight { bytes: 400, is_joined: n % 2 == 0 && n > 0 }).collect();
//! assert_eq!(rules.cut(700, &weights), None);
//! assert_eq!(rules.cut(800, &weights), Some(5));
//! ```

/// How many bytes of text stand for a token where nobody counts them.
const BYTES_PER_TOKEN: u64 = 4;
/// The share of the window that the part left as it is may have, in percent.
const KEPT_PERCENT: u64 = 30;

/// How much a conversation may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Tokens that fit into the model's window.
    pub window: u64,
    /// How full it may be, in percent.
    pub at_percent: u8,
}

/// One message of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Its size.
    pub bytes: u64,
    /// Whether it answers the one before it and cannot stand without it: results of calls.
    pub is_joined: bool,
}

impl Compaction {
    /// How many messages from the beginning become a summary, now that `used` tokens are full; none
    /// while there is room, or when nothing would be won. The first message, the task, is always one
    /// of them: a summary begins with it, word for word. Results stay with their calls.
    pub fn cut(&self, used: u64, weights: &[Weight]) -> Option<usize> {
        if used < self.limit() {
            return None;
        }
        self.cut_now(weights)
    }

    /// The same when the window is known to be full, whatever was counted.
    pub fn cut_now(&self, weights: &[Weight]) -> Option<usize> {
        let kept_max = self.window.saturating_mul(KEPT_PERCENT) / 100;
        let mut kept: u64 = 0;
        let mut cut = weights.len();
        for (index, weight) in weights.iter().enumerate().rev() {
            kept = kept.saturating_add(weight.bytes / BYTES_PER_TOKEN);
            if kept > kept_max || index == 0 {
                break;
            }
            if !weight.is_joined {
                cut = index;
            }
        }
        // The task alone, or the task with its first turn: there is nothing to sum up.
        (cut > 1).then_some(cut)
    }

    /// How full the window is, in thousandths.
    pub fn permille(&self, used: u64) -> u16 {
        let share = used.saturating_mul(1000) / self.window.max(1);
        u16::try_from(share).unwrap_or(u16::MAX).min(1000)
    }

    fn limit(&self) -> u64 {
        self.window.saturating_mul(u64::from(self.at_percent)) / 100
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    const RULES: Compaction = Compaction { window: 1_000, at_percent: 80 };

    fn weights(all: &[(u64, bool)]) -> Vec<Weight> {
        all.iter().map(|&(bytes, is_joined)| Weight { bytes, is_joined }).collect()
    }

    #[test]
    fn the_task_and_what_is_old_are_cut_at_a_turn_never_between_a_call_and_its_result() {
        type Case<'a> = (&'a str, &'a [(u64, bool)], Option<usize>);
        let cases: [Case<'_>; 6] = [
            ("nothing", &[], None),
            ("a task alone", &[(9_000, false)], None),
            ("one turn", &[(400, false), (9_000, false)], Some(2)),
            (
                "a short end stays",
                &[(400, false), (2_000, false), (400, true), (400, false)],
                Some(3),
            ),
            (
                "a result is kept with its call",
                &[(400, false), (2_000, false), (400, false), (400, true)],
                Some(2),
            ),
            (
                "a result too large to keep goes with its call",
                &[(400, false), (400, false), (9_000, true)],
                Some(3),
            ),
        ];
        for (what, all, cut) in cases {
            assert_eq!(RULES.cut(800, &weights(all)), cut, "{what}");
            assert_eq!(RULES.cut(799, &weights(all)), None, "{what}");
        }
        assert_eq!(RULES.permille(500), 500);
        assert_eq!(RULES.permille(5_000), 1000);
        assert_eq!(Compaction { window: 0, at_percent: 80 }.permille(1), 1000);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_small_and_whole(all in prop::collection::vec((0_u64..3_000, any::<bool>()), 0..40)) {
            let all = weights(&all);
            if let Some(cut) = RULES.cut_now(&all) {
                prop_assert!(cut <= all.len() && cut > 0);
                prop_assert!(all.get(cut).is_none_or(|first| !first.is_joined));
                let kept: u64 = all[cut..].iter().map(|one| one.bytes / BYTES_PER_TOKEN).sum();
                prop_assert!(kept <= 300);
            }
        }
    }
}
