//! Which recognisers want which lines, seen from a few bytes of a line: nearly all lines are of no
//! interest to nearly all of them.

use crate::hints::{Hints, Number};
use crate::place::Place;
use crate::recogniser::{Cues, Places, Trait};
use crate::text;

/// Some of the recognisers, one bit each.
pub(crate) type Set = u64;

/// The recognisers by byte.
type Table = [Set; 256];

/// How many bytes of the beginning of a line are looked at.
const HEAD: usize = 5;

/// Which recognisers want which lines while they are idle. A line is handed to those whose bytes
/// all fit; that a few others get it as well costs little, and looking closer would cost more.
#[derive(Clone)]
pub(crate) struct Wants {
    by_first: Table,
    /// By each of the first bytes of those who want a certain beginning.
    by_head: [Table; HEAD],
    /// By the first byte, of lines with a slash.
    slash: Table,
    /// By the first byte, of lines with a colon and a number.
    number: Table,
    /// By the first byte, of lines that end as `by_last` says.
    ending: Table,
    by_last: Table,
    /// By the first byte, of lines that begin with a code or, where it is small, with the name of a rule.
    code: Table,
    /// By the first byte, of lines that begin with the name of an error.
    error: Table,
    /// By the last byte of a sign of three bytes that the line begins with.
    by_sign: Table,
    any_sign: Set,
    /// By what follows the place a line begins with.
    place: Table,
    /// By the first and the last byte of the extension of its file.
    extension: [Table; 2],
}

/// The first byte of all the signs that test runners put before a result.
const SIGN: u8 = 0xe2;

impl Default for Wants {
    fn default() -> Self {
        let none = [0; 256];
        Self {
            by_first: none,
            by_head: [none; HEAD],
            slash: none,
            number: none,
            ending: none,
            by_last: none,
            code: none,
            error: none,
            by_sign: none,
            any_sign: 0,
            place: none,
            extension: [none; 2],
        }
    }
}

impl Wants {
    /// Notes what `member` wants.
    pub(crate) fn add(&mut self, member: Set, cues: &Cues) {
        mark(&mut self.by_first, cues.first, member);
        for start in cues.starts {
            self.add_start(start.as_bytes(), member);
        }
        match cues.places {
            Places::None => {}
            Places::Before(bytes) => mark(&mut self.place, bytes, member),
            Places::Of(extensions) => {
                for extension in extensions {
                    let [first, last] = &mut self.extension;
                    mark(first, extension.as_bytes().get(..1).unwrap_or_default(), member);
                    mark(last, extension.as_bytes().last_chunk::<1>().map_or(&[], |b| b), member);
                }
            }
        }
        for (first, what) in cues.also {
            match what {
                Trait::Slash => mark(&mut self.slash, first, member),
                Trait::ColonNumber => mark(&mut self.number, first, member),
                Trait::Code | Trait::RuleName => mark(&mut self.code, first, member),
                Trait::ErrorName => mark(&mut self.error, first, member),
                Trait::EndsWith(last) => {
                    mark(&mut self.ending, first, member);
                    mark(&mut self.by_last, &[*last], member);
                }
                Trait::Sign(signs) => {
                    self.any_sign |= member;
                    for sign in *signs {
                        let last = sign.encode_utf8(&mut [0; 4]).bytes().next_back();
                        mark(&mut self.by_sign, last.as_slice(), member);
                    }
                }
            }
        }
    }

    fn add_start(&mut self, start: &[u8], member: Set) {
        for (at, table) in self.by_head.iter_mut().enumerate() {
            match start.get(at) {
                Some(byte) => mark(table, &[*byte], member),
                // Any byte may follow.
                None => table.iter_mut().for_each(|members| *members |= member),
            }
        }
    }

    /// The members that want this line, its place aside.
    #[inline]
    pub(crate) fn of(&self, text: &str, hints: Hints) -> Set {
        let bytes = text.as_bytes();
        let own = bytes.get(text::indent(text)..).unwrap_or_default();
        let first = *own.first().unwrap_or(&b'\n');
        let last = *bytes.last().unwrap_or(&b'\n');
        let mut wanted = at(&self.by_first, first) | self.of_head(own);
        wanted |= at(&self.ending, first) & at(&self.by_last, last);
        let (slash, number) = (at(&self.slash, first), at(&self.number, first));
        if slash != 0 && hints.marks.slash && memchr::memchr(b'/', bytes).is_some() {
            wanted |= slash;
        }
        if number != 0 && hints.number == Number::Colon && has_number(bytes) {
            wanted |= number;
        }
        if first.is_ascii_uppercase() {
            let (code, error) = (at(&self.code, first), at(&self.error, first));
            wanted |= if is_code(own) { code } else { 0 };
            wanted |= if is_error_name(own) { error } else { 0 };
        } else if first.is_ascii_lowercase() {
            wanted |= if is_rule_name(own) { at(&self.code, first) } else { 0 };
        } else if first == SIGN {
            wanted |= self.of_sign(own);
        }
        wanted
    }

    /// The members that want lines with this place in front.
    pub(crate) fn at(&self, place: &Place<'_>) -> Set {
        let after = place.rest.as_bytes().first().unwrap_or(&b' ');
        let bytes = place.file.as_bytes();
        let extension = memchr::memrchr(b'.', bytes).and_then(|dot| bytes.get(dot + 1..));
        let ends = extension.and_then(|end| end.first().zip(end.last()));
        let by_file = ends.map_or(0, |(first, last)| {
            at(&self.extension[0], *first) & at(&self.extension[1], *last)
        });
        by_file | at(&self.place, *after)
    }

