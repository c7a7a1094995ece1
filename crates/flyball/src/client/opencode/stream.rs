//! opencode (`opencode run --format json`): hooks by a plugin file.

use flyball_core::call::{ToolOutcome, ValidationKind};

use super::Opencode;
use crate::client::lenient::{Flag, Maybe, Num, Raw, Text, content_text, object, read};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::trouble::Trouble;
use crate::client::{Output, REFUSAL_MARK, ReadRequest, Reader, ToolKind, Tools};

impl Output for Opencode {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let mut session = StreamSession::new(request, self);
        if let Some(model) = &request.model {
            session.model(model);
        }
        Box::new(StreamReader::new(OpencodeStream, session))
    }

    fn tools(&self) -> Tools {
        &[
            ("edit", ToolKind::Edits),
            ("multiedit", ToolKind::Edits),
            ("write", ToolKind::Edits),
            ("patch", ToolKind::Edits),
            ("apply_patch", ToolKind::Edits),
            ("bash", ToolKind::Runs("command")),
        ]
    }

    fn tells_cost(&self) -> bool {
        true
    }
}

struct OpencodeStream;

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "sessionID" => session: Text<'a>,
        "part" => part: Option<Part<'a>>,
        "error" => error: Option<Error<'a>>,
    }
}

object! {
    pub(super) struct Part<'a> {
        "messageID" => message: Text<'a>,
        "text" => text: Text<'a>,
        "synthetic" => synthetic: Flag,
        "tool" => tool: Text<'a>,
        "callID" => call: Text<'a>,
        "state" => state: Option<State<'a>>,
        "reason" => reason: Text<'a>,
        "tokens" => tokens: Option<Counts>,
        "cost" => cost: Num,
    }
}

object! {
    struct State<'a> {
        "status" => status: Text<'a>,
        "input" => input: Option<Raw<'a>>,
        "output" => output: Option<Raw<'a>>,
        "error" => error: Text<'a>,
        "metadata" => metadata: Maybe<Metadata>,
    }
}

object! {
    struct Metadata {
        "exit" => exit: Num,
    }
}

object! {
    struct Invalid<'a> {
        "error" => error: Text<'a>,
    }
}

object! {
    struct Counts {
        "input" => input: Num,
        "output" => output: Num,
        "reasoning" => reasoning: Num,
        "cache" => cache: Option<Cache>,
    }
}

object! {
    struct Cache {
        "read" => read: Num,
        "write" => write: Num,
    }
}

object! {
    pub(super) struct Error<'a> {
        "name" => name: Text<'a>,
        "data" => data: Option<Raw<'a>>,
    }
}

object! {
    struct ErrorData<'a> {
        "message" => message: Text<'a>,
        "statusCode" => status_code: Num,
        "responseHeaders" => response_headers: Option<Raw<'a>>,
    }
}

object! {
    struct Headers<'a> {
        "retry-after" => retry_after: Text<'a>,
    }
}

impl Part<'_> {
    /// The same part, of this message.
    pub(super) fn of(mut self, message: &str) -> Self {
        self.message = Text(message.to_owned().into());
        self
    }

    /// What a step used.
    pub(super) fn usage(&self) -> Option<Usage> {
        let tokens = self.tokens.as_ref()?;
        let cache = tokens.cache.as_ref();
        Some(Usage {
            fresh: tokens.input.count(),
            cache_read: cache.map_or(0, |cache| cache.read.count()),
            cache_write: cache.map_or(0, |cache| cache.write.count()),
            output: tokens.output.count().saturating_add(tokens.reasoning.count()),
            cost_usd: self.cost.0,
        })
    }
}

impl StreamFormat for OpencodeStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let mut event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        to.id(&event.session);
        let part = event.part.get_or_insert_default();
        match &*event.kind {
            // Words put into the conversation by the client itself.
            "text" if part.synthetic.0 => to.interrupted(),
            "text" => to.said_block(Some(&part.message), &part.text),
            "tool_use" => tool(part, to),
            "step_finish" => finished(part, to),
            "step_start" | "reasoning" => {}
            "error" => failed(event.error.get_or_insert_default(), to),
            other => return unknown(other, to),
        }
        Understood::Event
    }
}

/// A call and its result come in one event, when it is over.
pub(super) fn tool(part: &Part<'_>, to: &mut StreamSession) {
    let state = part.state.as_ref();
    let input = state.and_then(|state| state.input);
    if &*part.tool == "invalid" {
        let invalid: Invalid<'_> = read(input);
        let kind = if invalid.error.starts_with("Model tried to call unavailable tool") {
            ValidationKind::UnknownTool
        } else if invalid.error.contains("JSON parsing failed") {
            ValidationKind::UnparseableJson
        } else {
            ValidationKind::WrongType
        };
        return to.bad_call(kind, &invalid.error, &invalid.error);
    }
    let args = input.map_or("{}", Raw::get);
    to.called(&Call {
        id: &part.call,
        tool: &part.tool,
        args,
        round: &part.message,
        ..Call::default()
    });
    let Some(state) = state else { return };
    let answer = |outcome, text: &str, to: &mut StreamSession| {
        to.returned(&Answer { id: &part.call, agent: "", outcome, text });
    };
    if &*state.status != "error" {
        let outcome = match state.metadata.0.as_ref().and_then(|metadata| metadata.exit.0) {
            Some(code) if code != 0.0 => ToolOutcome::Exit,
            _ => ToolOutcome::Ok,
        };
        return answer(outcome, &content_text(state.output), to);
    }
    let error = &*state.error;
    if let Some((_, detail)) = error.split_once("was called with invalid arguments: ") {
        let missing = detail.contains("Missing key");
        let kind = if missing { ValidationKind::MissingField } else { ValidationKind::WrongType };
        return to.bad_answer(&part.call, kind, error);
    }
    let refused = error.starts_with(REFUSAL_MARK)
        || error.starts_with("The user rejected permission")
        || error.starts_with("The user has specified a rule which prevents");
    answer(if refused { ToolOutcome::Refused } else { ToolOutcome::Tool }, error, to);
}

fn finished(part: &Part<'_>, to: &mut StreamSession) {
    to.spoke();
    if let Some(usage) = part.usage() {
        to.used(&usage);
        to.context(usage.context());
    }
    if &*part.reason == "length" {
        to.cut_off("the answer was cut at the token limit");
    }
}

pub(super) fn failed(error: &Error<'_>, to: &mut StreamSession) {
    let data: ErrorData<'_> = read(error.data);
    let message = if data.message.is_empty() { &*error.name } else { &*data.message };
    let trouble = match data.status_code.status() {
        Some(429) => {
            let headers: Headers<'_> = read(data.response_headers);
            let secs: Option<u64> = headers.retry_after.parse().ok();
            let resets_at = secs.and_then(|secs| to.now().map(|now| now.after_secs(secs)));
            Some(Trouble::Limit(resets_at, message.to_owned()))
        }
        Some(status) => Trouble::by_status(status, message),
        None if &*error.name == "ProviderAuthError" => {
            Some(Trouble::Credentials(message.to_owned()))
        }
        None => None,
    };
    match trouble {
        Some(trouble) => to.trouble(trouble),
        None => to.failed(message),
    }
}
