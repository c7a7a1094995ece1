//! What a round looks like, and whether bytes look so too.

/// Stands for a number that may be another the next time.
const NUMBER: u8 = 1;
/// A shorter round is taken several times as one.
const ROUND_MIN: usize = 16 * 1024;
/// So many lines a round has at least: all that is kept of the end is then of the last one.
const LINES_MIN: usize = 64;
/// What is looked for: the last bytes.
const ANCHOR: usize = 128;
/// So many places are tried that look like the last bytes.
const TRIES: usize = 128;

/// A round, with a mark for every number in a place, a name or a time.
#[derive(Debug)]
pub(super) struct Shape {
    bytes: Vec<u8>,
    /// How far the present round is.
    at: usize,
    /// Whether digits came for the mark that stands there.
    in_number: bool,
}

/// How far bytes went along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// All of them, and the round goes on.
    More,
    /// To the end of the round.
    Round,
    /// What comes next is another.
    Other,
}

impl Shape {
    /// The round that the bytes end with; the bytes without their numbers, if there is none.
    pub(super) fn of(mut recent: Vec<u8>) -> Result<Self, Vec<u8>> {
        without_numbers(&mut recent);
        let Some(length) = round(&recent) else { return Err(recent) };
        recent.drain(..recent.len().saturating_sub(length));
        recent.shrink_to_fit();
        // A number that was cut goes on; and a round begins with a line.
        let in_number = recent.last() == Some(&NUMBER);
        if recent.last() == Some(&b'\n') {
            return Ok(Self { bytes: recent, at: 0, in_number });
        }
        let first = memchr::memchr(b'\n', &recent).map_or(0, |end| end + 1);
        recent.rotate_left(first);
        let at = recent.len() - first - usize::from(in_number);
        Ok(Self { bytes: recent, at, in_number })
    }

    /// How many lines it has.
    pub(super) fn lines(&self) -> u64 {
        memchr::memchr_iter(b'\n', &self.bytes).count() as u64
    }

    /// How many of these bytes look like what comes next in the round, at most to its end.
    pub(super) fn follow(&mut self, bytes: &[u8]) -> (usize, Step) {
        let mut taken = 0;
        loop {
            let wanted = self.bytes.get(self.at..).unwrap_or_default();
            let rest = bytes.get(taken..).unwrap_or_default();
            let Some(first) = wanted.first() else {
                (self.at, self.in_number) = (0, false);
                return (taken, Step::Round);
            };
            if rest.is_empty() {
                return (taken, Step::More);
            }
            if *first == NUMBER {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.in_number |= digits > 0;
                taken += digits;
                if digits == rest.len() {
                    return (taken, Step::More);
                }
                if !self.in_number {
                    return (taken, Step::Other);
                }
                (self.at, self.in_number) = (self.at + 1, false);
                continue;
            }
            let length = memchr::memchr(NUMBER, wanted).unwrap_or(wanted.len());
            let same = same(wanted.get(..length).unwrap_or(wanted), rest);
            (self.at, taken) = (self.at + same, taken + same);
            if same < length && same < rest.len() {
                return (taken, Step::Other);
            }
        }
    }
}

