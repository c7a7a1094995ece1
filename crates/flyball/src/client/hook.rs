//! What hooks say and understand: what is the same for every client.
//!
//! A dialect reads and writes. It judges nothing and touches nothing.

use std::path::PathBuf;

use flyball_core::call::{ToolOutcome, ValidationFailure};
use flyball_core::guard::Rung;
use serde_json::{Map, Value, json};

use super::{HookSetup, REFUSAL_MARK};

/// When in a session a hook is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A call is about to run.
    Before,
    /// A call was answered.
    After,
    /// The agent wants to stop.
    Stop,
    /// A session begins.
    Began,
    /// A human says something to the agent.
    Human,
    /// A session is over.
    Ended,
    /// Something flyball has no say in.
    Other,
}

/// What a hook was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// The client's session.
    pub session: String,
    /// Where the client works, when it says so.
    pub dir: Option<PathBuf>,
    /// The call, before and after it.
    pub call: HeardCall,
    /// What the tool answered, where the client tells.
    pub result: Option<HeardResult>,
    /// What tells two askings apart where calls have no ids: hooks that are installed twice are asked
    /// twice about the same call.
    pub stamp: String,
    /// What tells one stop from another: hooks that are installed twice are asked twice about it.
    pub asking: String,
    /// What the agent said last, at a stop, where the client tells.
    pub said: Option<String>,
    /// Whether a stop was refused just before, where the client tells.
    pub stops_again: Option<bool>,
    /// How full the context window is, in thousandths, where the client tells.
    pub context: Option<u16>,
    /// A call that is none (A4).
    pub invalid: Option<ValidationFailure>,
    /// Whether a human said something, not a hook in a human's place.
    pub human: bool,
}

/// A call as a client tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeardCall {
    /// Its id; empty where the client gives none.
    pub id: String,
    /// The sub-agent; empty for the main one.
    pub agent: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The model's turn it belongs to; empty where the client does not tell.
    pub round: String,
    /// Whether it changes files, where the agent says so itself.
    pub changes_files: Option<bool>,
}

/// An answer of a tool as a client tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardResult {
    /// How it went.
    pub outcome: ToolOutcome,
    /// What it said.
    pub text: String,
}

/// What flyball answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its rung of the ladder: pass, nudge, refuse or halt.
    pub rung: Rung,
    /// What the agent is told; empty for nothing.
    pub message: String,
    /// Whether the message stands in place of the tool's result.
    pub replaces: bool,
}

impl Reply {
    /// Go on.
    pub const fn pass() -> Self {
        Self { rung: Rung::Pass, message: String::new(), replaces: false }
    }

    /// Go on, and tell this.
    pub const fn nudge(message: String) -> Self {
        Self { rung: Rung::Nudge, message, replaces: false }
    }

    /// This does not happen, and why.
    pub const fn refuse(message: String) -> Self {
        Self { rung: Rung::Refuse, message, replaces: false }
    }

    /// Whether what was asked about may happen.
    pub const fn allows(&self) -> bool {
        matches!(self.rung, Rung::Pass | Rung::Nudge)
    }
}

/// How one client's hooks speak.
pub trait Dialect: Sync {
    /// The client's name.
    fn name(&self) -> &'static str;

    /// What an event of the client's means.
    fn occasion(&self, event: &str) -> Occasion;

    /// Reads what the client tells.
    fn read(&self, occasion: Occasion, input: &Value) -> Heard;

    /// What is printed; empty for nothing to say.
    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String;

    /// Whether advice reaches the agent on this occasion.
    fn advises(&self, occasion: Occasion) -> bool;

    /// Whether the result of a tool can be replaced.
    fn replaces(&self) -> bool {
        false
    }

    /// Whether the client tells its hooks what tools answered.
    fn sees_results(&self) -> bool {
        true
    }

    /// Whether the client names its sessions; else one process of it is one session.
    fn names_sessions(&self) -> bool {
        true
    }

    /// Whether its hooks are asked about each call; a home-made agent asks when it likes.
    fn sees_all_calls(&self) -> bool {
        true
    }
}

/// The events of Claude Code's hooks that flyball listens to in a run.
pub(crate) const CALL_AND_STOP: [&str; 4] =
    ["PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"];

/// Those it listens to besides, where hooks stay.
pub(crate) const SESSION: [&str; 3] = ["SessionStart", "UserPromptSubmit", "SessionEnd"];

