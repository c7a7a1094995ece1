//! The result of a tool call, as far as it has to be understood: its texts, whether it failed, and
//! how it is written anew when something is added or taken out.

use flyball_core::call::{CallRing, ToolOutcome, ValidationFailure, ValidationKind};
use flyball_core::policy::CallRules;
use flyball_core::text::prefix;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer;
use super::raw::RawObject;
use crate::spill::Spill;

/// A response to a tool call.
#[derive(Debug)]
pub(super) struct CallResponse<'a> {
    whole: RawObject<'a>,
    result: Option<RawObject<'a>>,
    content: Vec<(&'a RawValue, Option<String>)>,
    /// How the call went.
    pub(super) outcome: ToolOutcome,
    /// What the ring knows the result by.
    pub(super) identity: String,
    /// Characters of text in it.
    chars: u64,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

/// The protocol's number for an unknown tool or arguments that do not fit.
const INVALID_PARAMS: i64 = -32602;
/// How results begin in which the protocol's own libraries say the same.
const INVALID_MARKS: [&str; 3] = ["MCP error -32602:", "Unknown tool:", "Input validation error:"];
/// Characters kept of what a server says.
const ERROR_MAX: usize = 500;

/// An error of the protocol.
#[derive(Deserialize)]
struct ProtocolError {
    code: i64,
    #[serde(default)]
    message: String,
}

impl<'a> CallResponse<'a> {
    /// Reads a line; none when it is nothing that is understood.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let whole: RawObject<'a> = serde_json::from_slice(line).ok()?;
        let Some(result) = whole.get("result") else {
            let identity = whole.get("error").map(|error| error.get().to_owned())?;
            let outcome = ToolOutcome::Tool;
            return Some(Self {
                whole,
                result: None,
                content: Vec::new(),
                outcome,
                identity,
                chars: 0,
            });
        };
        let object: RawObject<'a> = serde_json::from_str(result.get()).ok()?;
        let items: Vec<&'a RawValue> = object
            .get("content")
            .and_then(|content| serde_json::from_str(content.get()).ok())
            .unwrap_or_default();
        let content: Vec<(&RawValue, Option<String>)> =
            items.into_iter().map(|item| (item, text_of(item))).collect();
        let failed = object.get("isError").is_some_and(|value| value.get().trim() == "true");
        let texts: Vec<&str> = content.iter().filter_map(|(_, text)| text.as_deref()).collect();
        let chars = texts.iter().map(|text| text.chars().count() as u64).sum();
        let others = content.iter().filter(|(_, text)| text.is_none()).map(|(item, _)| item.get());
        let parts: Vec<&str> = texts.iter().copied().chain(others).collect();
        let identity = if parts.is_empty() { result.get().to_owned() } else { parts.join("\n") };
        let outcome = if failed { ToolOutcome::Tool } else { ToolOutcome::Ok };
        Some(Self { whole, result: Some(object), content, outcome, identity, chars })
    }

    /// What the server could not understand: a tool it does not have, or arguments that do not fit.
    /// By the protocol's own number, or by the words the protocol's own libraries begin with.
    pub(super) fn invalid(&self) -> Option<ValidationFailure> {
        let expected = "a tool this server has, with the arguments its schema asks for";
        let failure = |kind, error: &str| {
            ValidationFailure::new(kind, expected, "", prefix(error, ERROR_MAX))
        };
        if let Some(error) = self.whole.get("error") {
            let error: ProtocolError = serde_json::from_str(error.get()).ok()?;
            return (error.code == INVALID_PARAMS)
                .then(|| failure(kind_of(&error.message), &error.message));
        }
        if self.outcome != ToolOutcome::Tool {
            return None;
        }
        let text = self.text();
        let said = text.trim_start();
        INVALID_MARKS
            .iter()
            .any(|mark| said.starts_with(mark))
            .then(|| failure(kind_of(&text), &text))
    }

    /// The message anew, with notes added and a large text taken out; none when it can stay.
    pub(super) fn rewritten(
        &self,
        rules: &CallRules,
        spill: &Spill,
        notes: &[String],
    ) -> Option<String> {
        let Some(result) = &self.result else { return self.error_with(notes) };
        result.get("content")?;
        let large = CallRing::large(rules, self.chars).is_some();
        if notes.is_empty() && !large {
            return None;
        }
        let mut items: Vec<String> = Vec::new();
        let mut replaced = Vec::new();
        if large {
            let notice = spill.spilled(rules, &self.text(), self.chars).into_text();
            items.push(answer::text(&notice).to_string());
            let others = self.content.iter().filter(|(_, text)| text.is_none());
            items.extend(others.map(|(item, _)| item.get().to_owned()));
            if let Some(structured) = shortened(result, rules, &notice) {
                replaced.push(("structuredContent", structured));
            }
        } else {
            items.extend(self.content.iter().map(|(item, _)| item.get().to_owned()));
        }
        items.extend(notes.iter().map(|note| answer::text(note).to_string()));
        replaced.push(("content", format!("[{}]", items.join(","))));
        let result = result.with(&replaced);
        Some(self.whole.with(&[("result", result)]))
    }

    /// An error of the protocol with notes added; none when there is nothing to add.
    fn error_with(&self, notes: &[String]) -> Option<String> {
        let mut error: Value = serde_json::from_str(self.whole.get("error")?.get()).ok()?;
        let message = error.get_mut("message").filter(|_| !notes.is_empty())?;
        *message = format!("{}\n{}", message.as_str()?, notes.join("\n")).into();
        Some(self.whole.with(&[("error", error.to_string())]))
    }

    fn text(&self) -> String {
        let texts: Vec<&str> =
            self.content.iter().filter_map(|(_, text)| text.as_deref()).collect();
        texts.join("\n")
    }
}

/// An unknown tool is told from wrong arguments by the server's own word for it.
fn kind_of(message: &str) -> ValidationKind {
    let message = message.to_ascii_lowercase();
    if message.contains("unknown tool")
        || (message.contains("tool") && message.contains("not found"))
    {
        ValidationKind::UnknownTool
    } else {
        ValidationKind::WrongType
    }
}

fn text_of(item: &RawValue) -> Option<String> {
    let item: Item = serde_json::from_str(item.get()).ok()?;
    item.text.filter(|_| item.kind == "text")
}

/// The structured twin of a large text: its shape stays, since a schema may ask for it, and its
/// long texts go.
fn shortened(result: &RawObject<'_>, rules: &CallRules, notice: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(result.get("structuredContent")?.get()).ok()?;
    let max = usize::try_from(rules.shown_preview()).unwrap_or(usize::MAX).max(notice.len());
    shorten(&mut value, max, notice);
    Some(value.to_string())
}

fn shorten(value: &mut Value, max: usize, notice: &str) {
    match value {
        Value::String(text) if text.len() > max => notice.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, max, notice)),
        Value::Object(fields) => fields.values_mut().for_each(|one| shorten(one, max, notice)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
