//! cline: `data/sessions/ID/ID.messages.json` in its folder; as an extension, and roo like it, a folder
//! for each task with `api_conversation_history.json`. Their tools may stand in the words of the model.

mod tags;

use std::path::{Path, PathBuf};

use flyball_core::call::ToolOutcome;

use self::tags::{Tagged, answer_to};
use super::stream::answered;
use super::{Cline, NAME};
use crate::client::Output;
use crate::client::lenient::{
    Flag, Maybe, Num, Raw, Text, TextOrList, content_text, from_str, object,
};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call};
use crate::client::transcript::{
    Format, Head, Kept, Place, Record, RecordReader, Shape, Teller, Transcripts, stream,
};
use crate::files;

/// The largest file about a session that is looked into.
const ABOUT_MAX: u64 = 1024 * 1024;

fn output() -> &'static dyn Output {
    &Cline
}

const LISTS: &[(&str, Kept)] = &[("messages", Kept::Records), ("", Kept::Records)];

const fn document(
    agent: &'static str,
    name: &'static str,
    recognises: fn(&Head<'_>) -> bool,
) -> Format {
    Format {
        agent,
        name,
        shape: Shape::Document(LISTS, || Box::new(Conversation::default())),
        recognises,
        output,
    }
}

static FORMATS: [Format; 4] = [
    document(NAME, "transcript", |head| {
        head.begins_with(b'{') && head.has_all(&["\"messages\"", "\"sessionId\"", "\"role\""])
    }),
    document("roo", "task", |head| is_task(head) && is_roos(head.path)),
    document(NAME, "task", is_task),
    stream(
        NAME,
        |head| head.has("\"type\":\"agent_event\"") || head.has("\"type\":\"hook_event\""),
        output,
    ),
];

impl Transcripts for Cline {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        const EDITORS: [&str; 6] = [
            ".config/Code/User",
            ".config/Code - Insiders/User",
            ".config/VSCodium/User",
            ".config/Cursor/User",
            ".vscode-server/data/User",
            "Library/Application Support/Code/User",
        ];
        const EXTENSIONS: [&str; 2] = ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline"];
        let Some(home) = env("HOME").map(PathBuf::from) else { return Vec::new() };
        let own = [".cline/data/sessions", ".cline/data/tasks", ".cline/tasks"];
        let own = own.map(|folder| home.join(folder)).into_iter();
        let extensions = EDITORS.iter().flat_map(|editor| {
            let storage = home.join(editor).join("globalStorage");
            EXTENSIONS.map(|extension| storage.join(extension).join("tasks"))
        });
        own.chain(extensions).map(|folder| Place { folder, depth: 1, is_one }).collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    let name = path.file_name()?.to_str()?;
    match name {
        "api_conversation_history.json" if is_roos(path) => FORMATS.get(1),
        "api_conversation_history.json" => FORMATS.get(2),
        name if name.ends_with(".messages.json") => FORMATS.first(),
        _ => None,
    }
}

fn is_task(head: &Head<'_>) -> bool {
    head.name() == "api_conversation_history.json" && head.begins_with(b'[')
}

fn is_roos(path: &Path) -> bool {
    path.to_string_lossy().contains("roo-cline")
}

object! {
    struct Message<'a> {
        "id" => id: Text<'a>,
        "role" => role: Text<'a>,
        "content" => content: TextOrList<'a, Block<'a>>,
        "ts" => time: Num,
        "modelInfo" => model: Maybe<Model<'a>>,
        "metrics" => metrics: Maybe<Metrics>,
    }
}

object! {
    struct Model<'a> {
        "id" => id: Text<'a>,
        "modelId" => name: Text<'a>,
    }
}

object! {
    struct Metrics {
        "inputTokens" => input: Num,
        "outputTokens" => output: Num,
        "cacheReadTokens" => cache_read: Num,
        "cost" => cost: Num,
    }
}

object! {
    struct Block<'a> {
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "input" => input: Option<Raw<'a>>,
        "tool_use_id" => call: Text<'a>,
        "content" => content: Option<Raw<'a>>,
        "is_error" => is_error: Flag,
    }
}

object! {
    struct About<'a> {
        "cwd" => cwd: Text<'a>,
        "cwdOnTaskInitialization" => first_cwd: Text<'a>,
    }
}

#[derive(Default)]
struct Conversation {
    messages: u64,
    /// The call in the words of the model that waits for its answer, by id and tool.
    open: Option<(String, String)>,
}

