//! What a round looks like, and whether bytes look so too.

use super::looks::Size;

/// Stands for a number that may be another the next time.
const NUMBER: u8 = 1;
/// Stands behind a number where numbers are put one behind the other.
const END: u8 = b';';
/// So many bytes are put together before they are handed on.
const PIECE: usize = 32 * 1024;
/// A longer number is no place and no time.
const DIGITS_MAX: usize = 32;
/// Of a longer round only the numbers are kept, because with the shape they are all that was printed.
const SHORT_MAX: usize = 64 * 1024;

/// A round, with a mark for every number in a place, a name or a time.
#[derive(Debug)]
pub(super) struct Shape {
    bytes: Vec<u8>,
    /// How many lines it has.
    lines: usize,
    /// How far the present round is.
    at: usize,
    /// How many digits came for the mark that stands there.
    digits: usize,
    /// What is kept of the present round, and of the one before it: all that was printed, or the
    /// numbers in it.
    kept: [Vec<u8>; 2],
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
        Self { bytes, lines, at: 0, digits: 0, kept: [Vec::new(), Vec::new()] }
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

    /// Whether all that is printed is kept.
    const fn is_short(&self) -> bool {
        self.bytes.len() <= SHORT_MAX
    }

    /// How many of these bytes look like what comes next in the round, at most to its end.
    pub(super) fn follow(&mut self, bytes: &[u8]) -> (usize, Step) {
        let [present, _] = &self.kept;
        let (at, digits, kept) = (self.at, self.digits, present.len());
        let (mut taken, mut step) = self.go_along(bytes);
        // The mark of a number is like nothing that is printed, not even like itself.
        if let Some(mark) = memchr::memchr(NUMBER, up_to(bytes, taken)) {
            (self.at, self.digits) = (at, digits);
            let [present, _] = &mut self.kept;
            present.truncate(kept);
            (taken, step) = (self.go_along(up_to(bytes, mark)).0, Step::Other);
        }
        let is_short = self.is_short();
        let [present, before] = &mut self.kept;
        if is_short {
            present.extend_from_slice(up_to(bytes, taken));
        }
        if step == Step::Round {
            (self.at, self.digits) = (0, 0);
            std::mem::swap(present, before);
            present.clear();
        }
        (taken, step)
    }

    fn go_along(&mut self, bytes: &[u8]) -> (usize, Step) {
        let is_short = self.is_short();
        let [numbers, _] = &mut self.kept;
        let mut wanted = self.bytes.get(self.at..).unwrap_or_default();
        let (mut rest, mut came) = (bytes, self.digits);
        let step = loop {
            let same = same(wanted, rest);
            (wanted, rest) = (behind(wanted, same), behind(rest, same));
            match wanted.first() {
                None => break Step::Round,
                _ if rest.is_empty() => break Step::More,
                Some(&NUMBER) => {}
                Some(_) => break Step::Other,
            }
            let digits = digits(up_to(rest, DIGITS_MAX));
            if !is_short {
                numbers.extend_from_slice(up_to(rest, digits));
            }
            came += digits;
            rest = behind(rest, digits);
            if came == 0 || came >= DIGITS_MAX {
                break Step::Other;
            }
            if rest.is_empty() {
                break Step::More;
            }
            if !is_short {
                numbers.push(END);
            }
            (wanted, came) = (behind(wanted, 1), 0);
        };
        (self.at, self.digits) = (self.bytes.len() - wanted.len(), came);
        (bytes.len() - rest.len(), step)
    }

    /// Hands on what was printed in the round before the present one.
    pub(super) fn replay_last(&self, mut read: impl FnMut(&[u8])) {
        let [_, before] = &self.kept;
        if self.is_short() {
            return read(before);
        }
        print(&self.bytes, before, read);
    }

