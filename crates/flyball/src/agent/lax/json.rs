//! Reads JSON lines faster than `serde_json`, for types of [`super`] and such as are made of them:
//! a stream is mostly strings that nobody looks at. What is JSON and what is not is the same, but
//! for escapes that JSON does not know: they stand for themselves.

mod cursor;
mod text;

use std::borrow::Cow;

use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use self::cursor::Cursor;
pub(crate) use self::cursor::Fault;
use super::raw::RAW;

/// How a type asks for a string before anything else.
pub(super) const TEXT: &str = "flyball::Text";
/// How deeply what is looked at may be nested, as with `serde_json`; what is skipped has no limit.
const DEPTH: u8 = 127;

/// Reads one JSON text, which must be one and fit.
#[inline]
pub(crate) fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Fault> {
    // Control characters are rare: they are looked for once, and never again where there are none.
    if text.bytes().fold(u8::MAX, u8::min) < b' ' && cursor::control_in_string(text) {
        return Err(Fault);
    }
    let mut reading = Reading { cursor: Cursor::new(text), depth: 0 };
    let read = T::deserialize(&mut reading);
    if reading.cursor.ended() { read } else { Err(Fault) }
}

struct Reading<'a> {
    cursor: Cursor<'a>,
    depth: u8,
}

impl<'a> Reading<'a> {
    fn string<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, Fault> {
        match text::text(&mut self.cursor)? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn number<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, Fault> {
        let digits = self.cursor.number()?;
        if digits == "-0" {
            return visitor.visit_f64(-0.0);
        }
        if let Ok(whole) = digits.parse::<u64>() {
            return visitor.visit_u64(whole);
        }
        if let Ok(whole) = digits.parse::<i64>() {
            return visitor.visit_i64(whole);
        }
        match digits.parse::<f64>() {
            Ok(number) if number.is_finite() => visitor.visit_f64(number),
            Ok(_) | Err(_) => Err(Fault),
        }
    }

    /// Reads the inside of an object or a list, and sees to it that all of it was read.
    fn inside<T>(
        &mut self,
        close: u8,
        read: impl FnOnce(&mut Inside<'_, 'a>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth == DEPTH {
            return Err(Fault);
        }
        self.depth += 1;
        let mut inside = Inside { reading: self, close, at: At::Begin };
        // What is read may be large: it is handed on as it is and never taken apart.
        let read = read(&mut inside);
        // A fixed number of parts is read without asking for a further one.
        let whole = !inside.next().unwrap_or(true);
        self.depth -= 1;
        if whole { read } else { Err(Fault) }
    }
}

impl<'a> Deserializer<'a> for &mut Reading<'a> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.cursor.peek() {
            Some(b'"') => self.string(visitor),
            Some(b'{') => {
                self.cursor.step();
                self.inside(b'}', |inside| visitor.visit_map(inside))
            }
            Some(b'[') => {
                self.cursor.step();
                self.inside(b']', |inside| visitor.visit_seq(inside))
            }
            Some(b't') => self.cursor.word("true").and_then(|()| visitor.visit_bool(true)),
            Some(b'f') => self.cursor.word("false").and_then(|()| visitor.visit_bool(false)),
            Some(b'n') => self.cursor.word("null").and_then(|()| visitor.visit_unit()),
            Some(_) => self.number(visitor),
            None => Err(Fault),
        }
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.cursor.peek() == Some(b'n') {
            return self.cursor.word("null").and_then(|()| visitor.visit_none());
        }
        visitor.visit_some(self)
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.cursor.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == RAW {
            return visitor.visit_borrowed_str(self.cursor.raw()?);
        }
        if name == TEXT && self.cursor.peek() == Some(b'"') {
            return self.string(visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier
    }
}

/// How far an object or a list was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    Between,
    End,
}

/// The inside of an object or a list.
struct Inside<'r, 'a> {
    reading: &'r mut Reading<'a>,
    close: u8,
    at: At,
}

impl Inside<'_, '_> {
    /// Goes to the next part; false when there is none.
    fn next(&mut self) -> Result<bool, Fault> {
        if self.at == At::End {
            return Ok(false);
        }
        let cursor = &mut self.reading.cursor;
        let next = cursor.peek().ok_or(Fault)?;
        if next == self.close {
            cursor.step();
            self.at = At::End;
            return Ok(false);
        }
        if self.at == At::Between {
            cursor.expect(b',')?;
        }
        self.at = At::Between;
        Ok(true)
    }
}

impl<'a> MapAccess<'a> for &mut Inside<'_, 'a> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        if !self.next()? {
            return Ok(None);
        }
        let cursor = &mut self.reading.cursor;
        if cursor.peek() != Some(b'"') {
            return Err(Fault);
        }
        match text::text(cursor)? {
            Cow::Borrowed(name) => seed.deserialize(BorrowedStrDeserializer::new(name)),
            Cow::Owned(name) => seed.deserialize(StringDeserializer::new(name)),
        }
        .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        self.reading.cursor.expect(b':')?;
        seed.deserialize(&mut *self.reading)
    }
}

impl<'a> SeqAccess<'a> for &mut Inside<'_, 'a> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        if !self.next()? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reading).map(Some)
    }
}

#[cfg(test)]
mod tests;
