//! The client's own usage file of the running session, read along with its stream.

use flyball_core::IterationNo;

use super::Driver;
use crate::client::{AgentNote, Fact, SessionPlace, UsageFile};

/// The usage file of a session, once it is found.
#[derive(Default)]
pub(super) struct UsageFileWatch {
    /// What the session's environment has that ours has not.
    env: Vec<(String, Option<String>)>,
    /// The session's id, once somebody said it.
    session: Option<String>,
    file: Option<Box<dyn UsageFile>>,
}

impl UsageFileWatch {
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
    /// What the client has written into its usage file since the last time.
    pub(super) fn usage_file_facts(&mut self) -> Option<(IterationNo, Vec<Fact>)> {
        let session = self.agent_side.session.as_mut()?;
        let watch = &mut session.usage_file;
        if watch.file.is_none() {
            let env = |name: &str| watch.variable(name);
            let at = SessionPlace { session: watch.session.as_deref()?, env: &env };
            watch.file = self.adapter.output().usage_file(&at);
        }
        let mut facts = Vec::new();
        for entry in watch.file.as_mut()?.news() {
            session.reader.used(&entry, &mut facts);
        }
        Some((session.iteration, facts)).filter(|(_, facts)| !facts.is_empty())
    }
}
