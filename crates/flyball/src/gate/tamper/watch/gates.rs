//! The gates of a run as they are kept beside its tree: enough to say later whether they are what
//! they were.

use flyball_core::{GateName, Millis};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::CommandLine;
use crate::gate::plan::{Gate, GatePlan, GateSource};
use crate::journal::BaseBody;

/// What is kept of a gate: enough to say later whether it still is what it was.
#[derive(Serialize, Deserialize)]
struct GateNote {
    name: GateName,
    command: Value,
    source: String,
}

pub(super) fn notes_of(plan: &GatePlan) -> Value {
    let note = |gate: &Gate| GateNote {
        name: gate.name.clone(),
        command: gate.command.to_json(),
        source: match gate.source {
            GateSource::Configured => "configured",
            GateSource::Detected => "detected",
            GateSource::VerifyCommand => "verify",
        }
        .to_owned(),
    };
    let notes: Vec<GateNote> = plan.gates().iter().map(note).collect();
    serde_json::to_value(notes).unwrap_or_default()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds mean the same here")]
pub(super) fn plan_of(body: &BaseBody) -> GatePlan {
    let notes: Vec<GateNote> = serde_json::from_value(body.gates.clone()).unwrap_or_default();
    let gate = |note: GateNote| {
        let command = match &note.command {
            Value::Array(words) => {
                let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
                CommandLine::Argv(words.collect())
            }
            other => CommandLine::Shell(other.as_str().unwrap_or_default().to_owned()),
        };
        let source = match note.source.as_str() {
            "detected" => GateSource::Detected,
            "verify" => GateSource::VerifyCommand,
            _ => GateSource::Configured,
        };
        Gate { source, ..Gate::new(note.name.as_str(), command, Millis::ZERO) }
    };
    GatePlan::of(notes.into_iter().map(gate).collect()).unwrap_or_default()
}