/// Hooks in the shape Claude Code reads; codex, goose and qwen read the same.
pub(crate) fn usual_table(
    hooks: &HookSetup,
    agent: &str,
    events: impl IntoIterator<Item = &'static str>,
) -> Map<String, Value> {
    let entry = |event: &str| {
        let command = hooks.command(agent, event);
        let secs = hooks.secs(usual_occasion(event));
        json!([{ "hooks": [{ "type": "command", "command": command, "timeout": secs }] }])
    };
    events.into_iter().map(|event| (event.to_owned(), entry(event))).collect()
}

/// The events of Claude Code, which most clients took over.
pub(crate) fn usual_occasion(event: &str) -> Occasion {
    match event {
        "PreToolUse" => Occasion::Before,
        "PostToolUse" | "PostToolUseFailure" => Occasion::After,
        "Stop" => Occasion::Stop,
        "SessionStart" => Occasion::Began,
        "UserPromptSubmit" => Occasion::Human,
        "SessionEnd" => Occasion::Ended,
        _ => Occasion::Other,
    }
}

/// The input of Claude Code's hooks, without results.
pub(crate) fn usual_heard(input: &Value) -> Heard {
    Heard {
        session: text(input, "session_id"),
        dir: path(input, "cwd"),
        call: HeardCall {
            id: text(input, "tool_use_id"),
            agent: text(input, "agent_id"),
            tool: text(input, "tool_name"),
            args: input.get("tool_input").cloned().unwrap_or(Value::Null),
            ..HeardCall::default()
        },
        said: input.get("last_assistant_message").and_then(Value::as_str).map(str::to_owned),
        stops_again: input.get("stop_hook_active").and_then(Value::as_bool),
        human: is_human(input),
        ..Heard::default()
    }
}

/// Whether what was said to the agent is a human's: refused stops come back as prompts in some
/// clients, and others tell of an empty one after each round of calls.
pub(crate) fn is_human(input: &Value) -> bool {
    let prompt = input.get("prompt").and_then(Value::as_str).unwrap_or_default().trim();
    !prompt.is_empty() && !prompt.starts_with(REFUSAL_MARK)
}

/// The answers Claude Code's hooks give.
pub(crate) fn usual_words(event: &str, occasion: Occasion, reply: &Reply) -> String {
    match occasion {
        Occasion::Before | Occasion::Stop if !reply.allows() => block(reply),
        Occasion::Before | Occasion::After if !reply.message.is_empty() => advice(event, reply),
        Occasion::Before
        | Occasion::After
        | Occasion::Stop
        | Occasion::Began
        | Occasion::Human
        | Occasion::Ended
        | Occasion::Other => String::new(),
    }
}

/// The answer that blocks with a reason. No further member: codex drops an answer it does not know.
pub(crate) fn block(reply: &Reply) -> String {
    json!({ "decision": "block", "reason": reply.message }).to_string()
}

/// The answer that adds to the agent's context.
pub(crate) fn advice(event: &str, reply: &Reply) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": reply.message } })
        .to_string()
}

/// A member that is text; empty when it is missing or something else.
pub(crate) fn text(input: &Value, name: &str) -> String {
    input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A member that is a path.
pub(crate) fn path(input: &Value, name: &str) -> Option<PathBuf> {
    input.get(name).and_then(Value::as_str).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// What a tool answered, as text, in whichever shape the client has it.
pub(crate) fn words(answer: Option<&Value>) -> String {
    match answer {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| words(Some(part))).collect::<Vec<_>>().join("\n")
        }
        Some(Value::Object(members)) => {
            let told = ["llmContent", "textResultForLlm", "content", "text", "output"]
                .iter()
                .find_map(|name| members.get(*name));
            match (told, members.get("stdout"), members.get("stderr")) {
                (Some(told), ..) => words(Some(told)),
                (None, None, None) => Value::Object(members.clone()).to_string(),
                (None, out, err) => {
                    let (out, err) = (words(out), words(err));
                    if err.is_empty() { out } else { format!("{out}\n{err}") }
                }
            }
        }
        Some(other) => other.to_string(),
    }
}

/// How a failure went: a program that exited non-zero is a result, not a failure of the tool.
pub(crate) fn failed(text: String, exit_mark: &str) -> HeardResult {
    let outcome = if text.starts_with(REFUSAL_MARK) {
        ToolOutcome::Refused
    } else if text.contains(exit_mark) {
        ToolOutcome::Exit
    } else {
        ToolOutcome::Tool
    };
    HeardResult { outcome, text }
}
