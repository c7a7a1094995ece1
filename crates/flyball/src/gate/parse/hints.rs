//! What a stretch of output may hold, seen in one quick pass over all its lines.

/// What may be in a line. What is not here is certainly not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hints {
    /// A slash.
    pub slash: bool,
    /// A colon with a digit after it.
    pub colon_number: bool,
    /// A colon or an opening bracket with a digit after it, as every place has.
    pub place: bool,
}

impl Hints {
    /// Nobody has looked.
    pub(super) const UNKNOWN: Self = Self { slash: true, colon_number: true, place: true };

    /// What is in these bytes. Nothing in here depends on what came before, so that the compiler
    /// can look at many bytes at once.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let (mut slash, mut colon, mut bracket) = (0_u8, 0_u8, 0_u8);
        for (byte, after) in bytes.iter().zip(bytes.get(1..).unwrap_or_default()) {
            let number = u8::from(after.is_ascii_digit());
            slash |= u8::from(*byte == b'/');
            colon |= u8::from(*byte == b':') & number;
            bracket |= u8::from(*byte == b'(') & number;
        }
        Self {
            slash: slash != 0 || bytes.last() == Some(&b'/'),
            colon_number: colon != 0,
            place: colon != 0 || bracket != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Hints;

    #[test]
    fn what_is_there_is_seen() {
        let table = [
            ("", [false, false, false]),
            ("test a::b ... ok", [false, false, false]),
            ("a/b", [true, false, false]),
            ("b/", [true, false, false]),
            ("a.c:3", [false, true, true]),
            ("a.c(3,4)", [false, false, true]),
            ("1: (a)", [false, false, false]),
        ];
        for (text, [slash, colon_number, place]) in table {
            let want = Hints { slash, colon_number, place };
            assert_eq!(Hints::of(text.as_bytes()), want, "{text}");
            let long = format!("{}{text}", "x ".repeat(100));
            assert_eq!(Hints::of(long.as_bytes()), want, "{long}");
        }
    }
}
