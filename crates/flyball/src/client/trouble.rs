//! What kept an agent from its model: a limit, the network, its credentials.
//!
//! Read from statuses first, then from texts of a known shape at a known place; never from prose.

use flyball_core::text::prefix;
use flyball_core::{AgentFact, Moment};

/// What kept the agent from its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A usage or rate limit.
    Limit(Option<Moment>, String),
    /// Network or overload.
    Lost(String),
    /// Key, login or account. An empty account is here too: waiting does not fill it.
    Credentials(String),
}

impl Trouble {
    /// By the HTTP status of the model's answer.
    pub(crate) fn by_status(status: u16, message: &str) -> Option<Self> {
        let message = || message.to_owned();
        match status {
            429 => Some(Self::Limit(None, message())),
            401..=403 => Some(Self::Credentials(message())),
            408 | 409 | 500..=599 => Some(Self::Lost(message())),
            _ => None,
        }
    }

    /// By the first number of a text that begins with an HTTP status (`429 Rate limit …`).
    pub(crate) fn by_leading_status(text: &str) -> Option<Self> {
        Self::by_status(leading_status(text)?, text)
    }

    pub(crate) fn into_fact(self) -> AgentFact {
        match self {
            Self::Limit(resets_at, message) => AgentFact::HitLimit { resets_at, message },
            Self::Lost(message) => AgentFact::LostModel { message },
            Self::Credentials(message) => AgentFact::RefusedCredentials { message },
        }
    }

    /// With at most so many characters of the client's words.
    pub(crate) fn bounded(mut self, max: usize) -> Self {
        let (Self::Limit(_, message) | Self::Lost(message) | Self::Credentials(message)) =
            &mut self;
        message.truncate(prefix(message, max).len());
        self
    }
}

/// The HTTP status a text begins with.
pub(crate) fn leading_status(text: &str) -> Option<u16> {
    let ends = text.get(3..)?.chars().next().is_none_or(|c| !c.is_ascii_alphanumeric());
    text.get(..3)?.parse().ok().filter(|_| ends)
}

/// The status after a fixed text (`…last status: 429 Too Many Requests`).
pub(crate) fn status_after(text: &str, anchor: &str) -> Option<u16> {
    let rest = text.split_once(anchor)?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok().filter(|status| (100..600).contains(status))
}

/// Texts of clients that could not reach their model at all.
pub(crate) fn says_unreachable(text: &str) -> bool {
    const SIGNS: [&str; 8] = [
        "ECONNREFUSED",
        "ECONNRESET",
        "ENOTFOUND",
        "ETIMEDOUT",
        "Connection refused",
        "error sending request",
        "stream disconnected before completion",
        "fetch failed",
    ];
    SIGNS.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_status_at_the_very_beginning_counts() {
        let limit = Trouble::by_leading_status("429 Rate limit reached");
        assert!(matches!(limit, Some(Trouble::Limit(None, _))));
        let key = Trouble::by_leading_status("401 Incorrect API key");
        assert!(matches!(key, Some(Trouble::Credentials(_))));
        for prose in ["there were 429 errors", "4290 lines", "42", "200 OK", "ünicode"] {
            assert_eq!(Trouble::by_leading_status(prose), None, "{prose}");
        }
    }

    #[test]
    fn a_status_is_found_after_its_anchor() {
        let text = "exceeded retry limit, last status: 429 Too Many Requests";
        assert_eq!(status_after(text, "last status: "), Some(429));
        assert_eq!(
            status_after("unexpected status 529 <unknown>", "unexpected status "),
            Some(529)
        );
        assert_eq!(status_after("nothing", "last status: "), None);
    }
}
