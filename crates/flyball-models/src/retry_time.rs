//! When services want to be asked again: headers, details and words, in all the shapes they have.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::failure::RetryTime;

/// What the headers of an answer say. The first that says something counts: seconds, a date, the end
/// of a used-up allowance.
pub(crate) fn in_headers(headers: &[(String, String)]) -> Option<RetryTime> {
    let get = |wanted: &str| {
        let found = headers.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.trim())
    };
    let milliseconds = || {
        let text = get("retry-after-ms")?;
        let number = text.parse::<f64>().ok()?;
        seconds(number / 1000.0).map(RetryTime::After)
    };
    let after = || {
        let text = get("retry-after")?;
        if let Ok(number) = text.parse::<f64>() {
            return seconds(number).map(RetryTime::After);
        }
        let moment = http_date(text)?;
        // The service's own clock, where it shows it: ours may be wrong.
        match get("date").and_then(http_date) {
            Some(now) => Some(RetryTime::After(moment.duration_since(now).unwrap_or_default())),
            None => Some(RetryTime::At(moment)),
        }
    };
    milliseconds().or_else(after).or_else(|| used_up(headers))
}

/// The latest end of the allowances that are used up: `…-ratelimit-tokens-reset` and its like.
fn used_up(headers: &[(String, String)]) -> Option<RetryTime> {
    let mut latest = None;
    for (name, value) in headers {
        let Some((family, what)) = name.split_once("ratelimit-") else { continue };
        // `tokens-reset` and `reset-tokens` both exist, with `tokens-remaining` or `remaining-tokens`.
        let remaining = if let Some(what) = what.strip_suffix("-reset") {
            format!("{family}ratelimit-{what}-remaining")
        } else if let Some(what) = what.strip_prefix("reset-") {
            format!("{family}ratelimit-remaining-{what}")
        } else if what == "reset" {
            format!("{family}ratelimit-remaining")
        } else {
            continue;
        };
        let value_of = |wanted: &str| {
            let found = headers.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.trim())
        };
        let status = format!("{}-status", name.strip_suffix("-reset").unwrap_or(name));
        let is_left = value_of(&remaining).is_some_and(|left| left != "0")
            || value_of(&status).is_some_and(|status| status != "rejected");
        if !is_left && let Some(time) = reset(value.trim()) {
            latest = Some(later(latest, time));
        }
    }
    latest
}

/// A date, a span, or seconds or milliseconds since 1970.
fn reset(text: &str) -> Option<RetryTime> {
    if let Ok(number) = text.parse::<u64>() {
        let moment = match number {
            0..=9_999_999 => return Some(RetryTime::After(Duration::from_secs(number))),
            10_000_000..=99_999_999_999 => Duration::from_secs(number),
            _ => Duration::from_millis(number),
        };
        return SystemTime::UNIX_EPOCH.checked_add(moment).map(RetryTime::At);
    }
    rfc3339(text).map(RetryTime::At).or_else(|| span(text).map(RetryTime::After))
}

/// Of two times of one kind the later; of two kinds the first that was found.
fn later(one: Option<RetryTime>, other: RetryTime) -> RetryTime {
    match (one, other) {
        (Some(RetryTime::At(a)), RetryTime::At(b)) => RetryTime::At(a.max(b)),
        (Some(RetryTime::After(a)), RetryTime::After(b)) => RetryTime::After(a.max(b)),
        (Some(one), _) => one,
        (None, other) => other,
    }
}

/// What an error's details say: `{"@type": "…RetryInfo", "retryDelay": "3.5s"}`.
pub(crate) fn in_details(error: &Value) -> Option<RetryTime> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    span(delay).map(RetryTime::After)
}

/// What an error's words say: `Please try again in 11.054s`.
pub(crate) fn in_words(message: &str) -> Option<RetryTime> {
    let lower = message.to_ascii_lowercase();
    let rest = ["try again in ", "retry in "].iter().find_map(|mark| lower.split_once(mark))?.1;
    let word: String = rest.chars().take_while(|c| !c.is_whitespace() && *c != ',').collect();
    let word = word.trim_end_matches(['.', ')']);
    if let Some(span) = span(word) {
        return Some(RetryTime::After(span));
    }
    let number = word.parse::<f64>().ok()?;
    let unit = rest.split_whitespace().nth(1).unwrap_or_default();
    let scale = match unit.trim_end_matches(['.', ',', ')']) {
        "second" | "seconds" => 1.0,
        "minute" | "minutes" => 60.0,
        "hour" | "hours" => 3600.0,
        _ => return None,
    };
    seconds(number * scale).map(RetryTime::After)
}

/// `1h2m3.5s`, `20ms`.
fn span(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at_checked(end)?;
        let number: f64 = number.parse().ok()?;
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(end)?;
        let scale = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total = total.checked_add(seconds(number * scale)?)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_whitespace().skip(1);
    let day = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let year = words.next()?.parse().ok()?;
    moment(Date { year, month: u64::try_from(month).ok()? + 1, day }, words.next()?)
}

