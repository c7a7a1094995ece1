//! What a stretch of output may hold, seen in one quick pass over all its lines.

/// What may be in a line. What is not here is certainly not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hints {
    /// A slash.
    pub slash: bool,
    /// A number that may be that of a line.
    pub number: Number,
}

/// What comes right before a digit; every place has one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// Neither a colon nor a bracket.
    Nothing,
    /// Only an opening bracket.
    Bracket,
    /// A colon.
    Colon,
}

impl Hints {
    /// Nobody has looked.
    pub(crate) const UNKNOWN: Self = Self { slash: true, number: Number::Colon };

    /// What is in these bytes. Nothing in here depends on what came before, so that the compiler
    /// can look at many bytes at once.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let (mut slash, mut colon, mut bracket) = (0_u8, 0_u8, 0_u8);
        for (byte, after) in bytes.iter().zip(bytes.get(1..).unwrap_or_default()) {
            let number = u8::from(after.is_ascii_digit());
            slash |= u8::from(*byte == b'/');
            colon |= u8::from(*byte == b':') & number;
            bracket |= u8::from(*byte == b'(') & number;
        }
        let number = match (colon, bracket) {
            (0, 0) => Number::Nothing,
            (0, _) => Number::Bracket,
            (_, _) => Number::Colon,
        };
        Self { slash: slash != 0 || bytes.last() == Some(&b'/'), number }
    }
}

#[cfg(test)]
mod tests {
    use super::{Hints, Number};

    #[test]
    fn what_is_there_is_seen() {
        let table = [
            ("", false, Number::Nothing),
            ("test a::b ... ok", false, Number::Nothing),
            ("a/b", true, Number::Nothing),
            ("b/", true, Number::Nothing),
            ("a.c:3", false, Number::Colon),
            ("a.c(3,4)", false, Number::Bracket),
            ("(3 :4", false, Number::Colon),
            ("1: (a)", false, Number::Nothing),
        ];
        for (text, slash, number) in table {
            let want = Hints { slash, number };
            assert_eq!(Hints::of(text.as_bytes()), want, "{text}");
            let long = format!("{}{text}", "x ".repeat(100));
            assert_eq!(Hints::of(long.as_bytes()), want, "{long}");
        }
    }
}
