//! Claude Code: `projects/PROJECT/SESSION.jsonl` in its folder, a line for each block of a message;
//! sub-agents in `SESSION/subagents/agent-ID.jsonl`, in older releases among the lines of the session.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use flyball_core::call::{ToolOutcome, ValidationKind};
use memchr::memmem;

use super::stream::{did_not_run, is_exit, tool_use_error, unparsed};
use super::{Claude, NAME};
use crate::client::lenient::{Flag, List, Maybe, Raw, Text, TextOrList, from_str, object, read};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call};
use crate::client::stream_json::{Block, Counts, ResultMeta};
use crate::client::transcript::{
    Format, Head, Place, Record, RecordReader, Shape, Teller, Transcripts, stream,
};
use crate::client::{AgentNote, Output};

/// Model calls whose tokens are remembered: each block of a message tells them again.
const COUNTED_MAX: usize = 32;
/// Where a line shows what it is, in bytes.
const BEGINNING: usize = 200;
/// Calls that were none, of which the answer is waited for.
const UNPARSED_MAX: usize = 64;

fn output() -> &'static dyn Output {
    &Claude
}

static FORMATS: [Format; 2] = [
    Format {
        agent: NAME,
        name: "transcript",
        shape: Shape::Lines(|| Box::new(ClaudeTranscript::default())),
        recognises,
        output,
    },
    stream(NAME, |head| head.has("\"claude_code_version\":"), output),
];

impl Transcripts for Claude {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let own = env("CLAUDE_CONFIG_DIR").filter(|own| !own.is_empty());
        let homes: Vec<PathBuf> = match own {
            // Several may be named.
            Some(own) => own.split(',').map(|own| PathBuf::from(own.trim())).collect(),
            None => env("HOME")
                .into_iter()
                .flat_map(|home| {
                    [".claude", ".config/claude"].map(|own| Path::new(&home).join(own))
                })
                .collect(),
        };
        let place = |home: PathBuf| Place { folder: home.join("projects"), depth: 4, is_one };
        homes.into_iter().map(place).collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    path.extension().is_some_and(|extension| extension == "jsonl").then(|| FORMATS.first())?
}

/// Whether a line tells nothing of what was done: attachments, requests as they were sent, snapshots.
/// Most bytes are in such lines, and how they begin gives them away.
fn is_idle(line: &str) -> bool {
    if let Some(kind) = line.strip_prefix("{\"type\":\"") {
        return !["user\"", "assistant\"", "system\""].iter().any(|told| kind.starts_with(told));
    }
    let start = line.as_bytes().get(..BEGINNING.min(line.len())).unwrap_or_default();
    memmem::find(start, b"\"isSidechain\":").is_some_and(|at| {
        let behind = start.get(at..).unwrap_or_default();
        memmem::find(behind, b",\"attachment\":{").is_some()
    })
}

fn recognises(head: &Head<'_>) -> bool {
    head.begins_with(b'{')
        && head.has("\"sessionId\":\"")
        && head.has("\"isSidechain\":")
        && head.has("\"parentUuid\":")
}

object! {
    #[derive(Debug)]
    struct Line<'a> {
        "type" => kind: Text<'a>,
        "subtype" => subtype: Text<'a>,
        "sessionId" => session: Text<'a>,
        "agentId" => agent: Text<'a>,
        "isSidechain" => is_sidechain: Flag,
        "parentUuid" => parent: Text<'a>,
        "isMeta" => is_meta: Flag,
        "isCompactSummary" => is_summary: Flag,
        "isApiErrorMessage" => is_api_error: Flag,
        "cwd" => cwd: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        "origin" => origin: Maybe<Origin<'a>>,
        "message" => message: Maybe<Message<'a>>,
        "toolResultMeta" => tool_result_meta: Option<Raw<'a>>,
    }
}

object! {
    #[derive(Debug)]
    struct Origin<'a> {
        "kind" => kind: Text<'a>,
    }
}

