//! Lines of which very many are taken at once.

/// So many bytes are looked at together.
const BLOCK: usize = 64;

/// What was taken of some lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skimmed {
    /// How many bytes, line ends included.
    pub bytes: usize,
    /// How many lines.
    pub lines: u64,
}

impl Skimmed {
    /// These, and those that follow.
    #[must_use]
    pub(crate) const fn and(self, more: Self) -> Self {
        Self { bytes: self.bytes + more.bytes, lines: self.lines + more.lines }
    }
}

/// The lines at the start of these up to the first that is another, as its first three bytes say. All
/// have their end. Nothing in here depends on what came before, so that the compiler can look at many
/// bytes at once.
pub(crate) fn up_to_other(lines: &[u8], is_other: impl Fn([u8; 3]) -> bool) -> Skimmed {
    let mut taken = Skimmed::default();
    if lines.is_empty() || is_other(head(lines)) {
        return taken;
    }
    let mut at = 0;
    while let Some([a, b, c, d]) = shifted(lines.get(at..).unwrap_or_default()) {
        let (mut ends, mut others) = (0_u8, 0_u8);
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            let is_end = u8::from(*a == b'\n');
            ends += is_end;
            others |= is_end & u8::from(is_other([*b, *c, *d]));
        }
        if others != 0 {
            break;
        }
        (at, taken.lines) = (at + BLOCK, taken.lines + u64::from(ends));
    }
    let rest = lines.get(at..).unwrap_or_default();
    for end in memchr::memchr_iter(b'\n', rest) {
        taken = Skimmed { bytes: at + end + 1, lines: taken.lines + 1 };
        let next = lines.get(taken.bytes..).unwrap_or_default();
        if !next.is_empty() && is_other(head(next)) {
            return taken;
        }
    }
    Skimmed { bytes: lines.len(), ..taken }
}

/// The first three bytes; ends of lines where there are fewer.
fn head(bytes: &[u8]) -> [u8; 3] {
    [0, 1, 2].map(|at| bytes.get(at).copied().unwrap_or(b'\n'))
}

/// A block of bytes, and those that are one, two and three bytes further on.
fn shifted(bytes: &[u8]) -> Option<[&[u8; BLOCK]; 4]> {
    let from = |at: usize| bytes.get(at..)?.first_chunk();
    Some([from(0)?, from(1)?, from(2)?, from(3)?])
}

#[cfg(test)]
mod tests {
    use super::up_to_other;

    #[test]
    fn lines_are_taken_up_to_the_first_that_is_another() {
        let is_other = |head: [u8; 3]| head == *b"abc" || head == *b"x\n\n";
        for before in (0..200).chain([1_000, 5_000]) {
            let lines = "  some text\n\nab\n \u{25cf} abc\n".repeat(before);
            let taken = up_to_other(lines.as_bytes(), is_other);
            assert_eq!((taken.bytes, taken.lines), (lines.len(), 4 * before as u64), "{before}");
            for after in ["abc\nab\n", "x\n\nab\n", "abcd\n"] {
                let more = format!("{lines}{after}{lines}");
                assert_eq!(up_to_other(more.as_bytes(), is_other), taken, "{before} {after}");
            }
        }
    }
}
