//! Qwen Code: as Claude Code, with the model's own call ids and the context window's fill.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::dialect::{
    Dialect, Heard, HeardResult, Occasion, Reply, failed, text, usual_heard, usual_occasion,
    usual_words, words,
};

pub(super) struct Qwen;

impl Dialect for Qwen {
    fn name(&self) -> &'static str {
        "qwen"
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        let mut heard = usual_heard(input);
        let id = text(input, "tool_call_id");
        if !id.is_empty() {
            heard.call.id = id;
        }
        if occasion == Occasion::After {
            heard.result = Some(match input.get("error") {
                Some(_) => failed(text(input, "error"), "Exit Code: "),
                None => HeardResult {
                    outcome: ToolOutcome::Ok,
                    text: words(input.get("tool_response")),
                },
            });
        }
        heard.context = input.get("context_usage").and_then(Value::as_f64).map(permille);
        heard
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        usual_words(event, occasion, reply)
    }

    fn advises(&self, occasion: Occasion) -> bool {
        matches!(occasion, Occasion::Before | Occasion::After)
    }
}

/// A share as thousandths, at most all of them.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "brought into 0..=1000 before"
)]
fn permille(share: f64) -> u16 {
    (share * 1000.0).clamp(0.0, 1000.0) as u16
}
