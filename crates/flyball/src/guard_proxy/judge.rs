//! Who may pass: every line of either side is looked at, and only tool calls and their results are
//! touched. No request stays without an answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use flyball_core::CallId;
use flyball_core::call::{ToolCall, ToolOutcome, ToolResult};
use flyball_core::policy::CallRules;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, INVALID_REQUEST, SERVER_GONE};
use super::batch::Word;
use super::line::{Head, Line};
use super::open::{Closed, Kind, OpenRequests, key};
use super::result::CallResponse;
use super::ring::{Ring, Spoken};
use crate::spill::Spill;

/// The judge between client and server.
#[derive(Debug)]
pub(super) struct Judge {
    spill: Spill,
    ring: Ring,
    requests: Mutex<OpenRequests>,
}

/// What becomes of a line of the client.
#[derive(Debug)]
pub(super) enum Fate {
    /// It goes to the server as it is.
    Pass(Line),
    /// It does not reach the server; this is the answer.
    Answer(Vec<u8>),
    /// This goes to the server, and this is answered now.
    Split { pass: Line, answer: Vec<u8> },
}

/// What becomes of one answer of the server.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// The answer anew; none when it stays as it is.
    pub(super) rewritten: Option<String>,
    /// Our own answers that go with it.
    pub(super) held: Vec<String>,
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
        Self { spill, ring: Ring::new(rules), requests: Mutex::default() }
    }

    /// Judges a line of the client.
    pub(super) fn hear_client(&self, mut line: Line) -> Fate {
        if line.is_batch() {
            return self.batch_of_client(line);
        }
        let Some(head) = line.head() else { return Self::pass_whole(line, &Head::default()) };
        if let Line::Held(bytes) = &line {
            return match self.message_of_client(&head, bytes) {
                Word::Pass(_) => Fate::Pass(line),
                Word::Answer(answer) => Fate::Answer(ended(answer)),
                Word::Due(answers) if answers.is_empty() => Fate::Pass(line),
                Word::Due(answers) => Fate::Split {
                    pass: line,
                    answer: answers.into_iter().flat_map(ended).collect(),
                },
            };
        }
        let id = head.id.as_ref().filter(|id| !id.is_null());
        match (head.method.as_deref(), id) {
            (Some("tools/call"), Some(id)) => {
                let why = format!(
                    "this tool call has {} bytes, more than flyball mcp-guard judges ({}): put \
                     the data into a file and pass its path",
                    line.length(),
                    super::HELD_MAX
                );
                return Fate::Answer(answer::error(id, INVALID_REQUEST, &why));
            }
            (Some(_), Some(id)) if line.is_whole() => self.requests().open(id, Kind::Other),
            (Some(_) | None, _) => {}
        }
        Self::pass_whole(line, &head)
    }

    /// Judges one message of the client, alone in its line or in a batch.
    pub(super) fn message_of_client(&self, head: &Head, text: &[u8]) -> Word {
        let id = head.id.as_ref().filter(|id| !id.is_null());
        match (head.method.as_deref(), id) {
            (Some("notifications/cancelled"), None) => {
                let cancelled = head.params.as_ref().and_then(|one| one.request_id.as_ref());
                Word::Due(cancelled.map(|id| self.requests().cancel(id)).unwrap_or_default())
            }
            (None, _) | (Some(_), None) => Word::Pass(None),
            (Some("tools/call"), Some(id)) => self.call(text, id),
            (Some(_), Some(id)) => {
                self.requests().open(id, Kind::Other);
                Word::Pass(Some(id.clone()))
            }
        }
    }

    fn call(&self, text: &[u8], id: &Value) -> Word {
        let Ok(call) = serde_json::from_slice::<CallLine>(text) else {
            // What is wrong with it is for the server to say.
            self.requests().open(id, Kind::Other);
            return Word::Pass(Some(id.clone()));
        };
        let CallParams { name, arguments } = call.params;
        let rules = self.ring.rules();
        let call = ToolCall::new(CallId::new(key(id)), name, &arguments, rules);
        let Spoken { refused, message } = self.ring.before(call);
        if refused {
            return Word::Answer(answer::refused(id, &message.unwrap_or_default()));
        }
        self.requests().open(id, Kind::Call { nudge: message });
        Word::Pass(Some(id.clone()))
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
    pub(super) fn hear_server(&self, mut line: Line) -> Vec<Line> {
        if line.is_batch() {
            return vec![self.batch_of_server(line)];
        }
        if let Line::Held(bytes) = &line {
            let judged = self.answer_of_server(bytes);
            let line = judged.rewritten.map_or(line, |text| Line::Held(ended(text)));
            let held = judged.held.into_iter().map(|answer| Line::Held(ended(answer)));
            return std::iter::once(line).chain(held).collect();
        }
        let head = line.head().filter(|head| head.method.is_none());
        let Some(id) = head.and_then(|head| head.id).filter(|id| !id.is_null()) else {
            return vec![line];
        };
        let closed = self.requests().close(&id);
        let line = match closed.kind {
            Some(Kind::Call { .. }) => self.huge(line, &id),
            Some(Kind::Other) | None => line,
        };
        let held = closed.held.into_iter().map(|answer| Line::Held(ended(answer)));
        std::iter::once(line).chain(held).collect()
    }

    /// Judges one message of the server, alone in its line or in a batch.
    pub(super) fn answer_of_server(&self, text: &[u8]) -> Judged {
        let head = Head::of(text).filter(|head| head.method.is_none());
        let Some(id) = head.and_then(|head| head.id).filter(|id| !id.is_null()) else {
            return Judged::default();
        };
        let Closed { kind, held } = self.requests().close(&id);
        let rewritten = match kind {
            Some(Kind::Call { nudge }) => self.result(text, &id, nudge),
            Some(Kind::Other) | None => None,
        };
        Judged { rewritten, held }
    }

    fn result(&self, text: &[u8], id: &Value, nudge: Option<String>) -> Option<String> {
        let response = CallResponse::read(text)?;
        let id = CallId::new(key(id));
        let outcome = response.outcome;
        let mut result = ToolResult::new(id, outcome, &response.identity);
        let spoken = match response.invalid() {
            None => self.ring.after(result),
            // The call never ran: it was none the server could understand (A4).
            Some(failure) => {
                result.outcome = ToolOutcome::Refused;
                self.ring.after(result);
                self.ring.invalid(&failure)
            }
        };
        let notes: Vec<String> = nudge.into_iter().chain(spoken.message).collect();
        response.rewritten(self.ring.rules(), &self.spill, &notes)
    }

    /// A result too large even to be held: all of it goes to a file, as it came.
    fn huge(&self, mut line: Line, id: &Value) -> Line {
        let length = line.length();
        let Line::Spooled(spool) = &mut line else { return line };
        let begun = spool.beginning(self.ring.rules().preview).unwrap_or_default();
        let begun = String::from_utf8_lossy(&begun).into_owned();
        let outcome = ToolOutcome::Ok;
        let result = ToolResult::new(CallId::new(key(id)), outcome, &format!("{length} {begun}"));
        self.ring.after(result);
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
        let (open, held) = self.requests().take_all();
        let why = format!("{why} before it answered");
        let errors = open.iter().map(|id| answer::error(id, SERVER_GONE, &why));
        errors.chain(held.into_iter().map(ended)).collect()
    }

    pub(super) fn requests(&self) -> MutexGuard<'_, OpenRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message with the end of its line.
fn ended(message: String) -> Vec<u8> {
    let mut bytes = message.into_bytes();
    bytes.push(b'\n');
    bytes
}
