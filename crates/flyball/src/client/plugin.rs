//! flyball's own plugins for clients that run JavaScript (opencode, pi): they ask in the words of
//! Claude Code and put answers into effect.

use flyball_core::call::ToolOutcome;
use serde_json::{Value, json};

use super::HookSetup;
use super::hook::{
    Heard, HeardResult, Occasion, Reply, block, failed, usual_heard, usual_words, words,
};

/// What no other file holds.
pub(crate) const MARK: &str = "flyball's ears in";

/// A plugin with its blanks filled in. The path becomes a string literal of JavaScript.
pub(crate) fn filled(plugin: &str, hooks: &HookSetup, stops: u32) -> String {
    let program = json!(hooks.program.to_string_lossy()).to_string();
    plugin
        .replace("\"@PROGRAM@\"", &program)
        .replace("\"@FLAGS@\"", &json!(hooks.flag().into_iter().collect::<Vec<_>>()).to_string())
        .replace("@STOPS@", &stops.to_string())
        .replace("@CALL_SECONDS@", &hooks.call_timeout_secs.to_string())
        .replace("@STOP_SECONDS@", &hooks.stop_timeout_secs.to_string())
}

/// What the plugins tell.
pub(crate) fn heard(occasion: Occasion, input: &Value) -> Heard {
    let mut heard = usual_heard(input);
    if occasion == Occasion::After {
        let text = words(input.get("tool_response"));
        let is_error = input.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        heard.result = Some(if is_error {
            failed(text, "exited with code ")
        } else {
            HeardResult { outcome: ToolOutcome::Ok, text }
        });
    }
    heard
}

/// What the plugins understand.
pub(crate) fn answer(event: &str, occasion: Occasion, reply: &Reply) -> String {
    if occasion == Occasion::After && reply.replaces {
        return block(reply);
    }
    usual_words(event, occasion, reply)
}
