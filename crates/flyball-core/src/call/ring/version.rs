//! The version of stored ring state: state of another version is refused, never misread.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

const CURRENT: u32 = 2;

/// The version a stored ring was written with; reading any other than the current one fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Version(u32);

impl Default for Version {
    fn default() -> Self {
        Self(CURRENT)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let version = u32::deserialize(deserializer)?;
        if version == CURRENT {
            return Ok(Self(version));
        }
        Err(D::Error::custom(format_args!(
            "call ring state of version {version} cannot be read, only version {CURRENT}; begin a new ring"
        )))
    }
}
