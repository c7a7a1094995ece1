//! A copy of sessions that may be given to strangers and still replays: no text, no path, no name of
//! anybody, no key. What must only be compared becomes a number in the order it first came, so that
//! there is not even a hash that somebody could try words against.
//!
//! It is the format of the recordings that come with the project; `flyball inspect` and `cargo xtask
//! detect` read it.

use std::collections::HashMap;
use std::io::{self, Write};

use flyball_core::call::{Fingerprint, ToolCall, ToolOutcome, ToolResult};
use flyball_core::hindsight::{Cost, Spoken};
use flyball_core::recording::{Recording, Step};
use flyball_core::{AgentFact, Moment, SubAgent};
use serde_json::json;

use super::listener::{Listener, Onlooker};
use super::look::Lens;
use super::session::SessionReport;
use crate::client::prices;
use crate::transcript::{SessionHead, Source, read};

/// Characters of a tool's name that the ring looks at.
const NAME: usize = 64;
/// Length of an answer that says something, as recordings tell it.
const INFORMATIVE: u64 = 80;

/// Names of tools that many clients have, and that tell nothing of anybody.
const COMMON: &[&str] = &[
    "Bash",
    "BashOutput",
    "Edit",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Skill",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
    "apply_patch",
    "bash",
    "developer__shell",
    "developer__text_editor",
    "edit",
    "execute_command",
    "glob",
    "grep",
    "list",
    "list_directory",
    "read",
    "read_file",
    "read_many_files",
    "replace",
    "replace_in_file",
    "run_shell_command",
    "search_file_content",
    "search_files",
    "shell",
    "text_editor",
    "todowrite",
    "update_plan",
    "view",
    "webfetch",
    "write",
    "write_file",
    "write_to_file",
    "list_files",
];

/// Writes a copy of the sessions that are meant, one line each; how many there are.
pub fn share(
    sources: &[Source],
    lens: &Lens,
    meant: &dyn Fn(&SessionReport, &Source) -> bool,
    to: &mut dyn Write,
) -> io::Result<u64> {
    let silent = |_: u64| {};
    let mut count = 0;
    for source in sources {
        let mut listener = Listener::new(&lens.rules, Scrubber::default(), &silent);
        read(source, &lens.request, &mut listener)?;
        let (sessions, scrubber) = listener.finish();
        for (session, mut recording) in sessions.iter().zip(scrubber.recordings) {
            if !meant(session, source) {
                continue;
            }
            count += 1;
            recording.id = format!("session-{count}");
            // A name with something of one's own in it is cut to the maker's.
            recording.model = session.model.as_deref().and_then(prices::family).map(str::to_owned);
            serde_json::to_writer(&mut *to, &recording)?;
            to.write_all(b"\n")?;
        }
    }
    to.flush()?;
    Ok(count)
}

/// Numbers in the order things first come, from 1.
#[derive(Debug, Default)]
struct Numbers<K>(HashMap<K, u64>);

impl<K: std::hash::Hash + Eq> Numbers<K> {
    fn of(&mut self, key: K) -> u64 {
        let next = self.0.len() as u64 + 1;
        *self.0.entry(key).or_insert(next)
    }
}

/// Makes recordings of sessions.
#[derive(Debug, Default)]
struct Scrubber {
    recordings: Vec<Recording>,
    open: Recording,
    began: Option<Moment>,
    calls: Numbers<Fingerprint>,
    results: Numbers<Fingerprint>,
    raws: Numbers<Fingerprint>,
    words: Numbers<Fingerprint>,
    ids: Numbers<String>,
    agents: Numbers<String>,
    rounds: Numbers<String>,
    tools: Numbers<String>,
}

impl Scrubber {
    fn push(&mut self, (at, _): (Option<Moment>, u64), agent: &SubAgent, step: Step) {
        // Only how far apart things were, never when.
        let at_ms = at.map(|at| at.since(*self.began.get_or_insert(at)).get());
        let named = !agent.as_str().is_empty();
        let sub_agent = named.then(|| self.agents.of(agent.as_str().to_owned()));
        self.open.steps.push(Step { at_ms, sub_agent, ..step });
    }

    fn tool(&mut self, name: &str) -> String {
        if COMMON.contains(&name) {
            return name.to_owned();
        }
        let known: String = name.chars().take(NAME).collect();
        format!("tool-{}", self.tools.of(known))
    }

    fn id(&mut self, id: &str) -> u64 {
        if id.is_empty() { 0 } else { self.ids.of(id.to_owned()) }
    }

