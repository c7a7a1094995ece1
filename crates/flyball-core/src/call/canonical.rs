//! Canonical JSON: one text for all ways of writing the same arguments.
//!
//! Works with a stack of its own, so that no depth of nesting can overflow the thread's.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use serde_json::{Map, Number, Value};

/// Where canonical text goes.
pub(super) trait Sink {
    /// Takes the next part.
    fn put(&mut self, part: &str);
}

impl Sink for String {
    fn put(&mut self, part: &str) {
        self.push_str(part);
    }
}

/// What is still to be written; the last is the next.
enum Step<'a> {
    Value(&'a Value),
    Key(&'a str),
    Mark(&'static str),
}

/// Writes the arguments; members named in `free_text` are left out at the top level.
pub(super) fn write(args: &Value, free_text: &[String], out: &mut impl Sink) {
    match args {
        Value::Null => out.put("{}"),
        Value::Object(members) => {
            let mut steps = Vec::new();
            push_members(members, free_text, &mut steps);
            drain(steps, out);
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            write_value(args, out);
        }
    }
}

/// Writes any value, `null` included.
pub(super) fn write_value(value: &Value, out: &mut impl Sink) {
    drain(Vec::from([Step::Value(value)]), out);
}

fn drain(mut steps: Vec<Step<'_>>, out: &mut impl Sink) {
    while let Some(step) = steps.pop() {
        match step {
            Step::Mark(mark) => out.put(mark),
            Step::Key(key) => {
                write_string(key, out);
                out.put(":");
            }
            Step::Value(Value::Null) => out.put("null"),
            Step::Value(Value::Bool(true)) => out.put("true"),
            Step::Value(Value::Bool(false)) => out.put("false"),
            Step::Value(Value::Number(number)) => write_number(number, out),
            Step::Value(Value::String(text)) => write_string(text, out),
            Step::Value(Value::Array(items)) => push_items(items, &mut steps),
            Step::Value(Value::Object(members)) => push_members(members, &[], &mut steps),
        }
    }
}

fn push_items<'a>(items: &'a [Value], steps: &mut Vec<Step<'a>>) {
    steps.push(Step::Mark("]"));
    for (at, item) in items.iter().enumerate().rev() {
        steps.push(Step::Value(item));
        if at > 0 {
            steps.push(Step::Mark(","));
        }
    }
    steps.push(Step::Mark("["));
}

fn push_members<'a>(
    members: &'a Map<String, Value>,
    left_out: &[String],
    steps: &mut Vec<Step<'a>>,
) {
    // Sorted here and not by the map: another crate of the build may switch its order off.
    let mut kept: Vec<(&String, &Value)> = members
        .iter()
        .filter(|(name, value)| !value.is_null() && !left_out.contains(name))
        .collect();
    kept.sort_unstable_by_key(|(name, _)| *name);
    steps.push(Step::Mark("}"));
    for (at, (name, value)) in kept.into_iter().enumerate().rev() {
        steps.push(Step::Value(value));
        steps.push(Step::Key(name));
        if at > 0 {
            steps.push(Step::Mark(","));
        }
    }
    steps.push(Step::Mark("{"));
}

/// Writes a JSON string; only what must be is escaped.
pub(super) fn write_string(text: &str, out: &mut impl Sink) {
    out.put("\"");
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| b < 0x20 || b == b'"' || b == b'\\') {
        let (plain, from) = rest.split_at(at);
        out.put(plain);
        let mut chars = from.chars();
        match chars.next() {
            Some('"') => out.put("\\\""),
            Some('\\') => out.put("\\\\"),
            Some(control) => put_formatted(out, format_args!("\\u{:04x}", u32::from(control))),
            None => {}
        }
        rest = chars.as_str();
    }
    out.put(rest);
    out.put("\"");
}

