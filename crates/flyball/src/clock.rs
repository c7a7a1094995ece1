//! The one place that reads time. Nothing else in flyball asks a clock.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flyball_core::Moment;
use jiff::Timestamp;
use jiff::tz::TimeZone;

const YEAR: Duration = Duration::from_hours(365 * 24);

/// The run's clock: the time of day at its start, then steady whatever happens to the time of day.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch_millis: u64,
    started: Instant,
}

impl Clock {
    /// A clock that begins at the machine's present time of day.
    pub fn start() -> Self {
        Self { epoch_millis: wall().as_millis(), started: instant() }
    }

    /// The present moment; never earlier than one told before.
    pub fn now(&self) -> Moment {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Moment::from_millis(self.epoch_millis.saturating_add(elapsed))
    }
}

/// A point after which something is no longer waited for.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// The point `span` from now; what no clock can show is taken for a year.
    pub fn after(span: Duration) -> Self {
        let now = instant();
        Self(now.checked_add(span).unwrap_or_else(|| now + YEAR))
    }

    /// What is left until then; zero when it has passed.
    pub fn left(&self) -> Duration {
        self.0.saturating_duration_since(instant())
    }

    /// Whether it has passed.
    pub fn passed(&self) -> bool {
        self.left().is_zero()
    }
}

/// The machine's time of day. For comparing with times that others wrote, such as file times.
pub fn wall() -> Moment {
    let since = wall_since_epoch();
    Moment::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A number that no two calls on this machine share in practice: for names of temporary things.
pub fn unique_nanos() -> u128 {
    wall_since_epoch().as_nanos()
}

/// A moment as RFC 3339 in UTC, whole seconds: `2026-11-15T10:00:00Z`.
pub fn rfc3339(moment: Moment) -> String {
    let secs = i64::try_from(moment.as_millis() / 1000).unwrap_or(i64::MAX);
    Timestamp::from_second(secs).unwrap_or(Timestamp::MAX).to_string()
}

/// The first moment of a day in UTC, `2026-11-15`; none for a day that does not exist.
pub fn start_of_day(text: &str) -> Option<Moment> {
    let day: jiff::civil::Date = text.parse().ok()?;
    let start = day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond();
    u64::try_from(start).ok().map(Moment::from_millis)
}

/// The zone in which people are told times, once it is asked for.
static ZONE: OnceLock<TimeZone> = OnceLock::new();

/// From now on people are told times in UTC. Without it, in the zone of the machine.
pub fn tell_in_utc() {
    // A zone that was used already stays: one text never has two.
    ZONE.set(TimeZone::UTC).ok();
}

/// A moment for people, in their zone: `2026-11-15 10:00:00`.
pub fn told(moment: Moment) -> String {
    shown(moment, "%Y-%m-%d %H:%M:%S")
}

/// Its day: `2026-11-15`.
pub fn day(moment: Moment) -> String {
    shown(moment, "%Y-%m-%d")
}

/// Its time of day: `10:00:00`.
pub fn time_of_day(moment: Moment) -> String {
    shown(moment, "%H:%M:%S")
}

/// The zone people are told times in, at a moment: `UTC`, `+02:00`.
pub fn zone_words(moment: Moment) -> String {
    let offset = shown(moment, "%:z");
    if offset == "+00:00" { "UTC".to_owned() } else { offset }
}

fn shown(moment: Moment, form: &str) -> String {
    let millis = i64::try_from(moment.as_millis()).unwrap_or(i64::MAX);
    let stamp = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
    let zone = ZONE.get_or_init(TimeZone::system).clone();
    stamp.to_zoned(zone).strftime(form).to_string()
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn instant() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn wall_since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// How many seconds the local zone is ahead of UTC now; 0 where no zone is known.
pub fn local_offset_secs() -> i64 {
    let zone = TimeZone::system();
    let millis = i64::try_from(wall().as_millis()).unwrap_or(0);
    Timestamp::from_millisecond(millis)
        .map_or(0, |stamp| i64::from(zone.to_offset(stamp).seconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339() {
        let moment = Moment::from_millis(1_794_736_800_000);
        assert_eq!(rfc3339(moment), "2026-11-15T10:00:00Z");
        assert_eq!(
            start_of_day("2026-11-15").map(rfc3339).as_deref(),
            Some("2026-11-15T00:00:00Z")
        );
        assert_eq!((start_of_day("2026-02-30"), start_of_day("30d")), (None, None));
    }

    #[test]
    fn a_moment_beyond_the_calendar_is_written_as_its_end() {
        assert!(rfc3339(Moment::from_millis(u64::MAX)).starts_with("9999-12-30"));
    }

    #[test]
    fn the_clock_never_goes_backwards() {
        let clock = Clock::start();
        let first = clock.now();
        assert!(clock.now() >= first);
        assert!(first.as_millis() > 1_600_000_000_000);
    }

    #[test]
    fn a_deadline_of_nothing_has_passed() {
        assert!(Deadline::after(Duration::ZERO).passed());
        for long in [Duration::from_hours(1), Duration::MAX] {
            assert!(!Deadline::after(long).passed());
        }
    }
}
