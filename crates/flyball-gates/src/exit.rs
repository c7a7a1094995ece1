//! How a command ended.

use std::fmt;
use std::process::ExitStatus;

/// How the command that printed the output ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It ran into a time limit and was ended.
    TimedOut,
    /// Nobody knows.
    Unknown,
}

impl Exit {
    /// Whether it says that all is well.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Code(0))
    }
}

impl From<i32> for Exit {
    fn from(code: i32) -> Self {
        Self::Code(code)
    }
}

impl From<Option<i32>> for Exit {
    fn from(code: Option<i32>) -> Self {
        code.map_or(Self::Unknown, Self::Code)
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        status.code().into()
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("a time-out"),
            Self::Unknown => f.write_str("an unknown exit"),
        }
    }
}
