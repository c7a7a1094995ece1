//! JSON-RPC batches: each call in one is judged by itself. The client gets one array for one batch,
//! as it expects: what was refused is answered together with what the server says to the rest, in
//! no particular order. A batch in which nothing is refused passes byte for byte.

use std::borrow::Borrow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::{self, INVALID_REQUEST};
use super::judge::{Fate, Judge};
use super::line::{Head, Line};

/// What becomes of one message of a client.
pub(super) enum Word {
    /// It goes to the server; a request with the id it is answered under.
    Pass(Option<Value>),
    /// It does not; this is the answer, without the end of its line.
    Answer(String),
    /// It goes to the server, and these answers are due now.
    Due(Vec<String>),
}

impl Judge {
    /// Judges a batch of the client.
    pub(super) fn batch_of_client(&self, line: Line) -> Fate {
        let Line::Held(bytes) = &line else {
            let why = format!(
                "this batch has {} bytes, more than flyball mcp-guard judges ({}): send its \
                 messages one by one",
                line.length(),
                super::HELD_MAX
            );
            return Fate::Answer(answer::error(&Value::Null, INVALID_REQUEST, &why));
        };
        // What is wrong with it is for the server to say.
        let Some(members) = members(bytes) else { return Fate::Pass(line) };
        let (mut kept, mut waiting, mut refused, mut due) = (vec![], vec![], vec![], vec![]);
        for member in members {
            match self.word(member.get()) {
                Word::Pass(id) => {
                    kept.push(member.get());
                    waiting.extend(id);
                }
                Word::Answer(answer) => refused.push(answer),
                Word::Due(answers) => {
                    kept.push(member.get());
                    due.extend(answers);
                }
            }
        }
        if refused.is_empty() && due.is_empty() {
            return Fate::Pass(line);
        }
        let rest = array(&kept);
        if waiting.is_empty() {
            refused.extend(due);
            let answer = array(&refused);
            return if kept.is_empty() {
                Fate::Answer(answer)
            } else {
                Fate::Split { pass: Line::Held(rest), answer }
            };
        }
        refused.extend(due);
        self.requests().hold(&waiting, refused);
        Fate::Pass(Line::Held(rest))
    }

    fn word(&self, text: &str) -> Word {
        match serde_json::from_str::<Head>(text) {
            Ok(head) => self.message_of_client(&head, text.as_bytes()),
            // No message: the server has its own answer to it.
            Err(_) => Word::Pass(None),
        }
    }

    /// Judges what the server answers to a batch: what the client gets.
    pub(super) fn batch_of_server(&self, mut line: Line) -> Line {
        let Line::Held(bytes) = &line else {
            // Not looked into, but nobody waits for these answers any more.
            for id in line.heads().into_iter().filter_map(|head| head.id) {
                self.requests().close(&id);
            }
            return line;
        };
        let Some(members) = members(bytes) else { return line };
        let (mut said, mut changed) = (Vec::new(), false);
        let mut held = Vec::new();
        for member in members {
            let text = member.get();
            let judged = self.answer_of_server(text.as_bytes());
            held.extend(judged.held);
            changed |= judged.rewritten.is_some();
            said.push(judged.rewritten.unwrap_or_else(|| text.to_owned()));
        }
        if !changed && held.is_empty() {
            return line;
        }
        said.extend(held);
        Line::Held(array(&said))
    }
}

/// The messages of a batch as they stand there; none when it is no array, or an empty one.
fn members(line: &[u8]) -> Option<Vec<&RawValue>> {
    serde_json::from_slice(line).ok().filter(|members: &Vec<&RawValue>| !members.is_empty())
}

/// A line with these messages as a batch.
fn array<T: Borrow<str>>(messages: &[T]) -> Vec<u8> {
    format!("[{}]\n", messages.join(",")).into_bytes()
}
