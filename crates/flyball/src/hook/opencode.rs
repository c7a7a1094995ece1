//! opencode: flyball's own plugin asks in the words of Claude Code and puts answers into effect.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::dialect::{
    Dialect, Heard, HeardResult, Occasion, Reply, block, failed, usual_heard, usual_occasion,
    usual_words, words,
};

pub(super) struct Opencode;

impl Dialect for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        plugin_heard(occasion, input)
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        plugin_words(event, occasion, reply)
    }

    fn advises(&self, occasion: Occasion) -> bool {
        occasion == Occasion::After
    }

    fn replaces(&self) -> bool {
        true
    }
}

/// What flyball's own plugins tell.
pub(super) fn plugin_heard(occasion: Occasion, input: &Value) -> Heard {
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

/// What flyball's own plugins understand.
pub(super) fn plugin_words(event: &str, occasion: Occasion, reply: &Reply) -> String {
    if occasion == Occasion::After && reply.replaces {
        return block(reply);
    }
    usual_words(event, occasion, reply)
}
