//! The shapes of volatile parts. Each is asked at the first byte of a word (or at a slash) and
//! answers with what it is and where it ends.

use super::{Class, class};

/// What kind of volatile part it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Time,
    Duration,
    Id,
    Process,
    Counter,
    TempPath,
}

type Found = Option<(Shape, usize)>;

fn at(bytes: &[u8], index: usize) -> u8 {
    // A NUL stands for the end: no shape holds one.
    bytes.get(index).copied().unwrap_or(0)
}

fn before(bytes: &[u8], index: usize) -> u8 {
    index.checked_sub(1).map_or(0, |index| at(bytes, index))
}

/// Whether no word goes on at `end`.
fn ends(bytes: &[u8], end: usize) -> bool {
    bytes.get(end).is_none_or(|b| class(*b) != Class::Word)
}

pub(super) fn digits_end(bytes: &[u8], from: usize) -> usize {
    let mut end = from;
    while at(bytes, end).is_ascii_digit() {
        end += 1;
    }
    end
}

/// A number of exactly `count` digits (at most 4), and its value.
fn number(bytes: &[u8], from: usize, count: usize) -> Option<u16> {
    let digits = bytes.get(from..from + count)?;
    let mut value = 0_u16;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u16::from(digit - b'0');
    }
    Some(value)
}

/// Anything volatile that begins with a number, whose digits end at `digits` and whose word ends at
/// `end`. What follows the digits says what it may be, and for nearly all of them it is nothing.
pub(super) fn numeric(bytes: &[u8], start: usize, digits: usize, end: usize) -> Found {
    match (digits - start, at(bytes, digits)) {
        (4, b'-' | b'/') | (1 | 2, b':') => moment(bytes, start),
        (_, b'-') => uuid(bytes, start, end),
        (_, b' ') if begins_unit(at(bytes, digits + 1)) => duration(bytes, start),
        (_, b'.' | b',') => duration(bytes, start),
        _ if end > digits => uuid(bytes, start, end)
            .or_else(|| hex_id(bytes, start, end))
            .or_else(|| duration(bytes, start)),
        _ => None,
    }
}

/// A date with or without a time, or a clock time.
pub(super) fn moment(bytes: &[u8], start: usize) -> Found {
    if let Some(end) = date(bytes, start) {
        let sep = at(bytes, end);
        if matches!(sep, b'T' | b't' | b' ' | b'_')
            && let Some((end, _)) = clock(bytes, end + 1)
            && ends(bytes, end)
        {
            return Some((Shape::Time, end));
        }
        return ends(bytes, end).then_some((Shape::Time, end));
    }
    // After a colon it is a line or a column, after a dot or a dash part of something longer.
    if matches!(before(bytes, start), b':' | b'.' | b'-') {
        return None;
    }
    let (end, sure) = clock(bytes, start)?;
    let bracketed = before(bytes, start) == b'[' && at(bytes, end) == b']';
    ((sure || bracketed) && ends(bytes, end) && at(bytes, end) != b':')
        .then_some((Shape::Time, end))
}

/// `2026-11-15` or `2026/11/15`, with a month and a day that exist.
fn date(bytes: &[u8], start: usize) -> Option<usize> {
    let sep = at(bytes, start + 4);
    if !matches!(sep, b'-' | b'/') || at(bytes, start + 7) != sep {
        return None;
    }
    number(bytes, start, 4)?;
    let month = number(bytes, start + 5, 2)?;
    let day = number(bytes, start + 8, 2)?;
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(start + 10)
}

/// `h:mm` or `h:mm:ss` with fraction, half of day and zone; the end, and whether it can be nothing
/// but a time (it has seconds or a half of day).
fn clock(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    let hour_digits = if at(bytes, start + 1) == b':' { 1 } else { 2 };
    let hour = number(bytes, start, hour_digits)?;
    let colon = start + hour_digits;
    let minute = number(bytes, colon + 1, 2)?;
    if at(bytes, colon) != b':' || hour > 24 || minute > 59 {
        return None;
    }
    let mut end = colon + 3;
    let mut sure = false;
    if at(bytes, end) == b':'
        && let Some(0..=60) = number(bytes, end + 1, 2)
    {
        end += 3;
        sure = true;
        if matches!(at(bytes, end), b'.' | b',') && at(bytes, end + 1).is_ascii_digit() {
            end = digits_end(bytes, end + 1);
        }
    }
    if let Some(after) = half_of_day(bytes, end) {
        return Some((after, true));
    }
    Some((zone(bytes, end), sure))
}

fn half_of_day(bytes: &[u8], end: usize) -> Option<usize> {
    let from = if at(bytes, end) == b' ' { end + 1 } else { end };
    let is_half = matches!(at(bytes, from), b'a' | b'p' | b'A' | b'P')
        && matches!(at(bytes, from + 1), b'm' | b'M');
    (is_half && ends(bytes, from + 2)).then_some(from + 2)
}

