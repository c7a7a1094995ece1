//! Small questions about one line as bytes, for lines of which there are very many.

/// Where the lines end: found for many of them at once, because most are short.
pub(crate) struct Ends<'a> {
    /// What was not looked at.
    rest: &'a [u8],
    /// Where that begins.
    at: usize,
    /// The ends in the block before it, one bit each.
    found: u64,
}

/// How many bytes are looked at together.
const BLOCK: usize = 64;

impl<'a> Ends<'a> {
    /// Of all of these lines.
    pub(crate) const fn of(lines: &'a [u8]) -> Self {
        Self { rest: lines, at: 0, found: 0 }
    }
}

impl Iterator for Ends<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            if let Some((block, rest)) = self.rest.split_first_chunk() {
                (self.found, self.rest) = (ends_in(block), rest);
            } else if self.rest.is_empty() {
                return None;
            } else {
                let mut block = [0; BLOCK];
                block.iter_mut().zip(self.rest).for_each(|(to, from)| *to = *from);
                (self.found, self.rest) = (ends_in(&block), &[]);
            }
            self.at += BLOCK;
        }
        let end = self.at - BLOCK + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(end)
    }
}

/// The line ends among these bytes, one bit each. Nothing in here depends on what came before, so that
/// the compiler can look at many bytes at once.
fn ends_in(block: &[u8; BLOCK]) -> u64 {
    // Another bit of each byte, and all of them side by side.
    const BITS: u64 = 0x8040_2010_0804_0201;
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut marks = [0_u8; BLOCK];
    for (mark, byte) in marks.iter_mut().zip(block) {
        *mark = if *byte == b'\n' { u8::MAX } else { 0 };
    }
    let (words, _) = marks.as_chunks::<8>();
    words.iter().rev().fold(0, |found, word| {
        let bits = u64::from_le_bytes(*word) & BITS;
        found << 8 | bits.wrapping_mul(ONES) >> 56
    })
}

/// What follows the digits at the start, of which there must be one.
pub(crate) fn after_digits(bytes: &[u8]) -> Option<&[u8]> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.get(digits..).filter(|_| digits > 0)
}

/// The number at the start, which has few digits, and what follows it.
pub(crate) fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let rest = after_digits(bytes)?;
    let digits = bytes.get(..bytes.len() - rest.len()).filter(|digits| digits.len() < 10)?;
    let value = digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(*digit - b'0'));
    Some((value, rest))
}

/// What follows the blanks at the start, and how many there are.
pub(crate) fn after_blanks(bytes: &[u8]) -> (usize, &[u8]) {
    let blanks = bytes.iter().take_while(|byte| **byte == b' ').count();
    (blanks, bytes.get(blanks..).unwrap_or_default())
}

/// A place at the start of a line.
pub(crate) struct Place<'a> {
    /// The path.
    pub file: &'a [u8],
    /// Whether there is a column.
    pub has_column: bool,
    /// What follows it.
    pub rest: &'a [u8],
}

/// The place of `path:3:7: text` and `path:3: text`, where the path has nothing unusual in it and a
/// line and a column, if any, above zero.
pub(crate) fn place(bytes: &[u8]) -> Option<Place<'_>> {
    let colon = bytes.iter().position(|byte| !is_path(*byte))?;
    let (file, rest) = bytes.split_at_checked(colon).filter(|(file, _)| is_file(file))?;
    let is_number = |rest: &[u8]| rest.first().is_some_and(|first| matches!(first, b'1'..=b'9'));
    let rest = rest.strip_prefix(b":").filter(|rest| is_number(rest))?;
    let rest = small(rest)?.strip_prefix(b":")?;
    let has_column = is_number(rest);
    let rest = if has_column { small(rest)?.strip_prefix(b":")? } else { rest };
    let rest = rest.strip_prefix(b" ").filter(|rest| !rest.starts_with(b" "))?;
    Some(Place { file, has_column, rest })
}

/// Whether all of this is `path:3:7`, where the path has nothing unusual in it.
pub(crate) fn is_place(bytes: &[u8]) -> bool {
    let colon = bytes.iter().position(|byte| !is_path(*byte));
    let parts = colon.and_then(|colon| bytes.split_at_checked(colon));
    let (file, rest) = parts.unwrap_or_default();
    let rest = rest.strip_prefix(b":").filter(|rest| matches!(rest, [b'1'..=b'9', ..]));
    let rest = rest.and_then(small).and_then(|rest| small(rest.strip_prefix(b":")?));
    rest == Some(b"") && is_file(file)
}