    /// The members that want a line that begins so.
    fn of_head(&self, own: &[u8]) -> Set {
        let digits = own.iter().take_while(|byte| byte.is_ascii_digit()).count();
        // A number counts as one byte, and blanks follow the end of a line.
        let rest = own.get(digits.max(1)..).unwrap_or_default();
        let first = if digits > 0 { b'0' } else { *own.first().unwrap_or(&b' ') };
        let byte = |at: usize| *rest.get(at).unwrap_or(&b' ');
        let [one, two, three, four, five] = &self.by_head;
        let most = at(one, first) & at(two, byte(0)) & at(three, byte(1));
        most & at(four, byte(2)) & at(five, byte(3))
    }

    /// The members that want a line that begins with this sign.
    fn of_sign(&self, sign: &[u8]) -> Set {
        match sign {
            // White space of a rare kind: the sign comes behind it.
            [SIGN, 0x80 | 0x81, ..] => self.any_sign,
            [SIGN, _, last, ..] => at(&self.by_sign, *last),
            _ => 0,
        }
    }
}

fn mark(table: &mut Table, bytes: &[u8], member: Set) {
    for byte in bytes {
        if let Some(members) = table.get_mut(usize::from(*byte)) {
            *members |= member;
        }
    }
}

fn at(table: &Table, byte: u8) -> Set {
    table.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Whether a colon has a digit after it.
fn has_number(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b':', bytes)
        .any(|colon| bytes.get(colon + 1).is_some_and(u8::is_ascii_digit))
}

/// Whether a digit follows a few capital letters.
fn is_code(own: &[u8]) -> bool {
    let letters = own.iter().take(7).take_while(|byte| byte.is_ascii_uppercase()).count();
    own.get(letters).is_some_and(u8::is_ascii_digit)
}

/// Whether a colon and a blank follow small letters, digits and dashes.
fn is_rule_name(own: &[u8]) -> bool {
    let is_part = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
    let length = own.iter().take(80).take_while(is_part).count();
    own.get(length..).is_some_and(|rest| rest.starts_with(b": "))
}

/// Whether the first word ends with `Error`.
fn is_error_name(own: &[u8]) -> bool {
    let length = own.iter().take(120).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    own.get(..length).is_some_and(|name| name.ends_with(b"Error"))
}

#[cfg(test)]
mod tests {
    use super::Wants;
    use crate::hints::Hints;
    use crate::place;
    use crate::recogniser::{CAPITALS, Cues, Places, Trait};

    fn wanted(cues: Cues, text: &str) -> bool {
        let mut wants = Wants::default();
        wants.add(1, &cues);
        wants.of(text, Hints::UNKNOWN) != 0
    }

    #[test]
    fn beginnings_are_told_apart_and_numbers_count_as_one_byte() {
        let cues = Cues { starts: &["FAIL", "0) t"], ..Cues::NONE };
        for text in ["FAIL x", "  FAILED", "1) test", "  123) tests"] {
            assert!(wanted(cues, text), "{text}");
        }
        for text in ["", "FALSE", "12 tests", "1: test", "F", "fail"] {
            assert!(!wanted(cues, text), "{text}");
        }
        let short = Cues { starts: &["OK"], ..Cues::NONE };
        assert!(wanted(short, "OK") && wanted(short, "OK (2)") && !wanted(short, "O"));
    }

    #[test]
    fn traits_are_seen() {
        let code = Cues { also: &[(CAPITALS, Trait::Code)], ..Cues::NONE };
        assert!(wanted(code, "E501 x") && !wanted(code, "Error x"));
        let rule = Cues { also: &[(b"u", Trait::RuleName)], ..Cues::NONE };
        assert!(wanted(rule, "unused-import: x") && !wanted(rule, "unused import: x"));
        let error = Cues { also: &[(CAPITALS, Trait::ErrorName)], ..Cues::NONE };
        assert!(wanted(error, "TypeError: x") && !wanted(error, "Types: x"));
        let slash = Cues { also: &[(b"a", Trait::Slash)], ..Cues::NONE };
        assert!(wanted(slash, "a/b") && !wanted(slash, "b/a") && !wanted(slash, "ab"));
        let end = Cues { also: &[(b"a", Trait::EndsWith(b':'))], ..Cues::NONE };
        assert!(wanted(end, "a:") && !wanted(end, "ab"));
    }

    #[test]
    fn places_are_told_apart_by_file_and_by_what_follows() {
        let mut wants = Wants::default();
        wants.add(1, &Cues { places: Places::Of(&["py", "ipynb"]), ..Cues::NONE });
        wants.add(2, &Cues { places: Places::Before(b"e"), ..Cues::NONE });
        let at = |text: &str| place::prefix(text).map(|place| wants.at(&place));
        assert_eq!(at("a/b.py:1: error"), Some(3));
        assert_eq!(at("a/b.py:1: x"), Some(1));
        assert_eq!(at("a/b.rs:1: error"), Some(2));
        assert_eq!(at("./Makefile:1: x"), Some(0));
    }
}
