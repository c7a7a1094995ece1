//! What agents have written down of their sessions: found on this machine or at a path, recognised by
//! what stands in it, and read record by record.
//!
//! The clients' own formats are in their folders (`client/<name>/transcript.rs`), those that are
//! nobody's own here; `formats.rs` lists all of them. Nothing here judges, and nothing needs the
//! journal.

mod atif;
mod database;
mod find;
mod foreign;
mod formats;
mod mcp_log;
mod openhands;
mod otel;
mod read;
mod recording;
mod swe_agent;

use std::path::PathBuf;

use flyball_core::Moment;

pub use self::find::{find, find_at};
pub use self::read::read;
use crate::client::transcript::Format;
pub use crate::client::transcript::{Entry, Reading, SessionHead, Sink, Tokens, Unread, What};

/// A transcript: a file, a folder or a database that holds one session or several.
#[derive(Clone, Debug)]
pub struct Source {
    /// The client, or the name of a format that is nobody's own.
    pub agent: &'static str,
    /// How it is written, for people.
    pub format: &'static str,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written to.
    pub modified: Moment,
    how: &'static Format,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Transcripts.
    pub sources: Vec<Source>,
    /// What was left out, and why.
    pub skipped: Vec<Skipped>,
}

/// Something that is no transcript, or could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is.
    pub path: PathBuf,
    /// Why it is left out.
    pub why: String,
}
