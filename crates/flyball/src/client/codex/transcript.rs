//! codex: `sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl` in its home, what went to the model and came
//! from it. Calls are named as its hooks and its stream name them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use flyball_core::call::ToolOutcome;

use super::stream::{argument_error, field};
use super::usage::{Counts, Info};
use super::{Codex, NAME};
use crate::client::lenient::{
    Maybe, Num, Raw, Text, TextOrList, content_text, from_str, object, read,
};
use crate::client::session::{Answer, Call};
use crate::client::transcript::{
    Format, Head, Place, Record, RecordReader, Shape, Teller, Transcripts, folder, stream,
};
use crate::client::{AgentNote, Output};

fn output() -> &'static dyn Output {
    &Codex
}

static FORMATS: [Format; 2] = [
    Format {
        agent: NAME,
        name: "transcript",
        shape: Shape::Lines(|| Box::new(Rollout::default())),
        recognises,
        output,
    },
    stream(NAME, |head| head.has("{\"type\":\"thread.started\",\"thread_id\":"), output),
];

impl Transcripts for Codex {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let home = folder(env, "CODEX_HOME", ".codex");
        let folders = ["sessions", "archived_sessions"];
        let place = |folder: PathBuf| Place { folder, depth: 3, is_one };
        home.iter().flat_map(|home| folders.map(|folder| place(home.join(folder)))).collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    let name = path.file_name()?.to_str()?;
    let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
    let is_rollout = is_lines && name.starts_with("rollout-");
    is_rollout.then(|| FORMATS.first())?
}

fn recognises(head: &Head<'_>) -> bool {
    head.begins_with(b'{')
        && head.has("\"payload\":{")
        && ["\"session_meta\"", "\"response_item\"", "\"turn_context\""]
            .iter()
            .any(|it| head.has(it))
}

object! {
    struct Line<'a> {
        "type" => kind: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        "payload" => payload: Option<Raw<'a>>,
    }
}

object! {
    struct Payload<'a> {
        "type" => kind: Text<'a>,
        /// Of `session_meta`.
        "id" => id: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "source" => source: Option<Raw<'a>>,
        /// Of `turn_context`.
        "model" => model: Text<'a>,
        /// Of `response_item`.
        "role" => role: Text<'a>,
        "content" => content: TextOrList<'a, Part<'a>>,
        "name" => name: Text<'a>,
        "namespace" => namespace: Text<'a>,
        "arguments" => arguments: Text<'a>,
        "input" => input: Text<'a>,
        "action" => action: Option<Raw<'a>>,
        "call_id" => call: Text<'a>,
        "output" => output: Option<Raw<'a>>,
        /// Of `token_usage_record` and `token_count`.
        "response_id" => response: Text<'a>,
        "usage" => usage: Option<Counts>,
        "info" => info: Option<Raw<'a>>,
        /// Of `event_msg`.
        "message" => message: Text<'a>,
    }
}

object! {
    struct Part<'a> {
        "text" => text: Text<'a>,
    }
}

object! {
    struct Action<'a> {
        "command" => command: Option<Raw<'a>>,
    }
}

object! {
    struct ShellArguments<'a> {
        "cmd" => cmd: Text<'a>,
        "command" => command: Option<Raw<'a>>,
    }
}

object! {
    struct CallOutput<'a> {
        "content" => content: Option<Raw<'a>>,
        "output" => output: Text<'a>,
        "success" => success: Option<bool>,
        "metadata" => metadata: Maybe<Metadata>,
    }
}

object! {
    struct Metadata {
        "exit_code" => exit_code: Num,
    }
}

#[derive(Default)]
struct Rollout {
    /// Whether each model call's tokens are told by themselves, as newer releases do.
    records: bool,
    /// The total that was told.
    total: Counts,
    /// The answer of the model at hand: calls and words of it belong together until a result comes.
    round: u64,
    answered: bool,
}