/// Where a time zone ends that begins here: `Z`, `+01:00`, `-0800`; `end` itself without one.
fn zone(bytes: &[u8], end: usize) -> usize {
    match at(bytes, end) {
        b'Z' | b'z' => end + 1,
        b'+' | b'-' if number(bytes, end + 1, 2).is_some() => {
            let minutes = if at(bytes, end + 3) == b':' { end + 4 } else { end + 3 };
            if number(bytes, minutes, 2).is_some() { minutes + 2 } else { end + 3 }
        }
        _ => end,
    }
}

/// `1.23s`, `12 ms`, `1h02m`: numbers with units, and a further one after a blank (`3m 41s`).
pub(super) fn duration(bytes: &[u8], start: usize) -> Found {
    if before(bytes, start) == b'.' {
        return None;
    }
    let mut end = one_duration(bytes, start)?;
    let mut whole = ends(bytes, end).then_some(end);
    loop {
        let next = if at(bytes, end) == b' ' { end + 1 } else { end };
        match at(bytes, next).is_ascii_digit().then(|| one_duration(bytes, next)).flatten() {
            Some(further) => end = further,
            None => break,
        }
        // A chain that breaks off inside a word counts up to the last whole one, so that nothing
        // but that word is ever looked at twice.
        whole = ends(bytes, end).then_some(end).or(whole);
    }
    let whole = whole?;
    (!is_progress(bytes, start, whole)).then_some((Shape::Duration, whole))
}

/// Whole seconds in brackets at the beginning of a line: a process that runs says how far it is.
fn is_progress(bytes: &[u8], start: usize, end: usize) -> bool {
    let begins_line = start.checked_sub(2).is_none_or(|index| at(bytes, index) == b'\n');
    before(bytes, start) == b'['
        && begins_line
        && at(bytes, end) == b']'
        && digits_end(bytes, start) + 1 == end
}

/// Fields of JSON whose numbers say nothing: how long it took, and how often anything ran. Whole
/// seconds may be what was asked for.
const VOLATILE_FIELDS: [(&[u8], Shape, Numbers); 11] = [
    (b"duration", Shape::Duration, Numbers::Fractions),
    (b"duration_s", Shape::Duration, Numbers::Fractions),
    (b"duration_seconds", Shape::Duration, Numbers::Fractions),
    (b"elapsed", Shape::Duration, Numbers::Fractions),
    (b"elapsed_seconds", Shape::Duration, Numbers::Fractions),
    (b"execution_time", Shape::Duration, Numbers::Fractions),
    (b"wall_time_seconds", Shape::Duration, Numbers::Fractions),
    (b"duration_ms", Shape::Duration, Numbers::All),
    (b"durationMs", Shape::Duration, Numbers::All),
    (b"elapsed_ms", Shape::Duration, Numbers::All),
    (b"execution_count", Shape::Counter, Numbers::All),
];

/// Which numbers of a field are volatile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    All,
    Fractions,
}

/// What a number at `start` is by the name of its JSON field, if that is volatile, and its end.
pub(super) fn volatile_field(bytes: &[u8], start: usize) -> Found {
    let ahead = bytes.get(..start)?;
    let ahead = ahead.strip_suffix(b" ").unwrap_or(ahead).strip_suffix(b"\":")?;
    let known = |(name, ..): &&(&[u8], Shape, Numbers)| {
        ahead.strip_suffix(*name).is_some_and(|rest| rest.last() == Some(&b'"'))
    };
    let (_, shape, numbers) = VOLATILE_FIELDS.iter().find(known)?;
    let end = decimal_end(bytes, start);
    let is_whole = digits_end(bytes, start) == end;
    (*numbers == Numbers::All || !is_whole).then_some((*shape, end))
}

/// Where a number with or without a fraction ends.
fn decimal_end(bytes: &[u8], start: usize) -> usize {
    let whole = digits_end(bytes, start);
    let fraction = digits_end(bytes, whole + 1);
    if at(bytes, whole) == b'.' && fraction > whole + 1 { fraction } else { whole }
}

fn one_duration(bytes: &[u8], start: usize) -> Option<usize> {
    let mut end = digits_end(bytes, start);
    if matches!(at(bytes, end), b'.' | b',') && at(bytes, end + 1).is_ascii_digit() {
        end = digits_end(bytes, end + 1);
    }
    match at(bytes, end) {
        b' ' => unit(bytes, end + 1, Gap::Blank),
        _ => unit(bytes, end, Gap::None),
    }
}

/// What is between a number and its unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Blank,
}

/// Whether a unit can begin with this byte: nearly every number is followed by another.
const fn begins_unit(byte: u8) -> bool {
    matches!(byte, b'h' | b'm' | b'n' | b's' | b'u' | 0xc2 | 0xce)
}

/// The longest unit.
const UNIT: usize = "milliseconds".len();

