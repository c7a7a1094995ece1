//! Claude Code: a result cannot be replaced, only commented on.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::dialect::{
    Dialect, Heard, HeardResult, Occasion, Reply, failed, text, usual_heard, usual_occasion,
    usual_words, words,
};

pub(super) struct Claude;

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        let mut heard = usual_heard(input);
        if occasion == Occasion::After {
            heard.result = Some(match input.get("error") {
                Some(_) => failed(text(input, "error"), "Exit code "),
                None => HeardResult {
                    outcome: ToolOutcome::Ok,
                    text: words(input.get("tool_response")),
                },
            });
        }
        heard
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        usual_words(event, occasion, reply)
    }

    fn advises(&self, occasion: Occasion) -> bool {
        matches!(occasion, Occasion::Before | Occasion::After)
    }
}
