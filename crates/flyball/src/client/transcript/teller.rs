//! What a transcript's records are told to: makes facts of them and hands them on.

use flyball_core::text::prefix;
use flyball_core::{AgentFact, Moment, SubAgent};

use super::sink::{Entry, SessionHead, Sink, Tokens, What};
use crate::client::meter::{Usage, cost_micro_usd};
use crate::client::prices::Price;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::{Fact, Output, ReadRequest};

/// Characters of a human's words that are kept.
const HUMAN: usize = 200;
/// Characters of a name that are kept.
const NAME: usize = 200;

/// Tells one transcript, session by session.
pub(crate) struct Teller<'a> {
    agent: &'static str,
    output: &'static dyn Output,
    request: &'a ReadRequest,
    sink: &'a mut dyn Sink,
    session: StreamSession,
    facts: Vec<Fact>,
    /// The session's id; what it is called when nobody says.
    id: String,
    /// Whether the sink knows of the session.
    begun: bool,
    parent: Option<String>,
    sessions: u32,
    at: Option<Moment>,
    /// The record that told the time.
    timed: u64,
    record: u64,
    project: String,
    /// The project of sessions that name none.
    home: String,
    price: Option<Price>,
    model: String,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(
        agent: &'static str,
        output: &'static dyn Output,
        id: String,
        request: &'a ReadRequest,
        sink: &'a mut dyn Sink,
    ) -> Self {
        Self {
            agent,
            output,
            request,
            sink,
            session: StreamSession::new(request, output),
            facts: Vec::new(),
            id,
            begun: false,
            parent: None,
            sessions: 0,
            at: None,
            timed: 0,
            record: 0,
            project: String::new(),
            home: String::new(),
            price: None,
            model: String::new(),
        }
    }

    /// What follows stands in this record.
    pub(crate) fn record(&mut self, number: u64) {
        self.record = number;
    }

    /// So many more bytes were read.
    pub(crate) fn progress(&mut self, bytes: u64) {
        self.sink.progress(bytes);
    }

    /// What follows belongs to this session. One that is told already goes on.
    pub(crate) fn session(&mut self, id: &str) {
        let id = prefix(id, NAME);
        if id.is_empty() || (self.id == id && self.begun) {
            return;
        }
        if self.begun {
            self.end_session();
        }
        id.clone_into(&mut self.id);
    }

    /// What follows belongs to a session that this other one started.
    pub(crate) fn sub_session(&mut self, id: &str, parent: &str) {
        self.session(id);
        if !self.begun && !parent.is_empty() {
            self.parent = Some(prefix(parent, NAME).to_owned());
        }
    }

    /// What follows happened at this time, as RFC 3339 writes it.
    pub(crate) fn time(&mut self, text: &str) {
        if let Ok(at) = text.parse::<jiff::Timestamp>() {
            self.time_ms(at.as_millisecond());
        }
    }

    /// What follows happened so many milliseconds after 1970.
    pub(crate) fn time_ms(&mut self, millis: i64) {
        if let Ok(millis) = u64::try_from(millis) {
            self.at = Some(Moment::from_millis(millis));
            self.timed = self.record;
        }
    }

    /// The session as live streams know it; [`Teller::flush`] hands on what it has to tell.
    pub(crate) fn stream(&mut self) -> &mut StreamSession {
        &mut self.session
    }

    pub(crate) fn called(&mut self, call: &Call<'_>) {
        self.session.called(call);
    }

    pub(crate) fn returned(&mut self, answer: &Answer<'_>) {
        self.session.returned(answer);
    }

    /// The model at work.
    pub(crate) fn model(&mut self, model: &str) {
        if !model.is_empty() && self.model != model {
            model.clone_into(&mut self.model);
            self.price = self.request.prices.price(model);
            self.session.model(model);
        }
    }

    /// The folder the session works in.
    pub(crate) fn project(&mut self, folder: &str) {
        if !folder.is_empty() && self.project != folder {
            folder.clone_into(&mut self.project);
            self.flush();
            self.hand_on(What::Project(folder));
        }
    }

    /// The folder every session of this transcript works in, where it does not say another.
    pub(crate) fn project_at_begin(&mut self, folder: &str) {
        folder.clone_into(&mut self.home);
    }

    /// A human spoke.
    pub(crate) fn human(&mut self, words: &str) {
        self.session.interrupted();
        self.flush();
        if self.parent.is_some() {
            // Whoever speaks to a sub-agent is an agent.
            return;
        }
        self.hand_on(What::HumanSaid(prefix(words.trim(), HUMAN)));
    }

    /// The client condensed its context.
    pub(crate) fn compacted(&mut self) {
        self.session.condensed();
        self.flush();
        self.hand_on(What::Compacted);
    }

    /// What a model call used, or a part of it; `call` is what identifies it, where something does.
    pub(crate) fn used(&mut self, agent: &str, call: &str, usage: &Usage) {
        if *usage == Usage::default() {
            return;
        }
        self.flush();
        if !call.is_empty() {
            self.hand_on(What::ModelCall(identity(call)));
        }
        let tokens = Tokens {
            agent: SubAgent::new(agent),
            fresh: usage.fresh,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            output: usage.output,
            cost_micro_usd: cost_micro_usd(usage, self.price.as_ref()),
        };
        self.hand_on(What::Used(tokens));
    }

    /// Hands on what the session has to tell.
    pub(crate) fn flush(&mut self) {
        let mut facts = std::mem::take(&mut self.facts);
        self.session.drain_into(&mut facts);
        for fact in facts.drain(..) {
            self.take(fact);
        }
        self.facts = facts;
    }

    /// Hands on a fact.
    pub(crate) fn take(&mut self, fact: Fact) {
        match fact {
            Fact::Agent(AgentFact::HeardHuman) => self.hand_on(What::HumanSaid("")),
            Fact::Agent(AgentFact::Spent(spend)) => self.hand_on(What::Used(Tokens {
                fresh: spend.input_tokens,
                output: spend.output_tokens,
                cost_micro_usd: (spend.cost_micro_usd > 0).then_some(spend.cost_micro_usd),
                ..Tokens::default()
            })),
            Fact::Agent(fact) => self.hand_on(What::Fact(fact)),
            Fact::AgentNote(note) => self.hand_on(What::Note(note)),
        }
    }

    /// The transcript is over: how many sessions there were.
    pub(crate) fn end(mut self) -> u32 {
        self.end_session();
        self.sessions
    }

    fn end_session(&mut self) {
        self.session.spoke();
        self.flush();
        self.session = StreamSession::new(self.request, self.output);
        self.begun = false;
        self.parent = None;
        if self.timed != self.record {
            self.at = None;
        }
        self.project.clear();
        self.model.clear();
        self.price = None;
    }

    fn hand_on(&mut self, what: What<'_>) {
        if !self.begun {
            self.begun = true;
            self.sessions += 1;
            self.sink.session(&SessionHead {
                id: &self.id,
                agent: self.agent,
                parent: self.parent.as_deref(),
                outcome: None,
                source: None,
            });
            if self.project.is_empty() && !self.home.is_empty() {
                let project = self.home.clone();
                self.hand_on(What::Project(&project));
                self.project = project;
            }
        }
        self.sink.entry(Entry { at: self.at, record: self.record, what });
    }
}

/// A number for a text: equal for equal ones, and never stored.
fn identity(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
