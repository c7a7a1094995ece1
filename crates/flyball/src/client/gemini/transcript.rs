//! gemini: `tmp/PROJECT/chats/session-TIME-ID.jsonl` in its folder, in older releases one document of
//! the same name. A message is written again whenever its calls come further.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use flyball_core::call::{ToolOutcome, ValidationKind};

use super::{Gemini, NAME};
use crate::client::Output;
use crate::client::lenient::{
    List, Maybe, Num, Raw, Text, TextOrList, content_text, from_str, object,
};
use crate::client::meter::Usage;
use crate::client::schema_error::schema_error;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::transcript::{
    Format, Head, Kept, Place, Record, RecordReader, Shape, Teller, Transcripts, stream,
};
use crate::files;

/// Messages and calls that are remembered as told.
const TOLD_MAX: usize = 256;

fn output() -> &'static dyn Output {
    &Gemini
}

static FORMATS: [Format; 3] = [
    Format {
        agent: NAME,
        name: "transcript",
        shape: Shape::Lines(|| Box::new(Chat::default())),
        recognises: |head| is_chat(head) && head.first_line().ends_with(b"}"),
        output,
    },
    Format {
        agent: NAME,
        name: "document",
        shape: Shape::Document(&[("messages", Kept::Records)], || Box::new(Chat::default())),
        recognises: is_chat,
        output,
    },
    stream(NAME, |head| head.has("{\"type\":\"init\",\"timestamp\":"), output),
];

impl Transcripts for Gemini {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let folder = |home: String| PathBuf::from(home).join(".gemini/tmp");
        let place = |folder: PathBuf| Place { folder, depth: 2, is_one };
        env("HOME").map(folder).map(place).into_iter().collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    let name = path.file_name()?.to_str()?;
    let is_chat = name.starts_with("session-")
        && path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "chats");
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("jsonl") if is_chat => FORMATS.first(),
        Some("json") if is_chat => FORMATS.get(1),
        _ => None,
    }
}

fn is_chat(head: &Head<'_>) -> bool {
    head.begins_with(b'{') && head.has("\"sessionId\"") && head.has("\"projectHash\"")
}

#[derive(Default)]
struct Chat {
    told: VecDeque<String>,
}

object! {
    struct Message<'a> {
        "sessionId" => session: Text<'a>,
        "id" => id: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        "type" => kind: Text<'a>,
        "content" => content: TextOrList<'a, Part<'a>>,
        "model" => model: Text<'a>,
        "tokens" => tokens: Maybe<Counts>,
        "toolCalls" => calls: List<ToolUse<'a>>,
    }
}

object! {
    struct Part<'a> {
        "text" => text: Text<'a>,
    }
}

object! {
    struct Counts {
        "input" => input: Num,
        "cached" => cached: Num,
        "total" => total: Num,
    }
}

object! {
    struct ToolUse<'a> {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "args" => args: Option<Raw<'a>>,
        "status" => status: Text<'a>,
        "result" => result: List<ResultPart<'a>>,
    }
}

object! {
    struct ResultPart<'a> {
        "functionResponse" => response: Maybe<FunctionResponse<'a>>,
    }
}

object! {
    struct FunctionResponse<'a> {
        "response" => response: Maybe<Response<'a>>,
    }
}

object! {
    struct Response<'a> {
        "output" => output: Option<Raw<'a>>,
        "error" => error: Text<'a>,
    }
}

