//! opencode (`opencode run --format json`): hooks by a plugin file.

use flyball_core::call::{ToolOutcome, ValidationKind};
use flyball_core::event::AgentTraits;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::launch::{HookSetup, Launch, LaunchRequest, Permissions, Stdin};
use super::lax::{Flag, Num, Text, content_text, read};
use super::meter::Usage;
use super::session::{Answer, Call, Session};
use super::stream::{Dialect, StreamReader, Understood, parse, unknown};
use super::trouble::Trouble;
use super::{Adapter, REFUSAL_MARK, ReadRequest, Reader};

/// opencode.
pub(crate) struct Opencode;

const PLUGIN: &str = include_str!("assets/opencode.js");

impl Adapter for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn traits(&self) -> AgentTraits {
        AgentTraits { steerable: true, structured: true }
    }

    fn tells_cost(&self) -> bool {
        true
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Launch {
        let mut launch = Launch::of(request, "opencode", &["run", "--format", "json"]);
        let mut config = serde_json::Map::new();
        config.insert("autoupdate".to_owned(), json!(false));
        if request.permissions == Permissions::Bypass {
            launch.arg("--auto");
            config.insert("permission".to_owned(), json!({ "*": "allow" }));
        }
        launch.option("--model", request.model);
        if let Some(hooks) = request.hooks {
            let plugin = filled(PLUGIN, hooks, self.stop_refusal_cap());
            let path = launch.private(request.private_dir, "flyball-opencode.js", plugin);
            config.insert("plugin".to_owned(), json!([format!("file://{path}")]));
        }
        launch.env("OPENCODE_CONFIG_CONTENT", serde_json::Value::Object(config).to_string());
        launch.env("OPENCODE_DISABLE_AUTOUPDATE", "1");
        launch.option("--session", request.resume);
        launch.extra(request);
        launch.stdin = Stdin::Text(request.prompt.to_owned());
        launch
    }

    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let mut session = Session::new(request, self.free_text());
        if let Some(model) = &request.model {
            session.model(model);
        }
        Box::new(StreamReader::new(OpencodeStream, session))
    }
}

/// A plugin with its blanks filled in. The path becomes a string literal of JavaScript.
pub(crate) fn filled(plugin: &str, hooks: &HookSetup, stops: u32) -> String {
    let program = json!(hooks.program.to_string_lossy()).to_string();
    plugin
        .replace("\"@PROGRAM@\"", &program)
        .replace("\"@FLAGS@\"", &json!(hooks.flag().into_iter().collect::<Vec<_>>()).to_string())
        .replace("@STOPS@", &stops.to_string())
        .replace("@CALL_SECONDS@", &hooks.call_timeout_secs.to_string())
        .replace("@STOP_SECONDS@", &hooks.stop_timeout_secs.to_string())
}

struct OpencodeStream;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, rename = "sessionID")]
    session: Text<'a>,
    #[serde(borrow)]
    part: Option<Part<'a>>,
    #[serde(borrow)]
    error: Option<Error<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow, rename = "messageID")]
    message: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    synthetic: Flag,
    #[serde(borrow)]
    tool: Text<'a>,
    #[serde(borrow, rename = "callID")]
    call: Text<'a>,
    #[serde(borrow)]
    state: Option<State<'a>>,
    #[serde(borrow)]
    reason: Text<'a>,
    tokens: Option<Counts>,
    cost: Num,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct State<'a> {
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Text<'a>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    exit: Num,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Invalid<'a> {
    #[serde(borrow)]
    error: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    input: Num,
    output: Num,
    reasoning: Num,
    cache: Option<Cache>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: Num,
    write: Num,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Error<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ErrorData<'a> {
    #[serde(borrow)]
    message: Text<'a>,
    status_code: Num,
    #[serde(borrow)]
    response_headers: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Headers<'a> {
    #[serde(borrow, rename = "retry-after")]
    retry_after: Text<'a>,
}

impl Dialect for OpencodeStream {
    fn line(&mut self, line: &str, to: &mut Session) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        to.id(&event.session);
        let part = event.part.unwrap_or_default();
        match &*event.kind {
            // Words put into the conversation by the client itself.
            "text" if part.synthetic.0 => to.interrupted(),
            "text" => to.said(Some(&part.message), &part.text),
            "tool_use" => tool(&part, to),
            "step_finish" => finished(&part, to),
            "step_start" | "reasoning" => {}
            "error" => failed(&event.error.unwrap_or_default(), to),
            other => return unknown(other, to),
        }
        Understood::Event
    }
}

/// A call and its result come in one event, when it is over.
fn tool(part: &Part<'_>, to: &mut Session) {
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
    let args = input.map_or("{}", RawValue::get);
    to.called(&Call { id: &part.call, agent: "", tool: &part.tool, args });
    let Some(state) = state else { return };
    let metadata: Metadata = read(state.metadata);
    let answer = |outcome, text: &str, to: &mut Session| {
        to.returned(&Answer { id: &part.call, agent: "", outcome, text });
    };
    if &*state.status != "error" {
        let outcome = match metadata.exit.0 {
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

fn finished(part: &Part<'_>, to: &mut Session) {
    to.spoke();
    if let Some(tokens) = &part.tokens {
        let cache = tokens.cache.as_ref();
        let usage = Usage {
            fresh: tokens.input.count(),
            cache_read: cache.map_or(0, |cache| cache.read.count()),
            cache_write: cache.map_or(0, |cache| cache.write.count()),
            output: tokens.output.count().saturating_add(tokens.reasoning.count()),
            cost_usd: part.cost.0,
        };
        to.used(&usage);
        to.context(usage.context());
    }
    if &*part.reason == "length" {
        to.cut_off("the answer was cut at the token limit");
    }
}

fn failed(error: &Error<'_>, to: &mut Session) {
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
