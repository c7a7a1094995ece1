//! pi: `sessions/PROJECT/TIME_ID.jsonl` in its folder, a line for each message.

use std::path::{Path, PathBuf};

use super::stream::{answered, classify};
use super::{NAME, Pi};
use crate::client::Output;
use crate::client::lenient::{Flag, Num, Raw, Text, TextOrList, from_str, object};
use crate::client::meter::Usage;
use crate::client::session::Call;
use crate::client::transcript::{
    Format, Place, Record, RecordReader, Shape, Teller, Transcripts, folder, stream,
};

fn output() -> &'static dyn Output {
    &Pi
}

static FORMATS: [Format; 2] = [
    stream(NAME, |head| head.has("{\"type\":\"agent_start\""), output),
    Format {
        agent: NAME,
        name: "transcript",
        shape: Shape::Lines(|| Box::new(Messages)),
        recognises: |head| {
            let first = head.first_line();
            first.starts_with(b"{\"type\":\"session\",\"version\":") && head.has("\"cwd\":")
        },
        output,
    },
];

impl Transcripts for Pi {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let home = folder(env, "PI_CODING_AGENT_DIR", ".pi/agent");
        let place = |home: PathBuf| Place { folder: home.join("sessions"), depth: 1, is_one };
        home.map(place).into_iter().collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    path.extension().is_some_and(|extension| extension == "jsonl").then(|| FORMATS.last())?
}

object! {
    struct Line<'a> {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "modelId" => model: Text<'a>,
        "message" => message: Option<Message<'a>>,
    }
}

object! {
    struct Message<'a> {
        "role" => role: Text<'a>,
        "content" => content: TextOrList<'a, Part<'a>>,
        "model" => model: Text<'a>,
        "usage" => usage: Option<Counts>,
        "responseId" => response: Text<'a>,
        "stopReason" => stop_reason: Text<'a>,
        "errorMessage" => failure: Text<'a>,
        "toolCallId" => call: Text<'a>,
        "isError" => is_error: Flag,
    }
}

object! {
    struct Part<'a> {
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "arguments" => arguments: Option<Raw<'a>>,
    }
}

object! {
    struct Counts {
        "input" => input: Num,
        "output" => output: Num,
        "cacheRead" => cache_read: Num,
        "cacheWrite" => cache_write: Num,
        "cost" => cost: Option<Cost>,
    }
}

object! {
    struct Cost {
        "total" => total: Num,
    }
}

struct Messages;

impl RecordReader for Messages {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let line: Line<'_> = from_str(record.text).map_err(|error| error.to_string())?;
        to.time(&line.timestamp);
        match (&*line.kind, &line.message) {
            ("session", _) => {
                to.session(&line.id);
                to.project(&line.cwd);
            }
            ("model_change", _) => to.model(&line.model),
            ("compaction", _) => to.compacted(),
            ("message", Some(message)) => match &*message.role {
                "assistant" => assistant(message, &line.id, to),
                "user" => to.human(&joined(&message.content)),
                "toolResult" => {
                    let text = joined(&message.content);
                    answered(&message.call, message.is_error, &text, to.stream());
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }
}

fn joined(content: &TextOrList<'_, Part<'_>>) -> String {
    match content {
        TextOrList::Text(text) => text.to_string(),
        TextOrList::List(parts) => {
            parts.iter().map(|part| &*part.text).collect::<Vec<_>>().join("\n")
        }
    }
}

fn assistant(message: &Message<'_>, id: &str, to: &mut Teller<'_>) {
    to.model(&message.model);
    if let Some(tokens) = &message.usage {
        let usage = Usage {
            fresh: tokens.input.count(),
            cache_read: tokens.cache_read.count(),
            cache_write: tokens.cache_write.count(),
            output: tokens.output.count(),
            cost_usd: tokens.cost.as_ref().and_then(|cost| cost.total.0),
        };
        to.used("", &message.response, &usage);
        to.stream().context(usage.context());
    }
    let TextOrList::List(parts) = &message.content else { return };
    for part in parts {
        match &*part.kind {
            "text" => to.stream().said_block(Some(id), &part.text),
            "toolCall" => to.called(&Call {
                id: &part.id,
                tool: &part.name,
                args: part.arguments.map_or("{}", Raw::get),
                round: id,
                ..Call::default()
            }),
            _ => {}
        }
    }
    match &*message.stop_reason {
        "error" => to.stream().retrying(classify(&message.failure), &message.failure),
        "length" => to.stream().cut_off("length"),
        _ => {}
    }
}
