//! Durations as people write them: `90s`, `4h`, `1h30m`, `250ms`, `0`.

use flyball_core::Millis;

/// Units, largest first, with their milliseconds.
const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads a duration: whole numbers with units `d`, `h`, `m`, `s`, `ms`, largest first, or `0`.
pub fn parse(text: &str) -> Option<Millis> {
    let mut rest = text.trim();
    if rest == "0" {
        return Some(Millis::ZERO);
    }
    let mut total: u64 = 0;
    let mut largest_left = UNITS.len() + 1;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_lowercase()).len();
        let (unit, tail) = tail.split_at_checked(letters)?;
        let place = UNITS.iter().position(|(name, _)| *name == unit)?;
        let (_, millis) = UNITS.get(place)?;
        if UNITS.len() - place >= largest_left {
            return None;
        }
        largest_left = UNITS.len() - place;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(*millis)?)?;
        rest = tail;
    }
    (largest_left <= UNITS.len()).then(|| Millis::new(total))
}

/// Writes a duration the way [`parse`] reads it.
pub fn format(span: Millis) -> String {
    let mut left = span.get();
    if left == 0 {
        return "0".to_owned();
    }
    let mut parts = Vec::new();
    for (name, millis) in UNITS.iter().skip(1) {
        let count = left / millis;
        left %= millis;
        if count > 0 {
            parts.push(format!("{count}{name}"));
        }
    }
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        let cases = [
            ("0", 0, "0"),
            ("0s", 0, "0"),
            ("250ms", 250, "250ms"),
            ("90s", 90_000, "1m30s"),
            ("4h", 14_400_000, "4h"),
            ("1h30m", 5_400_000, "1h30m"),
            (" 2d ", 172_800_000, "48h"),
            ("1m1ms", 60_001, "1m1ms"),
        ];
        for (text, millis, written) in cases {
            assert_eq!(parse(text), Some(Millis::new(millis)), "{text}");
            assert_eq!(format(Millis::new(millis)), written);
            assert_eq!(parse(written), Some(Millis::new(millis)), "{written}");
        }
    }

    #[test]
    fn what_is_no_duration_is_not_guessed() {
        for text in ["", "5", "h", "1 h", "-1s", "1.5h", "30m1h", "1h1h", "1w", "99999999999999d"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
