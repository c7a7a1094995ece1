//! What a stretch of output may hold, seen in one quick pass over all its lines.

/// What may be in a line. What is not here is certainly not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hints {
    /// Certain single bytes.
    pub marks: Marks,
    /// A number that may be that of a line.
    pub number: Number,
    /// A word that may speak of an error.
    pub error: bool,
}

/// Single bytes that few lines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// A slash.
    pub slash: bool,
    /// A dollar sign.
    pub dollar: bool,
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
    pub(crate) const UNKNOWN: Self =
        Self { marks: Marks { slash: true, dollar: true }, number: Number::Colon, error: true };

    /// What is in these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { error: may_tell(bytes), ..Self::of_places(bytes) }
    }

    /// The same where nobody looks for words that speak of an error. What is there is most often found
    /// soon.
    pub(crate) fn of_places(bytes: &[u8]) -> Self {
        let is_number = |at: usize| bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let has_number = |mark: u8| memchr::memchr_iter(mark, bytes).any(is_number);
        let number = if has_number(b':') {
            Number::Colon
        } else if has_number(b'(') {
            Number::Bracket
        } else {
            Number::Nothing
        };
        let slash = memchr::memchr(b'/', bytes).is_some();
        let dollar = memchr::memchr(b'$', bytes).is_some();
        Self { marks: Marks { slash, dollar }, number, error: false }
    }
}

/// Whether three letters stand somewhere that are in one of the words for an error: error, fatal,
/// cannot, not found, failed, panic, exception. Nothing in here depends on what came before, so that
/// the compiler can look at many bytes at once.
pub(crate) fn may_tell(bytes: &[u8]) -> bool {
    let second = bytes.get(1..).unwrap_or_default();
    let third = bytes.get(2..).unwrap_or_default();
    let mut told = 0_u8;
    for ((a, b), c) in bytes.iter().zip(second).zip(third) {
        let (a, b, c) = (*a | 0x20, *b | 0x20, *c | 0x20);
        let is = |word: [u8; 3]| {
            u8::from(a == word[0]) & u8::from(b == word[1]) & u8::from(c == word[2])
        };
        told |= is(*b"rro") | is(*b"fat") | is(*b"ot ") | is(*b"ail") | is(*b"pan") | is(*b"xce");
    }
    told != 0
}

#[cfg(test)]
mod tests {
    use super::{Hints, Marks, Number};

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
            let want = Hints { marks: Marks { slash, dollar: false }, number, error: false };
            assert_eq!(Hints::of(text.as_bytes()), want, "{text}");
            let long = format!("{}{text}", "x ".repeat(100));
            assert_eq!(Hints::of(long.as_bytes()), want, "{long}");
        }
    }
}
