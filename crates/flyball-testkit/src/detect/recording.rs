//! Recorded runs as they are stored: one JSON object per line, plain or gzipped (`data/README.md`).

use std::fmt;
use std::io::Read;
use std::string::FromUtf8Error;
use std::sync::LazyLock;

use flate2::read::MultiGzDecoder;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

/// The runs that come with the project.
const OWN: &[u8] = include_bytes!("../../data/recordings.jsonl.gz");

/// One recorded run.
#[derive(Clone, Debug, Deserialize)]
pub struct Recording {
    /// Its name.
    pub id: String,
    /// Where it was published.
    pub source: String,
    /// `success`, `failure` or `unknown`.
    pub outcome: String,
    /// The first nudge, refusal and halt of the account by itself, where they were recorded.
    #[serde(default)]
    pub account: Option<[Option<usize>; 3]>,
    pub(super) steps: Vec<Step>,
}

/// One step of a run.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Step {
    pub(super) tool: String,
    #[serde(default)]
    pub(super) args: Value,
    #[serde(default)]
    pub(super) result_hash: Option<String>,
    #[serde(default)]
    pub(super) result_nhash: Option<String>,
    #[serde(default)]
    result_len: Option<u64>,
    #[serde(default)]
    result_head: Option<String>,
    pub(super) error: bool,
    #[serde(default)]
    pub(super) error_kind: Option<String>,
    #[serde(default)]
    pub(super) edit: bool,
    #[serde(default)]
    pub(super) text_hash: Option<String>,
    #[serde(default)]
    ran: Option<bool>,
}

/// What clients write around an answer.
#[expect(clippy::expect_used, reason = "a fixed pattern")]
static AROUND: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\(Open file:.*|\(Current directory:.*|bash-\$.*|<returncode>\d*</returncode>|</?output>|\[The command completed.*|\[Current working.*";
    Regex::new(pattern).expect("a pattern")
});
/// Answers that only say that they came.
#[expect(clippy::expect_used, reason = "a fixed pattern")]
static ACKNOWLEDGEMENT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r"(?i)did not produce any output|^\W*$|^(ok|done|success|null|none|\[\]|\{\})\W*$";
    Regex::new(pattern).expect("a pattern")
});

/// What clients say of a call that did not run.
const NOT_RUN: [&str; 3] =
    ["Sibling tool call errored", "The user doesn't want to", "Request interrupted by user"];

impl Step {
    pub(super) fn is_human(&self) -> bool {
        self.tool == "_user"
    }

    pub(super) fn is_words(&self) -> bool {
        self.tool.starts_with('_') && !self.is_human()
    }

    /// Whether the answer says nothing.
    pub(super) fn is_empty(&self) -> bool {
        let Some(length) = self.result_len else { return true };
        let Some(head) = &self.result_head else { return length < 80 };
        let head = AROUND.replace_all(head, "");
        let head = head.trim();
        length < 200 && (head.chars().count() < 12 || ACKNOWLEDGEMENT.is_match(head))
    }

    /// Whether it ran at all.
    pub(super) fn ran(&self) -> bool {
        let head = self.result_head.as_deref().unwrap_or("");
        let denied = || self.error && NOT_RUN.iter().any(|words| head.contains(words));
        self.ran.unwrap_or_else(|| !denied())
    }
}

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
