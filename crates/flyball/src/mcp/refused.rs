//! Why a tool does not do what it was asked for: a text the agent can act on. Never a protocol
//! error: the request was understood.

use std::fmt;
use std::io;

use flyball_core::iteration_session::SessionError;

use crate::error::CliError;
use crate::journal::JournalError;
use crate::worktree::WorktreeError;

/// What was wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    text: String,
    fault: Fault,
}

/// What was at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The arguments do not fit the tool.
    Arguments,
    /// Anything else.
    Matter,
}

impl Refused {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), fault: Fault::Matter }
    }

    /// Arguments that do not fit the tool; how they would is added by whoever knows.
    pub(super) fn arguments(text: impl Into<String>) -> Self {
        Self { text: text.into(), fault: Fault::Arguments }
    }

    /// The same, with how the arguments would be right where they were at fault.
    pub(super) fn with_usage(self, usage: impl FnOnce() -> String) -> Self {
        match self.fault {
            Fault::Arguments => Self::new(format!("{}; {}", self.text, usage())),
            Fault::Matter => self,
        }
    }

    /// A session that does not do what it was asked for.
    pub(super) fn session(id: &str, error: &SessionError) -> Self {
        match error {
            SessionError::Senseless { what } => Self::arguments(what),
            SessionError::Over { status, why } => Self::new(format!(
                "iteration session `{id}` is {status} and does not go on: {why}; begin another \
                 one with `iteration_start`"
            )),
            SessionError::UnknownPromise { .. }
            | SessionError::Fails { .. }
            | SessionError::Tripped { .. }
            | SessionError::NoPromise { .. } => Self::new(error.to_string()),
        }
    }

    /// A file that could not be read or written.
    pub(super) fn io(doing: &str, error: &io::Error) -> Self {
        Self::new(format!("could not {doing}: {error}"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<CliError> for Refused {
    fn from(error: CliError) -> Self {
        let parts = [vec![error.message], error.causes, error.hints].concat();
        Self::new(parts.join("; "))
    }
}

impl From<JournalError> for Refused {
    fn from(error: JournalError) -> Self {
        CliError::from(error).into()
    }
}

impl From<WorktreeError> for Refused {
    fn from(error: WorktreeError) -> Self {
        CliError::from(error).into()
    }
}