/// How many bytes both begin with.
fn same(one: &[u8], other: &[u8]) -> usize {
    let length = one.len().min(other.len());
    if one.get(..length) == other.get(..length) {
        return length;
    }
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Puts a mark in the place of every number that may be another the next time.
fn without_numbers(bytes: &mut Vec<u8>) {
    let (mut from, mut to) = (0, 0);
    while let Some(byte) = bytes.get(from).copied() {
        let before = bytes.get(..to).unwrap_or_default();
        let is_more = before.last() == Some(&NUMBER);
        if byte.is_ascii_digit() && (is_more || is_free(before)) {
            if !is_more && let Some(slot) = bytes.get_mut(to) {
                *slot = NUMBER;
                to += 1;
            }
        } else if let Some(slot) = bytes.get_mut(to) {
            *slot = byte;
            to += 1;
        }
        from += 1;
    }
    bytes.truncate(to);
}

/// Whether a number behind these bytes belongs to a place, a name or a time. What is counted stands
/// alone, behind an equals sign, or behind another key of JSON.
fn is_free(before: &[u8]) -> bool {
    // How the keys of JSON end that say where something is, or how long it took.
    const KEYS: [&[u8]; 10] = [
        b"ine\":",
        b"olumn\":",
        b"row\":",
        b"_start\":",
        b"_end\":",
        b"egin\":",
        b"end\":",
        b"ffset\":",
        b"apsed\":",
        b"uration\":",
    ];
    match before {
        [.., b'"', b':'] => KEYS.iter().any(|key| before.ends_with(key)),
        [.., 0x1b, b'['] => false,
        [.., b':' | b'_' | b'.' | b'-' | b'/' | b'#' | b'[' | b'('] => true,
        [.., last] if last.is_ascii_alphabetic() => true,
        _ => before.ends_with(b"line "),
    }
}

/// How long the round is that the bytes end with, if they do.
fn round(recent: &[u8]) -> Option<usize> {
    let anchor = recent.last_chunk::<ANCHOR>()?;
    let earlier = recent.get(..recent.len() - 1)?;
    let starts = memchr::memmem::rfind_iter(earlier, anchor).take(TRIES);
    let mut lengths = starts.map(|start| recent.len() - ANCHOR - start);
    lengths.find_map(|length| several(recent, length))
}

/// As many rounds of this length as are taken as one, if the bytes end with them.
fn several(recent: &[u8], length: usize) -> Option<usize> {
    let once = recent.get(recent.len().checked_sub(length)?..)?;
    let lines = memchr::memchr_iter(b'\n', once).count();
    let times = ROUND_MIN.div_ceil(length).max(LINES_MIN.div_ceil(lines.max(1)));
    let whole = length.checked_mul(times).filter(|_| lines > 0)?;
    // What stands before a long one may be its end only.
    let compared = whole.min(recent.len() - length);
    let now = recent.get(recent.len() - compared..)?;
    let before = recent.get(recent.len() - length - compared..recent.len() - length)?;
    (whole <= recent.len() && compared >= whole.min(ROUND_MIN) && now == before).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::{Shape, Step, round, without_numbers};

    fn shape(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        without_numbers(&mut bytes);
        String::from_utf8(bytes).expect("text").replace('\u{1}', "N")
    }

    #[test]
    fn numbers_in_places_names_and_times_are_free_and_counts_are_not() {
        let table = [
            ("src/a.rs:12:5: error", "src/a.rs:N:N: error"),
            ("test_12 (3 ms) took 4.56s", "test_N (N ms) took 4.Ns"),
            ("3 passed, 12 failed in 1.2s", "3 passed, 12 failed in 1.Ns"),
            ("failures=3 \"failed\":12", "failures=3 \"failed\":12"),
            ("{\"line\":12,\"Elapsed\":0.01}", "{\"line\":N,\"Elapsed\":N.N}"),
            ("\u{1b}[31mred", "\u{1b}[31mred"),
            ("File \"a.py\", line 12", "File \"a.py\", line N"),
        ];
        for (text, want) in table {
            assert_eq!(shape(text), want);
            assert_eq!(shape(&shape(text).replace('N', "\u{1}")), want, "once more");
        }
    }

    #[test]
    fn rounds_are_found_at_every_length() {
        let line = |number: usize| format!("line {number} of many, {}\n", number * 7 % 13);
        for lines in [1, 2, 3, 50, 2_000] {
            let once: String = (0..lines).map(line).collect();
            let output = once.repeat(300_000 / once.len() + 1);
            let length = round(output.as_bytes()).expect("a round");
            assert_eq!(length % once.len(), 0, "{lines} lines");
        }
        let never: String = (0..20_000).map(line).collect();
        assert_eq!(round(never.as_bytes()), None);
    }

    #[test]
    fn bytes_are_followed_however_they_are_cut() {
        let once = |number: u64| format!("a.rs:{number}: {} no\n", 7);
        let before: String = (0..2_000).map(once).collect();
        let text: String = (90..1_090).map(once).collect();
        for piece in [1, 2, 3, 7, 1_000, 100_000] {
            let mut shape = Shape::of(before.clone().into_bytes()).expect("a round");
            let (mut rounds, mut lines) = (0, 0);
            for bytes in text.as_bytes().chunks(piece) {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let (taken, step) = shape.follow(rest);
                    assert_ne!(step, Step::Other, "{piece}");
                    lines += memchr::memchr_iter(b'\n', &rest[..taken]).count() as u64;
                    rounds += u64::from(step == Step::Round);
                    rest = &rest[taken..];
                }
            }
            assert_eq!(rounds, lines / shape.lines(), "{piece}");
            assert_eq!(shape.follow(b"b").1, Step::Other);
        }
    }
}
