//! A request as Gemini has it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::assembly::is_made_id;
use crate::conversation::{AsObject, Part, Turn};
use crate::families;
use crate::message::Role;
use crate::request::{Calls, Effort, Request};

/// What the service takes for the signature of a call that another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[ToolBody<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig>,
    generation_config: Generation,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<PartBody<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct PartBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: AsObject<'a>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Answered<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Answered<'a> {
    Output(&'a str),
    Error(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolBody<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig {
    function_calling_config: CallingConfig,
}

#[derive(Serialize)]
struct CallingConfig {
    mode: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Thinking>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Thinking {
    include_thoughts: bool,
    #[serde(rename = "thinkingBudget", skip_serializing_if = "Option::is_none")]
    budget: Option<u32>,
    #[serde(rename = "thinkingLevel", skip_serializing_if = "Option::is_none")]
    level: Option<&'static str>,
}

/// Writes the request.
pub(crate) fn body(
    request: &Request<'_>,
    turns: Vec<Turn<'_>>,
    model: &str,
) -> serde_json::Result<Vec<u8>> {
    let system = PartBody { text: Some(Cow::Borrowed(request.system)), ..PartBody::default() };
    let stand_in = families::is_gemini_three(model).then_some(NO_SIGNATURE);
    let contents = turns.into_iter().filter_map(|turn| content(turn, stand_in));
    let declarations = request.tools.iter().map(|tool| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.schema,
    });
    let has_tools = !request.tools.is_empty();
    let mode = CallingConfig { mode: "NONE" };
    serde_json::to_vec(&Body {
        system_instruction: (!request.system.is_empty())
            .then(|| Content { role: None, parts: vec![system] }),
        contents: contents.collect(),
        tools: has_tools.then(|| [ToolBody { function_declarations: declarations.collect() }]),
        tool_config: (has_tools && request.calls == Calls::Forbidden)
            .then_some(ToolConfig { function_calling_config: mode }),
        generation_config: Generation {
            max_output_tokens: request.max_tokens,
            thinking_config: thinking(request.effort, model),
        },
    })
}

fn thinking(effort: Option<Effort>, model: &str) -> Option<Thinking> {
    if !families::gemini_thinks(model) {
        return None;
    }
    let has_levels = families::is_gemini_three(model);
    let (level, budget) = match effort {
        None => (None, None),
        Some(Effort::Off) => (Some("low"), Some(0)),
        Some(Effort::Low) => (Some("low"), Some(4096)),
        Some(Effort::Medium) => (Some("medium"), Some(10_240)),
        Some(Effort::High) => (Some("high"), Some(24_576)),
    };
    Some(Thinking {
        include_thoughts: effort != Some(Effort::Off),
        budget: budget.filter(|_| !has_levels),
        level: level.filter(|_| has_levels),
    })
}

/// `stand_in` is the signature of a call that has none.
fn content<'a>(turn: Turn<'a>, mut stand_in: Option<&'a str>) -> Option<Content<'a>> {
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "model",
    };
    let parts = turn.parts.into_iter().map(|part| match part {
        Part::Text { text, signature } => {
            PartBody { text: Some(text), thought_signature: signature, ..PartBody::default() }
        }
        Part::Thought(thought) => PartBody {
            text: Some(Cow::Borrowed(&thought.text)),
            thought: Some(true),
            thought_signature: thought.signature.as_deref(),
            ..PartBody::default()
        },
        Part::Call { call, signature } => {
            let id = Some(call.id.as_str()).filter(|id| !is_made_id(id));
            let args = AsObject(&call.arguments);
            // Of several calls at once only the first is signed.
            let stand_in = stand_in.take();
            PartBody {
                function_call: Some(FunctionCall { id, name: &call.name, args }),
                thought_signature: signature.or(stand_in),
                ..PartBody::default()
            }
        }
        Part::Result { id, name, content, is_error } => {
            let response =
                if is_error { Answered::Error(content) } else { Answered::Output(content) };
            let id = Some(id).filter(|id| !is_made_id(id));
            PartBody {
                function_response: Some(FunctionResponse { id, name, response }),
                ..PartBody::default()
            }
        }
    });
    let parts: Vec<PartBody<'_>> = parts.collect();
    (!parts.is_empty()).then_some(Content { role: Some(role), parts })
}
