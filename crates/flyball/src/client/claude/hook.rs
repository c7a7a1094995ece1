//! Claude Code: a result cannot be replaced, only commented on.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::{Claude, NAME};
use crate::client::HookSetup;
use crate::client::hook::{
    CALL_AND_STOP, Dialect, Heard, HeardResult, Occasion, Reply, SESSION, failed, text,
    usual_heard, usual_occasion, usual_table, usual_words, words,
};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, part};

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        NAME
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

impl HookHome for Claude {
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let own = folders.own("CLAUDE_CONFIG_DIR", ".claude").join("settings.json");
        let path = folders.at(scope, ".claude/settings.local.json", own);
        Some(part(path, usual_table(hooks, NAME, CALL_AND_STOP.into_iter().chain(SESSION))))
    }
}
