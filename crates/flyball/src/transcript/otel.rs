//! OpenTelemetry spans as OTLP writes them in JSON, in the words of the conventions for generative AI:
//! `execute_tool` is a call with its answer, `chat` a model call. Spans come when they end, and of many
//! traces at once: they are put in order before they are told.

use std::collections::BTreeMap;

use flyball_core::call::ToolOutcome;

use super::foreign::{self, Foreign};
use crate::client::lenient::{List, Maybe, Num, Raw, Text, content_text, from_str, object};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::transcript::{Format, Kept, Record, RecordReader, Shape, Teller};
use crate::client::{Fact, ReadRequest};

const LISTS: &[(&str, Kept)] = &[
    ("resourceSpans", Kept::Lists),
    ("resource_spans", Kept::Lists),
    ("scopeSpans", Kept::Lists),
    ("scope_spans", Kept::Lists),
    ("instrumentationLibrarySpans", Kept::Lists),
    ("spans", Kept::Records),
];

pub(super) static FORMAT: Format = Format {
    agent: "otel",
    name: "spans",
    shape: Shape::Document(LISTS, || Box::new(Spans::default())),
    recognises: |head| {
        head.begins_with(b'{') && (head.has("\"resourceSpans\"") || head.has("\"resource_spans\""))
    },
    output: foreign::output,
};

/// Spans that are put in order together; more of them are told in several parts.
const SPANS_MAX: usize = 50_000;

object! {
    struct Span<'a> {
        "traceId" => trace: Text<'a>,
        "spanId" => id: Text<'a>,
        "startTimeUnixNano" => start: Option<Raw<'a>>,
        "attributes" => attributes: List<Attribute<'a>>,
        "status" => status: Maybe<Status<'a>>,
    }
}

object! {
    struct Attribute<'a> {
        "key" => key: Text<'a>,
        "value" => value: Maybe<Value<'a>>,
    }
}

object! {
    struct Value<'a> {
        "stringValue" => text: Text<'a>,
        "intValue" => whole: Option<Raw<'a>>,
        "doubleValue" => number: Num,
    }
}

object! {
    struct Status<'a> {
        "code" => code: Option<Raw<'a>>,
        "message" => message: Text<'a>,
    }
}

impl Span<'_> {
    fn text(&self, key: &str) -> &str {
        let found = self.attributes.0.iter().find(|attribute| &*attribute.key == key);
        found.and_then(|attribute| attribute.value.0.as_ref()).map_or("", |value| &*value.text)
    }

    fn count(&self, key: &str) -> u64 {
        let found = self.attributes.0.iter().find(|attribute| &*attribute.key == key);
        let value = found.and_then(|attribute| attribute.value.0.as_ref());
        value.map_or(0, |value| whole(value.whole).unwrap_or_else(|| value.number.count()))
    }

    fn failed(&self) -> bool {
        let code = self.status.0.as_ref().and_then(|status| status.code).map_or("", Raw::get);
        code == "2" || code == "\"STATUS_CODE_ERROR\"" || !self.text("error.type").is_empty()
    }
}

/// A whole number, which OTLP writes as a text.
fn whole(raw: Option<Raw<'_>>) -> Option<u64> {
    raw?.get().trim_matches('"').parse().ok()
}

/// What a span tells.
enum Told {
    Facts(Vec<Fact>),
    Used { model: String, call: String, usage: Usage },
}

struct Step {
    trace: String,
    start: u64,
    told: Told,
}

#[derive(Default)]
struct Spans {
    steps: Vec<Step>,
    /// The conversation a trace belongs to, where one of its spans says so.
    conversations: BTreeMap<String, String>,
}

impl RecordReader for Spans {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        if record.list != "spans" {
            return Ok(());
        }
        let span: Span<'_> = from_str(record.text).map_err(|error| error.to_string())?;
        let conversation = span.text("gen_ai.conversation.id");
        if !conversation.is_empty() && self.conversations.len() < SPANS_MAX {
            self.conversations.insert(span.trace.to_string(), conversation.to_owned());
        }
        let told = match span.text("gen_ai.operation.name") {
            "execute_tool" => tool(&span),
            "chat" | "generate_content" | "text_completion" => model_call(&span),
            _ => return Ok(()),
        };
        let (trace, start) = (span.trace.to_string(), whole(span.start).unwrap_or(0));
        self.steps.push(Step { trace, start, told });
        if self.steps.len() >= SPANS_MAX {
            self.tell(to);
        }
        Ok(())
    }

    fn end(&mut self, to: &mut Teller<'_>) {
        self.tell(to);
    }
}

impl Spans {
    fn tell(&mut self, to: &mut Teller<'_>) {
        let mut sessions: BTreeMap<String, Vec<Step>> = BTreeMap::new();
        for step in self.steps.drain(..) {
            let session = self.conversations.get(&step.trace).unwrap_or(&step.trace).clone();
            sessions.entry(session).or_default().push(step);
        }
        for (session, mut steps) in sessions {
            steps.sort_by_key(|step| step.start);
            to.session(&session);
            for step in steps {
                to.time_ms(i64::try_from(step.start / 1_000_000).unwrap_or(0));
                match step.told {
                    Told::Facts(facts) => facts.into_iter().for_each(|fact| to.take(fact)),
                    Told::Used { model, call, usage } => {
                        to.model(&model);
                        to.used("", &call, &usage);
                    }
                }
            }
        }
    }
}

fn model_call(span: &Span<'_>) -> Told {
    let usage = Usage::with_cached(
        span.count("gen_ai.usage.input_tokens"),
        span.count("gen_ai.usage.cache_read.input_tokens"),
        span.count("gen_ai.usage.output_tokens"),
    );
    let answered = span.text("gen_ai.response.model");
    let model = if answered.is_empty() { span.text("gen_ai.request.model") } else { answered };
    Told::Used { model: model.to_owned(), call: span.id.to_string(), usage }
}

fn tool(span: &Span<'_>) -> Told {
    let mut session = StreamSession::new(&ReadRequest::default(), &Foreign);
    let told = span.text("gen_ai.tool.call.id");
    let id = if told.is_empty() { &*span.id } else { told };
    let args = span.text("gen_ai.tool.call.arguments");
    session.called(&Call {
        id,
        agent: span.text("gen_ai.agent.id"),
        tool: span.text("gen_ai.tool.name"),
        args: if args.is_empty() { "{}" } else { args },
        ..Call::default()
    });
    let result = span.text("gen_ai.tool.call.result");
    let message = span.status.0.as_ref().map_or("", |status| &*status.message);
    let text = if result.is_empty() { message.into() } else { plain(result) };
    let outcome = if span.failed() { ToolOutcome::Tool } else { ToolOutcome::Ok };
    let agent = span.text("gen_ai.agent.id");
    session.returned(&Answer { id, agent, outcome, text: &text });
    let mut facts = Vec::new();
    session.drain_into(&mut facts);
    Told::Facts(facts)
}

/// A result that may be JSON itself.
fn plain(result: &str) -> std::borrow::Cow<'_, str> {
    match from_str::<Raw<'_>>(result) {
        Ok(raw) => content_text(Some(raw)),
        Err(_) => result.into(),
    }
}
