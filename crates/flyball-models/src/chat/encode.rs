//! A request as chat completions have it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::thoughts;
use crate::conversation::{AsText, Part, Turn};
use crate::families;
use crate::message::Role;
use crate::request::{Calls, Effort, Request};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    messages: Vec<MessageBody<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Default, Serialize)]
struct MessageBody<'a> {
    role: &'static str,
    /// Null beside calls: some templates want the field to be there.
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<Value>,
}

#[derive(Serialize)]
struct CallBody<'a> {
    id: &'a str,
    r#type: &'static str,
    function: FunctionCall<'a>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    name: &'a str,
    arguments: AsText<'a>,
}

#[derive(Serialize)]
struct ToolBody<'a> {
    r#type: &'static str,
    function: FunctionBody<'a>,
}

#[derive(Serialize)]
struct FunctionBody<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// Writes the request.
pub(crate) fn body(
    request: &Request<'_>,
    turns: Vec<Turn<'_>>,
    model: &str,
) -> serde_json::Result<Vec<u8>> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        let content = Some(Cow::Borrowed(request.system));
        messages.push(MessageBody { role: "system", content, ..MessageBody::default() });
    }
    // Thoughts belong to the work since someone last spoke; services refuse older ones.
    let spoken = turns.iter().rposition(is_new_task);
    for (place, mut turn) in turns.into_iter().enumerate() {
        if spoken.is_some_and(|from| place < from) {
            turn.parts.retain(|part| !matches!(part, Part::Thought(_)));
        }
        match turn.role {
            Role::User => asked(turn, &mut messages),
            Role::Assistant => messages.push(said(turn)),
        }
    }
    let reasons = families::is_openai_reasoner(model);
    let is_forbidden = request.calls == Calls::Forbidden && !request.tools.is_empty();
    let tools = request.tools.iter().map(|tool| ToolBody {
        r#type: "function",
        function: FunctionBody {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.schema,
        },
    });
    serde_json::to_vec(&Body {
        model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        messages,
        tools: tools.collect(),
        tool_choice: is_forbidden.then_some("none"),
        max_tokens: request.max_tokens.filter(|_| !reasons),
        max_completion_tokens: request.max_tokens.filter(|_| reasons),
        reasoning_effort: request.effort.map(Effort::word),
    })
}

/// Whether someone speaks; words beside results are advice on the same work.
fn is_new_task(turn: &Turn<'_>) -> bool {
    let has_results = turn.parts.iter().any(|part| matches!(part, Part::Result { .. }));
    turn.role == Role::User && !has_results
}

/// Results are messages of their own, and come before words.
fn asked<'a>(turn: Turn<'a>, messages: &mut Vec<MessageBody<'a>>) {
    let mut words: Option<Cow<'a, str>> = None;
    for part in turn.parts {
        match part {
            Part::Result { id, content, .. } => messages.push(MessageBody {
                role: "tool",
                content: Some(Cow::Borrowed(content)),
                tool_call_id: Some(id),
                ..MessageBody::default()
            }),
            Part::Text { text, .. } => words = Some(joined(words, text)),
            Part::Thought(_) | Part::Call { .. } => {}
        }
    }
    if words.is_some() {
        messages.push(MessageBody { role: "user", content: words, ..MessageBody::default() });
    }
}

fn said(turn: Turn<'_>) -> MessageBody<'_> {
    let mut message = MessageBody { role: "assistant", ..MessageBody::default() };
    for part in turn.parts {
        match part {
            Part::Text { text, .. } => {
                message.content = Some(joined(message.content.take(), text));
            }
            Part::Thought(thought) => {
                let (field, value) = thoughts::written(thought);
                match field {
                    thoughts::Field::Content => add(&mut message.reasoning_content, &thought.text),
                    thoughts::Field::Reasoning => add(&mut message.reasoning, &thought.text),
                    thoughts::Field::Details => message.reasoning_details = value,
                }
            }
            Part::Call { call, .. } => message.tool_calls.push(CallBody {
                id: &call.id,
                r#type: "function",
                function: FunctionCall { name: &call.name, arguments: AsText(&call.arguments) },
            }),
            Part::Result { .. } => {}
        }
    }
    message
}

fn add(field: &mut Option<String>, text: &str) {
    field.get_or_insert_default().push_str(text);
}

fn joined<'a>(before: Option<Cow<'a, str>>, text: Cow<'a, str>) -> Cow<'a, str> {
    match before {
        Some(before) => Cow::Owned(format!("{before}\n\n{text}")),
        None => text,
    }
}
