//! A request as Anthropic Messages has it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::conversation::{AsObject, Part, Turn};
use crate::families::{Claude, ClaudeThinking};
use crate::message::Role;
use crate::request::{Cache, Calls, Effort, Request};

/// How many places of a conversation the service keeps, beside the one after the system prompt. One
/// more than the last, because it looks back only twenty blocks for what it has kept.
const KEPT_TURNS: usize = 3;

/// The longest answer of a model that is not known.
const LONGEST_ANSWER: u32 = 8192;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[TextBlock<'a>; 1]>,
    messages: Vec<MessageBody<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct MessageBody<'a> {
    role: &'static str,
    content: Vec<Content<'a>>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(flatten)]
    block: BlockBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockBody<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: AsObject<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
}

#[derive(Serialize)]
struct ToolBody<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct Kind {
    r#type: &'static str,
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

#[derive(Serialize)]
struct Thinking {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_tokens: Option<u32>,
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

/// Writes the request.
pub(crate) fn body(
    request: &Request<'_>,
    turns: Vec<Turn<'_>>,
    model: &str,
) -> serde_json::Result<Vec<u8>> {
    let claude = Claude::of(model);
    let longest = claude.map_or(LONGEST_ANSWER, Claude::longest_answer);
    let max_tokens = request.max_tokens.unwrap_or(longest);
    let cache = cache_control(request.cache);
    let (thinking, output_config) = thinking(request.effort, claude, max_tokens);
    let is_forbidden = request.calls == Calls::Forbidden && !request.tools.is_empty();
    let text = (!request.system.is_empty()).then_some(request.system);
    let tools = request.tools.iter().map(|tool| ToolBody {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.schema,
    });
    serde_json::to_vec(&Body {
        model,
        max_tokens,
        stream: true,
        system: text.map(|text| [TextBlock { r#type: "text", text, cache_control: cache }]),
        messages: messages(turns, cache),
        tools: tools.collect(),
        tool_choice: is_forbidden.then_some(Kind { r#type: "none" }),
        thinking,
        output_config,
    })
}

/// Whether thoughts between calls must be asked for: the newer models have them by themselves.
pub(crate) fn wants_interleaving(request: &Request<'_>, model: &str) -> bool {
    let thinks = matches!(request.effort, Some(Effort::Low | Effort::Medium | Effort::High));
    let is_asked = Claude::of(model).map(Claude::thinking) == Some(ClaudeThinking::Budget);
    thinks && is_asked && !request.tools.is_empty()
}

fn thinking(
    effort: Option<Effort>,
    claude: Option<Claude>,
    max_tokens: u32,
) -> (Option<Thinking>, Option<OutputConfig>) {
    let style = claude.map_or(ClaudeThinking::Never, Claude::thinking);
    let (word, budget) = match effort {
        // Models that think as they like can at most be told to do so a little.
        Some(Effort::Off) if style == ClaudeThinking::Adaptive => ("low", 0),
        None | Some(Effort::Off) => return (None, None),
        Some(Effort::Low) => ("low", 4_000),
        Some(Effort::Medium) => ("medium", 10_000),
        Some(Effort::High) => ("high", 24_000),
    };
    match style {
        ClaudeThinking::Never => (None, None),
        ClaudeThinking::Budget => {
            // Thoughts count as part of the answer: half of it at most. Below 1,024 the service refuses.
            let budget_tokens = Some(budget.min(max_tokens / 2)).filter(|tokens| *tokens >= 1024);
            (budget_tokens.map(|_| Thinking { r#type: "enabled", budget_tokens }), None)
        }
        ClaudeThinking::Adaptive => {
            let thinking = (effort != Some(Effort::Off))
                .then_some(Thinking { r#type: "adaptive", budget_tokens: None });
            (thinking, Some(OutputConfig { effort: word }))
        }
    }
}

fn cache_control(cache: Cache) -> Option<CacheControl> {
    match cache {
        Cache::Off => None,
        Cache::Short => Some(CacheControl { r#type: "ephemeral", ttl: None }),
        Cache::Long => Some(CacheControl { r#type: "ephemeral", ttl: Some("1h") }),
    }
}

fn messages<'a>(turns: Vec<Turn<'a>>, cache: Option<CacheControl>) -> Vec<MessageBody<'a>> {
    let mut messages: Vec<MessageBody<'a>> = Vec::with_capacity(turns.len());
    for turn in turns {
        let content: Vec<Content<'a>> = turn.parts.into_iter().filter_map(content).collect();
        let role = if turn.role == Role::User { "user" } else { "assistant" };
        if !content.is_empty() {
            messages.push(MessageBody { role, content });
        }
    }
    let asked = messages.iter_mut().rev().filter(|message| message.role == "user");
    for message in asked.take(KEPT_TURNS) {
        if let Some(last) = message.content.last_mut() {
            last.cache_control = cache;
        }
    }
    messages
}

fn content(part: Part<'_>) -> Option<Content<'_>> {
    let block = match part {
        Part::Text { text, .. } => BlockBody::Text { text },
        Part::Thought(thought) => {
            // Without its signature, cut off in the middle, the service would refuse it.
            let signature = thought.signature.as_deref()?;
            if thought.redacted {
                BlockBody::RedactedThinking { data: signature }
            } else {
                BlockBody::Thinking { thinking: &thought.text, signature }
            }
        }
        Part::Call { call, .. } => {
            BlockBody::ToolUse { id: &call.id, name: &call.name, input: AsObject(&call.arguments) }
        }
        Part::Result { id, content, is_error, .. } => {
            BlockBody::ToolResult { tool_use_id: id, content, is_error: is_error.then_some(true) }
        }
    };
    Some(Content { block, cache_control: None })
}
