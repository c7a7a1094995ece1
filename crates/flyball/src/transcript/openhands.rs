//! `OpenHands`: a folder of events, one file each, or a document with a list of them; of its first
//! generation (`action`, `observation`) and of the one after it (`kind`).

use std::path::Path;

use flyball_core::call::ToolOutcome;

use super::foreign;
use crate::client::lenient::{
    Flag, List, Maybe, Num, Raw, Text, content_text, from_str, object, read,
};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call};
use crate::client::transcript::{Format, Head, Kept, Record, RecordReader, Shape, Teller};
use crate::files;

const LISTS: &[(&str, Kept)] =
    &[("history", Kept::Records), ("events", Kept::Records), ("", Kept::Records)];

pub(super) static DOCUMENT: Format = Format {
    agent: "openhands",
    name: "events",
    shape: Shape::Document(LISTS, || Box::new(Events::default())),
    recognises,
    output: foreign::output,
};

pub(super) static FOLDER: Format = Format {
    agent: "openhands",
    name: "folder of events",
    shape: Shape::Folder(|| Box::new(Events::default())),
    // A folder is recognised by what is in it.
    recognises: |_| false,
    output: foreign::output,
};

fn recognises(head: &Head<'_>) -> bool {
    let first = || {
        head.has("\"source\"")
            && (head.has("\"tool_call_metadata\"") || head.has_all(&["\"cause\"", "\"extras\""]))
    };
    let later =
        || head.has("\"kind\"") && (head.has("\"ActionEvent\"") || head.has("\"MessageEvent\""));
    (head.begins_with(b'{') || head.begins_with(b'[')) && (first() || later())
}

/// Whether a folder holds such events.
pub(super) fn is_folder(path: &Path) -> bool {
    if path.file_name().is_none_or(|name| name != "events") {
        return false;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().take(64);
    let mut files = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.any(|path| {
        let head = files::read_start(&path, 64 * 1024).unwrap_or_default();
        let head = Head { path: &path, bytes: &head };
        head.has("\"source\"")
            && ["\"action\"", "\"observation\"", "\"kind\""].iter().any(|word| head.has(word))
    })
}

object! {
    struct Event<'a> {
        "id" => id: Option<Raw<'a>>,
        "timestamp" => timestamp: Text<'a>,
        "source" => source: Text<'a>,
        "action" => action: Option<Raw<'a>>,
        "observation" => observation: Option<Raw<'a>>,
        "args" => args: Option<Raw<'a>>,
        "content" => content: Text<'a>,
        "cause" => cause: Option<Raw<'a>>,
        "extras" => extras: Maybe<Extras>,
        "tool_call_metadata" => metadata: Maybe<CallMetadata<'a>>,
        "llm_metrics" => metrics: Maybe<Metrics<'a>>,
        /// Of the later generation, as what follows.
        "kind" => kind: Text<'a>,
        "tool_name" => tool: Text<'a>,
        "tool_call_id" => call: Text<'a>,
        "llm_response_id" => response: Text<'a>,
        "thought" => thought: Option<Raw<'a>>,
        "error" => error: Text<'a>,
        "llm_message" => message: Maybe<Message<'a>>,
        "tool_call" => tool_call: Maybe<ToolCall<'a>>,
    }
}

object! {
    struct Extras {
        "metadata" => metadata: Maybe<CommandMetadata>,
    }
}

object! {
    struct CommandMetadata {
        "exit_code" => exit_code: Num,
    }
}

object! {
    struct CallMetadata<'a> {
        "tool_call_id" => id: Text<'a>,
        "function_name" => name: Text<'a>,
        "model_response" => response: Maybe<ModelResponse<'a>>,
    }
}

object! {
    struct ModelResponse<'a> {
        "id" => id: Text<'a>,
        "model" => model: Text<'a>,
    }
}

object! {
    struct Metrics<'a> {
        "accumulated_cost" => cost: Num,
        "accumulated_token_usage" => tokens: Maybe<Counts<'a>>,
    }
}

