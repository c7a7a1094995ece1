//! Reads JSON lines faster than `serde_json`, into values that are there already: a stream is
//! mostly strings that nobody looks at. What is JSON and what is not is the same, but for escapes
//! that JSON does not know: they stand for themselves.

mod cursor;
mod text;

use std::borrow::Cow;

use self::cursor::Cursor;
pub(crate) use self::cursor::Fault;

/// How deeply what is looked at may be nested, as with `serde_json`; what is skipped has no limit.
const DEPTH: u8 = 127;

/// What can be read from JSON.
pub(crate) trait Fill<'a>: Default {
    /// Reads the value that comes next. After a fault nothing in it means anything.
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault>;
}

/// Reads one JSON text, which must be one and fit.
#[inline]
pub(crate) fn fill<'a>(text: &'a str, into: &mut impl Fill<'a>) -> Result<(), Fault> {
    // Control characters are rare: they are looked for once, and never again where there are none.
    if cursor::has_control(text) && cursor::control_in_string(text) {
        return Err(Fault);
    }
    fill_checked(text, into)
}

/// The same for a text that has no control characters in its strings.
#[inline]
pub(super) fn fill_checked<'a>(text: &'a str, into: &mut impl Fill<'a>) -> Result<(), Fault> {
    let mut reading = Reading { cursor: Cursor::new(text), depth: 0 };
    into.fill(&mut reading)?;
    if reading.cursor.ended() { Ok(()) } else { Err(Fault) }
}

/// Reads one JSON text, which must be one and fit.
pub(crate) fn from_str<'a, T: Fill<'a>>(text: &'a str) -> Result<T, Fault> {
    let mut read = T::default();
    fill(text, &mut read).map(|()| read)
}

/// A text as far as it was read.
pub(crate) struct Reading<'a> {
    cursor: Cursor<'a>,
    depth: u8,
}

impl<'a> Reading<'a> {
    /// The first byte of the value that comes next.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.cursor.peek()
    }

    /// Over the value, whatever it is.
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        self.cursor.skip()
    }

    /// The value as it stands.
    pub(crate) fn raw(&mut self) -> Result<&'a str, Fault> {
        self.cursor.raw()
    }

    /// The string whose first quote was peeked.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>, Fault> {
        text::text(&mut self.cursor)
    }

    /// The number whose first byte was peeked.
    pub(crate) fn number(&mut self) -> Result<f64, Fault> {
        /// The longest whole number that is sure to be exact.
        const SURE: usize = 9;
        let digits = self.cursor.number()?;
        if digits.len() <= SURE && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let value = |value: u32, digit: u8| value * 10 + u32::from(digit - b'0');
            return Ok(f64::from(digits.bytes().fold(0, value)));
        }
        digits.parse().ok().filter(|number: &f64| number.is_finite()).ok_or(Fault)
    }

    /// Over this word.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), Fault> {
        self.cursor.word(word)
    }

    /// Reads an object: `each` is given a member's name and reads its value.
    #[inline]
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&str, &mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.inside(b'{', b'}', |reading| {
            if reading.cursor.peek() != Some(b'"') {
                return Err(Fault);
            }
            let name = text::text(&mut reading.cursor)?;
            reading.cursor.expect(b':')?;
            each(&name, reading)
        })
    }

    /// Reads a list: `each` reads an item.
    #[inline]
    pub(crate) fn list(
        &mut self,
        each: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.inside(b'[', b']', each)
    }

    #[inline]
    fn inside(
        &mut self,
        open: u8,
        close: u8,
        mut each: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.cursor.expect(open)?;
        if self.depth == DEPTH {
            return Err(Fault);
        }
        if self.cursor.peek() == Some(close) {
            self.cursor.step();
            return Ok(());
        }
        self.depth += 1;
        loop {
            each(self)?;
            let next = self.cursor.peek();
            self.cursor.step();
            if next == Some(close) {
                break;
            }
            if next != Some(b',') {
                return Err(Fault);
            }
        }
        self.depth -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
