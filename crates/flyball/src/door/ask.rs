//! The asker's side of the door.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use flyball_core::door::DoorAnswer;

use super::{Knock, LINE_MAX, Line, place};
use crate::platform;

/// Why a question got no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoorError {
    /// Nobody is there.
    #[error("the run's door cannot be reached: {0}")]
    Unreachable(#[from] io::Error),
    /// The session that is asked about is over.
    #[error("that session of the run is over")]
    Over,
    /// The run does not answer this asker.
    #[error("the run does not answer: {0}")]
    Refused(String),
    /// What came back is no answer.
    #[error("the run's answer cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// A connection to the door.
#[derive(Debug)]
pub(crate) struct Visitor {
    stream: BufReader<UnixStream>,
}

impl Visitor {
    /// Goes to the door of the run whose private folder this is.
    pub(crate) fn at(private_dir: &Path) -> Result<Self, DoorError> {
        let stream = platform::connect(&place(private_dir))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Asks, and waits for the answer; whoever has no time to wait ends the process.
    pub(crate) fn ask(&mut self, knock: &Knock) -> Result<DoorAnswer, DoorError> {
        let mut line = serde_json::to_vec(knock)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)?;
        loop {
            match self.next()? {
                Line::Heard => {}
                Line::Answer(answer) => return Ok(answer),
                Line::Over => return Err(DoorError::Over),
                Line::Refused { why } => return Err(DoorError::Refused(why)),
            }
        }
    }

    fn next(&mut self) -> Result<Line, DoorError> {
        let mut line = Vec::new();
        (&mut self.stream).take(LINE_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            let ended = io::Error::new(io::ErrorKind::UnexpectedEof, "it was closed");
            return Err(ended.into());
        }
        Ok(serde_json::from_slice(&line)?)
    }
}
