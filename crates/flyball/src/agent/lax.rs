//! Field types that take any JSON: a client's next release may change a field's type, and that
//! must never make a line unreadable. What does not fit reads as absent.

mod json;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) use self::json::{Fault, Fill, Reading, fill, from_str};

/// An object of which the named members are read, and all others skipped: a struct, with the name
/// of the member in front of each field. A member that is missing leaves its field as it was; of
/// two with one name the later counts.
macro_rules! object {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<$life:lifetime> $fields:tt) => {
        $crate::agent::lax::object! { @struct ($(#[$meta])* $vis) $name (<$life>) $fields }
        $crate::agent::lax::object! { @fill $life $name (<$life>) $fields }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $fields:tt) => {
        $crate::agent::lax::object! { @struct ($(#[$meta])* $vis) $name () $fields }
        $crate::agent::lax::object! { @fill 'any $name () $fields }
    };
    (@struct ($($head:tt)*) $name:ident ($($life:tt)*) {
        $($(#[$meta:meta])* $key:literal => $vis:vis $field:ident: $kind:ty),* $(,)?
    }) => {
        #[derive(Default)]
        $($head)* struct $name $($life)* { $($(#[$meta])* $vis $field: $kind),* }
    };
    (@fill $any:lifetime $name:ident ($($life:tt)*) {
        $($(#[$meta:meta])* $key:literal => $vis:vis $field:ident: $kind:ty),* $(,)?
    }) => {
        impl<$any> $crate::agent::lax::Fill<$any> for $name $($life)* {
            fn fill(
                &mut self,
                from: &mut $crate::agent::lax::Reading<$any>,
            ) -> Result<(), $crate::agent::lax::Fault> {
                from.object(|name, from| match name {
                    $($key => $crate::agent::lax::Fill::fill(&mut self.$field, from),)*
                    _ => from.skip(),
                })
            }
        }
    };
}
pub(crate) use object;

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

/// A value as it stands, to be read later, otherwise or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

object! {
    struct Block<'a> {
        "text" => text: Text<'a>,
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
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

impl<'a> Raw<'a> {
    /// The value's text, which is JSON.
    pub(crate) const fn get(self) -> &'a str {
        self.0
    }

    fn read<T: Fill<'a>>(self) -> Option<T> {
        let mut read = T::default();
        // It is part of a text that was looked at as a whole.
        json::fill_checked(self.0, &mut read).ok().map(|()| read)
    }
}

impl<'a> Fill<'a> for Text<'a> {
    #[inline]
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        if from.peek() == Some(b'"') {
            self.0 = from.text()?;
            return Ok(());
        }
        *self = Self::default();
        from.skip()
    }
}

impl<'a> Fill<'a> for Num {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        if matches!(from.peek(), Some(b'0'..=b'9' | b'-')) {
            self.0 = Some(from.number()?);
            return Ok(());
        }
        self.0 = None;
        from.skip()
    }
}

impl<'a> Fill<'a> for Flag {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        self.0 = from.peek() == Some(b't');
        from.skip()
    }
}

impl<'a> Fill<'a> for bool {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        *self = from.peek() == Some(b't');
        from.word(if *self { "true" } else { "false" })
    }
}

impl<'a, T: Fill<'a>> Fill<'a> for List<T> {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        self.0.clear();
        if from.peek() != Some(b'[') {
            return from.skip();
        }
        from.list(|from| {
            let mut item = T::default();
            item.fill(from)?;
            if self.0.is_empty() {
                // Most lists have one item.
                self.0.reserve_exact(1);
            }
            self.0.push(item);
            Ok(())
        })
    }
}

impl<'a, T: Fill<'a>> Fill<'a> for Maybe<T> {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        if from.peek() == Some(b'{') {
            return self.0.insert(T::default()).fill(from);
        }
        self.0 = None;
        from.skip()
    }
}

impl<'a, T: Fill<'a>> Fill<'a> for Option<T> {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        if from.peek() == Some(b'n') {
            *self = None;
            return from.word("null");
        }
        self.insert(T::default()).fill(from)
    }
}

impl<'a, T: Fill<'a>> Fill<'a> for BTreeMap<String, T> {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        from.object(|name, from| self.entry(name.to_owned()).or_default().fill(from))
    }
}

impl<'a> Fill<'a> for Raw<'a> {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        self.0 = from.raw()?;
        Ok(())
    }
}

impl<'a> Fill<'a> for Content<'a> {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        *self = Self::default();
        match from.peek() {
            Some(b'"') => self.0 = from.text()?,
            Some(b'[') => from.list(|from| {
                let mut block: Maybe<Block<'_>> = Maybe::default();
                block.fill(from)?;
                if let Some(block) = block.0 {
                    self.add(block.text.0);
                }
                Ok(())
            })?,
            _ => from.skip()?,
        }
        Ok(())
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

/// Some JSON read as `T`, or `T`'s default when it is none.
pub(crate) fn read<'a, T: Fill<'a>>(raw: Option<Raw<'a>>) -> T {
    raw.and_then(Raw::read).unwrap_or_default()
}

/// The text in some JSON that holds text: a string itself, the joined `text` of a list of content
/// blocks, or the JSON as it stands.
pub(crate) fn content_text(raw: Option<Raw<'_>>) -> Cow<'_, str> {
    let Some(raw) = raw else { return Cow::Borrowed("") };
    match raw.get().bytes().next() {
        Some(b'"') => raw.read::<Text<'_>>().unwrap_or_default().0,
        Some(b'[') => {
            let mut blocks = raw.read::<List<Block<'_>>>().unwrap_or_default().0;
            if blocks.iter().all(|block| block.text.is_empty()) && raw.get().len() > 2 {
                return Cow::Borrowed(raw.get());
            }
            if let [one] = blocks.as_mut_slice() {
                return std::mem::take(&mut one.text).0;
            }
            Cow::Owned(blocks.iter().map(|block| &*block.text).collect::<Vec<_>>().join("\n"))
        }
        Some(b'n') | None => Cow::Borrowed(""),
        Some(_) => Cow::Borrowed(raw.get()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_an_unexpected_type_reads_as_absent() {
        for json in ["null", "true", "1", "-1", "1.5", "[1,[2]]", r#"{"a":{"b":1}}"#] {
            assert_eq!(from_str::<Text<'_>>(json).unwrap().0, "", "{json}");
        }
        for json in ["null", "true", r#""x""#, "[1]", "{}"] {
            assert_eq!(from_str::<Num>(json).unwrap(), Num(None), "{json}");
        }
        for json in ["null", "1", r#""x""#, "[1]", "{}"] {
            assert_eq!(from_str::<Flag>(json).unwrap(), Flag(false), "{json}");
            if json != "[1]" {
                assert_eq!(from_str::<List<Num>>(json).unwrap().0, [], "{json}");
            }
        }
    }

    #[test]
    fn a_plain_string_is_borrowed() {
        let text: Text<'_> = from_str(r#""plain""#).unwrap();
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
