//! A conversation as every service accepts it: speakers take turns, every call has its result, and
//! nobody is shown the thoughts of another model.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::message::{Arguments, Block, Call, Message, Origin, Role, Text, Thought};

/// What stands where a session was ended before a call was.
const NO_RESULT: &str = "no result: the session ended before this call did";

/// How much of arguments that are no JSON the model is shown again.
const UNPARSED_MAX: usize = 2000;

/// What one speaker says until the other speaks.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) role: Role,
    pub(crate) parts: Vec<Part<'a>>,
}

/// A part of a turn.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    Text { text: Cow<'a, str>, signature: Option<&'a str> },
    Thought(&'a Thought),
    Call { call: &'a Call, signature: Option<&'a str> },
    Result { id: &'a str, name: &'a str, content: &'a str, is_error: bool },
}

/// The turns of a conversation, for the model that is asked.
pub(crate) fn turns<'a>(messages: &'a [Message], asked: &Origin) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for message in messages {
        let own = message.origin.as_ref().filter(|origin| *origin == asked);
        let parts = message.blocks.iter().filter_map(|block| part(block, own));
        match turns.last_mut() {
            Some(turn) if turn.role == message.role => turn.parts.extend(parts),
            Some(_) | None => turns.push(Turn { role: message.role, parts: parts.collect() }),
        }
    }
    turns.retain(|turn| !turn.parts.is_empty());
    with_results(turns)
}

/// `own` is there for what the model that is asked has said itself.
fn part<'a>(block: &'a Block, own: Option<&Origin>) -> Option<Part<'a>> {
    let is_own = own.is_some();
    match block {
        Block::Text(Text { text, signature }) => {
            let signature = signature.as_deref().filter(|_| is_own);
            let is_blank = text.trim().is_empty() && signature.is_none();
            (!is_blank).then_some(Part::Text { text: Cow::Borrowed(text), signature })
        }
        Block::Thought(thought) => is_own.then_some(Part::Thought(thought)),
        Block::Call(call) => {
            Some(Part::Call { call, signature: call.signature.as_deref().filter(|_| is_own) })
        }
        Block::Result(result) => Some(Part::Result {
            id: &result.id,
            name: &result.name,
            content: &result.content,
            is_error: result.is_error,
        }),
    }
}

/// Puts behind every call its result: the one that is there, or a word that there is none. Results
/// come before words, and one without its call becomes words.
fn with_results(turns: Vec<Turn<'_>>) -> Vec<Turn<'_>> {
    let mut whole: Vec<Turn<'_>> = Vec::with_capacity(turns.len());
    let mut open: Vec<&Call> = Vec::new();
    for mut turn in turns {
        match turn.role {
            Role::Assistant => {
                if !open.is_empty() {
                    let parts = unanswered(&mut open);
                    whole.push(Turn { role: Role::User, parts });
                }
                open = calls(&turn);
                // Only tools give results.
                turn.parts.retain(|part| !matches!(part, Part::Result { .. }));
            }
            Role::User => {
                turn.parts.retain(|part| !matches!(part, Part::Call { .. } | Part::Thought(_)));
                turn.parts = answered(turn.parts, &mut open);
            }
        }
        // What a turn lost may leave two of the same speaker.
        match whole.last_mut() {
            _ if turn.parts.is_empty() => {}
            Some(last) if last.role == turn.role => last.parts.append(&mut turn.parts),
            Some(_) | None => whole.push(turn),
        }
    }
    if !open.is_empty() {
        let parts = unanswered(&mut open);
        whole.push(Turn { role: Role::User, parts });
    }
    whole
}

fn calls<'a>(turn: &Turn<'a>) -> Vec<&'a Call> {
    let calls = turn.parts.iter().filter_map(|part| match part {
        Part::Call { call, .. } => Some(*call),
        Part::Text { .. } | Part::Thought(_) | Part::Result { .. } => None,
    });
    calls.collect()
}

/// The results of the open calls in the order of the calls, then everything else.
fn answered<'a>(parts: Vec<Part<'a>>, open: &mut Vec<&'a Call>) -> Vec<Part<'a>> {
    let (mut results, mut rest) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Result { id, .. } if open.iter().any(|call| call.id == id) => {
                // Told twice, the last one counts.
                results.retain(|(known, _)| *known != id);
                results.push((id, part));
            }
            Part::Result { name, content, .. } => {
                let text = Cow::Owned(format!("An earlier call of {name} gave: {content}"));
                rest.push(Part::Text { text, signature: None });
            }
            Part::Text { .. } | Part::Thought(_) | Part::Call { .. } => rest.push(part),
        }
    }
    let mut ordered = Vec::with_capacity(open.len() + rest.len());
    for call in open.drain(..) {
        let found = results.iter().position(|(id, _)| *id == call.id);
        ordered.push(found.map_or_else(|| missing(call), |place| results.swap_remove(place).1));
    }
    ordered.extend(rest);
    ordered
}

