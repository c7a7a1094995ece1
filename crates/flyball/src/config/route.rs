//! Where a message goes: one entry of `notify.to`.

use std::fmt;

use super::{CommandLine, suggest};

/// Where a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A notification on the desktop.
    Desktop,
    /// The bell of the terminal flyball runs in.
    Bell,
    /// A topic of ntfy, as the address it is posted to.
    Ntfy(String),
    /// An incoming webhook of Slack, or of anything that takes the same.
    Slack(String),
    /// A line for the shell.
    Command(CommandLine),
    /// An address that is sent the whole message as JSON.
    Webhook(String),
}

/// The words a route begins with.
const WORDS: [&str; 6] = ["desktop", "bell", "ntfy", "slack", "command", "webhook"];

impl Route {
    /// Reads an entry of `notify.to`; else what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (word, rest) = match text.split_once(':') {
            Some((word, rest)) => (word.trim(), Some(rest.trim())),
            None => (text.trim(), None),
        };
        match (word, rest.filter(|rest| !rest.is_empty())) {
            ("desktop", None) => Ok(Self::Desktop),
            ("bell", None) => Ok(Self::Bell),
            ("desktop" | "bell", Some(_)) => Err(format!("`{word}` takes nothing behind it")),
            ("ntfy", Some(topic)) if is_address(topic) => Ok(Self::Ntfy(topic.to_owned())),
            ("ntfy", Some(topic)) if is_topic(topic) => {
                Ok(Self::Ntfy(format!("https://ntfy.sh/{topic}")))
            }
            ("ntfy", Some(topic)) => Err(format!(
                "`{topic}` is no topic: letters, digits, `-` and `_`, or an address with one"
            )),
            ("slack", Some(url)) if is_address(url) => Ok(Self::Slack(url.to_owned())),
            ("webhook", Some(url)) if is_address(url) => Ok(Self::Webhook(url.to_owned())),
            ("slack" | "webhook", Some(url)) => Err(format!("`{url}` is no http address")),
            ("command", Some(line)) => Ok(Self::Command(CommandLine::Shell(line.to_owned()))),
            ("ntfy", None) => Err("`ntfy:` wants a topic behind it: \"ntfy:my-topic\"".to_owned()),
            ("slack" | "webhook", None) => {
                Err(format!("`{word}:` wants an address behind it: \"{word}:https://…\""))
            }
            ("command", None) => Err("`command:` wants a line for the shell behind it".to_owned()),
            (other, _) => Err(match suggest::nearest(other, WORDS) {
                Some(meant) => {
                    format!("`{other}` is no way to tell someone; did you mean `{meant}`?")
                }
                None => {
                    format!("`{other}` is no way to tell someone; there are {}", WORDS.join(", "))
                }
            }),
        }
    }
}

/// What is shown of a route: a topic or an address may be all that keeps others out.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Desktop => f.write_str("desktop"),
            Self::Bell => f.write_str("bell"),
            Self::Ntfy(url) => write!(f, "ntfy at {}", host(url)),
            Self::Slack(url) => write!(f, "slack at {}", host(url)),
            Self::Webhook(url) => write!(f, "webhook at {}", host(url)),
            Self::Command(line) => write!(f, "command `{line}`"),
        }
    }
}

fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(' '))
}

fn is_topic(text: &str) -> bool {
    text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_is_read_and_shown_without_what_is_secret() {
        let rows = [
            ("desktop", "desktop"),
            ("bell", "bell"),
            ("ntfy:my-topic", "ntfy at ntfy.sh"),
            ("ntfy:https://u:p@push.example/t", "ntfy at push.example"),
            ("slack:https://hooks.example/services/T0/secret", "slack at hooks.example"),
            ("webhook:http://127.0.0.1:9/x?key=1", "webhook at 127.0.0.1:9"),
            ("command: say done", "command `say done`"),
        ];
        for (text, shown) in rows {
            assert_eq!(Route::parse(text).unwrap().to_string(), shown, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_reached_is_refused_with_what_would_be_right() {
        let rows = [
            ("dekstop", "did you mean `desktop`"),
            ("ntfy", "wants a topic"),
            ("ntfy:two words", "is no topic"),
            ("slack:hooks.example", "no http address"),
            ("webhook", "wants an address"),
            ("command:", "wants a line"),
            ("bell:loud", "takes nothing"),
            ("mail:me", "there are desktop, bell"),
        ];
        for (text, said) in rows {
            let error = Route::parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
