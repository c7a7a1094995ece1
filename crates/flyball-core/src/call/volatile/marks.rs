//! Where something volatile may be: the few bytes that are worth a look.
//!
//! Whole blocks without any are skipped; the comparisons in a block are independent of each other,
//! so that the compiler makes a few wide ones of them.

/// How many bytes are looked at together.
const BLOCK: usize = 16;

/// The first place at or behind `from` that is worth a look: a digit, a slash before a letter that
/// may begin a temporary path, a dash inside a word, and white space that is more than one blank.
pub(super) fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(rest) = bytes.get(at..)
        && let Some(block) = rest.first_chunk::<BLOCK>()
        && let Some(after) = rest.get(1..).and_then(<[u8]>::first_chunk::<BLOCK>)
    {
        if let Some(mark) = first(block, after) {
            return Some(at + mark);
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..)?;
    let followers = rest.iter().skip(1).chain(&[0]);
    rest.iter().zip(followers).position(|(byte, after)| is_mark(*byte, *after)).map(|i| at + i)
}

/// The first mark of a block.
fn first(block: &[u8; BLOCK], after: &[u8; BLOCK]) -> Option<usize> {
    let mut marks = [0_u8; BLOCK];
    for ((mark, byte), after) in marks.iter_mut().zip(block).zip(after) {
        *mark = u8::from(is_mark(*byte, *after));
    }
    let marks = u128::from_le_bytes(marks);
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

/// Whether a byte is worth a look, by itself and the one after it.
const fn is_mark(byte: u8, after: u8) -> bool {
    (byte.wrapping_sub(b'0') < 10)
        | (byte.wrapping_sub(b'\t') < 5)
        | ((byte == b' ') & (after <= b' '))
        | ((byte == b'/') & (after >= b'p'))
        | ((byte == b'-') & (after >= b'0'))
}
