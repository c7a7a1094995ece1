//! The field types.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Block;

/// A string; anything else is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

/// A number; anything else is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Num(pub(crate) Option<f64>);

/// A truth value; anything else is false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

/// A list of what can be read as `T`; anything else is an empty list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

/// An object read as `T`; anything else is none.
#[derive(Clone, Debug)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

/// Content that is text: a string, or the joined `text` of a list of blocks; read in one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content<'a>(pub(crate) Cow<'a, str>);

/// A string, or a list of what can be read as `T`; anything else is an empty list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextOrList<'a, T> {
    Text(Cow<'a, str>),
    List(Vec<T>),
}

/// What a value of each kind means; where nothing is said it means nothing.
trait Lenient<'a>: Default {
    fn text(_text: Cow<'a, str>) -> Self {
        Self::default()
    }

    fn number(_number: f64) -> Self {
        Self::default()
    }

    fn yes() -> Self {
        Self::default()
    }

    fn list<A: SeqAccess<'a>>(mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn object<A: MapAccess<'a>>(mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct AnyKind<T>(PhantomData<T>);

impl<'a, T: Lenient<'a>> Visitor<'a> for AnyKind<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        Ok(T::number(number))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<T, E> {
        Ok(if truth { T::yes() } else { T::default() })
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, items: A) -> Result<T, A::Error> {
        T::list(items)
    }

    fn visit_map<A: MapAccess<'a>>(self, members: A) -> Result<T, A::Error> {
        T::object(members)
    }
}

fn lenient<'a, D: Deserializer<'a>, T: Lenient<'a>>(from: D) -> Result<T, D::Error> {
    from.deserialize_any(AnyKind(PhantomData))
}

impl<'a> Lenient<'a> for Text<'a> {
    fn text(text: Cow<'a, str>) -> Self {
        Self(text)
    }
}

impl<'a> Deserialize<'a> for Text<'a> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

impl Lenient<'_> for Num {
    fn number(number: f64) -> Self {
        Self(Some(number))
    }
}

impl<'a> Deserialize<'a> for Num {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

impl Lenient<'_> for Flag {
    fn yes() -> Self {
        Self(true)
    }
}

impl<'a> Deserialize<'a> for Flag {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

impl<'a, T: Deserialize<'a>> Lenient<'a> for List<T> {
    fn list<A: SeqAccess<'a>>(mut items: A) -> Result<Self, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            if list.is_empty() {
                // Most lists have one item.
                list.reserve_exact(1);
            }
            list.push(item);
        }
        Ok(Self(list))
    }
}

impl<'a, T: Deserialize<'a>> Deserialize<'a> for List<T> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

impl<'a, T: Deserialize<'a>> Lenient<'a> for TextOrList<'a, T> {
    fn text(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }

    fn list<A: SeqAccess<'a>>(items: A) -> Result<Self, A::Error> {
        List::list(items).map(|list| Self::List(list.0))
    }
}

impl<'a, T: Deserialize<'a>> Deserialize<'a> for TextOrList<'a, T> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

impl<'a, T: Deserialize<'a>> Lenient<'a> for Maybe<T> {
    fn object<A: MapAccess<'a>>(members: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(|read| Self(Some(read)))
    }
}

impl<'a, T: Deserialize<'a>> Deserialize<'a> for Maybe<T> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

impl<'a> Lenient<'a> for Content<'a> {
    fn text(text: Cow<'a, str>) -> Self {
        Self(text)
    }

    fn list<A: SeqAccess<'a>>(mut items: A) -> Result<Self, A::Error> {
        let mut content = Self::default();
        while let Some(block) = items.next_element::<Maybe<Block<'a>>>()? {
            if let Some(block) = block.0 {
                content.add(block.text.0);
            }
        }
        Ok(content)
    }
}

impl<'a> Deserialize<'a> for Content<'a> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

impl<'a> Content<'a> {
    fn add(&mut self, text: Cow<'a, str>) {
        if self.0.is_empty() {
            self.0 = text;
        } else {
            let joined = self.0.to_mut();
            joined.push('\n');
            joined.push_str(&text);
        }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Default for TextOrList<'_, T> {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Num {
    /// As a count; negative and missing numbers are 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, which is what a count of tokens from outside needs"
    )]
    pub(crate) fn count(self) -> u64 {
        self.0.map_or(0, |number| number as u64)
    }

    /// As a small whole number, where it is one.
    pub(crate) fn status(self) -> Option<u16> {
        u16::try_from(self.0.map(|_| self.count())?).ok()
    }
}
