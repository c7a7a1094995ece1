//! What is JSON here is JSON for `serde_json`, and means the same.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::{Content, Flag, List, Maybe, Num, Raw, Text, object};
use super::{Fault, Fill, Reading, from_str};

object! {
    #[derive(Debug, PartialEq)]
    struct Sample<'a> {
        "a" => a: Text<'a>,
        "b" => b: Num,
        "c" => c: Flag,
        "d" => d: List<Text<'a>>,
        "e" => e: Content<'a>,
        "f" => f: Option<Inner>,
    }
}

object! {
    #[derive(Debug, PartialEq)]
    struct Inner {
        "a" => a: Num,
        "b" => b: Option<bool>,
    }
}

/// Nothing of it is looked at.
#[derive(Default)]
struct Skipped;

impl<'a> Fill<'a> for Skipped {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        from.skip()
    }
}

/// How often a member was there, and whether one inside it was there twice.
#[derive(Default)]
struct Repeated {
    seen: u32,
    inside: bool,
}

impl<'a> Fill<'a> for Repeated {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        self.seen += 1;
        if from.peek() != Some(b'{') {
            return from.skip();
        }
        let mut members: BTreeMap<String, Self> = BTreeMap::new();
        members.fill(from)?;
        self.inside |= members.values().any(|member| member.seen > 1 || member.inside);
        Ok(())
    }
}

impl<'a> Fill<'a> for Value {
    fn fill(&mut self, from: &mut Reading<'a>) -> Result<(), Fault> {
        match from.peek() {
            Some(b'"') => *self = Self::from(from.text()?),
            Some(b'{') => {
                let mut members = serde_json::Map::new();
                from.object(|name, from| {
                    let mut value = Self::Null;
                    value.fill(from)?;
                    members.insert(name.to_owned(), value);
                    Ok(())
                })?;
                *self = Self::Object(members);
            }
            Some(b'[') => {
                let mut items: List<Self> = List::default();
                items.fill(from)?;
                *self = Self::Array(items.0);
            }
            Some(b't' | b'f') => {
                let mut flag = false;
                flag.fill(from)?;
                *self = Self::from(flag);
            }
            Some(b'n') => from.word("null")?,
            _ => *self = Self::from(from.number()?),
        }
        Ok(())
    }
}