object! {
    struct Counts<'a> {
        "model" => model: Text<'a>,
        "prompt_tokens" => prompt: Num,
        "completion_tokens" => completion: Num,
        "cache_read_tokens" => cache_read: Num,
        "cache_write_tokens" => cache_write: Num,
    }
}

object! {
    struct Message<'a> {
        "role" => role: Text<'a>,
        "content" => content: Option<Raw<'a>>,
    }
}

object! {
    struct ToolCall<'a> {
        "arguments" => arguments: Option<Raw<'a>>,
    }
}

object! {
    struct Observation<'a> {
        "content" => content: Option<Raw<'a>>,
        "output" => output: Option<Raw<'a>>,
        "is_error" => is_error: Flag,
        "error" => error: Flag,
        "exit_code" => exit_code: Num,
        "metadata" => metadata: Maybe<CommandMetadata>,
    }
}

object! {
    struct Said<'a> {
        "content" => content: Text<'a>,
        "thought" => thought: Text<'a>,
    }
}

#[derive(Default)]
struct Events {
    /// What was used so far: sums are told.
    told: Usage,
}

impl RecordReader for Events {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let wrong = |error: serde_json::Error| error.to_string();
        match record.list {
            "instance_id" | "session_id" | "sid" => {
                let id: Text<'_> = from_str(record.text).map_err(wrong)?;
                to.session(&id);
                self.told = Usage::default();
            }
            "" | "history" | "events" => {
                // An older list has pairs of an action and what was observed.
                if record.text.starts_with('[') {
                    let pair: List<Event<'_>> = from_str(record.text).map_err(wrong)?;
                    pair.0.iter().for_each(|event| self.event(event, to));
                } else {
                    let event: Event<'_> = from_str(record.text).map_err(wrong)?;
                    self.event(&event, to);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Events {
    fn event(&mut self, event: &Event<'_>, to: &mut Teller<'_>) {
        // Without a zone it is the one of the machine; the differences are what counts.
        if event.timestamp.ends_with('Z') || event.timestamp.contains('+') {
            to.time(&event.timestamp);
        } else if !event.timestamp.is_empty() {
            to.time(&format!("{}Z", &*event.timestamp));
        }
        if event.kind.is_empty() {
            self.first(event, to);
        } else {
            later(event, to);
        }
    }

    fn first(&mut self, event: &Event<'_>, to: &mut Teller<'_>) {
        if let Some(metrics) = &event.metrics.0 {
            self.used(metrics, to);
        }
        let word = |raw: Option<Raw<'_>>| read::<Text<'_>>(raw).to_string();
        let (action, observation) = (word(event.action), word(event.observation));
        let said: Said<'_> = read(event.args);
        match (&*event.source, action.as_str(), observation.as_str()) {
            ("user", "message", _) => to.human(&said.content),
            (_, "message" | "finish", _) => {
                let id = event.id.map_or("", Raw::get);
                let words = if said.content.is_empty() { &said.thought } else { &said.content };
                to.stream().said_block(Some(id), words);
                to.stream().spoke();
            }
            (_, "condensation", _) => to.compacted(),
            (
                "agent",
                "run" | "run_ipython" | "read" | "write" | "edit" | "browse" | "browse_interactive"
                | "call_tool_mcp" | "think",
                _,
            ) => called(event, &action, to),
            (_, "", "" | "agent_state_changed" | "null" | "recall" | "agent_think") => {}
            (_, "", _) => observed(event, &observation, to),
            _ => {}
        }
    }

    fn used(&mut self, metrics: &Metrics<'_>, to: &mut Teller<'_>) {
        let Some(tokens) = &metrics.tokens.0 else { return };
        to.model(&tokens.model);
        let mut total = Usage::with_cached(
            tokens.prompt.count(),
            tokens.cache_read.count(),
            tokens.completion.count(),
        );
        total.cache_write = tokens.cache_write.count().min(total.fresh);
        total.fresh -= total.cache_write;
        let more = total.beyond(&self.told);
        let paid = metrics.cost.0.map(|cost| cost - self.told.cost_usd.unwrap_or(0.0));
        self.told = Usage { cost_usd: metrics.cost.0, ..total.most(&self.told) };
        if more != Usage::default() {
            to.used("", "", &Usage { cost_usd: paid.filter(|paid| *paid > 0.0), ..more });
        }
    }
}

fn called(event: &Event<'_>, action: &str, to: &mut Teller<'_>) {
    let metadata = event.metadata.0.as_ref();
    let response = metadata.and_then(|metadata| metadata.response.0.as_ref());
    if let Some(response) = response {
        to.model(&response.model);
    }
    let id = event.id.map_or("", Raw::get);
    to.called(&Call {
        id,
        tool: metadata.map_or(action, |metadata| &*metadata.name),
        args: event.args.map_or("{}", Raw::get),
        round: response.map_or("", |response| &*response.id),
        changes_files: matches!(action, "write" | "edit").then_some(true),
        ..Call::default()
    });
}

fn observed(event: &Event<'_>, observation: &str, to: &mut Teller<'_>) {
    let id = event.cause.map_or("", Raw::get);
    let metadata = event.extras.0.as_ref().and_then(|extras| extras.metadata.0.as_ref());
    let exit = metadata.and_then(|metadata| metadata.exit_code.0);
    let outcome = match (observation, exit) {
        ("user_rejected", _) => ToolOutcome::Refused,
        ("error", _) => ToolOutcome::Tool,
        // A negative one stands for a command that goes on.
        (_, Some(code)) if code > 0.0 => ToolOutcome::Exit,
        _ => ToolOutcome::Ok,
    };
    to.returned(&Answer { id, agent: "", outcome, text: &event.content });
}

fn later(event: &Event<'_>, to: &mut Teller<'_>) {
    match &*event.kind {
        "MessageEvent" => {
            let Some(message) = &event.message.0 else { return };
            let words = content_text(message.content);
            if &*event.source == "user" {
                to.human(&words);
            } else {
                let id = content_text(event.id);
                to.stream().said_block(Some(&id), &words);
                to.stream().spoke();
            }
        }
        "ActionEvent" => {
            let words = content_text(event.thought);
            if words != "[]" {
                to.stream().said_block(Some(&event.response), &words);
            }
            let raw = event.tool_call.0.as_ref().and_then(|call| call.arguments).or(event.action);
            // The model's own text, or the object it was read as.
            let own =
                raw.filter(|raw| raw.get().starts_with('"')).map(|raw| content_text(Some(raw)));
            let args = own.as_deref().unwrap_or_else(|| raw.map_or("{}", Raw::get));
            to.called(&Call {
                id: &event.call,
                tool: &event.tool,
                args,
                round: &event.response,
                ..Call::default()
            });
        }
        "ObservationEvent" => {
            let seen: Observation<'_> = read(event.observation);
            let exit = seen.exit_code.0.or_else(|| seen.metadata.0.as_ref()?.exit_code.0);
            let outcome = match exit {
                _ if seen.is_error.0 || seen.error.0 => ToolOutcome::Tool,
                Some(code) if code > 0.0 => ToolOutcome::Exit,
                _ => ToolOutcome::Ok,
            };
            let text =
                content_text(if seen.content.is_some() { seen.content } else { seen.output });
            to.returned(&Answer { id: &event.call, agent: "", outcome, text: &text });
        }
        "UserRejectObservation" | "AgentErrorEvent" => {
            let refused = event.kind.starts_with("User");
            let outcome = if refused { ToolOutcome::Refused } else { ToolOutcome::Tool };
            to.returned(&Answer { id: &event.call, agent: "", outcome, text: &event.error });
        }
        "Condensation" => to.compacted(),
        _ => {}
    }
}
