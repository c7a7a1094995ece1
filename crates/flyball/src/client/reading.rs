//! What a reader is told before it reads.

use flyball_core::{Millis, Moment};

use super::prices::Prices;

/// What a reader needs to know before a session.
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    /// The prompt: a plain-text agent may echo it, and an echoed claim is none.
    pub prompt: String,
    /// The model asked for, where one was.
    pub model: Option<String>,
    /// The size of the model's context window, where the config says so.
    pub context_window: Option<u64>,
    /// Free-text arguments of the config, on top of the adapter's own (A1).
    pub free_text: Vec<String>,
    /// Prices for agents that tell none.
    pub prices: Prices,
    /// The time and the zone, for limits that say "try again at 8:20 AM".
    pub clock: Option<fn() -> LocalTime>,
}

/// A moment and how far the local zone is ahead of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// Now.
    pub now: Moment,
    /// Seconds ahead of UTC; negative in the west.
    pub ahead_of_utc_secs: i64,
}

impl LocalTime {
    /// The next moment at which the local clock shows this time of day, or the last one when that
    /// was just now.
    pub fn next(self, hour: u64, minute: u64) -> Moment {
        const DAY: i64 = 86_400;
        const JUST_NOW: i64 = 300;
        let now_secs = i64::try_from(self.now.as_millis() / 1000).unwrap_or(0);
        let local = now_secs.saturating_add(self.ahead_of_utc_secs);
        let midnight = local.saturating_sub(local.rem_euclid(DAY));
        let wanted = i64::try_from(hour * 3600 + minute * 60).unwrap_or(0) + midnight;
        let wanted = if wanted <= local - JUST_NOW { wanted + DAY } else { wanted };
        let secs = wanted.saturating_sub(self.ahead_of_utc_secs);
        Moment::from_millis(u64::try_from(secs).unwrap_or(0).saturating_mul(1000))
    }

    /// This day and time of the local clock; none for a day that does not exist.
    pub fn on(self, (year, month, day): (i16, i8, i8), (hour, minute): (i8, i8)) -> Option<Moment> {
        let civil = jiff::civil::DateTime::new(year, month, day, hour, minute, 0, 0).ok()?;
        let utc = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second();
        let secs = utc.checked_sub(self.ahead_of_utc_secs)?;
        Some(Moment::from_millis(u64::try_from(secs).ok()?.saturating_mul(1000)))
    }

    /// The moment this many seconds from now.
    pub fn after_secs(self, secs: u64) -> Moment {
        self.now.plus(Millis::from_secs(secs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_means_its_next_occurrence_on_the_local_clock() {
        // 2026-11-15T07:22:00Z
        let utc = LocalTime { now: Moment::from_millis(1_794_727_320_000), ahead_of_utc_secs: 0 };
        assert_eq!(utc.next(8, 20).as_millis(), 1_794_730_800_000);
        assert_eq!(utc.next(7, 0).as_millis(), 1_794_812_400_000, "tomorrow");
        assert_eq!(utc.next(7, 22), utc.now, "this very minute");
        let berlin = LocalTime { ahead_of_utc_secs: 3600, ..utc };
        assert_eq!(berlin.on((2026, 11, 15), (9, 20)), Some(utc.next(8, 20)));
        assert_eq!(utc.on((2026, 2, 30), (0, 0)), None);
        assert_eq!(berlin.next(8, 30).as_millis(), 1_794_727_800_000);
    }
}
