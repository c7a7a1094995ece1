//! How often and after which time a failed request is tried again: a pure decision.

use std::time::{Duration, SystemTime};

use crate::failure::{Failure, FailureKind};

/// How often, and after which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// How often a request is made, the first time included.
    pub attempts: u32,
    /// The first wait, where the service names none; doubled each time.
    pub first: Duration,
    /// The longest wait. A service that wants more is not waited for.
    pub longest: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 5, first: Duration::from_secs(1), longest: Duration::from_mins(1) }
    }
}

impl Retries {
    /// How long to wait after this failed attempt (the first is 1); none to give up. Silence is not
    /// tried again: whoever set its limit knows what to do. `seed` spreads those who failed together.
    pub fn wait(
        &self,
        failure: &Failure,
        attempt: u32,
        seed: u64,
        now: SystemTime,
    ) -> Option<Duration> {
        let helps = failure.passes() && failure.kind != FailureKind::Silent;
        if !helps || attempt >= self.attempts {
            return None;
        }
        if let Some(time) = failure.retry {
            let wait = time.from(now);
            return (wait <= self.longest).then_some(wait);
        }
        let doubled = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let wait = self.first.saturating_mul(doubled).min(self.longest);
        // Between three and four quarters of it.
        let spread = u32::try_from(mixed(seed, attempt) % 256).unwrap_or_default();
        Some(wait.saturating_sub(wait / 4 * spread / 256))
    }
}

/// A number that looks like any other (splitmix64).
fn mixed(seed: u64, attempt: u32) -> u64 {
    let step = seed.wrapping_add(u64::from(attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let step = (step ^ (step >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let step = (step ^ (step >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    step ^ (step >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::RetryTime;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn failed(kind: FailureKind, retry: Option<RetryTime>) -> Failure {
        Failure { retry, ..Failure::new(kind, "") }
    }

    #[test]
    fn only_what_passes_is_tried_again_and_not_for_ever() {
        let retries = Retries::default();
        let wait = |kind, attempt| retries.wait(&failed(kind, None), attempt, 7, NOW);
        for kind in [FailureKind::Limited, FailureKind::Overloaded, FailureKind::Cut] {
            assert!(wait(kind, 1).is_some() && wait(kind, 4).is_some());
            assert_eq!(wait(kind, 5), None);
        }
        for kind in [FailureKind::Credentials, FailureKind::Quota, FailureKind::Silent] {
            assert_eq!(wait(kind, 1), None);
        }
    }

    #[test]
    fn waits_double_and_are_spread_but_never_pass_the_longest() {
        let retries = Retries { attempts: 99, ..Retries::default() };
        for seed in 0..500 {
            for (attempt, whole) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (40, 60), (98, 60)] {
                let failure = failed(FailureKind::Overloaded, None);
                let wait = retries.wait(&failure, attempt, seed, NOW).unwrap();
                let whole = Duration::from_secs(whole);
                assert!(wait <= whole && wait >= whole * 3 / 4, "{attempt}: {wait:?}");
            }
        }
    }

    #[test]
    fn the_services_own_time_counts_unless_it_is_too_long() {
        let retries = Retries::default();
        let at = |secs| RetryTime::At(NOW + Duration::from_secs(secs));
        let after = |secs| RetryTime::After(Duration::from_secs(secs));
        for (time, wanted) in [
            (after(7), Some(7)),
            (after(60), Some(60)),
            (after(61), None),
            (at(9), Some(9)),
            (at(3600), None),
        ] {
            let failure = failed(FailureKind::Limited, Some(time));
            let wait = retries.wait(&failure, 1, 1, NOW);
            assert_eq!(wait, wanted.map(Duration::from_secs));
        }
    }
}
