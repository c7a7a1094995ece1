//! Arguments as they come: JSON text, read no further than its canonical form needs.
//!
//! Nearly all arguments are one object of a few texts: those are borrowed, and only what lies
//! deeper becomes a [`Value`].

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::canonical::{self, Sink};

/// Writes the canonical form of arguments that are JSON text; text that is none counts as `null`.
pub(super) fn write(args: &str, free_text: &[String], out: &mut impl Sink) {
    match serde_json::from_str::<Members<'_>>(args) {
        Ok(members) => members.write(free_text, out),
        Err(_) => canonical::write(&serde_json::from_str(args).unwrap_or_default(), free_text, out),
    }
}

/// The members of an object, in the order they were given.
struct Members<'a>(Vec<(Text<'a>, Part<'a>)>);

/// A text that is borrowed where it can be.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Text<'a>(Cow<'a, str>);

/// The value of a member.
enum Part<'a> {
    Text(Text<'a>),
    Other(Value),
}

impl Members<'_> {
    fn write(mut self, free_text: &[String], out: &mut impl Sink) {
        // Of two with the same name the later counts: the order among them stays.
        self.0.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut members = self.0.iter().peekable();
        let mut begin = "{";
        while let Some((name, part)) = members.next() {
            let replaced = members.peek().is_some_and(|(next, _)| next == name);
            if replaced || part.is_null() || free_text.iter().any(|left_out| *left_out == name.0) {
                continue;
            }
            out.put(begin);
            begin = ",";
            canonical::write_string(&name.0, out);
            out.put(":");
            match part {
                Part::Text(text) => canonical::write_string(&text.0, out),
                Part::Other(value) => canonical::write_value(value, out),
            }
        }
        out.put(if begin == "{" { "{}" } else { "}" });
    }
}

impl Part<'_> {
    const fn is_null(&self) -> bool {
        matches!(self, Self::Other(Value::Null))
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MembersVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.into())))
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(TextVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Part::Text(Text(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Part::Text(Text(Cow::Owned(text.into()))))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Part::Other(Value::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Part::Other(Value::from(flag)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Part::Other(Value::from(number)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Part::Other(Value::from(number)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Part::Other(Value::from(number)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(seq)).map(Part::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(Part::Other)
    }
}

impl<'de> Deserialize<'de> for Part<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PartVisitor)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::ToOwned;
    use std::format;
    use std::string::ToString;

    use proptest::prelude::*;

    use super::super::fingerprint::{canonical_args, fingerprint_call, fingerprint_call_text};
    use super::*;

    /// The text has the canonical form and the identity of the value it stands for.
    fn same(text: &str) {
        let free = ["reason".to_owned(), "b".to_owned()];
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let mut written = String::new();
        write(text, &free, &mut written);
        assert_eq!(written, canonical_args(&value, &free), "{text}");
        let (of_text, of_value) =
            (fingerprint_call_text("tool", text, &free), fingerprint_call("tool", &value, &free));
        assert_eq!(of_text, of_value, "{text}");
    }

    #[test]
    fn text_has_the_form_of_the_value_it_stands_for() {
        let cases = [
            "{}",
            " { } ",
            "null",
            "",
            "no JSON",
            "{\"a\":1",
            "{\"a\":1}}",
            "[1,null,{\"b\":null}]",
            "\"x\"",
            "7.0",
            r#"{"command":"ls","reason":"because","b":2}"#,
            r#"{"z":1.0,"a":{"z":null,"reason":1,"b":[1e3,-0.0]},"m":[null],"n":null}"#,
            r#"{"a":1,"a":"later"}"#,
            r#"{"a":1,"c":0,"a":null}"#,
            r#"{"a":null,"a":1}"#,
            r#"{"\u0061":"tab\there","aa":"\ud83d\ude00","A":true}"#,
            r#"{"n":18446744073709551616,"m":-9223372036854775808,"o":1e999}"#,
        ];
        for text in cases {
            same(text);
        }
        for depth in [100, 125, 126, 127, 128, 200] {
            same(&format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth)));
        }
        let long = "x\n".repeat(5_000);
        same(&serde_json::json!({ "text": long, "short": "y" }).to_string());
    }

    proptest! {
        #[test]
        fn any_text_has_the_form_of_the_value_it_stands_for(
            members in prop::collection::vec(
                "\"(a|b|reason|[a-z\\\\\"]{0,3})\" ?:(null|true|-?[0-9]{1,22}(\\.[0-9]{1,3})?|\"(\\PC|\\\\n){0,9}\"|\\[\\]|\\{\"b\":1\\})",
                0..6,
            ),
            end in "\\}|\\} |,",
        ) {
            same(&format!("{{{}{end}", members.join(",")));
        }
    }
}
