//! Field types that take any JSON: a client's next release may change a field's type, and that
//! must never make a line unreadable. What does not fit reads as absent.
//!
//! A layer over `serde_json`, which decides what is JSON. Strings without escapes are borrowed, and
//! what nobody asks for is skipped at any depth.

mod field;
mod mend;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) use self::field::{Content, Flag, List, Maybe, Num, Text, TextOrList};
pub(crate) use self::mend::mended;

/// An object of which the named members are read, and all others skipped: a struct, with the name
/// of the member in front of each field. A member that is missing leaves its field empty; of two
/// with one name the later counts.
macro_rules! object {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<$life:lifetime> $fields:tt) => {
        $crate::client::lenient::object! { @struct ($(#[$meta])* $vis) $name (<$life>) $fields }
        $crate::client::lenient::object! { @read $life $name (<$life>) $fields }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $fields:tt) => {
        $crate::client::lenient::object! { @struct ($(#[$meta])* $vis) $name () $fields }
        $crate::client::lenient::object! { @read 'any $name () $fields }
    };
    (@struct ($($head:tt)*) $name:ident ($($life:tt)*) {
        $($(#[$meta:meta])* $key:literal => $vis:vis $field:ident: $kind:ty),* $(,)?
    }) => {
        #[derive(Default)]
        $($head)* struct $name $($life)* { $($(#[$meta])* $vis $field: $kind),* }
    };
    (@read $any:lifetime $name:ident ($($life:tt)*) {
        $($(#[$meta:meta])* $key:literal => $vis:vis $field:ident: $kind:ty),* $(,)?
    }) => {
        impl<$any> serde::Deserialize<$any> for $name $($life)* {
            fn deserialize<D: serde::Deserializer<$any>>(from: D) -> Result<Self, D::Error> {
                struct Members;
                impl<$any> serde::de::Visitor<$any> for Members {
                    type Value = $name $($life)*;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<$any>>(
                        self,
                        mut members: A,
                    ) -> Result<Self::Value, A::Error> {
                        let mut read = Self::Value::default();
                        while let Some(name) =
                            members.next_key::<$crate::client::lenient::Text<'_>>()?
                        {
                            match &*name {
                                $($key => read.$field = members.next_value()?,)*
                                _ => {
                                    members.next_value::<serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(read)
                    }
                }
                from.deserialize_map(Members)
            }
        }
    };
}
pub(crate) use object;

/// A value as it stands, to be read later, otherwise or not at all.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Raw<'a>(#[serde(borrow)] &'a RawValue);

impl<'a> Raw<'a> {
    /// The value's text, which is JSON.
    pub(crate) fn get(self) -> &'a str {
        self.0.get()
    }
}

object! {
    struct Block<'a> {
        "text" => text: Text<'a>,
    }
}

/// Reads one JSON text, which must be one and fit.
pub(crate) fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// Some JSON read as `T`, or `T`'s default when it is none.
pub(crate) fn read<'a, T: Deserialize<'a> + Default>(raw: Option<Raw<'a>>) -> T {
    raw.and_then(|raw| from_str(raw.get()).ok()).unwrap_or_default()
}

/// The text in some JSON that holds text: a string itself, the joined `text` of a list of content
/// blocks, or the JSON as it stands.
pub(crate) fn content_text(raw: Option<Raw<'_>>) -> Cow<'_, str> {
    let Some(raw) = raw else { return Cow::Borrowed("") };
    match raw.get().bytes().next() {
        Some(b'"') => read::<Text<'_>>(Some(raw)).0,
        Some(b'[') => {
            let mut blocks = read::<List<Block<'_>>>(Some(raw)).0;
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
mod tests;
