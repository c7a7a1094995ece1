//! flyball's own protocol (`output = "flyball"`): the objects of the stream in, a verdict out.

use flyball_core::call::{ToolOutcome, ValidationFailure};
use flyball_core::guard::Rung;
use serde_json::{Value, json};

use super::stream::malformed;
use super::{Flyball, NAME};
use crate::client::hook::{
    Dialect, Heard, HeardCall, HeardResult, Occasion, Reply, path, text, usual_occasion, words,
};
use crate::client::session::failure;

impl Dialect for Flyball {
    fn name(&self) -> &'static str {
        NAME
    }

    fn occasion(&self, event: &str) -> Occasion {
        match event {
            "Human" => Occasion::Human,
            event => usual_occasion(event),
        }
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        let agent = text(input, "agent");
        Heard {
            session: text(input, "session"),
            dir: path(input, "cwd"),
            call: HeardCall {
                id: name(input, "id"),
                agent: if agent == "main" { String::new() } else { agent },
                tool: text(input, "tool"),
                args: input.get("args").cloned().unwrap_or(Value::Null),
                round: name(input, "round"),
                changes_files: input.get("mutates").and_then(Value::as_bool),
            },
            result: (occasion == Occasion::After).then(|| result(input)),
            said: input.get("text").and_then(Value::as_str).map(str::to_owned),
            stops_again: input.get("stop_hook_active").and_then(Value::as_bool),
            invalid: (occasion == Occasion::Before).then(|| invalid(input)).flatten(),
            human: occasion == Occasion::Human,
            ..Heard::default()
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

/// An id or a name, which may be written as a number.
fn name(input: &Value, member: &str) -> String {
    match input.get(member) {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {
            String::new()
        }
    }
}

/// What is wrong with a call that is none (A4).
fn invalid(input: &Value) -> Option<ValidationFailure> {
    let args = input.get("args").filter(|args| !args.is_null());
    let args = args.map_or_else(|| "{}".to_owned(), Value::to_string);
    let (kind, error) = malformed(&text(input, "tool"), &args)?;
    Some(failure(kind, &input.to_string(), error))
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
