//! Plain text with a line of tokens after each answer.

use flyball_core::AgentFact;
use flyball_core::event::{Exit, ExitHow};

use super::Aider;
use crate::client::lines::{Line, Lines};
use crate::client::meter::Usage;
use crate::client::plain::{keep, plain_exit};
use crate::client::session::StreamSession;
use crate::client::trouble::Trouble;
use crate::client::{Fact, Output, ReadRequest, Reader};

impl Output for Aider {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        Box::new(AiderReader {
            prompt: request.prompt.clone(),
            session: StreamSession::new(request, self),
            stdout: Lines::default(),
            text: String::new(),
            last: String::new(),
        })
    }

    fn is_structured(&self) -> bool {
        false
    }

    fn tells_cost(&self) -> bool {
        true
    }
}

struct AiderReader {
    prompt: String,
    session: StreamSession,
    stdout: Lines,
    /// What came since the last answer of the model.
    text: String,
    /// The last whole answer of the model.
    last: String,
}

impl AiderReader {
    fn line(
        (session, text, last): (&mut StreamSession, &mut String, &mut String),
        line: &Line<'_>,
        out: &mut Vec<Fact>,
    ) {
        let (Line::Whole(words) | Line::Overlong(words)) = line;
        if let Some(usage) = tokens(words) {
            // The end of an answer; what was retried before it got through.
            *last = std::mem::take(text);
            session.progress();
            session.fact(AgentFact::Spoke);
            session.used(&usage);
        } else if let Some(error) = words.strip_prefix("litellm.") {
            session.retrying(classify(error), words);
        } else if let Some(model) = words.strip_prefix("Main model: ") {
            session.model(model.split_whitespace().next().unwrap_or(model));
        } else {
            keep(text, line, out);
            if is_banner(words) {
                text.clear();
            }
        }
        session.drain_into(out);
    }
}

impl Reader for AiderReader {
    fn stdout(&mut self, bytes: &[u8], out: &mut Vec<Fact>) {
        let Self { session, stdout, text, last, .. } = self;
        stdout.feed(bytes, |line| Self::line((session, text, last), &line, out));
    }

    fn stderr(&mut self, _bytes: &[u8], _out: &mut Vec<Fact>) {}

    fn finish(mut self: Box<Self>, how: ExitHow, out: &mut Vec<Fact>) -> Exit {
        let Self { session, stdout, text, last, prompt } = &mut *self;
        stdout.end(|line| Self::line((session, text, last), &line, out));
        session.end(how);
        session.drain_into(out);
        let answered = !last.is_empty();
        let words = if answered { last } else { text };
        let mut spoken = Vec::new();
        let exit = plain_exit(how, words, prompt, &mut spoken);
        if !answered {
            // A banner and an error are not the agent's words.
            let nothing = flyball_core::claim::ClaimReading::default();
            return Exit { claims: nothing, ..exit };
        }
        exit
    }
}

/// The lines between aider's start, or what it was told, and the model's answer.
fn is_banner(line: &str) -> bool {
    line.starts_with("Repo-map: ")
        || (line.starts_with("Added ") && line.ends_with(" to the chat."))
}

/// `Tokens: 2.4k sent, 25 received. Cost: $0.0064 message, $0.0064 session.`
pub(super) fn tokens(line: &str) -> Option<Usage> {
    let rest = line.strip_prefix("Tokens: ")?;
    let (sent, rest) = rest.split_once(" sent, ")?;
    let (received, rest) = rest.split_once(" received.")?;
    let cost = rest.strip_prefix(" Cost: $").and_then(|rest| rest.split_once(" message"));
    // Between the two may stand what was cached.
    let received = received.rsplit(", ").next().unwrap_or(received);
    let cost_usd = cost.and_then(|(cost, _)| cost.parse().ok());
    Some(Usage { fresh: count(sent)?, output: count(received)?, cost_usd, ..Usage::default() })
}

/// `25`, `2.4k`, `1.2M`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is right for a count from outside"
)]
fn count(text: &str) -> Option<u64> {
    let text = text.replace(',', "");
    let (digits, unit) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1e3),
        None => match text.strip_suffix('M') {
            Some(digits) => (digits, 1e6),
            None => (text.as_str(), 1.0),
        },
    };
    digits.parse::<f64>().ok().map(|number| (number * unit).round() as u64)
}

fn classify(error: &str) -> Option<Trouble> {
    let own = format!("litellm.{error}");
    let (class, rest) = error.split_once(':')?;
    match class {
        "RateLimitError" => Some(Trouble::Limit(None, own)),
        "AuthenticationError" | "PermissionDeniedError" => Some(Trouble::Credentials(own)),
        "BadRequestError" if rest.contains("API key") => Some(Trouble::Credentials(own)),
        "InternalServerError"
        | "ServiceUnavailableError"
        | "APIConnectionError"
        | "Timeout"
        | "APIError" => Some(Trouble::Lost(own)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_line_is_read_with_its_units() {
        let usage =
            tokens("Tokens: 2.4k sent, 25 received. Cost: $0.0064 message, $0.0064 session.");
        let wanted = Usage { fresh: 2400, output: 25, cost_usd: Some(0.0064), ..Usage::default() };
        assert_eq!(usage, Some(wanted));
        assert_eq!(tokens("Tokens: 900 sent, 1 received.").map(|usage| usage.fresh), Some(900));
        assert_eq!(tokens("My Tokens: 1 sent, 1 received."), None);
    }
}
