//! ATIF, the agent trajectory interchange format (Harbor): one document, a list of `steps`, each with
//! its calls, what they answered and what the model call used. It does not say whether a call failed.

use flyball_core::call::ToolOutcome;

use super::foreign;
use crate::client::lenient::{List, Maybe, Num, Raw, Text, content_text, from_str, object};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call};
use crate::client::transcript::{Format, Kept, Record, RecordReader, Shape, Teller};

pub(super) static FORMAT: Format = Format {
    agent: "atif",
    name: "trajectory",
    shape: Shape::Document(&[("steps", Kept::Records)], || Box::new(Atif::default())),
    recognises: |head| {
        head.begins_with(b'{') && head.has("\"schema_version\"") && head.has("\"ATIF-v")
    },
    output: foreign::output,
};

#[derive(Default)]
struct Atif {
    /// The model of steps that name none.
    model: String,
    session: String,
}

object! {
    struct Agent<'a> {
        "model_name" => model: Text<'a>,
    }
}

object! {
    struct Step<'a> {
        "step_id" => id: Option<Raw<'a>>,
        "timestamp" => timestamp: Text<'a>,
        "source" => source: Text<'a>,
        "model_name" => model: Text<'a>,
        "message" => message: Option<Raw<'a>>,
        "tool_calls" => calls: List<ToolCall<'a>>,
        "observation" => observation: Maybe<Observation<'a>>,
        "metrics" => metrics: Maybe<Metrics>,
    }
}

object! {
    struct ToolCall<'a> {
        "tool_call_id" => id: Text<'a>,
        "function_name" => name: Text<'a>,
        "arguments" => arguments: Option<Raw<'a>>,
    }
}

object! {
    struct Observation<'a> {
        "results" => results: List<ObservedResult<'a>>,
    }
}

object! {
    struct ObservedResult<'a> {
        "source_call_id" => call: Text<'a>,
        "content" => content: Option<Raw<'a>>,
    }
}

object! {
    struct Metrics {
        "prompt_tokens" => prompt: Num,
        "completion_tokens" => completion: Num,
        "cached_tokens" => cached: Num,
        "cost_usd" => cost: Num,
    }
}

impl RecordReader for Atif {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let wrong = |error: serde_json::Error| error.to_string();
        match record.list {
            "session_id" | "trajectory_id" => {
                let id: Text<'_> = from_str(record.text).map_err(wrong)?;
                // What names the session comes first where both are there.
                if self.session.is_empty() || record.list == "session_id" {
                    self.session = id.to_string();
                    to.session(&id);
                }
            }
            "agent" => {
                let agent: Agent<'_> = from_str(record.text).map_err(wrong)?;
                self.model = agent.model.to_string();
            }
            "steps" => {
                let step: Step<'_> = from_str(record.text).map_err(wrong)?;
                self.step(&step, to);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Atif {
    fn step(&self, step: &Step<'_>, to: &mut Teller<'_>) {
        to.time(&step.timestamp);
        let words = content_text(step.message);
        match &*step.source {
            "user" => to.human(&words),
            "agent" => self.agent(step, &words, to),
            _ => {}
        }
        for result in step.observation.0.iter().flat_map(|seen| &seen.results.0) {
            // With one call there is no doubt whose answer it is.
            let id = match (&*result.call, step.calls.0.as_slice()) {
                ("", [one]) => &*one.id,
                (named, _) => named,
            };
            if !id.is_empty() {
                let text = content_text(result.content);
                to.returned(&Answer { id, agent: "", outcome: ToolOutcome::Ok, text: &text });
            }
        }
    }

    fn agent(&self, step: &Step<'_>, words: &str, to: &mut Teller<'_>) {
        let number = step.id.map_or("", Raw::get);
        to.model(if step.model.is_empty() { &self.model } else { &step.model });
        if let Some(metrics) = &step.metrics.0 {
            let (input, output) = (metrics.prompt.count(), metrics.completion.count());
            let usage = Usage::with_cached(input, metrics.cached.count(), output);
            let identity = format!("{} {number}", self.session);
            to.used("", &identity, &Usage { cost_usd: metrics.cost.0, ..usage });
        }
        to.stream().said_block(Some(number), words);
        for call in &step.calls.0 {
            to.called(&Call {
                id: &call.id,
                tool: &call.name,
                args: call.arguments.map_or("{}", Raw::get),
                round: number,
                ..Call::default()
            });
        }
        to.stream().spoke();
    }
}