/// Units that may follow a blank as well.
const UNITS: [&[u8]; 22] = [
    b"s",
    b"ms",
    b"us",
    b"ns",
    "µs".as_bytes(),
    "μs".as_bytes(),
    b"sec",
    b"secs",
    b"second",
    b"seconds",
    b"min",
    b"mins",
    b"minute",
    b"minutes",
    b"hr",
    b"hrs",
    b"hour",
    b"hours",
    b"msec",
    b"msecs",
    b"millisecond",
    b"milliseconds",
];

/// The end of a unit at `from`, followed by the end of the word or by a digit. Units of one letter
/// but `s` do not follow a blank.
fn unit(bytes: &[u8], from: usize, gap: Gap) -> Option<usize> {
    let rest = bytes.get(from..)?;
    if !begins_unit(*rest.first()?) {
        return None;
    }
    let goes_on = |byte: &&u8| class(**byte) == Class::Word && !byte.is_ascii_digit();
    let length = rest.iter().take(UNIT + 1).take_while(goes_on).count();
    let known = match rest.get(..length)? {
        b"m" | b"h" => gap == Gap::None,
        name => UNITS.contains(&name),
    };
    known.then_some(from + length)
}

/// `8-4-4-4-12` hexadecimal digits.
pub(super) fn uuid(bytes: &[u8], start: usize, word_end: usize) -> Found {
    if word_end - start != 8 || at(bytes, word_end) != b'-' {
        return None;
    }
    let text = bytes.get(start..start + 36)?;
    let right = text.iter().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    (right && ends(bytes, start + 36)).then_some((Shape::Id, start + 36))
}

/// A word of 7 hexadecimal digits or more with a digit and a letter among them, or after `0x`.
pub(super) fn hex_id(bytes: &[u8], start: usize, word_end: usize) -> Found {
    let word = bytes.get(start..word_end)?;
    let prefixed = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X"));
    let digits = prefixed.unwrap_or(word);
    if digits.len() < 7 {
        return None;
    }
    let (mut has_digit, mut has_letter) = (false, false);
    for byte in digits {
        match byte {
            b'0'..=b'9' => has_digit = true,
            b'a'..=b'f' | b'A'..=b'F' => has_letter = true,
            _ => return None,
        }
    }
    (prefixed.is_some() || (has_digit && has_letter)).then_some((Shape::Id, word_end))
}

/// `pid 123`, `PID: 123`, `pid=123`.
pub(super) fn pid(bytes: &[u8], start: usize, word_end: usize) -> Found {
    if !bytes.get(start..word_end)?.eq_ignore_ascii_case(b"pid") {
        return None;
    }
    let mut from = word_end;
    if matches!(at(bytes, from), b':' | b'=' | b'#') {
        from += 1;
    }
    if at(bytes, from) == b' ' {
        from += 1;
    }
    let end = digits_end(bytes, from);
    (from > word_end && end > from && ends(bytes, end)).then_some((Shape::Process, end))
}

/// The name of a temporary file or folder with the folder it lies in; what follows below it stays.
pub(super) fn temp_path(bytes: &[u8], start: usize) -> Found {
    if matches!(class(before(bytes, start)), Class::Word) || before(bytes, start) == b'.' {
        return None;
    }
    let rest = bytes.get(start..)?;
    let rest = rest.strip_prefix(b"/private").unwrap_or(rest);
    let names_from =
        |prefix: &[u8]| rest.strip_prefix(prefix).map(|names| bytes.len() - names.len());
    if let Some(from) = names_from(b"/var/folders/") {
        // Two names that stand for the user, then `T` (files) or `C` (caches), then the name.
        let user = below(bytes, name_end(bytes, from));
        return Some((Shape::TempPath, below(bytes, below(bytes, user))));
    }
    let from = names_from(b"/tmp/").or_else(|| names_from(b"/var/tmp/"))?;
    let end = name_end(bytes, from);
    if end == from {
        return None;
    }
    if bytes.get(from..end).is_some_and(|name| name.starts_with(b"pytest-of-")) {
        // Below it lies a folder that is numbered anew for each session.
        return Some((Shape::TempPath, below(bytes, end)));
    }
    Some((Shape::TempPath, end))
}

/// The end of the name below a folder that ends here; `end` itself when there is none.
fn below(bytes: &[u8], end: usize) -> usize {
    if at(bytes, end) == b'/' { name_end(bytes, end + 1) } else { end }
}

/// The end of one name of a path.
fn name_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or(&[]);
    let goes_on = |byte: u8| {
        class(byte) == Class::Word || matches!(byte, b'.' | b'-' | b'+' | b'~' | b'@' | b'%' | b'=')
    };
    let length = rest.iter().position(|b| !goes_on(*b)).unwrap_or(rest.len());
    // A full stop at the end closes the sentence, not the name.
    let name = rest.get(..length).unwrap_or(&[]);
    let stops = name.iter().rev().take_while(|b| **b == b'.').count();
    from + length - stops
}