impl RecordReader for Conversation {
    fn begin(&mut self, path: &Path, to: &mut Teller<'_>) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let folder = path.parent().unwrap_or(path);
        let about = if let Some(id) = name.strip_suffix(".messages.json") {
            folder.join(format!("{id}.json"))
        } else {
            // A task's folder is called like the task.
            let task = folder.file_name().unwrap_or_default().to_string_lossy();
            to.session(&task);
            folder.join("task_metadata.json")
        };
        if let Ok(text) = files::read_text(&about, ABOUT_MAX) {
            let about: About<'_> = from_str(&text).unwrap_or_default();
            let first = if about.cwd.is_empty() { &about.first_cwd } else { &about.cwd };
            to.project_at_begin(first);
        }
    }

    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let wrong = |error: serde_json::Error| error.to_string();
        match record.list {
            "sessionId" => {
                let id: Text<'_> = from_str(record.text).map_err(wrong)?;
                to.session(&id);
            }
            "messages" | "" => {
                let message: Message<'_> = from_str(record.text).map_err(wrong)?;
                self.message(&message, to);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Conversation {
    fn message(&mut self, message: &Message<'_>, to: &mut Teller<'_>) {
        self.messages += 1;
        if let Some(millis) = i64::try_from(message.time.count()).ok().filter(|&at| at > 0) {
            to.time_ms(millis);
        }
        let round = self.messages.to_string();
        match &*message.role {
            "assistant" => self.assistant(message, &round, to),
            "user" => self.user(message, to),
            _ => {}
        }
    }

    fn assistant(&mut self, message: &Message<'_>, round: &str, to: &mut Teller<'_>) {
        if let Some(model) = &message.model.0 {
            to.model(if model.id.is_empty() { &model.name } else { &model.id });
        }
        if let Some(metrics) = &message.metrics.0 {
            let usage = Usage::with_cached(
                metrics.input.count(),
                metrics.cache_read.count(),
                metrics.output.count(),
            );
            // It says 0 for every model it has no price for.
            let cost_usd = metrics.cost.0.filter(|&cost| cost > 0.0);
            to.used("", &message.id, &Usage { cost_usd, ..usage });
            to.stream().context(usage.context());
        }
        let text;
        let blocks = match &message.content {
            TextOrList::List(blocks) => blocks.as_slice(),
            TextOrList::Text(words) => {
                text = [Block {
                    kind: Text("text".into()),
                    text: Text((&**words).into()),
                    ..Block::default()
                }];
                text.as_slice()
            }
        };
        let calls = blocks.iter().any(|block| &*block.kind == "tool_use");
        for block in blocks {
            match &*block.kind {
                "text" => {
                    to.stream().said_block(Some(round), &block.text);
                    if let Some(tagged) = Tagged::first_in(&block.text).filter(|_| !calls) {
                        let id = format!("call {round}");
                        to.called(&Call {
                            id: &id,
                            tool: tagged.tool,
                            args: &tagged.arguments(),
                            round,
                            ..Call::default()
                        });
                        self.open = Some((id, tagged.tool.to_owned()));
                    }
                }
                "tool_use" => to.called(&Call {
                    id: &block.id,
                    tool: &block.name,
                    args: block.input.map_or("{}", Raw::get),
                    round,
                    ..Call::default()
                }),
                _ => {}
            }
        }
    }

    fn user(&mut self, message: &Message<'_>, to: &mut Teller<'_>) {
        let blocks = match &message.content {
            TextOrList::Text(words) => return self.heard(words, "", to),
            TextOrList::List(blocks) => blocks,
        };
        let rest: String = blocks
            .iter()
            .skip(1)
            .filter(|block| &*block.kind == "text" && !is_the_clients(&block.text))
            .map(|block| &*block.text)
            .collect();
        for (at, block) in blocks.iter().enumerate() {
            match &*block.kind {
                "tool_result" => returned(block, to),
                "text" if at == 0 => self.heard(&block.text, &rest, to),
                _ => {}
            }
        }
    }

    /// The first words of a message to the model: an answer, the client's own, or a human's.
    fn heard(&mut self, words: &str, rest: &str, to: &mut Teller<'_>) {
        if let Some((id, tool)) = self.open.take()
            && let Some((outcome, text)) = answer_to(&tool, words, rest)
        {
            to.returned(&Answer { id: &id, agent: "", outcome, text: &text });
            return;
        }
        if !is_the_clients(words) {
            to.human(without_tag(words));
        }
    }
}

/// A tool's answer; what is no text may be written into one.
fn returned(block: &Block<'_>, to: &mut Teller<'_>) {
    let text = content_text(block.content);
    let inner = text.starts_with('{').then(|| from_str::<Raw<'_>>(&text).ok()).flatten();
    match inner {
        Some(inner) => answered(&block.call, Some(inner), to.stream()),
        None if block.is_error.0 => {
            let (id, outcome) = (&*block.call, ToolOutcome::Tool);
            to.returned(&Answer { id, agent: "", outcome, text: &text });
        }
        None => answered(&block.call, block.content, to.stream()),
    }
}

/// `<user_input mode="act">words</user_input>`, `<task>words</task>`
fn without_tag(words: &str) -> &str {
    for tag in ["user_input", "task", "feedback", "user_message"] {
        let begun = words.strip_prefix('<').and_then(|words| words.strip_prefix(tag));
        if let Some((_, inside)) = begun.and_then(|words| words.split_once('>')) {
            return inside.split("</").next().unwrap_or(inside).trim();
        }
    }
    words
}

fn is_the_clients(words: &str) -> bool {
    let words = words.trim_start();
    words.is_empty()
        || words.starts_with("<environment_details>")
        || words.starts_with("[ERROR] You did not use a tool")
        || words.starts_with("# TODO LIST")
}
