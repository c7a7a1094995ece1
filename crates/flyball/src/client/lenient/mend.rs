//! Half a character: clients cut texts anywhere, and one that cuts between the two halves of
//! `\ud83d\ude00` prints an escape that stands for nothing. `serde_json` refuses the whole line for
//! it; here it becomes the sign for something unreadable.

use std::borrow::Cow;

use memchr::memmem;

/// Six bytes, like what it stands for: the sign for something unreadable.
const UNREADABLE: &str = "\\ufffd";

/// A JSON text with every half of a character replaced; as it stands when there is none.
pub(crate) fn mended(text: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut kept = 0;
    let mut search = 0;
    while let Some(at) = next_escape(text, search) {
        search = at + 2;
        if !is_escape(text, at) {
            continue;
        }
        let behind = at + UNREADABLE.len();
        match (unit(text, at), unit(text, behind)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => search = behind + UNREADABLE.len(),
            (Some(0xd800..0xe000), _) => {
                mended.push_str(text.get(kept..at).unwrap_or_default());
                mended.push_str(UNREADABLE);
                (search, kept) = (behind, behind);
            }
            _ => {}
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(mended)
}

/// Where the next `\ud` is.
fn next_escape(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    let found = [b"\\ud", b"\\uD"].iter().filter_map(|mark| memmem::find(rest, *mark)).min()?;
    Some(from + found)
}

/// The number in `\uXXXX`.
fn unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at.checked_add(UNREADABLE.len())?)?.strip_prefix("\\u")?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Whether the backslash here is no escaped one itself.
fn is_escape(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_shown_as_a_replacement() {
        let cases = [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\uDE00x""#, "\u{fffd}x"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""a\ud83d\ude00b\ude00c\ud83dd""#, "a😀b\u{fffd}c\u{fffd}d"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\\ud83d\ude00""#, "\\ud83d\u{fffd}"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
            (r#""\ud7ff\ue000""#, "\u{d7ff}\u{e000}"),
        ];
        for (json, plain) in cases {
            let read: String = serde_json::from_str(&mended(json)).unwrap();
            assert_eq!(read, plain, "{json}");
        }
    }

    #[test]
    fn a_text_without_halves_stays_as_it_is() {
        for text in
            ["", "{}", r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\ud8"#, r#""\ud""#, "\\ud😀"]
        {
            assert!(matches!(mended(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