fn unanswered<'a>(open: &mut Vec<&'a Call>) -> Vec<Part<'a>> {
    open.drain(..).map(missing).collect()
}

fn missing(call: &Call) -> Part<'_> {
    Part::Result { id: &call.id, name: &call.name, content: NO_RESULT, is_error: true }
}

/// Arguments as an object, whatever the model wrote.
#[derive(Debug)]
pub(crate) struct AsObject<'a>(pub(crate) &'a Arguments);

impl Serialize for AsObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Arguments::Json(value) => value.serialize(serializer),
            Arguments::Invalid { text, .. } => unparsed(text).serialize(serializer),
        }
    }
}

/// Arguments as the text of an object.
#[derive(Debug)]
pub(crate) struct AsText<'a>(pub(crate) &'a Arguments);

impl Serialize for AsText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Arguments::Json(value) => serializer.collect_str(value),
            Arguments::Invalid { text, .. } => serializer.collect_str(&unparsed(text)),
        }
    }
}

fn unparsed(text: &str) -> Value {
    let shown: String = text.chars().take(UNPARSED_MAX).collect();
    json!({ "unparsed": shown })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::CallResult;
    use crate::wire::Wire;

    fn origin(model: &str) -> Origin {
        Origin { wire: Wire::Anthropic, model: model.to_owned() }
    }

    fn said(model: &str, calls: &[&str]) -> Message {
        let thought = Thought { text: "hm".into(), signature: Some("s".into()), redacted: false };
        let mut blocks = vec![Block::Thought(thought)];
        for id in calls {
            blocks.push(Block::Call(Call {
                id: (*id).to_owned(),
                name: "read".into(),
                arguments: Arguments::read(String::new()),
                signature: Some("cs".into()),
            }));
        }
        Message { role: Role::Assistant, blocks, origin: Some(origin(model)) }
    }

    fn results(ids: &[&str]) -> Message {
        let of = |id: &&str| CallResult {
            id: (*id).to_owned(),
            name: "read".into(),
            content: format!("of {id}"),
            is_error: false,
        };
        Message::results(ids.iter().map(of).collect())
    }

    fn shown(messages: &[Message]) -> Vec<String> {
        let turns = turns(messages, &origin("me"));
        let part = |part: &Part<'_>| match part {
            Part::Text { text, .. } => format!("text {text}"),
            Part::Thought(thought) => format!("thought {}", thought.text),
            Part::Call { call, signature } => {
                format!("call {}{}", call.id, signature.map_or("", |_| " signed"))
            }
            Part::Result { id, content, .. } => format!("result {id} {content}"),
        };
        let shown = turns.iter().map(|turn| {
            let who = if turn.role == Role::User { "user" } else { "model" };
            let parts: Vec<String> = turn.parts.iter().map(part).collect();
            format!("{who}: {}", parts.join(", "))
        });
        shown.collect()
    }

    #[test]
    fn a_session_killed_between_call_and_result_goes_on() {
        let begun = [Message::user("go"), said("me", &["a", "b"])];
        let whole = shown(&begun);
        assert_eq!(whole[1], "model: thought hm, call a signed, call b signed");
        assert_eq!(whole[2], format!("user: result a {NO_RESULT}, result b {NO_RESULT}"));
        let one = [begun.as_slice(), &[results(&["b"]).and_text("go on")]].concat();
        assert_eq!(
            shown(&one)[2],
            format!("user: result a {NO_RESULT}, result b of b, text go on")
        );
        let spoke_again = [begun.as_slice(), &[said("me", &[]), Message::user("x")]].concat();
        assert_eq!(shown(&spoke_again).len(), 3, "two messages of the model are one turn");
    }

    #[test]
    fn results_come_in_the_order_of_calls_once_each_and_orphans_become_words() {
        let messages = [
            Message::user("go"),
            said("me", &["a", "b"]),
            results(&["b", "a", "b"]),
            results(&["gone"]),
            Message::user(" \n"),
        ];
        let wanted =
            "user: result a of a, result b of b, text An earlier call of read gave: of gone";
        assert_eq!(shown(&messages)[2], wanted);
    }

    #[test]
    fn thoughts_and_signatures_go_back_to_who_had_them_only() {
        let messages = [Message::user("go"), said("other", &["a"]), results(&["a"])];
        assert_eq!(shown(&messages)[1], "model: call a");
        let alone = [Message::user("go"), said("other", &[]), Message::user("and?")];
        assert_eq!(shown(&alone), ["user: text go, text and?"]);
    }

    #[test]
    fn arguments_that_are_no_object_go_back_as_one() {
        let invalid = Arguments::Invalid { text: "{\"a\"".repeat(1000), error: String::new() };
        let object = serde_json::to_value(AsObject(&invalid)).unwrap();
        assert_eq!(object["unparsed"].as_str().unwrap().len(), UNPARSED_MAX);
        let text = serde_json::to_value(AsText(&invalid)).unwrap();
        let read: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        assert_eq!(read, object);
    }
}
