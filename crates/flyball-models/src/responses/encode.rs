//! A request as Responses have it. Nothing is kept by the service: thoughts come encrypted and go back.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::conversation::{AsText, Part, Turn};
use crate::families;
use crate::message::Role;
use crate::request::{Calls, Effort, Request};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

#[derive(Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    summary: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: [Content<'a>; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a str>,
    },
    Reasoning {
        summary: [(); 0],
        encrypted_content: &'a str,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: AsText<'a>,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: &'a str,
    },
}

#[derive(Serialize)]
struct Content<'a> {
    r#type: &'static str,
    text: Cow<'a, str>,
}

#[derive(Serialize)]
struct ToolBody<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    strict: bool,
}

/// Writes the request.
pub(crate) fn body(
    request: &Request<'_>,
    turns: Vec<Turn<'_>>,
    model: &str,
) -> serde_json::Result<Vec<u8>> {
    let reasons = families::is_openai_reasoner(model) || request.effort.is_some();
    let is_forbidden = request.calls == Calls::Forbidden && !request.tools.is_empty();
    let tools = request.tools.iter().map(|tool| ToolBody {
        r#type: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.schema,
        strict: false,
    });
    let items = turns.into_iter().flat_map(|turn| {
        let role = turn.role;
        turn.parts.into_iter().filter_map(move |part| item(part, role))
    });
    serde_json::to_vec(&Body {
        model,
        stream: true,
        store: false,
        instructions: request.system,
        input: items.collect(),
        tools: tools.collect(),
        tool_choice: is_forbidden.then_some("none"),
        max_output_tokens: request.max_tokens,
        reasoning: reasons
            .then(|| Reasoning { effort: request.effort.map(Effort::word), summary: "auto" }),
        include: reasons.then_some(["reasoning.encrypted_content"]),
        prompt_cache_key: request.conversation,
    })
}

fn item(part: Part<'_>, role: Role) -> Option<Item<'_>> {
    match part {
        Part::Text { text, signature } => {
            let (role, r#type) = match role {
                Role::User => ("user", "input_text"),
                Role::Assistant => ("assistant", "output_text"),
            };
            Some(Item::Message { role, content: [Content { r#type, text }], phase: signature })
        }
        // Without what the service encrypted it would look for a thought it has not kept.
        Part::Thought(thought) => thought
            .signature
            .as_deref()
            .map(|encrypted_content| Item::Reasoning { summary: [], encrypted_content }),
        Part::Call { call, .. } => Some(Item::FunctionCall {
            call_id: &call.id,
            name: &call.name,
            arguments: AsText(&call.arguments),
        }),
        Part::Result { id, content, .. } => {
            Some(Item::FunctionCallOutput { call_id: id, output: content })
        }
    }
}
