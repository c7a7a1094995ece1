//! Claude Code: a result cannot be replaced, only commented on.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::stream::{did_not_run, is_exit, tool_use_error};
use super::{Claude, NAME};
use crate::client::hook::{
    CALL_AND_STOP, Dialect, Heard, HeardResult, Occasion, Reply, SESSION, text, usual_heard,
    usual_occasion, usual_table, usual_words, words,
};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, part};
use crate::client::session::failure;
use crate::client::{HookSetup, REFUSAL_MARK};

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
            let answer = words(input.get("tool_response"));
            match input.get("error").map(|_| text(input, "error")) {
                None => heard.result = Some(HeardResult { outcome: ToolOutcome::Ok, text: answer }),
                Some(error) => match tool_use_error(&error) {
                    Some((kind, why)) => {
                        heard.invalid = Some(failure(kind, &heard.call.args.to_string(), why));
                    }
                    None => heard.result = Some(failed(error)),
                },
            }
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

/// How a call went that did not go well.
fn failed(text: String) -> HeardResult {
    let outcome = if did_not_run(&text) || text.starts_with(REFUSAL_MARK) {
        ToolOutcome::Refused
    } else if is_exit(&text) {
        ToolOutcome::Exit
    } else {
        ToolOutcome::Tool
    };
    HeardResult { outcome, text }
}

impl HookHome for Claude {
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let own = folders.own("CLAUDE_CONFIG_DIR", ".claude").join("settings.json");
        let path = folders.at(scope, ".claude/settings.local.json", own);
        Some(part(path, usual_table(hooks, NAME, CALL_AND_STOP.into_iter().chain(SESSION))))
    }
}