/// Writes a number by its value: `1`, `1.0` and `1e0` are one text, and so are `0` and `-0.0`.
fn write_number(number: &Number, out: &mut impl Sink) {
    if let Some(whole) = number.as_u64() {
        put_formatted(out, format_args!("{whole}"));
    } else if let Some(whole) = number.as_i64() {
        put_formatted(out, format_args!("{whole}"));
    } else if let Some(float) = number.as_f64() {
        if float == 0.0 {
            out.put("0");
        } else if float % 1.0 == 0.0 {
            // With a precision the digits are exact; without, they are the shortest that round-trip,
            // and 2^63 as a float would differ from 2^63 as an integer.
            put_formatted(out, format_args!("{float:.0}"));
        } else {
            put_formatted(out, format_args!("{float}"));
        }
    } else {
        put_formatted(out, format_args!("{number}"));
    }
}

fn put_formatted(out: &mut impl Sink, text: fmt::Arguments<'_>) {
    struct Through<'a, S>(&'a mut S);

    impl<S: Sink> Write for Through<'_, S> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0.put(part);
            Ok(())
        }
    }

    // The sink takes everything, so writing cannot fail.
    let _: fmt::Result = Through(out).write_fmt(text);
}

#[cfg(test)]
mod tests {
    use std::borrow::ToOwned;
    use std::vec;

    use serde_json::json;

    use super::super::fingerprint::{canonical_args, fingerprint_call};
    use super::*;

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn arguments_have_one_canonical_text() {
        let cases = [
            (r#"{"b":1,"a":{"d":[1,2],"c":null}}"#, r#"{"a":{"d":[1,2]},"b":1}"#),
            (r#"{"n":1.0,"m":-2.50,"z":-0.0}"#, r#"{"m":-2.5,"n":1,"z":0}"#),
            (r#"{"n":1e3}"#, r#"{"n":1000}"#),
            (r#"{"n":18446744073709551615}"#, r#"{"n":18446744073709551615}"#),
            (r#"{"n":-9223372036854775808}"#, r#"{"n":-9223372036854775808}"#),
            (r#"{"n":9223372036854775808.0}"#, r#"{"n":9223372036854775808}"#),
            (r#"{"a":[null,{}]}"#, r#"{"a":[null,{}]}"#),
            ("null", "{}"),
            ("[]", "[]"),
            (r#""x""#, r#""x""#),
            (r#"{"t":"a\"b\\c\n\u0001é"}"#, r#"{"t":"a\"b\\c\u000a\u0001é"}"#),
        ];
        for (given, wanted) in cases {
            assert_eq!(canonical_args(&parsed(given), &[]), wanted, "{given}");
        }
    }

    #[test]
    fn canonical_text_reads_back_as_the_same_arguments() {
        for given in [r#"{"a":"\u0000\"\\","b":[1,{"c":true}]}"#, r#"{"n":1e300,"m":0.1}"#] {
            let once = canonical_args(&parsed(given), &[]);
            assert_eq!(canonical_args(&parsed(&once), &[]), once);
        }
    }

    #[test]
    fn big_integers_that_differ_stay_different() {
        let free: [String; 0] = [];
        let of = |n: u64| fingerprint_call("t", &json!({ "n": n }), &free);
        assert_ne!(of(9_007_199_254_740_993), of(9_007_199_254_740_992));
    }

    #[test]
    fn free_text_is_left_out_at_the_top_only() {
        let free = ["reason".to_owned()];
        let args = json!({"reason": "x", "in": {"reason": "y"}});
        assert_eq!(canonical_args(&args, &free), r#"{"in":{"reason":"y"}}"#);
    }

    #[test]
    fn tool_and_arguments_cannot_run_into_each_other() {
        let free: Vec<String> = vec![];
        let one = fingerprint_call("a\"", &json!({}), &free);
        let two = fingerprint_call("a", &json!("\""), &free);
        assert_ne!(one, two);
    }

    #[test]
    fn nesting_of_any_depth_is_written() {
        let mut deep = json!(1);
        for _ in 0..2_000 {
            deep = Value::Array(vec![deep]);
        }
        assert_eq!(canonical_args(&deep, &[]).len(), 4_001);
    }
}
