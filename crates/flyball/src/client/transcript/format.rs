//! How transcripts are found, recognised and read.

use std::path::{Path, PathBuf};

use memchr::memmem;
use rusqlite::Connection;

use super::Sink;
use super::teller::Teller;
use crate::client::{Output, ReadRequest};

/// What a client has written down of its sessions.
pub trait Transcripts: Send + Sync {
    /// Where they are kept, in this environment.
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place>;

    /// How they are written, the newest way first.
    fn formats(&self) -> &'static [Format];
}

/// A folder in which transcripts are kept.
pub struct Place {
    /// The folder.
    pub(crate) folder: PathBuf,
    /// How many folders deep they may be below it; 0 is the folder itself.
    pub(crate) depth: usize,
    /// What is a transcript here, and how it is written.
    pub(crate) is_one: fn(&Path) -> Option<&'static Format>,
}

/// One way of writing sessions down.
#[derive(Debug)]
pub struct Format {
    /// The client, or a name for what is nobody's own.
    pub(crate) agent: &'static str,
    /// How it is written, for people: `transcript`, `stream`, `database`.
    pub(crate) name: &'static str,
    /// What it is made of.
    pub(crate) shape: Shape,
    /// Whether a file is of this kind, by its name and first bytes.
    pub(crate) recognises: fn(&Head<'_>) -> bool,
    /// How it is read: what its tools are for, which words are free.
    pub(crate) output: fn() -> &'static dyn Output,
}

/// Reads all rows of a database, in the order of its sessions.
pub(crate) type RowReader = fn(&Connection, &mut Teller<'_>, &mut Reading) -> rusqlite::Result<()>;

/// What a transcript is made of.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Lines, each a record.
    Lines(fn() -> Box<dyn RecordReader>),
    /// JSON documents of which the named lists hold the records.
    Document(&'static [(&'static str, Kept)], fn() -> Box<dyn RecordReader>),
    /// A folder of which each file is a record, in the order of the numbers in their names.
    Folder(fn() -> Box<dyn RecordReader>),
    /// What a client printed, kept as it was.
    Stream,
    /// A database of which the client reads the rows.
    Database(RowReader),
    /// What else is read in a way of its own.
    Own(fn(&Path, &ReadRequest, &mut dyn Sink) -> std::io::Result<Reading>),
}

/// What a list of a document holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Records.
    Records,
    /// Objects whose own lists hold the records.
    Lists,
}

/// What a client printed, kept in a file.
pub(crate) const fn stream(
    agent: &'static str,
    recognises: fn(&Head<'_>) -> bool,
    output: fn() -> &'static dyn Output,
) -> Format {
    Format { agent, name: "stream", shape: Shape::Stream, recognises, output }
}

/// A folder that a variable names, or one in the user's home.
pub(crate) fn folder(
    env: &dyn Fn(&str) -> Option<String>,
    variable: &str,
    in_home: &str,
) -> Option<PathBuf> {
    match env(variable).filter(|own| !own.is_empty()) {
        Some(own) => Some(PathBuf::from(own)),
        None => Some(Path::new(&env("HOME")?).join(in_home)),
    }
}

/// Reads the records of one transcript, from its beginning to its end.
pub(crate) trait RecordReader {
    /// What is read is this file.
    fn begin(&mut self, _path: &Path, _to: &mut Teller<'_>) {}

    /// Takes a record; why it could not, where it could not.
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String>;

    /// There are no more.
    fn end(&mut self, _to: &mut Teller<'_>) {}
}

/// A record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// Its text.
    pub(crate) text: &'a str,
    /// Of a document: the list it stands in, or the name of the member it is. Empty for lines and for
    /// a list that is the document.
    pub(crate) list: &'a str,
}

/// A file by its name and its first bytes.
pub(crate) struct Head<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: &'a [u8],
}

impl Head<'_> {
    /// Whether these words stand in the first bytes.
    pub(crate) fn has(&self, words: &str) -> bool {
        memmem::find(self.bytes, words.as_bytes()).is_some()
    }

    /// Whether it is a database of `SQLite`'s.
    pub(crate) fn is_database(&self) -> bool {
        self.bytes.starts_with(b"SQLite format 3\0")
    }

    /// Whether all of these do.
    pub(crate) fn has_all(&self, words: &[&str]) -> bool {
        words.iter().all(|words| self.has(words))
    }

    /// Whether the first of the bytes that is no blank is this one.
    pub(crate) fn begins_with(&self, byte: u8) -> bool {
        self.bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&byte)
    }

    /// The file's name.
    pub(crate) fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or("")
    }

    /// The first line.
    pub(crate) fn first_line(&self) -> &[u8] {
        self.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()
    }
}

/// How the reading of a transcript went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Bytes read.
    pub bytes: u64,
    /// Records read: lines, elements of a document, rows.
    pub records: u64,
    /// Sessions in it.
    pub sessions: u32,
    /// Records that could not be read: cut off, no JSON, too long.
    pub unread: u64,
    /// The first of them.
    pub first_unread: Option<Unread>,
}

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Its number, from 1.
    pub record: u64,
    /// Why.
    pub why: String,
}

impl Reading {
    /// A record could not be read.
    pub(crate) fn miss(&mut self, why: impl Into<String>) {
        self.unread += 1;
        if self.first_unread.is_none() {
            self.first_unread = Some(Unread { record: self.records, why: why.into() });
        }
    }
}
