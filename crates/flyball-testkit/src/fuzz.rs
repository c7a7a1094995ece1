//! Inputs nobody would write by hand: recorded ones, torn apart and put together wrongly. The same seed
//! gives the same inputs.

use std::ops::Range;

use crate::sim::Rng;

/// How many inputs a test tries when nobody says otherwise; `cargo xtask fuzz` says 10,000.
const FEW: u64 = 300;
/// The largest input that is made.
const LARGEST: usize = 1 << 20;

/// What is put where it does not belong.
const TOKENS: [&str; 26] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "-0",
    "1e999",
    "18446744073709551616",
    "-9223372036854775809",
    "0.1e-400",
    "\\u0000",
    "\\ud800",
    "\\",
    "\n",
    "\r\n",
    "\u{0}",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{feff}",
    "{\"type\":",
    "\"id\":",
    "\"\":{}",
];

/// How many inputs to try.
pub fn count() -> u64 {
    std::env::var("FLYBALL_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(FEW)
}

/// Makes inputs.
#[derive(Debug)]
pub struct Fuzz(Rng);

impl Fuzz {
    /// The inputs of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    /// A number below this one.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.below(end as u64)).unwrap_or(0)
    }

    /// One of these inputs, spoiled.
    pub fn spoil(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.one(inputs);
        for _ in 0..=self.below(6) {
            self.change(&mut bytes, inputs);
            bytes.truncate(LARGEST);
        }
        bytes
    }

    /// The same bytes in pieces, as a pipe might give them.
    pub fn pieces<'b>(&mut self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let size = [1, 7, 64, 4096, 1 << 16].get(self.below(5)).copied().unwrap_or(64);
        // Byte by byte only what is short.
        bytes.chunks(size.max(bytes.len() / 4096).max(1)).collect()
    }

    fn one(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let at = self.below(inputs.len());
        inputs.get(at).cloned().unwrap_or_default()
    }

    fn range(&mut self, bytes: &[u8]) -> Range<usize> {
        let (a, b) = (self.below(bytes.len() + 1), self.below(bytes.len() + 1));
        a.min(b)..a.max(b)
    }

    fn change(&mut self, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let range = self.range(bytes);
        match self.below(9) {
            0 => {
                if let Some(byte) = bytes.get_mut(range.start) {
                    *byte = u8::try_from(self.0.below(256)).unwrap_or(0);
                }
            }
            1 => bytes.truncate(range.end),
            2 => drop(bytes.drain(range)),
            3 => {
                let twice = bytes.get(range.clone()).unwrap_or_default().to_vec();
                insert(bytes, range.end, &twice);
            }
            4 => {
                let other = self.one(inputs);
                let part = self.range(&other);
                insert(bytes, range.start, other.get(part).unwrap_or_default());
            }
            5 => {
                let deep = 1 + self.below(3000);
                let open = if self.0.chance(50) { "[" } else { "{\"a\":" };
                insert(bytes, range.start, open.repeat(deep).as_bytes());
            }
            6 => {
                let long = "x".repeat(self.below(50_000));
                insert(bytes, range.start, long.as_bytes());
            }
            7 => self.swap_lines(bytes),
            _ => {
                let at = self.below(TOKENS.len());
                let token = TOKENS.get(at).copied().unwrap_or_default();
                insert(bytes, range.start, token.as_bytes());
            }
        }
    }

    fn swap_lines(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let (a, b) = (self.below(lines.len()), self.below(lines.len()));
        lines.swap(a, b);
        *bytes = lines.join(&b'\n');
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, more: &[u8]) {
    let at = at.min(bytes.len());
    bytes.splice(at..at, more.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_spoils_in_the_same_way_and_another_in_another() {
        let inputs = vec![b"{\"a\":1}\n{\"b\":[2]}\n".to_vec(), b"three".to_vec()];
        let all = |seed: u64| {
            let mut fuzz = Fuzz::new(seed);
            (0..50).map(|_| fuzz.spoil(&inputs)).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        assert!(all(3).iter().any(|input| !inputs.contains(input)));
        let bytes = [7; 1000];
        assert_eq!(Fuzz::new(1).pieces(&bytes).concat(), bytes);
    }
}
