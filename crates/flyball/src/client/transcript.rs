//! What a client has written down of its sessions, read afterwards: the parts that are the same for
//! each.
//!
//! A client's folder has a `transcript.rs` that says where its sessions are kept and how a record (a
//! line, an element of a document, a row) is read. It speaks to a [`Teller`], which makes of it the
//! same facts a live stream gives and hands them on to a [`Sink`], one by one: no transcript is ever
//! held whole.

pub(crate) mod document;
mod format;
mod sink;
mod teller;

pub use self::format::Transcripts;
pub(crate) use self::format::{
    Format, Head, Kept, Place, Record, RecordReader, RowReader, Shape, folder, stream,
};
pub use self::format::{Reading, Unread};
pub use self::sink::{Entry, SessionHead, Sink, Tokens, What};
pub(crate) use self::teller::Teller;