    /// Hands on what was printed in the present round.
    pub(super) fn replay(&self, mut read: impl FnMut(&[u8])) {
        let [present, _] = &self.kept;
        if self.is_short() {
            return read(present);
        }
        let shape = self.bytes.get(..self.at + usize::from(self.digits > 0));
        print(shape.unwrap_or_default(), present, read);
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
    let mut same = 0;
    loop {
        let (one, other) =
            (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
        let (Some(a), Some(b)) = (one.first_chunk(), other.first_chunk()) else {
            let pairs = one.iter().zip(other);
            return same + pairs.take_while(|(one, other)| one == other).count();
        };
        let others = u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
        if others != 0 {
            return same + others.trailing_zeros() as usize / 8;
        }
        same += a.len();
    }
}

/// How many digits they begin with.
fn digits(bytes: &[u8]) -> usize {
    /// The same byte eight times.
    const fn each(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let Some(eight) = bytes.first_chunk() else {
        return bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    };
    // Digits become 0 to 9, and what is more gets a bit above them.
    let values = u64::from_le_bytes(*eight) ^ each(b'0');
    let others = (((values & each(0x7f)) + each(0x76)) | values) & each(0x80);
    match others.trailing_zeros() as usize / 8 {
        8 => 8 + bytes.iter().skip(8).take_while(|byte| byte.is_ascii_digit()).count(),
        digits => digits,
    }
}

/// What follows so many bytes.
fn behind(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(length..).unwrap_or_default()
}

/// At most so many bytes from the start.
fn up_to(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(..length).unwrap_or(bytes)
}

/// Adds bytes, with a mark in the place of every number that may be another the next time.
pub(super) fn put(shape: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(digits(rest));
        if shape.last() == Some(&NUMBER) {
            // It goes on.
        } else if !number.is_empty() && is_free(shape) {
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
    use super::{DIGITS_MAX, SHORT_MAX, Shape, Size, Step, digits, put, same};

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
    fn digits_are_counted_and_what_is_the_same_is_found_at_every_length() {
        for length in 0..40 {
            for end in 0..=255_u8 {
                let text = [vec![b'7'; length], vec![end], vec![b'3'; 20]].concat();
                let want = if end.is_ascii_digit() { length + 21 } else { length };
                assert_eq!(digits(&text), want, "{length} {end}");
                assert_eq!(digits(&text[..length]), length);
                let other = [vec![b'7'; length], vec![!end]].concat();
                assert_eq!((same(&text, &other), same(&other, &text)), (length, length));
                assert_eq!(same(&text, &text[..length]), length);
            }
        }
    }

    #[test]
    fn the_mark_of_a_number_is_no_number() {
        let mut shape = Shape::of(Size { lines: 1, bytes: 10 });
        assert_eq!(shape.begin(b"a.rs:1: no\n"), (11, true));
        for _ in 0..2 {
            assert_eq!(shape.follow(b"a.rs:23: no\n"), (12, Step::Round));
        }
        assert_eq!(shape.follow(b"a.rs:\x01: no\n"), (5, Step::Other));
        let (mut last, mut now) = (Vec::new(), Vec::new());
        shape.replay_last(|bytes| last.extend_from_slice(bytes));
        shape.replay(|bytes| now.extend_from_slice(bytes));
        assert_eq!((last.as_slice(), now.as_slice()), (&b"a.rs:23: no\n"[..], &b"a.rs:"[..]));
    }

    #[test]
    fn a_number_without_an_end_is_another() {
        let mut shape = Shape::of(Size { lines: 1, bytes: 10 });
        assert_eq!(shape.begin(b"a.rs:1: no\n"), (11, true));
        assert_eq!(shape.follow(b"a.rs:12345678901234567890: no\n").1, Step::Round);
        assert_eq!(shape.follow(b"a.rs:1234"), (9, Step::More));
        let (taken, step) = shape.follow(&vec![b'7'; 100_000]);
        assert!(taken < 2 * DIGITS_MAX && step == Step::Other, "{taken}");
        let mut now = Vec::new();
        shape.replay(|bytes| now.extend_from_slice(bytes));
        assert_eq!(now.len(), 9 + taken);
    }

    #[test]
    fn of_long_rounds_the_numbers_are_enough() {
        let filler = "x".repeat(SHORT_MAX);
        let round = |number: usize| format!("{filler}\na.rs:{number}: 7 no\n");
        let mut shape = Shape::of(Size { lines: 2, bytes: 10 });
        assert!(shape.begin(round(1).as_bytes()).1 && !shape.is_short());
        assert_eq!(shape.follow(round(42).as_bytes()).1, Step::Round);
        let last = round(357);
        let (part, _) = last.as_bytes().split_at(SHORT_MAX + 8);
        assert_eq!(shape.follow(part), (part.len(), Step::More));
        let mut again = Vec::new();
        shape.replay_last(|bytes| again.extend_from_slice(bytes));
        shape.replay(|bytes| again.extend_from_slice(bytes));
        assert!(again == [round(42).as_bytes(), part].concat());
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
