//! SWE-agent's `.traj`: one document, a list `trajectory` of actions with their observations. It does
//! not say whether an action failed, nor when it was, and of tokens only the sum.

use flyball_core::call::{ToolOutcome, mutates};

use super::foreign;
use crate::client::lenient::{Maybe, Num, Text, from_str, object};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call};
use crate::client::transcript::{Format, Kept, Record, RecordReader, Shape, Teller};

pub(super) static FORMAT: Format = Format {
    agent: "swe-agent",
    name: "trajectory",
    shape: Shape::Document(&[("trajectory", Kept::Records)], || Box::new(Trajectory::default())),
    recognises: |head| {
        head.begins_with(b'{') && head.has("\"trajectory\"") && head.has("\"observation\"")
    },
    output: foreign::output,
};

/// Its own commands that change files.
const EDITS: [&str; 5] = ["append", "create", "edit", "insert", "write"];

#[derive(Default)]
struct Trajectory {
    steps: u64,
}

object! {
    struct Step<'a> {
        "action" => action: Text<'a>,
        "observation" => observation: Text<'a>,
        "response" => response: Text<'a>,
        "thought" => thought: Text<'a>,
    }
}

object! {
    struct Info {
        "model_stats" => stats: Maybe<Stats>,
    }
}

object! {
    struct Stats {
        "instance_cost" => cost: Num,
        "tokens_sent" => sent: Num,
        "tokens_received" => received: Num,
    }
}

impl RecordReader for Trajectory {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let wrong = |error: serde_json::Error| error.to_string();
        match record.list {
            "trajectory" => {
                let step: Step<'_> = from_str(record.text).map_err(wrong)?;
                self.step(&step, to);
            }
            "info" => {
                let info: Info = from_str(record.text).map_err(wrong)?;
                if let Some(stats) = info.stats.0 {
                    let usage = Usage {
                        fresh: stats.sent.count(),
                        output: stats.received.count(),
                        cost_usd: stats.cost.0,
                        ..Usage::default()
                    };
                    to.used("", "", &usage);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Trajectory {
    fn step(&mut self, step: &Step<'_>, to: &mut Teller<'_>) {
        self.steps += 1;
        let number = self.steps.to_string();
        let action = step.action.trim();
        let words = if step.thought.is_empty() { &*step.response } else { &*step.thought };
        to.stream().said_block(Some(&number), words);
        if action.is_empty() {
            return to.stream().spoke();
        }
        let (tool, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
        let args = serde_json::to_string(rest.trim_start()).unwrap_or_default();
        to.called(&Call {
            id: &number,
            tool,
            args: &args,
            round: &number,
            changes_files: Some(changes(tool, rest, action)),
            ..Call::default()
        });
        let (id, text) = (number.as_str(), &*step.observation);
        to.returned(&Answer { id, agent: "", outcome: ToolOutcome::Ok, text });
    }
}

/// Whether an action changes files: by a command of its own, or as a line of the shell.
fn changes(tool: &str, rest: &str, action: &str) -> bool {
    let command = rest.split_whitespace().next().unwrap_or("");
    match tool {
        "str_replace_editor" => ["create", "insert", "str_replace", "undo_edit"].contains(&command),
        own => EDITS.contains(&own) || mutates(action),
    }
}