object! {
    #[derive(Debug)]
    struct Message<'a> {
        "id" => id: Text<'a>,
        "model" => model: Text<'a>,
        "content" => content: TextOrList<'a, Block<'a>>,
        "stop_reason" => stop_reason: Text<'a>,
        "usage" => usage: Maybe<Counts>,
    }
}

#[derive(Debug, Default)]
struct ClaudeTranscript {
    /// The tokens of the latest model calls, as far as they were told.
    counted: VecDeque<(String, Usage)>,
    /// Calls whose arguments were no JSON: they never ran, and their results say only that.
    unparsed: Vec<String>,
    /// Sub-agents among the lines of a session that have no name there.
    unnamed: u32,
    /// The session of which there was a line of the main agent: sub-agents of any other one have
    /// this file for themselves.
    main: String,
}

impl RecordReader for ClaudeTranscript {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        if is_idle(record.text) {
            return Ok(());
        }
        let line: Line<'_> = from_str(record.text).map_err(|error| error.to_string())?;
        if !matches!(&*line.kind, "user" | "assistant" | "system") {
            // Summaries, snapshots of files, progress: what is shown, not what was done.
            return Ok(());
        }
        to.time(&line.timestamp);
        let agent = self.agent(&line, to);
        to.project(&line.cwd);
        match &*line.kind {
            "assistant" => self.assistant(&line, &agent, to),
            "user" => self.user(&line, &agent, to),
            _ if &*line.subtype == "compact_boundary" => to.compacted(),
            _ => {}
        }
        Ok(())
    }
}

