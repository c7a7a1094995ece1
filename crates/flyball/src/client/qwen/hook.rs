//! Qwen Code: as Claude Code, with the model's own call ids and the context window's fill.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::{NAME, Qwen};
use crate::client::HookSetup;
use crate::client::hook::{
    CALL_AND_STOP, Dialect, Heard, HeardResult, Occasion, Reply, SESSION, failed, text,
    usual_heard, usual_occasion, usual_table, usual_words, words,
};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, part, trusted_folder};

impl Dialect for Qwen {
    fn name(&self) -> &'static str {
        NAME
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

impl HookHome for Qwen {
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let settings = ".qwen/settings.json";
        let path = folders.at(scope, settings, folders.home.join(settings));
        Some(part(path, usual_table(hooks, NAME, CALL_AND_STOP.into_iter().chain(SESSION))))
    }

    fn remark(&self, scope: Scope) -> Option<&'static str> {
        trusted_folder(scope)
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
