//! Which kind of failure the errors of flyball's parts are, and what can be done about them.

use std::error::Error;

use super::CliError;
use crate::journal::JournalError;
use crate::worktree::WorktreeError;

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        let message = error.to_string();
        let made = match &error {
            JournalError::UnknownRun { .. } => Self::no_input(message),
            JournalError::NoPlace
            | JournalError::Io { .. }
            | JournalError::Corrupt { .. }
            | JournalError::Newer { .. }
            | JournalError::Busy { .. }
            | JournalError::Gone { .. }
            | JournalError::BadEvent { .. }
            | JournalError::BadRow { .. }
            | JournalError::Sql { .. } => Self::io(message),
        };
        with(made, error.source(), error.hint())
    }
}

impl From<WorktreeError> for CliError {
    fn from(error: WorktreeError) -> Self {
        let message = error.to_string();
        let made = match &error {
            WorktreeError::NoRepository { .. }
            | WorktreeError::NoWorktree { .. }
            | WorktreeError::NoGit
            | WorktreeError::NoDirectory { .. }
            | WorktreeError::NoCheckpoint { .. } => Self::no_input(message),
            WorktreeError::Git { .. }
            | WorktreeError::TimedOut { .. }
            | WorktreeError::Ended { .. }
            | WorktreeError::Io { .. } => Self::io(message),
            WorktreeError::BadRun { .. } => Self::usage(message),
        };
        with(made, error.source(), error.hint())
    }
}

fn with(
    mut error: CliError,
    source: Option<&(dyn Error + 'static)>,
    hint: Option<&str>,
) -> CliError {
    if let Some(source) = source {
        error = error.cause(source);
    }
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