    fn call(&mut self, call: &ToolCall) -> Step {
        let round = call.round.as_str();
        Step {
            tool: self.tool(&call.tool),
            args: json!({ "call": self.calls.of(call.call) }),
            call_id: Some(self.id(call.id.as_str())),
            round: Some(if round.is_empty() { 0 } else { self.rounds.of(round.to_owned()) }),
            edit: call.mutating,
            ..Step::default()
        }
    }

    fn answer(&mut self, result: &ToolResult) -> Step {
        let kind = match result.outcome {
            ToolOutcome::Exit => Some("exit"),
            ToolOutcome::Tool => Some("tool"),
            ToolOutcome::Ok | ToolOutcome::Refused => None,
        };
        Step {
            tool: "_answer".to_owned(),
            call_id: Some(self.id(result.id.as_str())),
            result_nhash: Some(self.results.of(result.result).to_string()),
            result_hash: result.raw.map(|raw| self.raws.of(raw).to_string()),
            result_len: Some(if result.empty { 0 } else { INFORMATIVE }),
            error: result.outcome != ToolOutcome::Ok,
            error_kind: kind.map(str::to_owned),
            ran: (!result.outcome.ran()).then_some(false),
            ..Step::default()
        }
    }

    /// An answer that comes right after its call stands in the same step.
    fn answered(&mut self, at: (Option<Moment>, u64), result: &ToolResult) {
        let answer = self.answer(result);
        let named = !result.agent.as_str().is_empty();
        let agent = named.then(|| self.agents.of(result.agent.as_str().to_owned()));
        match self.open.steps.last_mut() {
            Some(call)
                if call.call_id == answer.call_id
                    && call.sub_agent == agent
                    && call.result_nhash.is_none()
                    && !call.tool.starts_with('_') =>
            {
                call.result_nhash = answer.result_nhash;
                call.result_hash = answer.result_hash;
                call.result_len = answer.result_len;
                (call.error, call.error_kind) = (answer.error, answer.error_kind);
                call.ran = answer.ran;
            }
            Some(_) | None => self.push(at, &result.agent, answer),
        }
    }
}

fn plain(tool: &str) -> Step {
    Step { tool: tool.to_owned(), ..Step::default() }
}

impl Onlooker for Scrubber {
    fn begins(&mut self, head: &SessionHead<'_>) {
        let recordings = std::mem::take(&mut self.recordings);
        *self = Self { recordings, ..Self::default() };
        head.agent.clone_into(&mut self.open.agent);
        "unknown".clone_into(&mut self.open.outcome);
    }

    fn heard(&mut self, at: (Option<Moment>, u64), fact: &AgentFact, _: &Spoken, _: u8) {
        let main = SubAgent::default();
        if let AgentFact::CalledTool(call) = fact {
            let step = self.call(call);
            self.push(at, &call.agent, step);
        } else if let AgentFact::ToolReturned(result) = fact {
            self.answered(at, result);
        } else if let AgentFact::OnlySpoke { agent, words } = fact {
            let text_hash = words.map(|words| self.words.of(words).to_string());
            self.push(at, agent, Step { text_hash, ..plain("_message") });
        } else if let AgentFact::Chanted(chant) = fact {
            self.push(at, &main, Step { times: Some(chant.times), ..plain("_chant") });
        } else if let AgentFact::SpokeNonsense(failure) = fact {
            self.push(at, &main, Step { invalid: Some(failure.kind), ..plain("_invalid") });
        } else if matches!(fact, AgentFact::Spoke) {
            self.push(at, &main, plain("_spoke"));
        }
    }

    fn human(&mut self, at: (Option<Moment>, u64), _: &str) {
        self.push(at, &SubAgent::default(), plain("_user"));
    }

    fn compacted(&mut self, at: (Option<Moment>, u64)) {
        self.push(at, &SubAgent::default(), plain("_compacted"));
    }

    fn used(&mut self, at: (Option<Moment>, u64), agent: &SubAgent, cost: Cost) {
        let known = |number: u64| (number > 0).then_some(number);
        let (tok_in, tok_out) = (known(cost.input_tokens), known(cost.output_tokens));
        let micro_usd = known(cost.micro_usd);
        self.push(at, agent, Step { tok_in, tok_out, micro_usd, ..plain("_spent") });
    }

    fn ends(&mut self, _: &SessionReport) {
        self.recordings.push(std::mem::take(&mut self.open));
    }
}

#[cfg(test)]
mod tests;