impl RecordReader for Rollout {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let line: Line<'_> = from_str(record.text).map_err(|error| error.to_string())?;
        to.time(&line.timestamp);
        let payload = || read::<Payload<'_>>(line.payload);
        match &*line.kind {
            "session_meta" => begin(&payload(), to),
            "turn_context" => {
                let payload = payload();
                to.project(&payload.cwd);
                to.model(&payload.model);
            }
            "response_item" => self.item(&payload(), to),
            "token_usage_record" => {
                self.records = true;
                let payload = payload();
                if let Some(counts) = payload.usage {
                    to.used("", &payload.response, &counts.usage());
                    to.stream().context(counts.context());
                }
            }
            "compacted" => to.compacted(),
            "event_msg" => self.event(&payload(), to),
            _ => {}
        }
        Ok(())
    }
}

/// A session begins; one that another started has a rollout of its own.
fn begin(meta: &Payload<'_>, to: &mut Teller<'_>) {
    match meta.source.and_then(|source| parent(source.get())) {
        Some(parent) => to.sub_session(&meta.id, &parent),
        None => to.session(&meta.id),
    }
    to.project(&meta.cwd);
}

/// `{"subagent":{"thread_spawn":{"parent_thread_id":"…",…}}}`
fn parent(source: &str) -> Option<String> {
    let source: serde_json::Value = serde_json::from_str(source).ok()?;
    let spawned = source.pointer("/subagent/thread_spawn/parent_thread_id")?;
    spawned.as_str().map(str::to_owned)
}

impl Rollout {
    fn item(&mut self, item: &Payload<'_>, to: &mut Teller<'_>) {
        match &*item.kind {
            "message" => self.message(item, to),
            "function_call" => {
                let round = self.round();
                function_called(item, &round, to);
            }
            "custom_tool_call" => {
                // As its stream has it: the tool's one argument is what it is given.
                let args = field("input", &item.input);
                let round = self.round();
                to.called(&Call {
                    id: &item.call,
                    tool: &item.name,
                    args: &args,
                    round: &round,
                    ..Call::default()
                });
            }
            "local_shell_call" => {
                let action: Action<'_> = read(item.action);
                let command = action.command.map_or("null", Raw::get);
                let args = format!("{{\"command\":{command}}}");
                let round = self.round();
                let id = &*item.call;
                to.called(&Call {
                    id,
                    tool: "Bash",
                    args: &args,
                    round: &round,
                    ..Call::default()
                });
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.answered = true;
                returned(item, to);
            }
            _ => {}
        }
    }

    /// The answer of the model a call belongs to.
    fn round(&mut self) -> String {
        if std::mem::take(&mut self.answered) || self.round == 0 {
            self.round += 1;
        }
        format!("turn {}", self.round)
    }

    fn message(&mut self, item: &Payload<'_>, to: &mut Teller<'_>) {
        let TextOrList::List(parts) = &item.content else { return };
        match &*item.role {
            "assistant" => {
                let round = self.round();
                for part in parts {
                    to.stream().said_block(Some(&round), &part.text);
                }
                // What is said next without a call is another answer.
                self.answered = true;
            }
            "user" => {
                self.answered = true;
                for part in parts.iter().filter(|part| !is_the_clients(&part.text)) {
                    match part.text.strip_prefix("<hook_prompt ") {
                        Some(reason) => {
                            let reason = reason.split_once('>').map_or(reason, |(_, it)| it);
                            let reason = reason.trim_end_matches("</hook_prompt>");
                            to.stream().interrupted();
                            to.stream().note(AgentNote::StopRefused(reason.to_owned()));
                        }
                        None => to.human(&part.text),
                    }
                }
            }
            _ => {}
        }
    }

    fn event(&mut self, event: &Payload<'_>, to: &mut Teller<'_>) {
        match &*event.kind {
            "token_count" => {
                let info: Info = read(event.info);
                to.stream().window(info.model_context_window.count());
                let (false, Some(total)) = (self.records, info.total_token_usage) else { return };
                // Told again after each answer, whether something was used or not.
                let more = total.usage().beyond(&self.total.usage());
                self.total = total;
                to.used("", "", &more);
                if let Some(last) = info.last_token_usage {
                    to.stream().context(last.context());
                }
            }
            "error" | "stream_error" => to.stream().failed(&event.message),
            _ => {}
        }
    }
}