/// The same with every number as a float, as they are read here.
fn floating(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::from(number.as_f64().unwrap()),
        Value::Array(items) => Value::Array(items.into_iter().map(floating).collect()),
        Value::Object(members) => Value::Object(
            members.into_iter().map(|(name, value)| (name, floating(value))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

/// What a sample is by what `serde_json` has read.
fn expected(value: &Value) -> Option<Sample<'_>> {
    let members = value.as_object()?;
    let get = |name: &str| members.get(name).unwrap_or(&Value::Null);
    let text = |value: &Value| Text(value.as_str().unwrap_or("").to_owned().into());
    let e = match get("e").as_array() {
        Some(items) => {
            let blocks = items.iter().filter(|item| item.is_object());
            let texts = blocks.map(|block| block.get("text").and_then(Value::as_str).unwrap_or(""));
            texts.fold(String::new(), |joined, text| {
                if joined.is_empty() { text.to_owned() } else { joined + "\n" + text }
            })
        }
        None => get("e").as_str().unwrap_or("").to_owned(),
    };
    Some(Sample {
        a: text(get("a")),
        b: Num(get("b").as_f64()),
        c: Flag(get("c") == &Value::Bool(true)),
        d: List(get("d").as_array().into_iter().flatten().map(text).collect()),
        e: Content(e.into()),
        f: if get("f").is_null() { None } else { Some(inner(get("f"))?) },
    })
}

fn inner(value: &Value) -> Option<Inner> {
    let members = value.as_object()?;
    let b = match members.get("b") {
        None | Some(Value::Null) => None,
        Some(other) => Some(other.as_bool()?),
    };
    Some(Inner { a: Num(members.get("a").and_then(Value::as_f64)), b })
}

/// Whether both readers make the same of a text, whatever it is.
fn same(text: &str) {
    let theirs = serde_json::from_str::<IgnoredAny>(text).is_ok();
    if !theirs && has_odd_escape(text) {
        // Nothing to compare with, and still no reason to panic.
        from_str::<Sample<'_>>(text).ok();
        from_str::<Value>(text).ok();
        return;
    }
    assert_eq!(from_str::<Skipped>(text).is_ok(), theirs, "skipped: {text}");
    let raw = serde_json::from_str::<&RawValue>(text).ok();
    let ours = from_str::<Raw<'_>>(text).ok();
    assert_eq!(ours.map(Raw::get), raw.map(RawValue::get), "as it stands: {text}");
    let value = serde_json::from_str::<Value>(text).ok().map(floating);
    let ours = from_str::<Value>(text).ok();
    if value.is_some() || !has_odd_escape(text) {
        assert_eq!(ours, value, "any: {text}");
    }
    // What serde_json can skip but not read (too deep, too large) may be skipped here, and of two
    // members with one name the first must fit here as well.
    let repeated = from_str::<Repeated>(text).is_ok_and(|read| read.inside);
    if let Some(value) = value.filter(|_| !repeated) {
        assert_eq!(from_str::<Sample<'_>>(text).ok(), expected(&value), "read: {text}");
        let maybe = from_str::<Maybe<Inner>>(text).ok().map(|read| read.0);
        let wanted = if value.is_object() { inner(&value).map(Some) } else { Some(None) };
        assert_eq!(maybe, wanted, "read or none: {text}");
    }
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
fn strange_numbers_and_control_characters_are_judged_alike() {
    let texts = [
        "{\"b\":-0}",
        "[-0,-0.0,0,1e-999,-9223372036854775808,-9223372036854775809]",
        "[18446744073709551615,18446744073709551616,0.1e1,123456789.123456789e-5]",
        "\r\n{\t}\n",
        "[\"\u{7f}\",\"\\\\\"\n]",
        "[\"\\\"\n\"]",
        "\u{1}1",
        "1\u{b}",
        "\u{feff}1",
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
        assert!(from_str::<Skipped>(&open).is_ok(), "{depth}");
        let wrong = "[{\"a\":".repeat(depth) + "1" + &"]}".repeat(depth);
        assert!(from_str::<Skipped>(&wrong).is_err(), "{depth}");
    }
}

#[test]
fn what_is_looked_at_may_not() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(from_str::<Value>(&deep).is_err());
    for depth in [1, 100, 126, 127, 128, 129, 255, 256] {
        same(&("[".repeat(depth) + "1" + &"]".repeat(depth)));
        same(&("{\"a\":".repeat(depth) + "1" + &"}".repeat(depth)));
    }
}

#[test]
fn strings_of_every_length_end_where_they_end() {
    for length in 0..200 {
        for end in ["", "\\n", "\\\"", "\\\\"] {
            same(&format!("{{\"a\":\"{}{end}\",\"b\":1}}", "ä".repeat(length)));
        }
    }
}

/// Any document, written in any way that JSON allows.
fn document() -> impl Strategy<Value = String> {
    let blank = "[ \t\r\n]{0,2}";
    let number = "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?";
    let string = "\"([^\"\\\\\\x00-\\x1f]|\\\\[\"\\\\/bfnrt]|\\\\u00[0-9a-fA-F]{2}|\\\\uD83d\\\\uDe0[0-9]){0,30}\"";
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number,
        string,
    ];
    let member = prop_oneof!["\"(type|a|b|text)\"", string];
    leaf.prop_recursive(6, 40, 5, move |inner| {
        let list = prop::collection::vec((blank, inner.clone(), blank), 0..5)
            .prop_map(|items| format!("[{}]", joined(items)));
        let members = (blank, member.clone(), blank, inner)
            .prop_map(|(a, name, b, value)| format!("{a}{name}{b}:{value}"));
        let object = prop::collection::vec((blank, members, blank), 0..5)
            .prop_map(|items| format!("{{{}}}", joined(items)));
        prop_oneof![list, object]
    })
}

fn joined(items: Vec<(String, String, String)>) -> String {
    items.into_iter().map(|(a, item, b)| a + &item + &b).collect::<Vec<_>>().join(",")
}

/// A document's text with a byte changed at `at`, and cut off at `cut`; what is no UTF-8 any more
/// is replaced, as lines of a stream are.
fn damaged(text: &str, at: usize, byte: u8, cut: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if let Some(changed) = bytes.get_mut(at) {
        *changed = byte;
    }
    bytes.truncate(cut);
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #[test]
    fn every_document_means_the_same(text in document()) {
        same(&text);
    }

    #[test]
    fn a_torn_or_damaged_document_is_judged_alike(
        text in document(), at in 0_usize..300, byte in any::<u8>(), cut in 0_usize..600,
    ) {
        same(&damaged(&text, at, byte, cut));
    }

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
