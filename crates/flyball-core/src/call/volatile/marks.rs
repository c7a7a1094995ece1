//! Where something volatile may be: the few bytes that are worth a look.
//!
//! Whole blocks without any are skipped; the comparisons in a block are independent of each other,
//! so that the compiler makes a few wide ones of them.

/// How many bytes are looked at together.
const BLOCK: usize = 16;

/// The places that are worth a look, with those of one block found already.
#[derive(Default)]
pub(super) struct Marks {
    /// Where the block ends; nothing is known of what lies behind it.
    end: usize,
    /// A bit for each of its bytes, the first one lowest: whether it is worth a look.
    found: u16,
}

impl Marks {
    /// The first place at or behind `from` that is worth a look: a digit, a slash before a letter
    /// that may begin a temporary path, a dash inside a word, and white space that is more than one
    /// blank. `from` never goes back.
    #[inline]
    pub(super) fn next(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let left = self.end.saturating_sub(from);
        if (1..=BLOCK).contains(&left) {
            let found = self.found >> (BLOCK - left);
            if found != 0 {
                return Some(from + found.trailing_zeros() as usize);
            }
        }
        self.search(bytes, from.max(self.end))
    }

    /// The first place in the blocks from `from` on.
    fn search(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(rest) = bytes.get(at..)
            && let Some(block) = rest.first_chunk::<BLOCK>()
            && let Some(after) = rest.get(1..).and_then(<[u8]>::first_chunk::<BLOCK>)
        {
            let found = marks(block, after);
            if found != 0 {
                (self.end, self.found) = (at + BLOCK, found);
                return Some(at + found.trailing_zeros() as usize);
            }
            at += BLOCK;
        }
        let rest = bytes.get(at..)?;
        let followers = rest.iter().skip(1).chain(&[0]);
        let found = rest.iter().zip(followers).position(|(byte, after)| mark(*byte, *after) != 0);
        found.map(|found| at + found)
    }
}

/// The marks of a block, a bit each.
#[inline]
fn marks(block: &[u8; BLOCK], after: &[u8; BLOCK]) -> u16 {
    let mut marks = [0_u8; BLOCK];
    for ((found, byte), after) in marks.iter_mut().zip(block).zip(after) {
        *found = mark(*byte, *after);
    }
    let marks = u128::from_le_bytes(marks);
    if marks == 0 {
        return 0;
    }
    let (low, high) = (gathered(marks), gathered(marks >> 64));
    u16::from_le_bytes([low, high])
}

/// The lowest bits of the lower eight bytes, of which no other is set.
#[expect(clippy::cast_possible_truncation, reason = "the upper half is another's")]
const fn gathered(bytes: u128) -> u8 {
    // Moves the bit of byte `i` to place `56 + i`, and no other there.
    const PLACES: u64 = 0x0102_0408_1020_4080;
    ((bytes as u64).wrapping_mul(PLACES) >> 56) as u8
}

/// 1 when a byte is worth a look, by itself and the one after it, 0 otherwise. Numbers, because
/// with them nothing is decided before everything is compared.
fn mark(byte: u8, after: u8) -> u8 {
    let digit = u8::from(byte.is_ascii_digit());
    let white = u8::from(matches!(byte, b'\t'..=b'\r'));
    let blanks = u8::from(byte == b' ') & u8::from(after <= b' ');
    let path = u8::from(byte == b'/') & u8::from(after >= b'p');
    let dash = u8::from(byte == b'-') & u8::from(after >= b'0');
    digit | white | blanks | path | dash
}
