//! Who may pass: every line of either side is looked at, and only tool calls and their results are
//! touched. Remembers which requests are open, so that none stays without an answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flyball_core::CallId;
use flyball_core::call::{CallRing, ToolCall, ToolOutcome, ToolResult};
use flyball_core::policy::CallRules;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, INVALID_REQUEST, SERVER_GONE};
use super::line::{Head, Line};
use super::result::CallResponse;
use super::spill::Spill;
use crate::clock::Clock;

/// The most requests that are remembered as open; the oldest are forgotten first.
const OPEN_MAX: usize = 10_000;

/// The judge between client and server.
#[derive(Debug)]
pub(super) struct Judge {
    rules: CallRules,
    spill: Spill,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ring: CallRing,
    /// Open requests by their id as JSON, with the order they came in.
    open: BTreeMap<String, Open>,
    /// Ids by that order.
    order: BTreeMap<u64, String>,
    next: u64,
}

#[derive(Debug)]
struct Open {
    number: u64,
    kind: Kind,
}

/// What an open request is.
#[derive(Debug)]
enum Kind {
    /// A tool call, with what the agent is to be told with its result.
    Call { nudge: Option<String> },
    /// Anything else.
    Other,
}

/// What becomes of a line of the client.
#[derive(Debug)]
pub(super) enum Fate {
    /// It goes to the server as it is.
    Pass(Line),
    /// It does not reach the server; this is the answer.
    Answer(Vec<u8>),
}

/// The part of a tool call that is judged.
#[derive(Deserialize)]
struct CallLine {
    params: CallParams,
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Judge {
    /// Takes away what was written for this session.
    pub(super) fn clear_spilled(&self) {
        self.spill.clear();
    }

    pub(super) fn new(rules: CallRules, spill: Spill) -> Self {
        Self { rules, spill, clock: Clock::start(), state: Mutex::default() }
    }

    /// Judges a line of the client.
    pub(super) fn hear_client(&self, mut line: Line) -> Fate {
        let Some(head) = line.head() else { return Self::pass_whole(line, &Head::default()) };
        let (Some(method), id) = (&head.method, head.id.as_ref().filter(|id| !id.is_null())) else {
            return Self::pass_whole(line, &head);
        };
        let Some(id) = id else {
            if method == "notifications/cancelled"
                && let Some(id) = head.params.as_ref().and_then(|params| params.request_id.as_ref())
            {
                self.state().close(id);
            }
            return Self::pass_whole(line, &head);
        };
        if method != "tools/call" {
            self.state().open(id, Kind::Other);
            return Self::pass_whole(line, &head);
        }
        self.call(line, id)
    }

    fn call(&self, line: Line, id: &Value) -> Fate {
        let Line::Held(bytes) = &line else {
            let why = format!(
                "this tool call has {} bytes, more than flyball mcp-guard judges ({}): put the \
                 data into a file and pass its path",
                line.length(),
                super::HELD_MAX
            );
            return Fate::Answer(answer::error(id, INVALID_REQUEST, &why));
        };
        let Ok(call) = serde_json::from_slice::<CallLine>(bytes) else {
            // What is wrong with it is for the server to say.
            self.state().open(id, Kind::Other);
            return Fate::Pass(line);
        };
        let CallParams { name, arguments } = call.params;
        let call = ToolCall::new(CallId::new(key(id)), name, &arguments, &self.rules);
        let mut state = self.state();
        let verdict = state.ring.before(&self.rules, self.clock.now(), &call);
        let message = verdict.message().map(str::to_owned);
        if verdict.may_run() {
            state.open(id, Kind::Call { nudge: message });
            return Fate::Pass(line);
        }
        Fate::Answer(answer::refused(id, &message.unwrap_or_default()))
    }

    /// A line passes if all of it is here; one that is longer than any message is answered.
    fn pass_whole(line: Line, head: &Head) -> Fate {
        if line.is_whole() {
            return Fate::Pass(line);
        }
        let id = head.id.clone().unwrap_or(Value::Null);
        let why = format!("a message of {} bytes is more than can be passed on", line.length());
        Fate::Answer(answer::error(&id, INVALID_REQUEST, &why))
    }

    /// Judges a line of the server: what the client gets.
    pub(super) fn hear_server(&self, mut line: Line) -> Line {
        let Some(head) = line.head() else { return line };
        if head.method.is_some() {
            return line;
        }
        let Some(id) = head.id.filter(|id| !id.is_null()) else { return line };
        let open = self.state().close(&id);
        match open {
            Some(Kind::Call { nudge }) => self.result(line, &id, nudge),
            Some(Kind::Other) | None => line,
        }
    }

    fn result(&self, line: Line, id: &Value, nudge: Option<String>) -> Line {
        let bytes = match line {
            Line::Held(bytes) => bytes,
            Line::Spooled(_) => return self.huge(line, id),
        };
        let rewritten = CallResponse::read(&bytes).and_then(|response| {
            let id = CallId::new(key(id));
            let result = ToolResult::new(id, response.outcome, &response.identity);
            let verdict = self.state().ring.after(&self.rules, self.clock.now(), &result);
            let notes: Vec<String> =
                nudge.into_iter().chain(verdict.message().map(str::to_owned)).collect();
            response.rewritten(&self.rules, &self.spill, &notes)
        });
        Line::Held(rewritten.unwrap_or(bytes))
    }

    /// A result too large even to be held: all of it goes to a file, as it came.
    fn huge(&self, mut line: Line, id: &Value) -> Line {
        let length = line.length();
        let Line::Spooled(spool) = &mut line else { return line };
        let begun = spool.beginning(self.rules.preview).unwrap_or_default();
        let begun = String::from_utf8_lossy(&begun).into_owned();
        let outcome = ToolOutcome::Ok;
        let result = ToolResult::new(CallId::new(key(id)), outcome, &format!("{length} {begun}"));
        self.state().ring.after(&self.rules, self.clock.now(), &result);
        let written = self.spill.write_with(|file| line.write_to(file));
        let Ok(path) = written else { return line };
        let notice = format!(
            "The result has {length} bytes and was written to a file instead, as the JSON the \
             server sent: {}\nRead a part of it, or search it with grep -o. It begins:\n{begun}",
            path.display()
        );
        let answer = json!({
            "jsonrpc": "2.0",
            "id": id,
            "result": { "content": [answer::text(&notice)] },
        });
        Line::Held(format!("{answer}\n").into_bytes())
    }

    /// Answers every open request: the server is gone.
    pub(super) fn give_up(&self, why: &str) -> Vec<Vec<u8>> {
        let mut state = self.state();
        state.order.clear();
        let open = std::mem::take(&mut state.open);
        let ids = open.keys().filter_map(|id| serde_json::from_str::<Value>(id).ok());
        let why = format!("{why} before it answered");
        ids.map(|id| answer::error(&id, SERVER_GONE, &why)).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(&mut self, id: &Value, kind: Kind) {
        let number = self.next;
        self.next = number.saturating_add(1);
        let id = key(id);
        if let Some(before) = self.open.insert(id.clone(), Open { number, kind }) {
            self.order.remove(&before.number);
        }
        self.order.insert(number, id);
        if self.open.len() > OPEN_MAX
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.open.remove(&oldest);
        }
    }

    fn close(&mut self, id: &Value) -> Option<Kind> {
        let open = self.open.remove(&key(id))?;
        self.order.remove(&open.number);
        Some(open.kind)
    }
}

/// An id as JSON: `1` is not `"1"`.
fn key(id: &Value) -> String {
    id.to_string()
}
