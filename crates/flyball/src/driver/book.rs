//! The client's own book of the running session, read along with its stream.

use flyball_core::IterationNo;

use super::Driver;
use crate::agent::{AgentNote, Book, Fact, Whereabouts};

/// The book of a session.
#[derive(Default)]
pub(super) struct BookWatch {
    /// What the session's environment has that ours has not.
    env: Vec<(String, Option<String>)>,
    /// The session's id, once somebody said it.
    session: Option<String>,
    book: Option<Box<dyn Book>>,
}

impl BookWatch {
    pub(super) fn new(env: &[(String, Option<String>)]) -> Self {
        Self { env: env.to_vec(), ..Self::default() }
    }

    /// The session has this id; the first to be said is its own.
    pub(super) fn named(&mut self, session: &str) {
        if self.session.is_none() && !session.is_empty() {
            self.session = Some(session.to_owned());
        }
    }

    /// The stream may name the session.
    pub(super) fn heard(&mut self, facts: &[Fact]) {
        for fact in facts {
            if let Fact::AgentNote(AgentNote::Session(id)) = fact {
                self.named(id);
            }
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        match self.env.iter().rev().find(|(set, _)| set == name) {
            Some((_, value)) => value.clone(),
            None => std::env::var(name).ok(),
        }
    }
}

impl Driver {
    /// What the client has written into its book since the last time.
    pub(super) fn book_facts(&mut self) -> Option<(IterationNo, Vec<Fact>)> {
        let session = self.session.as_mut()?;
        let watch = &mut session.book;
        if watch.book.is_none() {
            let env = |name: &str| watch.variable(name);
            let at = Whereabouts { session: watch.session.as_deref()?, env: &env };
            watch.book = self.adapter.book(&at);
        }
        let mut facts = Vec::new();
        for entry in watch.book.as_mut()?.news() {
            session.reader.booked(&entry, &mut facts);
        }
        Some((session.iteration, facts)).filter(|(_, facts)| !facts.is_empty())
    }
}
