//! JSON lines on stdout: every journalled event, every order, and the summary.

use flyball_core::effect::{Effect, Ending};
use flyball_core::{Event, IterationNo, Moment, RunId};
use serde_json::{Value, json};

use crate::clock;
use crate::gate::GateProgress;
use crate::terminal;
use crate::view::Opening;

/// Writes JSON lines.
#[derive(Debug)]
pub struct JsonReport;

impl JsonReport {
    pub(super) fn opening(opening: &Opening) {
        write(&json!({
            "type": "run.opened", "run": opening.run, "root": opening.root,
            "agent": opening.agent, "permissions": opening.permissions, "gates": opening.gates, "notes": opening.notes,
        }));
    }

    pub(super) fn event(at: Moment, event: &Event) {
        let mut value = serde_json::to_value(event).unwrap_or(Value::Null);
        stamp(&mut value, at);
        write(&value);
    }

    pub(super) fn effect(at: Moment, effect: &Effect) {
        let mut value = json!({ "type": "order", "order": effect });
        stamp(&mut value, at);
        write(&value);
    }

    pub(super) fn gate(progress: &GateProgress) {
        write(&match progress {
            GateProgress::Started { name, index, of } => {
                json!({ "type": "gate.started", "gate": name, "index": index, "of": of })
            }
            GateProgress::Finished(check) => json!({ "type": "gate.ended", "check": check }),
            GateProgress::Cached(check) => json!({ "type": "gate.known", "check": check }),
        });
    }

    pub(super) fn note(iteration: Option<IterationNo>, note: &str) {
        write(&json!({ "type": "note", "iteration": iteration, "note": note }));
    }

    pub(super) fn summary(run: &RunId, (ending, code): (&Ending, u8)) {
        write(&json!({
            "type": "run.ended", "run": run, "outcome": ending.outcome,
            "exit_code": code, "ending": ending,
        }));
    }
}

fn stamp(value: &mut Value, at: Moment) {
    if let Value::Object(fields) = value {
        fields.insert("at".to_owned(), Value::String(clock::rfc3339(at)));
    }
}

fn write(value: &Value) {
    terminal::write_out(&format!("{value}\n")).ok();
}
