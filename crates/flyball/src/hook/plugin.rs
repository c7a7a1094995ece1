//! opencode and pi: flyball's own plugins ask in the words of Claude Code and put answers into
//! effect.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::dialect::{
    Dialect, Heard, HeardResult, Occasion, Reply, block, failed, usual_heard, usual_occasion,
    usual_words, words,
};

/// A client with a plugin of flyball's.
pub(super) enum Plugin {
    Opencode,
    Pi,
}

impl Dialect for Plugin {
    fn name(&self) -> &'static str {
        match self {
            Self::Opencode => "opencode",
            Self::Pi => "pi",
        }
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        heard(occasion, input)
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        answer(event, occasion, reply)
    }

    fn advises(&self, occasion: Occasion) -> bool {
        occasion == Occasion::After
    }

    fn replaces(&self) -> bool {
        true
    }

    fn names_sessions(&self) -> bool {
        matches!(self, Self::Opencode)
    }
}

/// What flyball's own plugins tell.
fn heard(occasion: Occasion, input: &Value) -> Heard {
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
fn answer(event: &str, occasion: Occasion, reply: &Reply) -> String {
    if occasion == Occasion::After && reply.replaces {
        return block(reply);
    }
    usual_words(event, occasion, reply)
}