fn function_called(item: &Payload<'_>, round: &str, to: &mut Teller<'_>) {
    let command: Result<ShellArguments<'_>, _> = from_str(&item.arguments);
    // What is wrong with it is said in its answer.
    let Ok(command) = command else { return };
    let (tool, args): (Cow<'_, str>, Cow<'_, str>) = match (&*item.namespace, &*item.name) {
        ("", "exec_command") => ("Bash".into(), field("command", &command.cmd).into()),
        ("", "shell" | "shell_command" | "container.exec") => {
            let own = shell_line(command.command);
            ("Bash".into(), field("command", &own).into())
        }
        ("", name) => (name.into(), (&*item.arguments).into()),
        (server, name) => (format!("{server}__{name}").into(), (&*item.arguments).into()),
    };
    to.called(&Call { id: &item.call, tool: &tool, args: &args, round, ..Call::default() });
}

/// The line in `["bash", "-lc", "line"]`, the words of any other command, or the text itself.
fn shell_line(command: Option<Raw<'_>>) -> String {
    let words: Vec<String> = match command.map(Raw::get) {
        Some(list) if list.starts_with('[') => from_str(list).unwrap_or_default(),
        Some(_) => return read::<Text<'_>>(command).to_string(),
        None => return String::new(),
    };
    match words.as_slice() {
        [_, flag, line] if flag.starts_with('-') => line.clone(),
        words => words.join(" "),
    }
}

fn returned(item: &Payload<'_>, to: &mut Teller<'_>) {
    let raw = item.output.map_or("", Raw::get);
    let (text, failed, exit_code) = if raw.starts_with('{') {
        let output: CallOutput<'_> = read(item.output);
        (content_text(output.content), output.success == Some(false), None)
    } else {
        let text = content_text(item.output);
        // Older releases put an object into the text.
        match from_str::<CallOutput<'_>>(&text) {
            Ok(inner) if text.starts_with('{') => {
                let code = inner.metadata.0.and_then(|meta| meta.exit_code.0);
                let own = inner.output.to_string();
                (Cow::Owned(own), false, code.map(|code| code != 0.0))
            }
            _ => (text, false, None),
        }
    };
    if let Some((kind, error)) = argument_error(&text) {
        return to.stream().bad_answer(&item.call, kind, error);
    }
    let (told, own) = unwrapped(&text);
    let outcome = match exit_code.or(told) {
        Some(true) => ToolOutcome::Exit,
        None if own.contains(" blocked by PreToolUse hook: ") => ToolOutcome::Refused,
        None if failed || own.starts_with("apply_patch verification failed") => ToolOutcome::Tool,
        Some(false) | None => ToolOutcome::Ok,
    };
    to.returned(&Answer { id: &item.call, agent: "", outcome, text: own });
}

/// What stands before a command's own output, and whether that says that it failed:
/// `Chunk ID: …`, `Wall time: …`, `Process exited with code 3`, `Output:`.
fn unwrapped(text: &str) -> (Option<bool>, &str) {
    const CODES: [&str; 2] = ["Process exited with code ", "Exit code: "];
    let Some((head, own)) = text.split_once("\nOutput:\n").filter(|(head, _)| head.len() < 400)
    else {
        return (None, text);
    };
    let code = head.lines().find_map(|line| CODES.iter().find_map(|code| line.strip_prefix(code)));
    (code.map(|code| code.trim() != "0"), own)
}

/// What the client itself puts before the human's words.
fn is_the_clients(text: &str) -> bool {
    const OWN: [&str; 6] = [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<turn_aborted>",
        "<permissions instructions>",
        "<subagent_notification>",
    ];
    let text = text.trim_start();
    text.is_empty() || OWN.iter().any(|own| text.starts_with(own))
}
