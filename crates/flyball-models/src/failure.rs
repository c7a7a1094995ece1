//! Why there is no whole answer, and when to try again.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::message::Message;
use crate::usage::Usage;

/// Why there is no whole answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What happened.
    pub kind: FailureKind,
    /// The same for people, with what helps; never with a key in it.
    pub words: String,
    /// The service's status, when it answered with one.
    pub status: Option<u16>,
    /// When the service wants to be asked again.
    pub retry: Option<RetryTime>,
    /// What had come before.
    pub partial: Option<Box<Partial>>,
}

/// What had come of an answer before it failed. It is paid for all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// What was said; the last call may be unfinished.
    pub message: Message,
    /// What was used, as far as the service had told.
    pub usage: Usage,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No key, or one the service refuses.
    Credentials,
    /// The service has no such model, or not for this key.
    UnknownModel,
    /// What was paid for is used up.
    Quota,
    /// Too many requests or tokens for now.
    Limited,
    /// The service has trouble of its own.
    Overloaded,
    /// The conversation is longer than the model's context window.
    TooLong,
    /// The service blocked what was asked.
    Refused,
    /// The service does not accept the request.
    Rejected,
    /// The answer ended before its end.
    Cut,
    /// Nothing came for as long as was allowed.
    Silent,
    /// There is no way to the service.
    Unreachable,
    /// What came is not what the format says.
    Unreadable,
    /// More came than is allowed.
    TooLarge,
    /// Someone did not want it any more.
    Cancelled,
}

/// When a service wants to be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryTime {
    /// After this time.
    After(Duration),
    /// At this moment of the service's clock.
    At(SystemTime),
}

impl RetryTime {
    /// How long that is from now.
    pub fn from(self, now: SystemTime) -> Duration {
        match self {
            Self::After(wait) => wait,
            Self::At(moment) => moment.duration_since(now).unwrap_or_default(),
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, words: impl Into<String>) -> Self {
        Self { kind, words: words.into(), status: None, retry: None, partial: None }
    }

    /// Whether the same request may well work later, with nothing changed.
    pub fn passes(&self) -> bool {
        match self.kind {
            FailureKind::Limited
            | FailureKind::Overloaded
            | FailureKind::Cut
            | FailureKind::Silent
            | FailureKind::Unreachable => true,
            FailureKind::Credentials
            | FailureKind::UnknownModel
            | FailureKind::Quota
            | FailureKind::TooLong
            | FailureKind::Refused
            | FailureKind::Rejected
            | FailureKind::Unreadable
            | FailureKind::TooLarge
            | FailureKind::Cancelled => false,
        }
    }

    /// Whether some of the answer had come.
    pub fn begun(&self) -> bool {
        self.partial.is_some()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Failure {}
