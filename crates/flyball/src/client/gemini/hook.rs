//! Gemini CLI: names of its own for events, no ids of calls, and at a stop everything that was said
//! since the prompt.

use flyball_core::call::ToolOutcome;
use serde_json::{Map, Value, json};

use super::{Gemini, NAME};
use crate::client::HookSetup;
use crate::client::hook::{
    Dialect, Heard, HeardResult, Occasion, Reply, text, usual_heard, usual_words, words,
};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, part, trusted_folder};

/// The events of its hooks that flyball listens to in a run.
pub(super) const EVENTS: [&str; 3] = ["BeforeTool", "AfterTool", "AfterAgent"];

/// Those it listens to besides, where hooks stay.
const SESSION_EVENTS: [&str; 3] = ["SessionStart", "BeforeAgent", "SessionEnd"];

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn occasion(&self, event: &str) -> Occasion {
        match event {
            "BeforeTool" => Occasion::Before,
            "AfterTool" => Occasion::After,
            "AfterAgent" => Occasion::Stop,
            "SessionStart" => Occasion::Began,
            "BeforeAgent" => Occasion::Human,
            "SessionEnd" => Occasion::Ended,
            _ => Occasion::Other,
        }
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        let mut heard = Heard { stamp: text(input, "timestamp"), ..usual_heard(input) };
        if occasion == Occasion::After {
            let answer = input.get("tool_response");
            let error = answer.and_then(|answer| answer.get("error")).filter(|e| !e.is_null());
            heard.result = Some(HeardResult {
                outcome: if error.is_some() { ToolOutcome::Tool } else { ToolOutcome::Ok },
                text: without_group(&words(answer)),
            });
        }
        if occasion == Occasion::Stop {
            heard.said = Some(text(input, "prompt_response"));
        }
        heard
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        if occasion == Occasion::After && reply.replaces {
            return json!({ "decision": "deny", "reason": reply.message }).to_string();
        }
        usual_words(event, occasion, reply)
    }

    fn advises(&self, occasion: Occasion) -> bool {
        occasion == Occasion::After
    }

    fn replaces(&self) -> bool {
        true
    }
}

impl HookHome for Gemini {
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let settings = ".gemini/settings.json";
        let path = folders.at(scope, settings, folders.home.join(settings));
        Some(part(path, table(hooks, EVENTS.into_iter().chain(SESSION_EVENTS))))
    }

    fn remark(&self, scope: Scope) -> Option<&'static str> {
        trusted_folder(scope)
    }
}

/// Its time limits are in milliseconds.
pub(super) fn table(
    hooks: &HookSetup,
    events: impl IntoIterator<Item = &'static str>,
) -> Map<String, Value> {
    let entry = |event: &str| {
        let occasion = Gemini.occasion(event);
        let hook = json!({
            "type": "command", "name": "flyball", "command": hooks.command(NAME, event),
            "timeout": hooks.secs(occasion) * 1000,
        });
        match occasion {
            Occasion::Began | Occasion::Human | Occasion::Ended => json!([{ "hooks": [hook] }]),
            Occasion::Before | Occasion::After | Occasion::Stop | Occasion::Other => {
                json!([{ "matcher": ".*", "hooks": [hook] }])
            }
        }
    };
    events.into_iter().map(|event| (event.to_owned(), entry(event))).collect()
}

/// The number of a process group is another one in each answer and says nothing.
fn without_group(text: &str) -> String {
    let kept: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("Process Group PGID:")).collect();
    kept.join("\n")
}
