//! Streams in the shapes services have, read whole and cut anywhere.

mod shapes;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::Value;

use self::shapes::{Shape, shapes};
use super::*;
use crate::message::{Arguments, Block};
use crate::wire::Wire;

/// What an answer became: told events, then the reply or why there is none.
fn told(wire: Wire, pieces: &[&[u8]]) -> String {
    told_within(wire, pieces, &Limits::default())
}

fn told_within(wire: Wire, pieces: &[&[u8]], limits: &Limits) -> String {
    let mut log = String::new();
    let mut on_event = |event: Event<'_>| {
        if let Event::Text(words) = event {
            let _ = write!(log, "\ntext {words}");
        } else if let Event::Thinking(words) = event {
            let _ = write!(log, "\nthinks {words}");
        } else if !matches!(event, Event::Alive { .. }) {
            // How many bytes come at once is the network's.
            let _ = write!(log, "\n{event:?}");
        }
    };
    let asked = Origin { wire, model: "m".to_owned() };
    let mut answer = Answer::new(asked, &[], limits, &mut on_event);
    let fed = pieces
        .iter()
        .try_for_each(|piece| if answer.is_whole() { Ok(()) } else { answer.feed(piece) });
    let ended = fed.and_then(|()| if answer.is_whole() { Ok(true) } else { answer.end() });
    let result = match ended {
        Ok(true) => format!("{:#?}", answer.finish()),
        Ok(false) => format!("cut {:?}", answer.partial().map(|partial| partial.message.text())),
        Err(trouble) => format!("{trouble:?}"),
    };
    format!("{log}\n{result}")
}

fn reply(shape: &Shape) -> Result<Reply, Trouble> {
    let mut on_event = |_: Event<'_>| {};
    let asked = Origin { wire: shape.wire, model: "m".to_owned() };
    let mut answer = Answer::new(asked, &[], &Limits::default(), &mut on_event);
    answer.feed(shape.text.as_bytes())?;
    if answer.is_whole() || answer.end()? {
        Ok(answer.finish())
    } else {
        Err(Trouble::Unreadable("cut".to_owned()))
    }
}

/// Blocks in short: what is said, thought and called.
fn short(reply: &Reply) -> String {
    let block = |block: &Block| match block {
        Block::Text(text) => {
            let signature = text.signature.as_deref().map(|s| format!(" [{s}]"));
            format!("text {}{}", text.text, signature.unwrap_or_default())
        }
        Block::Thought(thought) if thought.redacted => {
            format!("redacted [{}]", thought.signature.as_deref().unwrap_or("-"))
        }
        Block::Thought(thought) => {
            let signature = thought.signature.as_deref().map_or("-".to_owned(), in_order);
            format!("thought {} [{signature}]", thought.text)
        }
        Block::Call(call) => {
            let arguments = match &call.arguments {
                Arguments::Json(value) => value.to_string(),
                Arguments::Invalid { text, error } => format!("invalid {text}: {error}"),
            };
            let signature = call.signature.as_deref().map(|s| format!(" [{s}]"));
            let signature = signature.unwrap_or_default();
            format!("call {} {} {arguments}{signature}", call.id, call.name)
        }
        Block::Result(_) => "result".to_owned(),
    };
    reply.message.blocks.iter().map(block).collect::<Vec<_>>().join(" | ")
}

/// JSON with its keys in the order of the alphabet: which order a build keeps is another crate's
/// choice.
fn in_order(text: &str) -> String {
    fn sorted(value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(sorted).collect(),
            Value::Object(members) => {
                let members: BTreeMap<String, Value> =
                    members.into_iter().map(|(key, value)| (key, sorted(value))).collect();
                members.into_iter().collect()
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
        }
    }
    serde_json::from_str(text).map_or_else(|_| text.to_owned(), |value| sorted(value).to_string())
}

#[test]
fn every_shape_gives_what_was_meant() {
    for shape in shapes() {
        let found = match reply(&shape) {
            Ok(reply) => {
                let usage = reply.usage;
                let counts = [usage.input, usage.cache_read, usage.cache_write, usage.output];
                format!("{} => {:?} {counts:?} {}", short(&reply), reply.stop, usage.reasoning)
            }
            Err(Trouble::Told(told)) => {
                format!("told {:?} {:?}: {}", told.meaning(), told.status, told.message)
            }
            Err(Trouble::Unreadable(words)) => format!("unreadable {words}"),
            Err(Trouble::TooLarge(words)) => format!("too large {words}"),
        };
        assert_eq!(found, shape.wanted, "{}", shape.name);
    }
}