impl ClaudeTranscript {
    /// Who speaks in this line, inside of the session it belongs to.
    fn agent<'a>(&mut self, line: &'a Line<'a>, to: &mut Teller<'_>) -> Cow<'a, str> {
        if !line.is_sidechain.0 {
            if self.main != *line.session {
                self.main = line.session.to_string();
            }
            to.session(&line.session);
            return Cow::Borrowed("");
        }
        if !line.agent.is_empty() && self.main != *line.session {
            to.sub_session(&line.agent, &line.session);
            return Cow::Borrowed("");
        }
        to.session(&line.session);
        if !line.agent.is_empty() {
            return Cow::Borrowed(&line.agent);
        }
        if line.parent.is_empty() {
            self.unnamed += 1;
        }
        Cow::Owned(format!("sub-agent {}", self.unnamed.max(1)))
    }

    fn assistant(&mut self, line: &Line<'_>, agent: &str, to: &mut Teller<'_>) {
        let Some(message) = &line.message.0 else { return };
        let TextOrList::List(blocks) = &message.content else { return };
        if &*message.model == "<synthetic>" || line.is_api_error.0 {
            // The client's own words about a failure.
            if let Some(block) = blocks.first() {
                to.stream().failed(&block.text);
            }
            return;
        }
        to.model(&message.model);
        if let Some(counts) = message.usage.0 {
            self.count(message, &counts, agent, to);
        }
        for block in blocks {
            match &*block.kind {
                "text" if agent.is_empty() => {
                    to.stream().said_block(Some(&message.id), &block.text);
                }
                "tool_use" => self.called(block, message, agent, to),
                _ => {}
            }
        }
        if &*message.stop_reason == "max_tokens" {
            to.stream().cut_off("max_tokens");
        }
    }

    /// Each block tells what its message has used so far: what is new is told.
    fn count(&mut self, message: &Message<'_>, counts: &Counts, agent: &str, to: &mut Teller<'_>) {
        let usage = counts.apart();
        let known = self.counted.iter_mut().rev().find(|(id, _)| **id == *message.id);
        let more = if let Some((_, told)) = known {
            let more = usage.beyond(told);
            *told = told.most(&usage);
            more
        } else {
            if self.counted.len() == COUNTED_MAX {
                self.counted.pop_front();
            }
            self.counted.push_back((message.id.to_string(), usage));
            usage
        };
        to.used(agent, &message.id, &more);
        if agent.is_empty() {
            to.stream().context(usage.context());
        }
    }

    fn called(
        &mut self,
        block: &Block<'_>,
        message: &Message<'_>,
        agent: &str,
        to: &mut Teller<'_>,
    ) {
        let args = block.input.map_or("{}", Raw::get);
        if args.starts_with("{\"__unparsedToolInput\"") {
            if self.unparsed.len() < UNPARSED_MAX {
                self.unparsed.push(block.id.to_string());
            }
            let error = format!("arguments of `{}` are no JSON", &*block.name);
            to.stream().bad_call(ValidationKind::UnparseableJson, &unparsed(args), &error);
            return;
        }
        to.called(&Call {
            id: &block.id,
            agent,
            tool: &block.name,
            args,
            round: &message.id,
            ..Call::default()
        });
    }

    fn user(&mut self, line: &Line<'_>, agent: &str, to: &mut Teller<'_>) {
        let Some(message) = &line.message.0 else { return };
        let is_told = line.origin.0.as_ref().is_some_and(|origin| &*origin.kind != "human");
        let is_human = agent.is_empty() && !line.is_meta.0 && !line.is_summary.0 && !is_told;
        let speaker = if is_human { Speaker::Human } else { Speaker::Client };
        match &message.content {
            TextOrList::Text(text) => said_to(text, speaker, to),
            TextOrList::List(blocks) => {
                let meta: List<ResultMeta<'_>> = read(line.tool_result_meta);
                for block in blocks {
                    match &*block.kind {
                        "tool_result" => {
                            let refused = meta.0.iter().any(|meta| {
                                *meta.id == *block.tool_use_id
                                    && !meta.non_execution_kind.is_empty()
                            });
                            self.returned(
                                block,
                                agent,
                                refused.then_some(ToolOutcome::Refused),
                                to,
                            );
                        }
                        "text" => said_to(&block.text, speaker, to),
                        _ => {}
                    }
                }
            }
        }
    }

    fn returned(
        &mut self,
        block: &Block<'_>,
        agent: &str,
        known: Option<ToolOutcome>,
        to: &mut Teller<'_>,
    ) {
        let id = &*block.tool_use_id;
        if let Some(at) = self.unparsed.iter().position(|unparsed| unparsed == id) {
            self.unparsed.swap_remove(at);
            return;
        }
        let text = &*block.content.0;
        let outcome = if let Some(known) = known {
            known
        } else if !block.is_error.0 {
            ToolOutcome::Ok
        } else if is_exit(text) {
            ToolOutcome::Exit
        } else if did_not_run(text) {
            ToolOutcome::Refused
        } else if let Some((kind, error)) = tool_use_error(text) {
            return to.stream().bad_answer(id, kind, error);
        } else {
            ToolOutcome::Tool
        };
        to.returned(&Answer { id, agent, outcome, text });
    }
}

/// Who speaks to the agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Human,
    Client,
}

/// Words to the agent.
fn said_to(text: &str, speaker: Speaker, to: &mut Teller<'_>) {
    if let Some(reason) = text.strip_prefix("Stop hook feedback:\n") {
        to.stream().interrupted();
        to.stream().note(AgentNote::StopRefused(reason.to_owned()));
    } else if speaker == Speaker::Human && !is_the_clients(text) {
        to.human(text);
    }
}

/// What the client writes in a human's place.
fn is_the_clients(text: &str) -> bool {
    const OWN: [&str; 6] = [
        "<local-command-",
        "<system-reminder>",
        "<task-notification>",
        "<bash-stdout>",
        "<bash-stderr>",
        "Caveat: The messages below were generated",
    ];
    let text = text.trim_start();
    text.is_empty() || OWN.iter().any(|own| text.starts_with(own))
}
