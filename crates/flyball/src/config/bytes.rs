//! Sizes as they are written: `50MB`, `1.5GB`, `512KiB`, or a number of bytes.

/// Units, the largest first.
const UNITS: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1000),
    ("B", 1),
];

/// The bytes a size stands for.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let (_, factor) = UNITS.iter().find(|(name, _)| {
        name.eq_ignore_ascii_case(unit.trim()) || (*name == "B" && unit.trim().is_empty())
    })?;
    match number.split_once('.') {
        None => number.parse::<u64>().ok()?.checked_mul(*factor),
        // A fraction of a byte is none.
        Some((_, tail)) if tail.len() > 9 || *factor == 1 => None,
        Some((whole, tail)) => {
            let scale = 10_u64.checked_pow(u32::try_from(tail.len()).ok()?)?;
            let part = u128::from(tail.parse::<u64>().ok()?) * u128::from(*factor);
            let part = u64::try_from(part / u128::from(scale)).ok()?;
            whole.parse::<u64>().ok()?.checked_mul(*factor)?.checked_add(part)
        }
    }
}

/// A size as it would be written: exact, in the largest unit that divides it.
pub(crate) fn format(bytes: u64) -> String {
    let fits = |factor: u64| bytes >= factor && bytes.is_multiple_of(factor);
    let unit = UNITS.iter().find(|(_, factor)| *factor > 1 && fits(*factor));
    match unit {
        Some((name, factor)) => format!("{}{name}", bytes / factor),
        None => bytes.to_string(),
    }
}

/// A size for people: `5.4 GB`.
pub(crate) fn shown(bytes: u64) -> String {
    let decimal = UNITS.iter().filter(|(name, _)| !name.contains('i'));
    for (name, factor) in decimal {
        if bytes >= *factor && *factor > 1 {
            let tenths = u128::from(bytes) * 10 / u128::from(*factor);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("50MB", Some(50_000_000)),
            ("50 mb", Some(50_000_000)),
            ("1.5GB", Some(1_500_000_000)),
            ("2KiB", Some(2048)),
            ("7", Some(7)),
            ("7B", Some(7)),
            ("1.5", None),
            ("MB", None),
            ("", None),
            ("5 apples", None),
            ("-1MB", None),
            ("99999999999999999999", None),
            ("18446744073709551615GB", None),
        ] {
            assert_eq!(parse(text), bytes, "{text}");
        }
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        for bytes in [0, 1, 999, 1000, 1024, 50_000_000, 1 << 30, u64::MAX] {
            assert_eq!(parse(&format(bytes)), Some(bytes));
        }
        assert_eq!(format(50_000_000), "50MB");
        assert_eq!((shown(5_368_709_120), shown(12)), ("5.3 GB".into(), "12 B".into()));
    }
}