/// `2026-11-16T12:00:00Z`, with a fraction or an offset.
fn rfc3339(text: &str) -> Option<SystemTime> {
    let (date, time) = text.split_once(['T', ' '])?;
    let mut parts = date.split('-').map(|part| part.parse::<u64>().ok());
    let date = Date { year: parts.next()??, month: parts.next()??, day: parts.next()?? };
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return moment(date, time);
    }
    let place = time.rfind(['+', '-'])?;
    let (time, offset) = time.split_at_checked(place)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let offset_secs = hours.parse::<u64>().ok()? * 3600 + minutes.parse::<u64>().ok()? * 60;
    let (moment, shift) = (moment(date, time)?, Duration::from_secs(offset_secs));
    if offset.starts_with('+') { moment.checked_sub(shift) } else { moment.checked_add(shift) }
}

#[derive(Clone, Copy)]
struct Date {
    year: u64,
    month: u64,
    day: u64,
}

/// A date of the calendar and a time of day in UTC.
fn moment(date: Date, time: &str) -> Option<SystemTime> {
    let Date { year, month, day } = date;
    let is_sane = (1970..=9999).contains(&year) && (1..=12).contains(&month);
    if !is_sane || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March: the leap day is the last of them.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let since = days.checked_sub(719_468)?;
    let mut parts = time.split(':').map(|part| part.parse::<f64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let of_day = seconds(hour * 3600.0 + minute * 60.0 + second)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since * 86_400))?.checked_add(of_day)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(secs: u64) -> RetryTime {
        RetryTime::At(SystemTime::UNIX_EPOCH + Duration::from_secs(secs))
    }

    fn after(millis: u64) -> RetryTime {
        RetryTime::After(Duration::from_millis(millis))
    }

    type Headers<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn headers_in_all_their_shapes() {
        let cases: [(Headers<'_>, Option<RetryTime>); 15] = [
            (&[], None),
            (&[("retry-after", "7")], Some(after(7000))),
            (&[("retry-after", "0.5")], Some(after(500))),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "1e300")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after-ms", "250"), ("retry-after", "1")], Some(after(250))),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(at(784_111_777))),
            (
                &[
                    ("date", "Sun, 06 Nov 1994 08:49:07 GMT"),
                    ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ],
                Some(after(30_000)),
            ),
            (
                &[
                    ("anthropic-ratelimit-requests-remaining", "40"),
                    ("anthropic-ratelimit-requests-reset", "2030-01-01T00:00:00Z"),
                    ("anthropic-ratelimit-tokens-remaining", "0"),
                    ("anthropic-ratelimit-tokens-reset", "2026-11-16T12:00:05Z"),
                    ("anthropic-ratelimit-input-tokens-remaining", "0"),
                    ("anthropic-ratelimit-input-tokens-reset", "2026-11-16T12:00:09Z"),
                ],
                Some(at(1_794_830_409)),
            ),
            (&[("anthropic-ratelimit-unified-reset", "1794830409")], Some(at(1_794_830_409))),
            (
                &[
                    ("anthropic-ratelimit-unified-5h-status", "rejected"),
                    ("anthropic-ratelimit-unified-5h-reset", "1794830409"),
                    ("anthropic-ratelimit-unified-7d-status", "allowed"),
                    ("anthropic-ratelimit-unified-7d-reset", "1799999999"),
                ],
                Some(at(1_794_830_409)),
            ),
            (
                &[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")],
                Some(after(360_000)),
            ),
            (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1794830409000")], {
                Some(at(1_794_830_409))
            }),
            (
                &[("x-ratelimit-remaining-requests", "9"), ("x-ratelimit-reset-requests", "1s")],
                None,
            ),
        ];
        for (headers, wanted) in cases {
            let headers: Vec<(String, String)> =
                headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            assert_eq!(in_headers(&headers), wanted, "{headers:?}");
        }
    }

    #[test]
    fn dates_of_the_calendar() {
        let cases = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T23:59:59Z", Some(951_868_799)),
            ("2026-11-16T12:00:09+02:00", Some(1_794_823_209)),
            ("2026-11-16T12:00:09.25-01:00", None),
            ("2026-13-16T12:00:09Z", None),
            ("1960-01-01T00:00:00Z", None),
            ("never", None),
        ];
        for (text, wanted) in cases {
            let found = rfc3339(text).map(RetryTime::At);
            match wanted {
                Some(secs) => assert_eq!(found, Some(at(secs)), "{text}"),
                None => assert_ne!(found, Some(at(0)), "{text}"),
            }
        }
    }

    #[test]
    fn details_and_words() {
        let kind = "type.googleapis.com/google.rpc.RetryInfo";
        let error =
            json!({ "details": [{ "@type": "x" }, { "@type": kind, "retryDelay": "3.5s" }] });
        assert_eq!(in_details(&error), Some(after(3500)));
        assert_eq!(in_details(&json!({ "details": "none" })), None);
        let cases = [
            ("Rate limit reached. Please try again in 11.054s. Visit", Some(11_054)),
            ("Please try again in 6m0s.", Some(360_000)),
            ("please retry in 20ms", Some(20)),
            ("Try again in 35 seconds.", Some(35_000)),
            ("try again in 2 hours", Some(7_200_000)),
            ("try again in a while", None),
            ("try again later", None),
        ];
        for (words, wanted) in cases {
            assert_eq!(in_words(words), wanted.map(after), "{words}");
        }
    }
}
