//! Failures in words: what was wrong, where, and what helps.

use std::io;
use std::time::Duration;

use crate::failure::{Failure, FailureKind, RetryTime};
use crate::settings::Settings;
use crate::trouble::{Told, Trouble, short};

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing of it is there.
    Before,
    /// It has begun.
    Within,
}

/// Tells what went wrong with a model.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    settings: Settings,
    host: String,
    is_local: bool,
}

impl Words {
    pub(crate) fn new(settings: &Settings, host: String) -> Self {
        let name = host.split(':').next().unwrap_or(&host);
        let is_local = name == "localhost" || name.starts_with("127.") || host.starts_with("[::1]");
        Self { settings: settings.clone(), host, is_local }
    }

    /// Whether the service is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.is_local
    }

    /// Any failure, without the key in it.
    pub(crate) fn failure(&self, kind: FailureKind, words: String) -> Failure {
        Failure::new(kind, self.settings.key.hide(words))
    }

    /// What a service said itself.
    pub(crate) fn told(&self, told: &Told) -> Failure {
        let kind = told.meaning();
        let words = self.sentence(kind, told);
        Failure { status: told.status, retry: told.retry, ..self.failure(kind, words) }
    }

    pub(crate) fn trouble(&self, trouble: &Trouble) -> Failure {
        let host = &self.host;
        match trouble {
            Trouble::Told(told) => self.told(told),
            Trouble::TooLarge(words) => self.failure(FailureKind::TooLarge, words.clone()),
            Trouble::Unreadable(words) => {
                let words = format!("{host} sent what cannot be read: {words}");
                self.failure(FailureKind::Unreadable, words)
            }
        }
    }

    pub(crate) fn cancelled(&self) -> Failure {
        self.failure(FailureKind::Cancelled, "the request was cancelled".to_owned())
    }

    /// Nothing came for so long.
    pub(crate) fn silent(&self, limit: Duration, stage: Stage) -> Failure {
        let place = match stage {
            Stage::Before => "",
            Stage::Within => " in the middle of its answer",
        };
        let words = format!("nothing came from {} for {}{place}", self.host, seconds(limit));
        self.failure(FailureKind::Silent, words)
    }

    pub(crate) fn cut(&self, why: &str) -> Failure {
        let words = format!("the answer of {} ended before its end{why}", self.host);
        self.failure(FailureKind::Cut, words)
    }

    /// A way that cannot be gone.
    pub(crate) fn broken(&self, error: &ureq::Error, stage: Stage) -> Failure {
        let why = short(&error.to_string());
        if stage == Stage::Within {
            return self.cut(&format!(": {why}"));
        }
        let host = &self.host;
        let is_ours = matches!(
            error,
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl
        );
        if is_ours {
            let words = format!("a request to {host} cannot be made: {why}");
            return self.failure(FailureKind::Rejected, words);
        }
        if matches!(error, ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..)) {
            let words = format!("what {host} answers is no HTTP: {why}");
            return self.failure(FailureKind::Unreadable, words);
        }
        if matches!(error, ureq::Error::Io(error) if is_loss(error)) {
            let words = format!("{host} closed the connection without an answer");
            return self.failure(FailureKind::Cut, words);
        }
        let hint = if self.is_local { "; is the server running?" } else { "" };
        let words = format!("{host} cannot be reached: {why}{hint}");
        self.failure(FailureKind::Unreachable, words)
    }

    fn sentence(&self, kind: FailureKind, told: &Told) -> String {
        let host = &self.host;
        let model = &self.settings.model;
        let status = told.status.map(|status| format!(" ({status})")).unwrap_or_default();
        let said = match told.message.as_str() {
            "" => String::new(),
            message => format!(": {message}"),
        };
        match kind {
            FailureKind::Credentials => match self.settings.key.origin() {
                Some(origin) => format!("{host} refused the key from {origin}{status}{said}"),
                None => format!("{host} wants a key and was given none{status}{said}"),
            },
            FailureKind::UnknownModel => format!("{host} has no model `{model}`{status}{said}"),
            FailureKind::Quota => format!("{host}: what was paid for is used up{status}{said}"),
            FailureKind::Limited => {
                let again = match told.retry {
                    Some(RetryTime::After(wait)) => format!("; again in {}", seconds(wait)),
                    Some(RetryTime::At(_)) | None => String::new(),
                };
                format!("{host} takes no more requests for now{status}{said}{again}")
            }
            FailureKind::Overloaded => format!("{host} has trouble of its own{status}{said}"),
            FailureKind::TooLong => {
                format!("the conversation is too long for `{model}`{status}{said}")
            }
            FailureKind::Refused => format!("{host} blocked the request{status}{said}"),
            FailureKind::Rejected if told.status == Some(404) => {
                let url = &self.settings.url;
                format!("there is nothing to ask at {url}{status}; is the address right?{said}")
            }
            FailureKind::Rejected
            | FailureKind::Cut
            | FailureKind::Silent
            | FailureKind::Unreachable
            | FailureKind::Unreadable
            | FailureKind::TooLarge
            | FailureKind::Cancelled => {
                format!("{host} does not accept the request{status}{said}")
            }
        }
    }
}

fn is_loss(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
    )
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        secs @ 1..=119 => format!("{secs} s"),
        secs => format!("{} min", secs / 60),
    }
}
