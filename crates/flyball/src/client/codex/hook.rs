//! Codex: as Claude Code, but a result can be replaced, and one unknown member of an answer makes it
//! drop the whole of it.

use flyball_core::call::ToolOutcome;
use serde_json::Value;

use super::{Codex, NAME};
use crate::client::HookSetup;
use crate::client::hook::{
    Dialect, Heard, HeardResult, Occasion, Reply, SESSION, block, usual_heard, usual_occasion,
    usual_table, usual_words, words,
};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, part};

/// The events of its hooks that flyball listens to in a run.
pub(super) const EVENTS: [&str; 3] = ["PreToolUse", "PostToolUse", "Stop"];

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        NAME
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

impl HookHome for Codex {
    /// It reads hooks from its own home only.
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let path = folders.own("CODEX_HOME", ".codex").join("hooks.json");
        let table = usual_table(hooks, NAME, EVENTS.into_iter().chain(SESSION));
        (scope == Scope::User).then(|| part(path, table))
    }

    fn usual_scope(&self) -> Scope {
        Scope::User
    }

    fn remark(&self, _scope: Scope) -> Option<&'static str> {
        Some("codex skips hooks it does not trust: start it, open /hooks and trust flyball's once")
    }
}
