//! flyball's own protocol (`output = "flyball"`): the objects of the stream in, a verdict out.

use flyball_core::call::ToolOutcome;
use flyball_core::guard::Rung;
use serde_json::{Value, json};

use super::{Flyball, NAME};
use crate::client::hook::{
    Dialect, Heard, HeardCall, HeardResult, Occasion, Reply, path, text, usual_occasion, words,
};

impl Dialect for Flyball {
    fn name(&self) -> &'static str {
        NAME
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        let agent = text(input, "agent");
        Heard {
            session: text(input, "session"),
            dir: path(input, "cwd"),
            call: HeardCall {
                id: id(input),
                agent: if agent == "main" { String::new() } else { agent },
                tool: text(input, "tool"),
                args: input.get("args").cloned().unwrap_or(Value::Null),
            },
            result: (occasion == Occasion::After).then(|| result(input)),
            stamp: String::new(),
            said: input.get("text").and_then(Value::as_str).map(str::to_owned),
            stops_again: input.get("stop_hook_active").and_then(Value::as_bool),
            context: None,
        }
    }

    fn write(&self, _event: &str, _occasion: Occasion, reply: &Reply) -> String {
        let verdict = match reply.rung {
            Rung::Pass => "pass",
            Rung::Nudge => "nudge",
            Rung::Refuse | Rung::Redirect | Rung::Ask => "refuse",
            Rung::Halt => "halt",
        };
        let message = (!reply.message.is_empty()).then_some(reply.message.as_str());
        let mut answer = json!({ "verdict": verdict, "message": message });
        if let (true, Some(members)) = (reply.replaces, answer.as_object_mut()) {
            members.insert("replaces".to_owned(), Value::Bool(true));
        }
        answer.to_string()
    }

    fn advises(&self, occasion: Occasion) -> bool {
        matches!(occasion, Occasion::Before | Occasion::After)
    }

    fn replaces(&self) -> bool {
        true
    }

    fn sees_results(&self) -> bool {
        false
    }

    fn sees_all_calls(&self) -> bool {
        false
    }
}

/// An id may be written as a number.
fn id(input: &Value) -> String {
    match input.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {
            String::new()
        }
    }
}

fn result(input: &Value) -> HeardResult {
    let outcome = match input.get("error").and_then(Value::as_str).unwrap_or_default() {
        "" => ToolOutcome::Ok,
        "exit" => ToolOutcome::Exit,
        "refused" => ToolOutcome::Refused,
        _ => ToolOutcome::Tool,
    };
    HeardResult { outcome, text: words(input.get("output")) }
}
