//! qwen: `projects/PROJECT/chats/SESSION.jsonl` in its folder, a line for each message; sub-agents among
//! the lines of the session.

use std::path::{Path, PathBuf};

use flyball_core::call::ToolOutcome;

use super::stream::invalid;
use super::{NAME, Qwen};
use crate::client::lenient::{List, Maybe, Num, Raw, Text, content_text, from_str, object};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call};
use crate::client::transcript::{
    Format, Place, Record, RecordReader, Shape, Teller, Transcripts, stream,
};
use crate::client::{Output, REFUSAL_MARK};

fn output() -> &'static dyn Output {
    &Qwen
}

static FORMATS: [Format; 2] = [
    Format {
        agent: NAME,
        name: "transcript",
        shape: Shape::Lines(|| Box::new(Chat)),
        recognises: |head| {
            head.has_all(&["\"sessionId\":\"", "\"parentUuid\":", "\"parts\":["])
                && !head.has("\"isSidechain\":")
        },
        output,
    },
    stream(NAME, |head| head.has("\"qwen_code_version\":"), output),
];

impl Transcripts for Qwen {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let home = env("HOME").map(|home| PathBuf::from(home).join(".qwen"));
        let place = |folder: PathBuf| Place { folder, depth: 2, is_one };
        let folders = |home: PathBuf| [home.join("projects"), home.join("tmp")].map(place);
        home.into_iter().flat_map(folders).collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    let in_chats = path.parent().and_then(Path::file_name).is_some_and(|it| it == "chats");
    let is_chat = in_chats && path.extension().is_some_and(|ending| ending == "jsonl");
    is_chat.then(|| FORMATS.first())?
}

object! {
    struct Line<'a> {
        "uuid" => id: Text<'a>,
        "sessionId" => session: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        "type" => kind: Text<'a>,
        "subtype" => subtype: Text<'a>,
        "provenance" => provenance: Text<'a>,
        "agentId" => agent: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "model" => model: Text<'a>,
        "message" => message: Maybe<Message<'a>>,
        "usageMetadata" => usage: Maybe<Counts>,
        "toolCallResult" => result: Maybe<CallResult<'a>>,
    }
}

object! {
    struct Message<'a> {
        "parts" => parts: List<Part<'a>>,
    }
}

object! {
    struct Part<'a> {
        "text" => text: Text<'a>,
        "thought" => thought: Option<Raw<'a>>,
        "functionCall" => call: Maybe<FunctionCall<'a>>,
        "functionResponse" => response: Maybe<FunctionResponse<'a>>,
    }
}

object! {
    struct FunctionCall<'a> {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "args" => args: Option<Raw<'a>>,
    }
}

object! {
    struct FunctionResponse<'a> {
        "id" => id: Text<'a>,
        "response" => response: Maybe<Response<'a>>,
    }
}

object! {
    struct Response<'a> {
        "output" => output: Option<Raw<'a>>,
        "error" => error: Text<'a>,
    }
}

object! {
    struct CallResult<'a> {
        "status" => status: Text<'a>,
        "errorType" => error_type: Text<'a>,
    }
}

object! {
    struct Counts {
        "promptTokenCount" => input: Num,
        "cachedContentTokenCount" => cached: Num,
        "totalTokenCount" => total: Num,
    }
}

struct Chat;

impl RecordReader for Chat {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let line: Line<'_> = from_str(record.text).map_err(|error| error.to_string())?;
        to.session(&line.session);
        to.time(&line.timestamp);
        to.project(&line.cwd);
        let parts = line.message.0.as_ref().map_or(&[][..], |message| message.parts.0.as_slice());
        match &*line.kind {
            "user" if matches!(&*line.provenance, "" | "real_user") && line.agent.is_empty() => {
                let words: String = parts.iter().map(|part| &*part.text).collect();
                if !words.is_empty() {
                    to.human(&words);
                }
            }
            "assistant" => assistant(&line, parts, to),
            "tool_result" => {
                for response in parts.iter().filter_map(|part| part.response.0.as_ref()) {
                    returned(&line, response, to);
                }
            }
            "system" if &*line.subtype == "chat_compression" => to.compacted(),
            _ => {}
        }
        Ok(())
    }
}

fn assistant(line: &Line<'_>, parts: &[Part<'_>], to: &mut Teller<'_>) {
    to.model(&line.model);
    if let Some(counts) = &line.usage.0 {
        let input = counts.input.count();
        let output = counts.total.count().saturating_sub(input);
        let usage = Usage::with_cached(input, counts.cached.count(), output);
        to.used(&line.agent, &line.id, &usage);
        if line.agent.is_empty() {
            to.stream().context(usage.context());
        }
    }
    for part in parts {
        if let Some(call) = &part.call.0 {
            to.called(&Call {
                id: &call.id,
                agent: &line.agent,
                tool: &call.name,
                args: call.args.map_or("{}", Raw::get),
                round: &line.id,
                ..Call::default()
            });
        } else if line.agent.is_empty() && part.thought.is_none() {
            to.stream().said_block(Some(&line.id), &part.text);
        }
    }
}

fn returned(line: &Line<'_>, answer: &FunctionResponse<'_>, to: &mut Teller<'_>) {
    let Some(response) = &answer.response.0 else { return };
    let status = line.result.0.as_ref().map_or("", |result| &*result.status);
    let error_type = line.result.0.as_ref().map_or("", |result| &*result.error_type);
    let text = if response.error.is_empty() {
        content_text(response.output)
    } else {
        response.error.0.clone()
    };
    let outcome = match (status, error_type) {
        ("cancelled", _) | (_, "execution_denied") => ToolOutcome::Refused,
        _ if response.error.is_empty() => ToolOutcome::Ok,
        _ if text.starts_with(REFUSAL_MARK) => ToolOutcome::Refused,
        (_, "shell_execute_error") => ToolOutcome::Exit,
        _ => match invalid(&text) {
            Some(kind) => return to.stream().bad_answer(&answer.id, kind, &text),
            None => ToolOutcome::Tool,
        },
    };
    to.returned(&Answer { id: &answer.id, agent: &line.agent, outcome, text: &text });
}
