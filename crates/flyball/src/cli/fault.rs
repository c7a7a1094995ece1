//! How failures of the journal and of git are told on the command line, with their exit codes.

use std::error::Error;
use std::io;
use std::path::Path;

use crate::error::{CliError, ErrorKind};
use crate::journal::{JournalError, LockError};
use crate::worktree::WorktreeError;

/// A failure of the journal.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub(super) fn journal(error: JournalError) -> CliError {
    let kind = match error {
        JournalError::UnknownRun { .. } => ErrorKind::NoInput,
        JournalError::NoPlace => ErrorKind::Config,
        JournalError::Io { .. }
        | JournalError::Corrupt { .. }
        | JournalError::Newer { .. }
        | JournalError::Busy { .. }
        | JournalError::Gone { .. }
        | JournalError::BadEvent { .. }
        | JournalError::BadRow { .. }
        | JournalError::Sql { .. } => ErrorKind::Io,
    };
    told(kind, &error)
}

/// A failure of git.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub(super) fn worktree(error: WorktreeError) -> CliError {
    let kind = match &error {
        WorktreeError::NoRepository { .. }
        | WorktreeError::NoWorktree { .. }
        | WorktreeError::NoGit
        | WorktreeError::NoDirectory { .. }
        | WorktreeError::NoCheckpoint { .. }
        | WorktreeError::BadRun { .. } => ErrorKind::NoInput,
        WorktreeError::Git { .. }
        | WorktreeError::TimedOut { .. }
        | WorktreeError::Ended { .. }
        | WorktreeError::Io { .. } => ErrorKind::Io,
    };
    told(kind, &error)
}

/// A worktree that could not be had.
pub(super) fn lock(error: LockError) -> CliError {
    match error {
        LockError::AlreadyRunning { ref run, .. } => CliError::already_running(error.to_string())
            .hint(format!("end it with `flyball stop {run}`")),
        LockError::Journal(error) => journal(error),
    }
}

/// A file that could not be used.
pub(super) fn file(path: &Path, verb: &str) -> impl FnOnce(io::Error) -> CliError {
    let message = format!("`{}` could not be {verb}", path.display());
    move |error| CliError::io(message).cause(error)
}

fn told(kind: ErrorKind, error: &dyn Error) -> CliError {
    let mut told = CliError::new(kind, error.to_string());
    let mut source = error.source();
    while let Some(cause) = source {
        told = told.cause(cause);
        source = cause.source();
    }
    told
}