impl RecordReader for Chat {
    fn begin(&mut self, path: &Path, to: &mut Teller<'_>) {
        // The folder of the project stands beside the chats.
        let beside = path.parent().and_then(Path::parent).map(|own| own.join(".project_root"));
        if let Some(Ok(root)) = beside.map(|beside| files::read_text(&beside, 4096)) {
            to.project_at_begin(root.trim());
        }
    }

    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let wrong = |error: serde_json::Error| error.to_string();
        match record.list {
            "sessionId" => {
                let id: Text<'_> = from_str(record.text).map_err(wrong)?;
                to.session(&id);
            }
            "" | "messages" => {
                let message: Message<'_> = from_str(record.text).map_err(wrong)?;
                self.message(&message, to);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Chat {
    fn message(&mut self, message: &Message<'_>, to: &mut Teller<'_>) {
        to.session(&message.session);
        to.time(&message.timestamp);
        match &*message.kind {
            "user" if self.is_new(&message.id) => human(&message.content, to),
            "gemini" => self.model(message, to),
            _ => {}
        }
    }

    fn model(&mut self, message: &Message<'_>, to: &mut Teller<'_>) {
        if self.is_new(&message.id) {
            to.model(&message.model);
            if let Some(tokens) = &message.tokens.0 {
                let input = tokens.input.count();
                // Thinking is only in the total.
                let output = tokens.total.count().saturating_sub(input);
                let usage = Usage::with_cached(input, tokens.cached.count(), output);
                to.used("", &message.id, &usage);
                to.stream().context(usage.context());
            }
            if let TextOrList::Text(words) = &message.content {
                to.stream().said_block(Some(&message.id), words);
            }
        }
        for call in &message.calls.0 {
            if !call.result.0.is_empty() && self.is_new(&call.id) {
                to.called(&Call {
                    id: &call.id,
                    tool: &call.name,
                    args: call.args.map_or("{}", Raw::get),
                    round: &message.id,
                    ..Call::default()
                });
            }
        }
        for call in &message.calls.0 {
            let answer = format!("answer {}", &*call.id);
            if !call.result.0.is_empty() && self.is_new(&answer) {
                returned(call, to.stream());
            }
        }
    }

    /// Whether this was not told yet; from now on it is.
    fn is_new(&mut self, id: &str) -> bool {
        if self.told.iter().any(|told| told == id) {
            return false;
        }
        if self.told.len() == TOLD_MAX {
            self.told.pop_front();
        }
        self.told.push_back(id.to_owned());
        true
    }
}

fn human(content: &TextOrList<'_, Part<'_>>, to: &mut Teller<'_>) {
    let words = match content {
        TextOrList::Text(text) => text.to_string(),
        TextOrList::List(parts) => parts.iter().map(|part| &*part.text).collect(),
    };
    // Answers of tools are a user's messages here, too, and have no text.
    if !words.is_empty() && !words.starts_with("<session_context>") {
        to.human(&words);
    }
}

fn returned(call: &ToolUse<'_>, to: &mut StreamSession) {
    let parts = call.result.0.iter().rev();
    let mut responses = parts.filter_map(|part| part.response.0.as_ref()?.response.0.as_ref());
    let Some(response) = responses.next() else { return };
    let (outcome, text) = if &*call.status == "cancelled" {
        (ToolOutcome::Refused, response.error.0.clone())
    } else if response.error.is_empty() {
        let text = content_text(response.output);
        let failed = text.lines().any(|line| line.starts_with("Exit Code: "));
        (if failed { ToolOutcome::Exit } else { ToolOutcome::Ok }, text)
    } else {
        let error = &*response.error;
        let unknown = error.starts_with("Tool \"") && error.contains("\" not found");
        if unknown {
            return to.bad_answer(&call.id, ValidationKind::UnknownTool, error);
        }
        if let Some(kind) = schema_error(error) {
            return to.bad_answer(&call.id, kind, error);
        }
        let refused = error.starts_with("Tool execution blocked: ")
            || error.starts_with("Tool execution denied by policy")
            || error.contains("[Operation Cancelled]");
        (if refused { ToolOutcome::Refused } else { ToolOutcome::Tool }, response.error.0.clone())
    };
    to.returned(&Answer { id: &call.id, agent: "", outcome, text: &own_output(&text) });
}

/// A command's answer without what is never the same twice.
fn own_output(text: &str) -> String {
    let is_own = |line: &&str| {
        !line.starts_with("Process Group PGID: ")
            && *line != "<untrusted_context>"
            && *line != "</untrusted_context>"
    };
    text.lines().filter(is_own).collect::<Vec<_>>().join("\n")
}
