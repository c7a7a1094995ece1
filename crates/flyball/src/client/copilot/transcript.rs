//! copilot: `session-state/ID/events.jsonl` in its home: the events of its stream, and beside them who
//! spoke, what was used and when the context was condensed.

use std::path::Path;

use super::stream::CopilotStream;
use super::{Copilot, NAME};
use crate::client::Output;
use crate::client::lenient::{Num, Raw, Text, from_str, object, read};
use crate::client::meter::Usage;
use crate::client::stream::StreamFormat;
use crate::client::transcript::{
    Format, Place, Record, RecordReader, Shape, Teller, Transcripts, folder, stream,
};

fn output() -> &'static dyn Output {
    &Copilot
}

static FORMATS: [Format; 2] = [
    Format {
        agent: NAME,
        name: "transcript",
        shape: Shape::Lines(|| Box::new(Events::default())),
        recognises: |head| head.has_all(&["\"type\":\"session.start\"", "\"copilotVersion\""]),
        output,
    },
    stream(
        NAME,
        |head| head.has_all(&["\"type\":\"session.", "\"parentId\":", "\"data\":{"]),
        output,
    ),
];

impl Transcripts for Copilot {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let home = folder(env, "COPILOT_HOME", ".copilot");
        let place = |home: std::path::PathBuf| Place {
            folder: home.join("session-state"),
            depth: 1,
            is_one,
        };
        home.map(place).into_iter().collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    path.ends_with("events.jsonl").then(|| FORMATS.first())?
}

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        "agentId" => agent: Text<'a>,
        "data" => data: Option<Raw<'a>>,
    }
}

object! {
    struct Data<'a> {
        "sessionId" => session: Text<'a>,
        "selectedModel" => model: Text<'a>,
        "context" => context: Option<Context<'a>>,
        "content" => content: Text<'a>,
        "apiCallId" => call: Text<'a>,
        "parentToolCallId" => parent: Text<'a>,
        "usage" => usage: Option<Raw<'a>>,
    }
}

object! {
    struct Context<'a> {
        "cwd" => cwd: Text<'a>,
    }
}

object! {
    struct Counts<'a> {
        "model" => model: Text<'a>,
        "inputTokens" => input: Num,
        "outputTokens" => output: Num,
        "cacheReadTokens" => cache_read: Num,
        "maxPromptTokens" => window: Num,
        "apiCallId" => call: Text<'a>,
        "parentToolCallId" => parent: Text<'a>,
    }
}

#[derive(Default)]
struct Events {
    stream: CopilotStream,
}

impl RecordReader for Events {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let event: Event<'_> = from_str(record.text).map_err(|error| error.to_string())?;
        to.time(&event.timestamp);
        match &*event.kind {
            "session.start" | "session.resume" => {
                let data: Data<'_> = read(event.data);
                to.session(&data.session);
                to.model(&data.model);
                if let Some(context) = &data.context {
                    to.project(&context.cwd);
                }
            }
            "user.message" if event.agent.is_empty() => {
                let data: Data<'_> = read(event.data);
                to.human(&data.content);
            }
            "session.usage_record" => used(&read(event.data), to),
            "session.compaction_complete" => to.compacted(),
            "assistant.message"
            | "tool.execution_start"
            | "tool.execution_complete"
            | "session.error" => {
                self.stream.line(record.text, to.stream());
            }
            _ => {}
        }
        Ok(())
    }
}

fn used(data: &Data<'_>, to: &mut Teller<'_>) {
    let counts: Counts<'_> = read(data.usage);
    let usage =
        Usage::with_cached(counts.input.count(), counts.cache_read.count(), counts.output.count());
    to.model(&counts.model);
    to.stream().window(counts.window.count());
    let parent = if counts.parent.is_empty() { &*data.parent } else { &*counts.parent };
    let call = if counts.call.is_empty() { &*data.call } else { &*counts.call };
    to.used(parent, call, &usage);
}
