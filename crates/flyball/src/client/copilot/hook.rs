//! Copilot: words of its own for everything, no ids of calls, and at a stop only a file in which the
//! agent's words stand.

use std::path::Path;

use flyball_core::call::ToolOutcome;
use serde_json::{Map, Value, json};

use super::{Copilot, NAME};
use crate::client::hook::{
    Dialect, Heard, HeardCall, HeardResult, Occasion, Reply, block, failed, is_human, path, text,
    words,
};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, trusted_folder, whole};
use crate::client::{HookSetup, quoted};

/// How much of the end of a transcript is read.
const TAIL: u64 = 256 * 1024;

/// The events of its hooks that flyball listens to in a run.
pub(super) const EVENTS: [&str; 3] = ["preToolUse", "postToolUse", "agentStop"];

/// Those it listens to besides, where hooks stay.
const SESSION_EVENTS: [&str; 3] = ["sessionStart", "userPromptSubmitted", "sessionEnd"];

impl Dialect for Copilot {
    fn name(&self) -> &'static str {
        NAME
    }

    fn occasion(&self, event: &str) -> Occasion {
        match event {
            "preToolUse" => Occasion::Before,
            "postToolUse" | "postToolUseFailure" => Occasion::After,
            "agentStop" => Occasion::Stop,
            "sessionStart" => Occasion::Began,
            "userPromptSubmitted" => Occasion::Human,
            "sessionEnd" => Occasion::Ended,
            _ => Occasion::Other,
        }
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        let said = match occasion {
            Occasion::Stop => path(input, "transcriptPath").and_then(|file| last_words(&file)),
            Occasion::Before
            | Occasion::After
            | Occasion::Began
            | Occasion::Human
            | Occasion::Ended
            | Occasion::Other => None,
        };
        Heard {
            session: text(input, "sessionId"),
            dir: path(input, "cwd"),
            call: HeardCall {
                tool: text(input, "toolName"),
                args: input.get("toolArgs").cloned().unwrap_or(Value::Null),
                ..HeardCall::default()
            },
            result: input.get("toolResult").map(result),
            stamp: input.get("timestamp").map(Value::to_string).unwrap_or_default(),
            said,
            stops_again: input.get("stop_hook_active").and_then(Value::as_bool),
            human: is_human(input),
            ..Heard::default()
        }
    }

    fn write(&self, _event: &str, occasion: Occasion, reply: &Reply) -> String {
        let message = &reply.message;
        match occasion {
            Occasion::Before if !reply.allows() => {
                json!({ "permissionDecision": "deny", "permissionDecisionReason": message })
                    .to_string()
            }
            Occasion::Stop if !reply.allows() => block(reply),
            Occasion::After if !message.is_empty() => {
                json!({ "additionalContext": message }).to_string()
            }
            Occasion::Before
            | Occasion::After
            | Occasion::Stop
            | Occasion::Began
            | Occasion::Human
            | Occasion::Ended
            | Occasion::Other => String::new(),
        }
    }

    fn advises(&self, occasion: Occasion) -> bool {
        occasion == Occasion::After
    }
}

impl HookHome for Copilot {
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let own = folders.own("COPILOT_HOME", ".copilot").join("hooks/flyball.json");
        let path = folders.at(scope, ".github/hooks/flyball.json", own);
        let table = table(hooks, EVENTS.into_iter().chain(SESSION_EVENTS), if_there);
        Some(vec![whole(path, table.to_string(), " hook copilot ")])
    }

    fn remark(&self, scope: Scope) -> Option<&'static str> {
        trusted_folder(scope)
    }
}

/// Its hooks by event; `command` has the last word on each command.
pub(super) fn table(
    hooks: &HookSetup,
    events: impl IntoIterator<Item = &'static str>,
    command: impl Fn(&HookSetup, &str) -> String,
) -> Value {
    let entry = |event: &str| {
        let secs = hooks.secs(Copilot.occasion(event));
        let command = command(hooks, &hooks.command(NAME, event));
        json!([{ "type": "command", "bash": command, "timeoutSec": secs }])
    };
    let table: Map<String, Value> =
        events.into_iter().map(|event| (event.to_owned(), entry(event))).collect();
    json!({ "version": 1, "hooks": table })
}

/// It denies every call when a hook cannot be started. Hooks that stay in place must not do that to
/// someone who has no flyball, or not there any more; so they look for it first.
fn if_there(hooks: &HookSetup, command: &str) -> String {
    let program = quoted(&hooks.program.to_string_lossy());
    format!("command -v {program} >/dev/null 2>&1 || exit 0; {command}")
}

fn result(answer: &Value) -> HeardResult {
    let text = without_shell(words(Some(answer)));
    match answer.get("resultType").and_then(Value::as_str) {
        Some("success") | None => HeardResult { outcome: ToolOutcome::Ok, text },
        Some("denied" | "rejected") => HeardResult { outcome: ToolOutcome::Refused, text },
        Some(_) => failed(text, "with exit code "),
    }
}

/// The number of a shell is another one in each answer and says nothing.
fn without_shell(text: String) -> String {
    const SHELL: &str = "<shellId: ";
    let Some((before, after)) = text.rsplit_once(SHELL) else { return text };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{before}{SHELL}{}", rest.trim_start())
}

/// The agent's last message in a transcript. None when it cannot be found: nothing is made of it.
fn last_words(file: &Path) -> Option<String> {
    let bytes = crate::files::read_end(file, TAIL).ok()?;
    let tail = String::from_utf8_lossy(&bytes);
    tail.lines().rev().find_map(|line| {
        let event: Value = serde_json::from_str(line).ok()?;
        (event.get("type")?.as_str()? == "assistant.message")
            .then(|| event.pointer("/data/content").and_then(Value::as_str).map(str::to_owned))?
    })
}
