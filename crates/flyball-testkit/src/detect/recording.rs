//! Recorded runs as they are stored: one JSON object per line, plain or gzipped (`data/README.md`).

use std::fmt;
use std::io::Read;
use std::string::FromUtf8Error;

use flate2::read::MultiGzDecoder;
use flyball_core::recording::Recording;

/// The runs that come with the project.
const OWN: &[u8] = include_bytes!("../../data/recordings.jsonl.gz");

/// Recordings that cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordingError {
    /// The gzip stream is broken.
    Gzip(std::io::Error),
    /// It is no text.
    Text(FromUtf8Error),
    /// A line is no run.
    Line {
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gzip(error) => write!(f, "no gzip: {error}"),
            Self::Text(error) => write!(f, "no text: {error}"),
            Self::Line { line, error } => write!(f, "line {line} is no run: {error}"),
        }
    }
}

impl std::error::Error for RecordingError {}

/// Reads recordings, gzipped or not.
pub fn read(bytes: &[u8]) -> Result<Vec<Recording>, RecordingError> {
    every(1, bytes)
}

/// Every `nth` of the runs that come with the project.
pub fn recordings(nth: usize) -> Result<Vec<Recording>, RecordingError> {
    every(nth, OWN)
}

fn every(nth: usize, bytes: &[u8]) -> Result<Vec<Recording>, RecordingError> {
    let text = text(bytes)?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let read = |(run, line)| {
        serde_json::from_str(run).map_err(|error| RecordingError::Line { line, error })
    };
    lines.step_by(nth.max(1)).map(read).collect()
}

fn text(bytes: &[u8]) -> Result<String, RecordingError> {
    let mut text = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        MultiGzDecoder::new(bytes).read_to_end(&mut text).map_err(RecordingError::Gzip)?;
    } else {
        text.extend(bytes);
    }
    String::from_utf8(text).map_err(RecordingError::Text)
}
