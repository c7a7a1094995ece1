//! Tables of small records as one text: a session's state is stored often, and stays small.

use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serializer};

/// Writes records of equal length.
pub(in crate::call) fn serialize<S: Serializer, const N: usize>(
    records: impl Iterator<Item = [u8; N]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = records.flatten().collect();
    serializer.serialize_str(&STANDARD_NO_PAD.encode(bytes))
}

/// Reads them back.
pub(in crate::call) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
    deserializer: D,
) -> Result<Vec<[u8; N]>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = STANDARD_NO_PAD.decode(text).map_err(D::Error::custom)?;
    let (records, rest) = bytes.as_chunks::<N>();
    if rest.is_empty() {
        Ok(records.to_vec())
    } else {
        Err(D::Error::custom(format_args!("a table that is no multiple of {N} bytes")))
    }
}

/// The number that stands here; 0 behind the end.
pub(in crate::call) fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |four| u32::from_le_bytes(*four))
}
