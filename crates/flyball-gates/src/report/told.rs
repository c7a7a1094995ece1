//! Which lines were told, by what they look like.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::SEEN_MAX;

/// Lines, by what they look like.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(HashSet<u64, BuildHasherDefault<AsItIs>>);

impl Told {
    /// Notes a line.
    pub(super) fn note(&mut self, line: &[u8]) {
        if self.0.len() < SEEN_MAX {
            self.0.insert(look(line));
        }
    }

    /// Whether a line was noted.
    pub(super) fn has(&self, line: &[u8]) -> bool {
        !self.0.is_empty() && self.0.contains(&look(line))
    }

    /// Whether nobody told these words before; notes that somebody has now.
    pub(super) fn is_new(&mut self, words: &[&str]) -> bool {
        let add = |sum: u64, word: &&str| sum.rotate_left(31) ^ look(word.as_bytes());
        let look = words.iter().fold(0, add);
        if self.0.len() < SEEN_MAX { self.0.insert(look) } else { !self.0.contains(&look) }
    }
}

/// A number that is spread well enough already.
#[derive(Clone, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = look(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// What a line looks like, eight bytes at a time: very many lines are asked.
pub(crate) fn look(line: &[u8]) -> u64 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = line.as_chunks::<8>();
    let mut look = (line.len() as u64).wrapping_mul(SPREAD);
    for word in words {
        look = (look.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(SPREAD);
    }
    for byte in rest {
        look = (look.rotate_left(23) ^ u64::from(*byte)).wrapping_mul(SPREAD);
    }
    look ^ (look >> 32)
}
