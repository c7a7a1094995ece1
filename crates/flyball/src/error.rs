//! What the user sees when flyball itself fails: one type, one way of printing it, one table of
//! exit codes. An outcome of a run is never an error, and no error uses the codes 1–7 but one: an
//! agent that cannot work is the outcome 7 whether that is found before the run begins or in it.

mod from;

use std::fmt;
use std::process::ExitCode;

/// What kind of failure it was; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Wrong usage of the command line.
    Usage,
    /// A file of the user's does not hold what it must, such as `tasks.json`.
    Data,
    /// No repository, or a file that was named is not there.
    NoInput,
    /// A fault in flyball.
    Internal,
    /// Reading or writing failed.
    Io,
    /// A run is already at work here.
    AlreadyRunning,
    /// A wrong setting.
    Config,
    /// The agent cannot work; found before anything was started.
    Agent,
}

impl ErrorKind {
    /// Every kind, for tables and tests.
    pub const ALL: [Self; 8] = [
        Self::Usage,
        Self::Data,
        Self::NoInput,
        Self::Internal,
        Self::Io,
        Self::AlreadyRunning,
        Self::Config,
        Self::Agent,
    ];

    /// The exit code of the program.
    pub const fn code(self) -> u8 {
        match self {
            Self::Usage => 64,
            Self::Data => 65,
            Self::NoInput => 66,
            Self::Internal => 70,
            Self::Io => 74,
            Self::AlreadyRunning => 75,
            Self::Config => 78,
            Self::Agent => 7,
        }
    }
}

/// A failure of flyball: what was wrong, why, and what to type next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    /// The kind, and with it the exit code.
    pub kind: ErrorKind,
    /// What was wrong; may go on over further lines that show the place.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl CliError {
    /// An error without causes or hints.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// Wrong usage (64).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Bad data (65).
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// No repository or input (66).
    pub fn no_input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NoInput, message)
    }

    /// A fault in flyball (70).
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Reading or writing failed (74).
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, message)
    }

    /// Already running here (75).
    pub fn already_running(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::AlreadyRunning, message)
    }

    /// Wrong configuration (78).
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// The agent cannot work (7).
    pub fn agent(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Agent, message)
    }

    /// Adds a cause.
    #[must_use]
    pub fn cause(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The exit code of the program.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind.code())
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CliError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_code_can_be_taken_for_an_outcome() {
        let codes = ErrorKind::ALL.map(ErrorKind::code);
        assert_eq!(codes, [64, 65, 66, 70, 74, 75, 78, 7]);
        let (agent, errors) = codes.split_last().unwrap();
        assert!(errors.iter().all(|code| !(0..=7).contains(code)));
        let outcome = flyball_core::Outcome::AgentNotStarted;
        assert_eq!(*agent, outcome.exit_code(), "the one that is an outcome, found early");
    }
}
