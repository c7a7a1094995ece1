//! What a round looks like, and whether bytes look so too.

use super::looks::Size;

/// Stands for a number that may be another the next time.
const NUMBER: u8 = 1;
/// Stands behind a number where numbers are put one behind the other.
const END: u8 = b';';
/// So many bytes are put together before they are handed on.
const PIECE: usize = 32 * 1024;

/// A round, with a mark for every number in a place, a name or a time.
#[derive(Debug)]
pub(super) struct Shape {
    bytes: Vec<u8>,
    /// How many lines it has.
    lines: usize,
    /// How far the present round is.
    at: usize,
    /// Whether digits came for the mark that stands there.
    in_number: bool,
    /// The numbers of the present round, and of the one before it: with the shape they are all that
    /// was printed.
    numbers: [Vec<u8>; 2],
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
    /// One of this size, of which nothing has come yet.
    pub(super) fn of(size: Size) -> Self {
        let bytes = Vec::with_capacity(size.bytes);
        let lines = size.lines;
        Self { bytes, lines, at: 0, in_number: false, numbers: [Vec::new(), Vec::new()] }
    }

    /// Takes what has come of the first round: how many bytes, and whether that was all of it.
    pub(super) fn begin(&mut self, bytes: &[u8]) -> (usize, bool) {
        // Until the round is whole this counts its lines.
        let mut taken = 0;
        for end in memchr::memchr_iter(b'\n', bytes).take(self.lines - self.at) {
            put(&mut self.bytes, bytes.get(taken..=end).unwrap_or_default());
            taken = end + 1;
            self.at += 1;
        }
        let is_whole = self.at == self.lines;
        if is_whole {
            self.at = 0;
        } else {
            put(&mut self.bytes, bytes.get(taken..).unwrap_or_default());
            taken = bytes.len();
        }
        (taken, is_whole)
    }

    /// How many bytes it has so far, numbers aside.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// How many lines it has.
    pub(super) const fn lines(&self) -> usize {
        self.lines
    }

    /// How many of these bytes look like what comes next in the round, at most to its end.
    pub(super) fn follow(&mut self, bytes: &[u8]) -> (usize, Step) {
        let [numbers, before] = &mut self.numbers;
        let mut taken = 0;
        loop {
            let wanted = self.bytes.get(self.at..).unwrap_or_default();
            let rest = bytes.get(taken..).unwrap_or_default();
            let Some(first) = wanted.first() else {
                (self.at, self.in_number) = (0, false);
                std::mem::swap(numbers, before);
                numbers.clear();
                return (taken, Step::Round);
            };
            if rest.is_empty() {
                return (taken, Step::More);
            }
            if *first == NUMBER {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.in_number |= digits > 0;
                taken += digits;
                numbers.extend_from_slice(rest.get(..digits).unwrap_or_default());
                if digits == rest.len() {
                    return (taken, Step::More);
                }
                if !self.in_number {
                    return (taken, Step::Other);
                }
                numbers.push(END);
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

    /// Hands on what was printed in the round before the present one.
    pub(super) fn replay_last(&self, read: impl FnMut(&[u8])) {
        let [_, before] = &self.numbers;
        print(&self.bytes, before, read);
    }

    /// Hands on what was printed in the present round.
    pub(super) fn replay(&self, read: impl FnMut(&[u8])) {
        let [numbers, _] = &self.numbers;
        let present = self.bytes.get(..self.at + usize::from(self.in_number));
        print(present.unwrap_or_default(), numbers, read);
    }
}

/// Puts the numbers back in their places.
fn print(shape: &[u8], numbers: &[u8], mut read: impl FnMut(&[u8])) {
    let mut numbers = numbers.split(|byte| *byte == END);
    let mut piece = Vec::new();
    for part in shape.split_inclusive(|byte| *byte == NUMBER) {
        if let [text @ .., NUMBER] = part {
            piece.extend_from_slice(text);
            piece.extend_from_slice(numbers.next().unwrap_or_default());
        } else {
            piece.extend_from_slice(part);
        }
        if piece.len() >= PIECE {
            read(&piece);
            piece.clear();
        }
    }
    read(&piece);
}

/// How many bytes both begin with.
fn same(one: &[u8], other: &[u8]) -> usize {
    let length = one.len().min(other.len());
    if one.get(..length) == other.get(..length) {
        return length;
    }
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Adds bytes, with a mark in the place of every number that may be another the next time.
pub(super) fn put(shape: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, after) = rest.split_at(digits);
        if shape.last() == Some(&NUMBER) {
            // It goes on.
        } else if digits > 0 && is_free(shape) {
            shape.push(NUMBER);
        } else {
            shape.extend_from_slice(number);
        }
        let text = after.iter().position(u8::is_ascii_digit).unwrap_or(after.len());
        let (text, after) = after.split_at(text);
        shape.extend_from_slice(text);
        rest = after;
    }
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

#[cfg(test)]
mod tests {
    use super::{Shape, Size, Step, put};

    fn shape(text: &str) -> String {
        let mut bytes = Vec::new();
        put(&mut bytes, text.as_bytes());
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
        }
    }

    #[test]
    fn bytes_are_followed_however_they_are_cut_and_can_be_printed_again() {
        let once = |number: u64| format!("a.rs:{number}: {} no\n", 7);
        let text: String = (90..1_090).map(once).collect();
        for piece in [1, 2, 3, 7, 1_000, 100_000] {
            let mut shape = Shape::of(Size { lines: 3, bytes: 10 });
            let first = "a.rs:1: 7 no\n".repeat(4);
            assert_eq!(shape.begin(&first.as_bytes()[..15]), (15, false));
            assert_eq!(shape.begin(&first.as_bytes()[15..]), (24, true));
            let (mut rounds, mut lines) = (0, 0);
            for bytes in text.as_bytes().chunks(piece) {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let (taken, step) = shape.follow(rest);
                    assert_ne!(step, Step::Other, "{piece}");
                    lines += memchr::memchr_iter(b'\n', &rest[..taken]).count();
                    rounds += usize::from(step == Step::Round);
                    rest = &rest[taken..];
                }
            }
            assert_eq!((rounds, shape.lines()), (lines / 3, 3), "{piece}");
            assert_eq!(shape.follow(b"a.rs:41").1, Step::More);
            let mut again = Vec::new();
            shape.replay_last(|bytes| again.extend_from_slice(bytes));
            shape.replay(|bytes| again.extend_from_slice(bytes));
            let whole = text.clone() + "a.rs:41";
            assert!(again.len() > 40 && whole.as_bytes().ends_with(&again), "{piece}");
            assert_eq!(shape.follow(b"b").1, Step::Other);
        }
    }
}
