//! A JSON string as text: copied once, and only when there are escapes in it.

use std::borrow::Cow;

use super::cursor::{BLOCK, Cursor, Fault, mark_in};

/// The text of the string that begins at the cursor. Half a character of two (clients cut texts
/// anywhere) is shown as a replacement, and what no escape is stands for itself.
#[inline]
pub(super) fn text<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, Fault> {
    match cursor.plain_string() {
        Some(plain) => Ok(Cow::Borrowed(plain)),
        None => escaped(cursor),
    }
}

/// The same for a string that may have escapes.
#[cold]
fn escaped<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, Fault> {
    let begin = cursor.rest().get(1..).unwrap_or(&[]);
    let (plain, rest) = unescaped(begin).ok_or(Fault)?;
    cursor.forward(1 + begin.len() - rest.len());
    String::from_utf8(plain).map(Cow::Owned).map_err(|_| Fault)
}

/// What the string stands for whose first quote came just before; and what comes after its last.
fn unescaped(string: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    // The string ends before the line does; a large one grows as it comes.
    let mut plain = Vec::with_capacity(string.len().min(32 * 1024));
    let mut rest = string;
    loop {
        // Whole blocks are copied, and what is too much is taken back: most pieces between two
        // escapes are too short for anything cleverer.
        while rest.first() != Some(&b'\\')
            && let Some((block, after)) = rest.split_first_chunk::<BLOCK>()
        {
            plain.extend_from_slice(block);
            let found = mark_in(block);
            if found < BLOCK {
                plain.truncate(plain.len() + found - BLOCK);
                rest = rest.get(found..)?;
                break;
            }
            rest = after;
        }
        rest = match rest {
            [b'"', after @ ..] => return Some((plain, after)),
            [b'\\', b'u', digits @ ..] => coded(digits, &mut plain),
            [b'\\', short, after @ ..] => {
                plain.push(match short {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'b' => 8,
                    b'f' => 12,
                    itself => *itself,
                });
                after
            }
            [b'\\'] | [] => return None,
            [other, after @ ..] => {
                plain.push(*other);
                after
            }
        };
    }
}

/// Writes the character that four hexadecimal digits stand for, or eight with `\u` between; what
/// comes after them.
fn coded<'a>(digits: &'a [u8], plain: &mut Vec<u8>) -> &'a [u8] {
    let (first, mut after) = unit(digits);
    let mut character = char::from_u32(first);
    if (0xd800..0xdc00).contains(&first)
        && let [b'\\', b'u', more @ ..] = after
        && let (second @ 0xdc00..0xe000, behind) = unit(more)
    {
        character = char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        after = behind;
    }
    let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
    // As above: all four bytes are copied, and what is too much is taken back.
    let mut utf8 = [0; 4];
    let length = character.encode_utf8(&mut utf8).len();
    plain.extend_from_slice(&utf8);
    plain.truncate(plain.len() + length - utf8.len());
    after
}

/// The number in four hexadecimal digits, and what comes after them.
fn unit(digits: &[u8]) -> (u32, &[u8]) {
    let Some((number, after)) = digits.split_first_chunk::<4>() else { return (0, &[]) };
    let value = number
        .iter()
        .fold(0, |value, digit| (value << 4) | char::from(*digit).to_digit(16).unwrap_or(0));
    (value, after)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn read(json: &str) -> Cow<'_, str> {
        let mut cursor = Cursor::new(json);
        let read = text(&mut cursor).unwrap();
        assert!(cursor.ended(), "{json}");
        read
    }

    #[test]
    fn a_plain_string_is_borrowed() {
        for plain in ["", "plain", "longer than a block, and still without any escape"] {
            let json = format!("\"{plain}\" ");
            assert!(matches!(read(&json), Cow::Borrowed(text) if text == plain), "{plain}");
        }
    }

    #[test]
    fn escapes_are_undone() {
        let text = read(r#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z""#);
        let plain = "a\"\\/\u{8}\u{c}\n\r\té😀z";
        assert_eq!(text, plain);
    }

    #[test]
    fn half_a_character_is_shown_as_a_replacement() {
        let cases = [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ude00x""#, "\u{fffd}x"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        ];
        for (json, plain) in cases {
            assert_eq!(&*read(json), plain, "{json}");
        }
    }

    #[test]
    fn a_string_that_does_not_end_is_none() {
        for json in
            ["\"", "\"a", "\"a\\", "\"a\\\"", "\"a\\u12", "\"longer than a block of bytes\\n"]
        {
            assert_eq!(text(&mut Cursor::new(json)), Err(Fault), "{json}");
        }
    }

    proptest! {
        #[test]
        fn every_string_reads_as_it_was_written(text in "(\\PC|[\"\\\\/\n\t\u{1}é😀]){0,40}") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(&*read(&json), &text);
            let mut ascii = String::new();
            for character in json.chars() {
                if character.is_ascii() {
                    ascii.push(character);
                } else {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        write!(ascii, "\\u{unit:04X}").unwrap();
                    }
                }
            }
            prop_assert_eq!(&*read(&ascii), &text);
        }
    }
}
