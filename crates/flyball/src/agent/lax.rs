//! Field types that take any JSON: a client's next release may change a field's type, and that
//! must never make a line unreadable. What does not fit reads as absent.

mod json;
mod raw;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use self::json::TEXT;
pub(crate) use self::json::from_str;
pub(crate) use self::raw::Raw;

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

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
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

macro_rules! nothing_else {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method<E>(self, _: $kind) -> Result<Self::Value, E> { Ok(Self::Value::default()) })*
    };
}

macro_rules! no_containers {
    () => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

macro_rules! no_list {
    () => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

struct TextVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
    type Value = Text<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text)))
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
    nothing_else!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);
    no_containers!();
    no_list!();
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_newtype_struct(TEXT, TextVisitor(PhantomData))
    }
}

struct NumVisitor;

impl<'de> Visitor<'de> for NumVisitor {
    type Value = Num;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens stay far below 2^53")]
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Num(Some(number as f64)))
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens stay far below 2^53")]
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Num(Some(number as f64)))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Num(Some(number)))
    }
    nothing_else!(visit_bool: bool, visit_str: &str);
    no_containers!();
    no_list!();
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NumVisitor)
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Flag(flag))
    }
    nothing_else!(visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);
    no_containers!();
    no_list!();
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(FlagVisitor)
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<T>()? {
            items.push(item);
        }
        Ok(List(items))
    }
    nothing_else!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);
    no_containers!();
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ListVisitor(PhantomData))
    }
}

/// Content that is text: a string, or the joined `text` of a list of blocks; read in one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content<'a>(pub(crate) Cow<'a, str>);

#[derive(serde::Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
}

struct ContentVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for ContentVisitor<'a> {
    type Value = Content<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Content(Cow::Owned(text)))
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut joined = String::new();
        while let Some(block) = seq.next_element::<Maybe<Block<'_>>>()? {
            let Some(block) = block.0 else { continue };
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(&block.text);
        }
        Ok(Content(Cow::Owned(joined)))
    }
    nothing_else!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);
    no_containers!();
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_newtype_struct(TEXT, ContentVisitor(PhantomData))
    }
}

/// An object read as `T`; anything else is none.
#[derive(Clone, Debug)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

struct MaybeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MaybeVisitor<T> {
    type Value = Maybe<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|read| Maybe(Some(read)))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Maybe(None))
    }
    nothing_else!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);
    no_list!();
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(MaybeVisitor(PhantomData))
    }
}

/// Some JSON read as `T`, or `T`'s default when it is none.
pub(crate) fn read<'a, T: Deserialize<'a> + Default>(raw: Option<Raw<'a>>) -> T {
    raw.and_then(|raw| from_str(raw.get()).ok()).unwrap_or_default()
}

/// The text in some JSON that holds text: a string itself, the joined `text` of a list of content
/// blocks, or the JSON as it stands.
pub(crate) fn content_text(raw: Option<Raw<'_>>) -> Cow<'_, str> {
    let Some(raw) = raw.map(Raw::get) else { return Cow::Borrowed("") };
    match raw.bytes().next() {
        Some(b'"') => from_str::<Text<'_>>(raw).unwrap_or_default().0,
        Some(b'[') => {
            let mut blocks: Vec<Block<'_>> = from_str(raw).unwrap_or_default();
            if blocks.iter().all(|block| block.text.is_empty()) && raw.len() > 2 {
                return Cow::Borrowed(raw);
            }
            if let [one] = blocks.as_mut_slice() {
                return std::mem::take(&mut one.text).0;
            }
            Cow::Owned(blocks.iter().map(|block| &*block.text).collect::<Vec<_>>().join("\n"))
        }
        Some(b'n') | None => Cow::Borrowed(""),
        Some(_) => Cow::Borrowed(raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_an_unexpected_type_reads_as_absent() {
        for json in ["null", "true", "1", "-1", "1.5", "[1,[2]]", r#"{"a":{"b":1}}"#] {
            assert_eq!(serde_json::from_str::<Text<'_>>(json).unwrap().0, "", "{json}");
        }
        for json in ["null", "true", r#""x""#, "[1]", "{}"] {
            assert_eq!(serde_json::from_str::<Num>(json).unwrap(), Num(None), "{json}");
        }
        for json in ["null", "1", r#""x""#, "[1]", "{}"] {
            assert_eq!(serde_json::from_str::<Flag>(json).unwrap(), Flag(false), "{json}");
            if json != "[1]" {
                assert_eq!(serde_json::from_str::<List<Num>>(json).unwrap().0, [], "{json}");
            }
        }
    }

    #[test]
    fn a_plain_string_is_borrowed() {
        let text: Text<'_> = serde_json::from_str(r#""plain""#).unwrap();
        assert!(matches!(text.0, Cow::Borrowed("plain")));
    }

    #[test]
    fn content_is_text_whatever_shape_it_has() {
        let cases = [
            (r#""a\nb""#, "a\nb"),
            (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, "a\nb"),
            (r#"[{"type":"image"}]"#, r#"[{"type":"image"}]"#),
            (r#"{"error":"x"}"#, r#"{"error":"x"}"#),
            ("null", ""),
        ];
        for (json, text) in cases {
            let raw: Raw<'_> = from_str(json).unwrap();
            assert_eq!(content_text(Some(raw)), text);
        }
    }
}