#[test]
fn where_any_shape_is_cut_in_two_changes_nothing() {
    for shape in shapes() {
        let bytes = shape.text.as_bytes();
        let whole = told(shape.wire, &[bytes]);
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(told(shape.wire, &[head, tail]), whole, "{} cut at {cut}", shape.name);
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(told(shape.wire, &single), whole, "{} byte by byte", shape.name);
    }
}

/// A stream that just ends is never taken for a whole answer, unless its end was told before.
#[test]
fn what_ends_early_is_no_answer() {
    for shape in shapes() {
        let end = shape.text.find(shape.last).unwrap_or(shape.text.len());
        for at in 0..end {
            let Some(head) = shape.text.get(..at) else { continue };
            let found = told(shape.wire, &[head.as_bytes()]);
            assert!(!found.contains("Reply {"), "{} at {at}: {found}", shape.name);
        }
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_kept() {
    let text = |line: &str| format!("data: {{\"choices\":[{{\"delta\":{{{line}}}}}]}}\n\n");
    let call =
        r#""tool_calls":[{"index":0,"id":"a","function":{"name":"n","arguments":"xxxxxxxx"}}]"#;
    let limits = Limits { arguments_bytes: 20, ..Limits::default() };
    let pieces = text(call).repeat(3);
    let found = told_within(Wire::Chat, &[pieces.as_bytes()], &limits);
    assert!(found.ends_with("arguments of more than 20 bytes\")"), "{found}");
    let limits = Limits { response_bytes: 500, ..Limits::default() };
    let thoughts = text(r#""reasoning_content":"on and on""#);
    let endless = vec![thoughts.as_bytes(); 100];
    let found = told_within(Wire::Chat, &endless, &limits);
    assert!(found.ends_with("the answer has more than 500 bytes\")"), "{found}");
    let limits = Limits { line_bytes: 30, ..Limits::default() };
    let found = told_within(Wire::Chat, &[thoughts.as_bytes()], &limits);
    assert!(found.ends_with("a line of the answer is longer than allowed\")"), "{found}");
}

#[test]
fn answers_that_are_no_stream_are_read_all_the_same() {
    let cases = [
        (
            Wire::Chat,
            r#"{"id":"c","choices":[{"message":{"content":"hi","tool_calls":[{"id":"t","function":{"name":"n","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
            "text hi | call t n {}",
        ),
        (
            Wire::Anthropic,
            r#"{"id":"m","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t","name":"n","input":{"a":1}}],"stop_reason":"tool_use"}"#,
            r#"text hi | call t n {"a":1}"#,
        ),
        (
            Wire::Responses,
            r#"{"id":"r","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}"#,
            "text hi",
        ),
        (
            Wire::Gemini,
            r#"[{"candidates":[{"content":{"parts":[{"text":"h"}]}}]},{"candidates":[{"content":{"parts":[{"text":"i"}]},"finishReason":"STOP"}]}]"#,
            "text hi",
        ),
    ];
    for (wire, body, wanted) in cases {
        let asked = Origin { wire, model: "m".to_owned() };
        let limits = Limits::default();
        let mut on_event = |_: Event<'_>| {};
        let mut answer = Answer::new(asked.clone(), &[], &limits, &mut on_event);
        answer.whole(body.as_bytes()).unwrap();
        assert_eq!(short(&answer.finish()), wanted);
        for other in [r#"{"status":"ok"}"#, "[]", "hello", r#"{"error":"no"}"#] {
            let mut answer = Answer::new(asked.clone(), &[], &limits, &mut on_event);
            assert!(answer.whole(other.as_bytes()).is_err(), "{wire:?} {other}");
        }
    }
}

proptest! {
    /// Shapes with bytes changed, taken out and put in: never a panic, and never another result for
    /// other cuts.
    #[test]
    fn broken_streams_are_read_the_same_however_they_are_cut(
        which in 0_usize..200,
        changes in proptest::collection::vec((0_usize..5000, any::<u8>(), 0_u8..3), 0..6),
        cut in 0_usize..5000,
    ) {
        let shapes = shapes();
        let shape = &shapes[which % shapes.len()];
        let mut bytes = shape.text.clone().into_bytes();
        for (at, byte, kind) in changes {
            let at = at % bytes.len().max(1);
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        let (head, tail) = bytes.split_at(cut % (bytes.len() + 1));
        prop_assert_eq!(told(shape.wire, &[head, tail]), told(shape.wire, &[&bytes]));
    }
}
