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
    rest.iter().zip(followers).position(|(byte, after)| mark(*byte, *after) != 0).map(|i| at + i)
}

/// The first mark of a block.
fn first(block: &[u8; BLOCK], after: &[u8; BLOCK]) -> Option<usize> {
    let mut marks = [0_u8; BLOCK];
    for ((found, byte), after) in marks.iter_mut().zip(block).zip(after) {
        *found = mark(*byte, *after);
    }
    let marks = u128::from_le_bytes(marks);
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
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
