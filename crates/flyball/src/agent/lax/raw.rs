//! A value as it stands in the line, to be read later, otherwise or not at all.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Visitor};

/// How [`Raw`] asks [`super::json`] for a value as it stands; nothing else understands it.
pub(super) const RAW: &str = "flyball::Raw";

/// A value as it stands. Only [`super::from_str`] can read one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The value's text, which is JSON.
    pub(crate) const fn get(self) -> &'a str {
        self.0
    }
}

struct RawVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for RawVisitor<'a> {
    type Value = Raw<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value as it stands")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Raw(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_newtype_struct(RAW, RawVisitor(PhantomData))
    }
}
