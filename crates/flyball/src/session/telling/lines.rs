//! flyball's own protocol, one JSON object a line on standard output: what a run reads.

use std::time::Duration;

use flyball_core::call::{ToolCall, ToolOutcome};
use flyball_core::event::Spend;
use flyball_models::{Failure, FailureKind, RetryTime};
use serde_json::{Value, json};

use super::{Shown, Teller, Watch};
use crate::session::judge::Spoken;
use crate::session::tools::Done;
use crate::{clock, terminal};

/// Lines of the protocol.
pub(crate) struct Lines {
    /// Whether a run counts what is spent at its door: then it is not told here once more.
    pub(crate) is_counted: bool,
}

impl Lines {
    fn line(value: &Value) {
        // A reader that has gone ends this process soon enough.
        terminal::write_out(&format!("{value}\n")).ok();
    }

    fn note(text: &str) {
        terminal::write_err(&format!("{text}\n"));
    }
}

impl Teller for Lines {
    fn said(&mut self, _piece: &str) {}

    fn thought(&mut self, _piece: &str) {}

    fn fell_silent(&mut self) {}

    fn answered(&mut self, words: &str) {
        if !words.trim().is_empty() {
            Self::line(&json!({ "type": "text", "text": words }));
        }
    }

    fn spent(&mut self, spend: Spend, permille: Option<u16>) {
        if self.is_counted {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "money is told in dollars")]
        let cost = spend.cost_micro_usd as f64 / 1e6;
        Self::line(&json!({
            "type": "usage", "input_tokens": spend.input_tokens,
            "output_tokens": spend.output_tokens, "cost_usd": cost,
            "context_used": permille.map(|permille| f64::from(permille) / 1000.0),
        }));
    }

    fn called(&mut self, _shown: &Shown<'_>) {}

    fn announced(&mut self, Shown { call, args }: &Shown<'_>) {
        Self::line(&json!({
            "type": "call", "id": call.id, "tool": call.tool, "args": args,
            "agent": agent(call), "round": call.round, "mutates": call.mutating,
        }));
    }

    fn returned(&mut self, call: &ToolCall, done: &Done, text: &str) {
        let error = match done.outcome {
            ToolOutcome::Ok => None,
            ToolOutcome::Exit => Some("exit"),
            ToolOutcome::Tool => Some("tool"),
            ToolOutcome::Refused => Some("refused"),
        };
        Self::line(&json!({
            "type": "result", "id": call.id, "output": text, "error": error, "agent": agent(call),
        }));
    }

    fn judged(&mut self, _spoken: &Spoken) {}

    fn watch_gates(&mut self) -> Watch {
        // In a run it is the run that has them run, and tells it.
        Box::new(|_| {})
    }

    fn sent_back(&mut self, _reason: &str) {}

    fn retrying(&mut self, why: &str, wait: Duration) {
        Self::note(&format!("{why}; again in {} s", wait.as_secs_f32().ceil()));
    }

    fn compacting(&mut self, messages: usize) {
        Self::note(&format!("the window is nearly full: {messages} messages become a summary"));
    }

    fn failed(&mut self, failure: &Failure) {
        let message = failure.to_string();
        Self::note(&message);
        if failure.kind == FailureKind::Limited {
            let resets_at = failure.retry.map(resets_at);
            return Self::line(&json!({
                "type": "limit", "resets_at": resets_at, "message": message,
            }));
        }
        let kind = if failure.passes() { "unreachable" } else { "credentials" };
        Self::line(&json!({ "type": "error", "kind": kind, "message": message }));
    }

    fn lost(&mut self, why: &str) {
        Self::note(why);
        Self::line(&json!({ "type": "error", "kind": "unreachable", "message": why }));
    }

    fn summed_up(&mut self) {}

    fn question(&mut self, shown: &Shown<'_>) -> String {
        shown.call.tool.clone()
    }
}

fn agent(call: &ToolCall) -> &str {
    if call.agent.as_str().is_empty() { "main" } else { call.agent.as_str() }
}

/// When a limit ends, as the protocol tells it.
fn resets_at(time: RetryTime) -> String {
    let now = clock::wall();
    let system = std::time::UNIX_EPOCH + Duration::from_millis(now.as_millis());
    let wait = u64::try_from(time.from(system).as_millis()).unwrap_or(u64::MAX);
    clock::rfc3339(now.plus(flyball_core::Millis::new(wait)))
}
