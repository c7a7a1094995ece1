//! Where what a transcript tells goes.

use flyball_core::{AgentFact, Moment, SubAgent};

use crate::client::AgentNote;

/// Takes what a transcript tells, in its order.
pub trait Sink {
    /// A session begins; what follows belongs to it, until the next one begins.
    fn session(&mut self, head: &SessionHead<'_>);

    /// Something in the session.
    fn entry(&mut self, entry: Entry<'_>);

    /// So many more bytes were read.
    fn progress(&mut self, _bytes: u64) {}
}

/// What is known of a session when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionHead<'a> {
    /// Its id: the client's own, else made of the file's name.
    pub id: &'a str,
    /// The client, or the name of a format that is nobody's own.
    pub agent: &'static str,
    /// The session that started it, where a sub-agent has a transcript of its own.
    pub parent: Option<&'a str>,
    /// What came of it, where the transcript says so: `success`, `failure`.
    pub outcome: Option<&'a str>,
    /// Where it was published, where that is known.
    pub source: Option<&'a str>,
}

/// Something in a session.
#[derive(Debug)]
pub struct Entry<'a> {
    /// When, where the transcript tells.
    pub at: Option<Moment>,
    /// The line, element or row it stands in, from 1.
    pub record: u64,
    /// What.
    pub what: What<'a>,
}

/// What a transcript tells.
#[derive(Debug)]
pub enum What<'a> {
    /// A fact as a live session gives it, but what a human said and what was used: those have words
    /// of their own here.
    Fact(AgentFact),
    /// Something for people.
    Note(AgentNote),
    /// A human spoke: the first words of it.
    HumanSaid(&'a str),
    /// The client condensed its context.
    Compacted,
    /// The folder the session works in.
    Project(&'a str),
    /// Identity of the model call the next [`What::Used`] belongs to. Sessions that were forked or
    /// resumed repeat it in another file.
    ModelCall(u64),
    /// Tokens of one model call, or of a part of one.
    Used(Tokens),
}

/// Tokens by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Whose model call it was.
    pub agent: SubAgent,
    /// Read, not from a cache.
    pub fresh: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache.
    pub cache_write: u64,
    /// Written.
    pub output: u64,
    /// Millionths of a US dollar: the client's word, else by the price of the model, else unknown.
    pub cost_micro_usd: Option<u64>,
}
