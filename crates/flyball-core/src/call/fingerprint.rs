//! Identity of calls and results (A1): 128 bits of xxh3, compared and never taken as proof.
//!
//! Two calls are the same when tool and canonical arguments are; two results are the same when they
//! differ in nothing but volatile parts. Texts are streamed into the hash, never copied whole.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::de::{Deserializer, Error as _, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::arguments;
use super::canonical::{self, Sink};
use super::volatile::{self, SHORT};
use crate::text;

/// Identity of a call, a result or a name. Written as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint with these bits.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Its bits.
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// Identity of a text as it stands, byte for byte.
    pub fn of_text(text: &str) -> Self {
        Self(xxh3_128(text.as_bytes()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text that is no fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is 32 hexadecimal digits")]
pub struct FingerprintError;

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(FingerprintError);
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| FingerprintError)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;

        impl Visitor<'_> for Digits {
            type Value = Fingerprint;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("32 hexadecimal digits")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Fingerprint, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Digits).map_err(D::Error::custom)
    }
}

/// The arguments as canonical JSON: keys sorted at every depth, numbers by value (`1` and `1.0` are
/// one), strings exact, null members left out, the order of arrays kept. The names in `free_text`
/// are left out at the top level. No arguments at all (`null`) are the same as `{}`.
pub fn canonical_args(args: &Value, free_text: &[String]) -> String {
    let mut out = String::new();
    canonical::write(args, free_text, &mut out);
    out
}

/// Identity of a call: the tool's name and its canonical arguments.
pub fn fingerprint_call(tool: &str, args: &Value, free_text: &[String]) -> Fingerprint {
    let mut hash = Gathered::new();
    canonical::write_string(tool, &mut hash);
    canonical::write(args, free_text, &mut hash);
    hash.finish()
}

/// Identity of a call whose arguments are JSON text: that of [`fingerprint_call`] with the value it
/// stands for, without building it. Text that is no JSON counts as no arguments at all.
pub fn fingerprint_call_text(tool: &str, args: &str, free_text: &[String]) -> Fingerprint {
    let mut hash = Gathered::new();
    canonical::write_string(tool, &mut hash);
    arguments::write(args, free_text, &mut hash);
    hash.finish()
}

/// Identity of a result: what is left when volatile parts (times, durations, dates, uuids, hex ids,
/// process ids, temporary paths, white space) are taken out. Other digits stay: "3 failed" and
/// "2 failed" are two results.
pub fn fingerprint_result(text: &str) -> Fingerprint {
    let mut hash = Gathered::new();
    volatile::normalise(text, &mut hash);
    hash.finish()
}

/// The identity of a call and the first `max` characters of its canonical arguments, in one pass.
pub(super) fn identify(
    tool: &str,
    args: &Value,
    free_text: &[String],
    max: usize,
) -> (Fingerprint, String) {
    let mut sink = Previewed { hash: Gathered::new(), preview: String::new(), left: max };
    canonical::write_string(tool, &mut sink.hash);
    canonical::write(args, free_text, &mut sink);
    (sink.hash.finish(), sink.preview)
}

/// A hash that keeps the first characters of what goes into it.
struct Previewed {
    hash: Gathered,
    preview: String,
    left: usize,
}

impl Sink for Previewed {
    fn put(&mut self, part: &str) {
        self.hash.gather(part.as_bytes());
        if self.left > 0 {
            let kept = text::prefix(part, self.left);
            self.preview.push_str(kept);
            self.left = self.left.saturating_sub(kept.chars().count());
        }
    }
}

/// How many bytes are gathered: the hash takes a few large pieces much faster than many small ones.
const PENDING: usize = 1024;

/// A hash in front of which small pieces are gathered.
struct Gathered {
    /// What no longer fitted; most texts are short, and hashed at once.
    hash: Option<Xxh3>,
    pending: [u8; PENDING],
    filled: usize,
}

impl Gathered {
    const fn new() -> Self {
        Self { hash: None, pending: [0; PENDING], filled: 0 }
    }

    #[inline]
    fn gather(&mut self, bytes: &[u8]) {
        if let ([byte], Some(free)) = (bytes, self.pending.get_mut(self.filled)) {
            *free = *byte;
            self.filled += 1;
            return;
        }
        if bytes.len() > PENDING - self.filled {
            return self.pass_on(bytes);
        }
        let end = self.filled + bytes.len();
        if let Some(free) = self.pending.get_mut(self.filled..end) {
            free.copy_from_slice(bytes);
            self.filled = end;
        }
    }

    /// Hands over what was gathered, and then these.
    #[cold]
    fn pass_on(&mut self, bytes: &[u8]) {
        let hash = self.hash.get_or_insert_with(Xxh3::new);
        hash.update(self.pending.get(..self.filled).unwrap_or(&[]));
        self.filled = 0;
        if bytes.len() > PENDING {
            hash.update(bytes);
        } else {
            self.gather(bytes);
        }
    }

    fn finish(self) -> Fingerprint {
        let rest = self.pending.get(..self.filled).unwrap_or(&[]);
        Fingerprint(match self.hash {
            None => xxh3_128(rest),
            Some(mut hash) => {
                hash.update(rest);
                hash.digest128()
            }
        })
    }
}

impl Sink for Gathered {
    fn put(&mut self, part: &str) {
        self.gather(part.as_bytes());
    }
}

impl volatile::Sink for Gathered {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.gather(bytes);
    }

    #[inline]
    fn put_short(&mut self, block: &[u8; SHORT], length: usize) {
        match self.pending.get_mut(self.filled..).and_then(<[u8]>::first_chunk_mut) {
            Some(free) => {
                *free = *block;
                self.filled += length.min(SHORT);
            }
            None => self.gather(block.get(..length).unwrap_or(block)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_fingerprint_is_written_and_read_as_32_digits() {
        let small = Fingerprint::from_bits(0xab);
        assert_eq!(small.to_string(), "000000000000000000000000000000ab");
        let json = serde_json::to_string(&small).unwrap();
        assert_eq!(json, "\"000000000000000000000000000000ab\"");
        assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), small);
        for wrong in ["\"ab\"", "\"+00000000000000000000000000000ab\"", "171", "\"\""] {
            assert!(serde_json::from_str::<Fingerprint>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_one_pass_identity_is_the_plain_one_and_its_preview_is_cut_by_characters() {
        let args = serde_json::json!({ "a": "äöü".repeat(50), "reason": "x" });
        let free = [String::from("reason")];
        let (call, preview) = identify("tool", &args, &free, 9);
        assert_eq!(call, fingerprint_call("tool", &args, &free));
        assert_eq!(preview, "{\"a\":\"äöü");
    }
}
