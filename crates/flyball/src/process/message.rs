//! What flyball and its keeper say to each other: one JSON object a line.

use std::ffi::OsString;
use std::io;

use flyball_core::effect::Force;
use flyball_core::event::ExitHow;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::clerk::ClerkOrder;

/// The second line to the keeper: what to start. The first says what is put up around it before. The
/// program's output, its errors, and its input, if there is one, are handed over with the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Launch {
    pub(super) program: String,
    pub(super) args: Vec<String>,
    /// Where it works.
    pub(super) cwd: OsString,
    pub(super) env: Vec<(String, Option<String>)>,
    pub(super) has_input: bool,
    pub(super) sweep_grace_ms: u64,
    /// Whether the keeper waits for another such line when all of it has ended.
    pub(super) stays: bool,
}

/// Any further line to the keeper. When the socket is closed, the keeper kills everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    Stop(Force),
    /// The users are known inside of the walls, or why not.
    Mapped {
        why: Option<String>,
    },
}

/// What the keeper says: `Ready` when its walls stand, for which it may have to ask, `Started` or
/// `Failed` when it has its program, `Exited` at the end. A clerk says `Ready` too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// Users inside of the walls must be mapped from outside.
    AsksForMaps,
    /// The walls stand; it can be told what to start.
    Ready,
    Started(u32),
    Failed {
        why: String,
        not_found: bool,
    },
    /// The walls could not be put up.
    Unwalled {
        why: String,
    },
    Exited {
        how: ExitHow,
        swept: u32,
    },
}

/// A line to the clerk. A start comes with three descriptors: input, output and errors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClerkLine {
    Start { id: u64, order: ClerkOrder },
    End { id: u64 },
}

/// What the clerk says of an errand: `Started` or `Failed` first, `Exited` at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClerkReport {
    Started { id: u64, pid: u32 },
    Failed { id: u64, why: String, not_found: bool },
    Exited { id: u64, how: ExitHow },
}

impl ClerkReport {
    /// Which errand it is of.
    pub(super) const fn id(&self) -> u64 {
        match self {
            Self::Started { id, .. } | Self::Failed { id, .. } | Self::Exited { id, .. } => *id,
        }
    }
}

/// A message as a line.
pub(super) fn line<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The message of a line.
pub(super) fn parse<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    Ok(serde_json::from_slice(line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_reports_have_the_agreed_shape() {
        let cases = [
            (line(&Order::Stop(Force::Kill)).unwrap(), r#"{"stop":"kill"}"#),
            (line(&Report::Started(7)).unwrap(), r#"{"started":7}"#),
            (
                line(&Report::Exited { how: ExitHow::Signal(9), swept: 2 }).unwrap(),
                r#"{"exited":{"how":{"signal":9},"swept":2}}"#,
            ),
        ];
        for (bytes, text) in cases {
            assert_eq!(String::from_utf8(bytes).unwrap(), format!("{text}\n"));
        }
    }

    #[test]
    fn a_line_that_is_no_message_is_an_error() {
        assert!(parse::<Order>(b"{\"stop\":\"gently\"}").is_err());
        assert!(parse::<Report>(b"").is_err());
    }
}