/// Whether a path has an extension and something before it.
fn is_file(file: &[u8]) -> bool {
    let has_letter = file.iter().rev().any(u8::is_ascii_alphabetic);
    has_letter && file.len() < 400 && memchr::memchr(b'.', file).is_some()
}

/// File and what follows the place of `path(3,7): text`.
pub(crate) fn bracketed_place(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = bytes.iter().position(|byte| !is_path(*byte))?;
    let (file, rest) = bytes.split_at_checked(open).filter(|(file, _)| is_file(file))?;
    let rest = rest.strip_prefix(b"(").filter(|rest| matches!(rest, [b'1'..=b'9', ..]))?;
    let rest = small(small(rest)?.strip_prefix(b",")?)?.strip_prefix(b"): ")?;
    Some((file, rest)).filter(|(_, rest)| !rest.starts_with(b" "))
}

/// What follows a number that is surely that of a line.
fn small(bytes: &[u8]) -> Option<&[u8]> {
    let rest = after_digits(bytes)?;
    (bytes.len() - rest.len() < 10).then_some(rest)
}

/// Whether a path may have this byte without anybody looking twice.
fn is_path(byte: u8) -> bool {
    PATH.get(usize::from(byte)).copied().unwrap_or(false)
}

#[expect(clippy::indexing_slicing, reason = "a byte within the table")]
const PATH: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'-');
        byte += 1;
    }
    table
};

/// The text without the time it ends with: ` (3 ms)`, ` (42ms)`, ` 3ms`, ` (1.2 s)`.
pub(crate) fn untimed(text: &str) -> &str {
    let text = text.trim_end();
    let inner = text.strip_suffix(')').unwrap_or(text);
    let Some(number) = inner.strip_suffix("ms").or_else(|| inner.strip_suffix('s')) else {
        return text;
    };
    let number = number.strip_suffix(' ').unwrap_or(number);
    let head = number.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_time = head.len() < number.len();
    let head =
        if inner.len() < text.len() { head.strip_suffix(" (") } else { head.strip_suffix(' ') };
    head.filter(|_| is_time).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{Ends, bracketed_place, number, place, untimed};

    #[test]
    fn every_line_end_is_found_once() {
        let text: Vec<u8> = (0..2_000_u32).flat_map(|at| (at * at).to_le_bytes()).collect();
        for length in [0, 1, 7, 8, 63, 64, 65, 128, 1_000, 8_000] {
            let (text, want) = (&text[..length], memchr::memchr_iter(b'\n', &text[..length]));
            assert_eq!(Ends::of(text).collect::<Vec<_>>(), want.collect::<Vec<_>>(), "{length}");
            let ends = vec![b'\n'; length];
            assert_eq!(Ends::of(&ends).count(), length);
        }
    }

    #[test]
    fn places_are_those_that_are_read_elsewhere_too() {
        for line in [
            "src/a.py:3:7: E501 x",
            "a.c:3: error: x",
            "/a/b-c_d.ts:1:1: x",
            "a.py:0:1: x",
            "a:3: x",
            "a b.c:3: x",
            "a.c:3:x",
            "a.c:3:7:9: x",
            "http://a.b:3: x",
            "a.c:99999999999: x",
            "a.c:3:7:",
        ] {
            let own = place(line.as_bytes());
            let other = crate::place::prefix(line);
            if let Some(own) = own {
                let other = other.unwrap_or_else(|| panic!("{line}"));
                let want = (other.file.as_bytes(), other.column.is_some(), other.rest.as_bytes());
                assert_eq!((own.file, own.has_column, own.rest), want, "{line}");
            }
        }
        assert!(place(b"src/a.py:3:7: E501 x").is_some() && place(b"a.c:3: error: x").is_some());
        assert_eq!(bracketed_place(b"a.ts(3,7): error"), Some((&b"a.ts"[..], &b"error"[..])));
        assert_eq!(bracketed_place(b"a.ts(3): error"), None);
        assert_eq!(number(b"31 x"), Some((31, &b" x"[..])));
    }

    #[test]
    fn times_are_taken_off() {
        for text in ["a b (3 ms)", "a b (42ms)", "a b 3ms", "a b (1.2 s)", "a b", "a b 12s"] {
            assert_eq!(untimed(text), "a b", "{text}");
        }
        for text in ["adds items", "is (ms)", "a (b)", "takes ms", "v3s"] {
            assert_eq!(untimed(text), text);
        }
    }
}
