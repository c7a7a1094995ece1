//! Any JSON in any field.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

object! {
    #[derive(Debug)]
    struct Sample<'a> {
        "text" => text: Text<'a>,
        "num" => num: Num,
        "flag" => flag: Flag,
        "list" => list: List<Text<'a>>,
        "maybe" => maybe: Maybe<Inner>,
        "content" => content: Content<'a>,
        "raw" => raw: Option<Raw<'a>>,
    }
}

object! {
    #[derive(Debug)]
    struct Inner {
        "n" => n: Num,
    }
}

#[test]
fn a_field_of_an_unexpected_type_reads_as_absent() {
    for json in ["null", "true", "1", "-1", "1.5", "[1,[2]]", r#"{"a":{"b":1}}"#] {
        assert_eq!(from_str::<Text<'_>>(json).unwrap().0, "", "{json}");
    }
    for json in ["null", "true", r#""x""#, "[1]", "{}"] {
        assert_eq!(from_str::<Num>(json).unwrap(), Num(None), "{json}");
    }
    for json in ["null", "1", r#""x""#, "[1]", "{}"] {
        assert_eq!(from_str::<Flag>(json).unwrap(), Flag(false), "{json}");
        if json != "[1]" {
            assert_eq!(from_str::<List<Num>>(json).unwrap().0, [], "{json}");
        }
    }
    for json in ["null", "1", r#""x""#, "[1]", "true"] {
        assert!(from_str::<Maybe<Inner>>(json).unwrap().0.is_none(), "{json}");
    }
    for json in ["null", "1", "true", r#"{"text":"x"}"#, "[1,null,[2]]"] {
        assert_eq!(from_str::<Content<'_>>(json).unwrap().0, "", "{json}");
    }
}

#[test]
fn numbers_of_every_shape_are_numbers() {
    for (json, number) in [("7", 7.0), ("-7", -7.0), ("0.25", 0.25), ("1e3", 1000.0)] {
        assert_eq!(from_str::<Num>(json).unwrap(), Num(Some(number)), "{json}");
    }
    assert_eq!(from_str::<Num>("-3").unwrap().count(), 0);
    assert_eq!(from_str::<Num>("429").unwrap().status(), Some(429));
    assert_eq!(from_str::<Num>("70000").unwrap().status(), None);
}

#[test]
fn members_nobody_asks_for_are_skipped_and_the_last_of_two_counts() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let json = format!(r#"{{"other":{deep},"text":"a","num":1,"text":"b\n","maybe":{{"n":2}}}}"#);
    let read: Sample<'_> = from_str(&json).unwrap();
    assert_eq!((&*read.text, read.num, read.flag), ("b\n", Num(Some(1.0)), Flag(false)));
    assert_eq!(read.maybe.0.unwrap().n.count(), 2);
    assert!(read.raw.is_none() && read.list.0.is_empty() && read.content.0.is_empty());
    for wrong in ["", "1", "[]", r#"{"text":"a""#, r#"{"text":"a",}"#, "{} x", "{\"a\":\"\n\"}"] {
        from_str::<Sample<'_>>(wrong).unwrap_err();
    }
}

#[test]
fn a_plain_string_is_borrowed() {
    let text: Text<'_> = from_str(r#""plain""#).unwrap();
    assert!(matches!(text.0, Cow::Borrowed("plain")));
    let content: Content<'_> = from_str(r#"[{"type":"text","text":"plain"}]"#).unwrap();
    assert!(matches!(content.0, Cow::Borrowed("plain")));
}

#[test]
fn content_is_text_whatever_shape_it_has() {
    let cases = [
        (r#""a\nb""#, "a\nb"),
        (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, "a\nb"),
        (r#"[{"type":"image"}]"#, r#"[{"type":"image"}]"#),
        (r#"{"error":"x"}"#, r#"{"error":"x"}"#),
        ("null", ""),
    ];
    for (json, text) in cases {
        let raw: Raw<'_> = from_str(json).unwrap();
        assert_eq!(content_text(Some(raw)), text);
    }
}

proptest! {
    #[test]
    fn every_string_reads_as_it_was_written(text in "(\\PC|[\"\\\\/\n\t\u{1}é😀]){0,40}") {
        let json = serde_json::to_string(&text).unwrap();
        let json = mended(&json);
        prop_assert_eq!(&*from_str::<Text<'_>>(&json).unwrap(), &text);
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
        let ascii = mended(&ascii);
        prop_assert_eq!(&*from_str::<Text<'_>>(&ascii).unwrap(), &text);
    }

    #[test]
    fn any_json_can_stand_in_any_field(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let value = Value::from(String::from_utf8_lossy(&bytes));
        for value in [value.clone(), serde_json::json!([value]), serde_json::json!({ "n": value })] {
            let fields = ["text", "num", "flag", "list", "maybe", "content", "raw"];
            for field in fields {
                let json = serde_json::json!({ field: value }).to_string();
                prop_assert!(from_str::<Sample<'_>>(&json).is_ok(), "{}", json);
            }
        }
    }
}
