//! Codex: as Claude Code, but a result can be replaced, and one unknown member of an answer makes it
//! drop the whole of it.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::dialect::{
    Dialect, Heard, HeardResult, Occasion, Reply, block, usual_heard, usual_occasion, usual_words,
    words,
};

pub(super) struct Codex;

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        let mut heard = usual_heard(input);
        if occasion == Occasion::After {
            let text = words(input.get("tool_response"));
            heard.result = Some(HeardResult { outcome: ToolOutcome::Ok, text });
        }
        heard
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        if occasion == Occasion::After && reply.replaces {
            return block(reply);
        }
        usual_words(event, occasion, reply)
    }

    fn advises(&self, occasion: Occasion) -> bool {
        matches!(occasion, Occasion::Before | Occasion::After)
    }

    fn replaces(&self) -> bool {
        true
    }
}
