//! What is JSON here is JSON for `serde_json`, and means the same.

use std::fmt::Debug;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::super::{Content, Flag, List, Maybe, Num, Text};
use super::from_str;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Sample<'a> {
    #[serde(borrow)]
    a: Text<'a>,
    b: Num,
    c: Flag,
    #[serde(borrow)]
    d: List<Text<'a>>,
    #[serde(borrow)]
    e: Content<'a>,
    f: Option<Inner>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Inner {
    a: Num,
    b: Option<bool>,
}

fn same(text: &str) {
    let agree = |what: &str, ours: Option<String>, theirs: Option<String>| {
        if theirs.is_some() || !has_odd_escape(text) {
            assert_eq!(ours, theirs, "{what}: {text}");
        }
    };
    agree("skipped", ours::<IgnoredAny>(text), theirs::<IgnoredAny>(text));
    agree("as it stands", ours::<&RawValue>(text), theirs::<&RawValue>(text));
    agree("read", ours::<Sample<'_>>(text), theirs::<Sample<'_>>(text));
    agree("read or none", ours::<Maybe<Inner>>(text), theirs::<Maybe<Inner>>(text));
}

fn ours<'a, T: Deserialize<'a> + Debug>(text: &'a str) -> Option<String> {
    from_str::<T>(text).ok().map(|read| format!("{read:?}"))
}

fn theirs<'a, T: Deserialize<'a> + Debug>(text: &'a str) -> Option<String> {
    serde_json::from_str::<T>(text).ok().map(|read| format!("{read:?}"))
}

/// Whether there is an escape in it that JSON does not know, or half a character of two: those
/// alone are taken here and refused there.
fn has_odd_escape(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, escape)) = rest.split_once('\\') {
        rest = match escape.as_bytes() {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => &escape[1..],
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|d| d.is_ascii_hexdigit()) => {
                if matches!((a, b), (b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F')) {
                    return true;
                }
                &escape[5..]
            }
            _ => return true,
        };
    }
    false
}

#[test]
fn what_is_json_and_what_is_not_is_the_same() {
    let texts = [
        "{}",
        "[]",
        "[[]]",
        "{\"a\":{}}",
        "[1,2]",
        "[1,]",
        "[,1]",
        "{,}",
        "{\"a\":1,}",
        "{\"a\"}",
        "{a:1}",
        "{\"a\":1}}",
        "[1]]",
        "[1}",
        "{\"a\":1]",
        "",
        " ",
        "nul",
        "null",
        "nulll",
        "true",
        "tru",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "01",
        "-",
        "-0",
        "-01",
        "1.",
        ".5",
        "1.5",
        "1e",
        "1e5",
        "1E+5",
        "1e-",
        "+1",
        "1 2",
        " 1 ",
        "\t1",
        "\"a\tb\"",
        "{\"a\"\n:\t1}",
        "{\"a\" : [ 1 , {} ] }",
        "{\"\\u0061\":\"x\"}",
        "{\"b\":1e999}",
        "{\"b\":123456789012345678901234567890}",
        "{\"b\":-5}",
        "{\"f\":null}",
        "{\"f\":[1,true]}",
        "{\"f\":7}",
        "{\"f\":{\"b\":1}}",
        "{\"d\":[\"a\",1,\"b\\n\"]}",
        "[\"x\",1,true]",
        "{\"e\":[{\"text\":\"\"},{\"text\":\"a\"},{},{\"text\":\"b\"}]}",
        "{\"e\":\"a\\\"b\"}",
    ];
    for text in texts {
        same(text);
    }
}

#[test]
fn an_escape_that_json_does_not_know_stands_for_itself() {
    let read: Sample<'_> = from_str(r#"{"x":"\q","a":"\q\ud800"}"#).unwrap();
    assert_eq!(&*read.a, "q\u{fffd}");
}

#[test]
fn what_is_skipped_may_be_nested_to_any_depth() {
    for depth in [1, 63, 64, 65, 127, 128, 129, 1000, 100_000] {
        let open = "[{\"a\":".repeat(depth) + "1" + &"}]".repeat(depth);
        assert!(from_str::<IgnoredAny>(&open).is_ok(), "{depth}");
        let wrong = "[{\"a\":".repeat(depth) + "1" + &"]}".repeat(depth);
        assert!(from_str::<IgnoredAny>(&wrong).is_err(), "{depth}");
    }
}

#[test]
fn what_is_looked_at_may_not() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(from_str::<serde_json::Value>(&deep).is_err());
    assert!(from_str::<serde_json::Value>("[[[{\"a\":[1,-2,3.5,\"\\n\"]}]]]").is_ok());
}

#[test]
fn strings_of_every_length_end_where_they_end() {
    for length in 0..200 {
        for end in ["", "\\n", "\\\"", "\\\\"] {
            same(&format!("{{\"a\":\"{}{end}\",\"b\":1}}", "ä".repeat(length)));
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_json_for_both_or_for_none(
        text in "([{}\\[\\],: \"\\\\]|[0-9eE+.-]|\"[abcdef]\":|\"x\\\\n\"|true|null|\\\\u00e9|\n){0,24}"
    ) {
        same(&text);
    }

    #[test]
    fn a_cut_or_changed_text_is_judged_alike(cut in 0_usize..200, byte in 0_u8..128) {
        let text = r#"{"a":"x\n\"y","b":-1.5e3,"c":true,"d":["p",{"q":[]}],"e":[{"text":"t"}],"f":{"a":1,"b":null},"g":[[],{}]}"#;
        let cut = cut.min(text.len());
        same(&text[..cut]);
        let mut changed = text.as_bytes().to_vec();
        if let Some(at) = changed.get_mut(cut) {
            *at = byte;
        }
        same(&String::from_utf8(changed).unwrap());
    }
}
