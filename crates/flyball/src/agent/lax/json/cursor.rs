//! Walking over JSON text: where a value ends, and that it is one. Whoever begins has looked for
//! control characters in strings; they are not looked for here.

use std::fmt;

/// Text that is no JSON, or does not fit. Nobody asks where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no JSON that fits")
    }
}

impl std::error::Error for Fault {}

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Whether nothing but blanks is left.
    pub(super) fn ended(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The next byte that is no blank.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// What is left of the text.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    /// Over the byte that was peeked.
    pub(super) const fn step(&mut self) {
        self.at += 1;
    }

    /// Over this byte, with blanks before it.
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(Fault);
        }
        self.at += 1;
        Ok(())
    }

    /// Over this word.
    pub(super) fn word(&mut self, word: &str) -> Result<(), Fault> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(Fault);
        }
        self.at += word.len();
        Ok(())
    }

    /// Over a string, from its first quote on.
    fn string(&mut self) -> Result<(), Fault> {
        let begin = self.at + 1;
        let rest = self.text.as_bytes().get(begin..).unwrap_or(&[]);
        let near = near_mark(rest);
        let length = match rest.get(near) {
            Some(b'"') => near,
            _ => closing_quote(rest, near).ok_or(Fault)?,
        };
        self.at = begin + length + 1;
        Ok(())
    }

    /// Over a string without escapes, from its first quote on; stays before any other.
    #[inline]
    pub(super) fn plain_string(&mut self) -> Option<&'a str> {
        let begin = self.at + 1;
        let rest = self.text.as_bytes().get(begin..)?;
        let mut length = near_mark(rest);
        if !matches!(rest.get(length), Some(b'"' | b'\\')) {
            length += memchr::memchr2(b'"', b'\\', rest.get(length..)?)?;
        }
        if rest.get(length) != Some(&b'"') {
            return None;
        }
        self.at = begin + length + 1;
        self.text.get(begin..begin + length)
    }

    /// Over so many bytes.
    pub(super) const fn forward(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Over a number, from its first byte on.
    pub(super) fn number(&mut self) -> Result<&'a str, Fault> {
        let begin = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        self.text.get(begin..self.at).ok_or(Fault)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        if count == 0 { Err(Fault) } else { Ok(()) }
    }

    /// Over a value of any kind: the value as it stands.
    pub(super) fn raw(&mut self) -> Result<&'a str, Fault> {
        self.peek();
        let begin = self.at;
        self.skip()?;
        self.text.get(begin..self.at).ok_or(Fault)
    }

    /// Over a value of any kind and any depth.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        let mut open = Open::default();
        loop {
            match self.peek().ok_or(Fault)? {
                b'"' => {
                    self.string()?;
                }
                b'{' => {
                    self.at += 1;
                    if self.peek() != Some(b'}') {
                        open.push(1);
                        self.name()?;
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    if self.peek() != Some(b']') {
                        open.push(0);
                        continue;
                    }
                    self.at += 1;
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => {
                    self.number()?;
                }
            }
            if !self.after_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Behind a value, up to the next one; false when there is none.
    fn after_value(&mut self, open: &mut Open) -> Result<bool, Fault> {
        loop {
            let Some(object) = open.last() else { return Ok(false) };
            let next = self.peek().ok_or(Fault)?;
            self.at += 1;
            match (next, object) {
                (b',', 1) => {
                    self.name()?;
                    return Ok(true);
                }
                (b',', _) => return Ok(true),
                (b'}', 1) | (b']', 0) => open.pop(),
                _ => return Err(Fault),
            }
        }
    }

    /// Over a member's name and the colon.
    fn name(&mut self) -> Result<(), Fault> {
        if self.peek() != Some(b'"') {
            return Err(Fault);
        }
        self.string()?;
        self.expect(b':')
    }
}

/// What is open around a value, innermost last: 1 for an object, 0 for a list. A bit each.
#[derive(Default)]
struct Open {
    depth: usize,
    bits: u64,
    more: Vec<u64>,
}

impl Open {
    fn push(&mut self, kind: u64) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.more.push(self.bits);
        }
        self.bits = self.bits << 1 | kind;
        self.depth += 1;
    }

    const fn last(&self) -> Option<u64> {
        if self.depth == 0 { None } else { Some(self.bits & 1) }
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.bits = self.more.pop().unwrap_or(0);
        }
    }
}

/// How many bytes are looked at together: as far as the vector search does not pay.
pub(super) const BLOCK: usize = 16;

/// How far the next quote or backslash is; some bytes before it when it is not near.
#[inline]
fn near_mark(bytes: &[u8]) -> usize {
    bytes.first_chunk().map_or(0, mark_in)
}

/// Where the first quote or backslash of a block is; its length when there is none.
#[inline]
pub(super) const fn mark_in(block: &[u8; BLOCK]) -> usize {
    const ONES: u128 = u128::MAX / 255;
    const SLASHES: u128 = ONES * b'\\' as u128;
    const QUOTES: u128 = ONES * b'"' as u128;
    let word = u128::from_le_bytes(*block);
    let (slash, quote) = (word ^ SLASHES, word ^ QUOTES);
    let zero = (slash.wrapping_sub(ONES) & !slash) | (quote.wrapping_sub(ONES) & !quote);
    (zero & (ONES << 7)).trailing_zeros() as usize / 8
}

/// Where the quote is that ends a string, at or behind `from`, where no escape is under way: the
/// first one with an even number of backslashes before it.
fn closing_quote(bytes: &[u8], from: usize) -> Option<usize> {
    let search = bytes.get(from..)?;
    memchr::memchr_iter(b'"', search).map(|at| from + at).find(|at| {
        let before = bytes.get(from..*at).unwrap_or(&[]);
        before.iter().rev().take_while(|byte| **byte == b'\\').count().is_multiple_of(2)
    })
}

/// Whether there is a control character anywhere.
pub(super) fn has_control(text: &str) -> bool {
    const WIDTH: usize = 32;
    let bytes = text.as_bytes();
    let (blocks, rest) = bytes.as_chunks::<WIDTH>();
    let mut least = [u8::MAX; WIDTH];
    let mut lower = |block: &[u8; WIDTH]| {
        for (least, byte) in least.iter_mut().zip(block) {
            *least = (*least).min(*byte);
        }
    };
    blocks.iter().for_each(&mut lower);
    match bytes.last_chunk() {
        // The rest with some bytes before it: looked at twice, and still faster than one by one.
        Some(last) => lower(last),
        None => return rest.iter().any(|byte| *byte < b' '),
    }
    least.iter().any(|byte| *byte < b' ')
}

/// Whether a string of this text holds a control character, which JSON does not allow.
pub(super) fn control_in_string(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some(open) = memchr::memchr(b'"', rest) {
        rest = rest.get(open + 1..).unwrap_or(&[]);
        let close = closing_quote(rest, 0).unwrap_or(rest.len());
        let (string, after) = rest.split_at(close);
        if string.iter().any(|byte| *byte < b' ') {
            return true;
        }
        rest = after.get(1..).unwrap_or(&[]);
    }
    false
}
