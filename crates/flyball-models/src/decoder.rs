//! What the readers of all formats share.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;

use crate::trouble::{Trouble, short};

/// What an event meant for the answer as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// There may be more.
    More,
    /// That was the end.
    Whole,
}

/// A text inside an event, borrowed from it where nothing is escaped. serde borrows a bare `Cow` only.
#[derive(Debug, Deserialize)]
pub(crate) struct Str<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Reads the data of an event.
pub(crate) fn read<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, Trouble> {
    serde_json::from_str(data).map_err(|error| {
        let shown: String = data.chars().take(200).collect();
        Trouble::Unreadable(format!("{error}: {}", short(&shown)))
    })
}
