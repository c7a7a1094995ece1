//! Takes a transcript as it is read and judges its sessions.

use std::collections::BTreeMap;

use flyball_core::hindsight::{Cost, Hindsight, Spoken};
use flyball_core::policy::CallRules;
use flyball_core::text::prefix;
use flyball_core::{AgentFact, Moment, SubAgent};

use super::session::{ModelCall, SessionReport};
use crate::client::AgentNote;
use crate::transcript::{Entry, SessionHead, Sink, Tokens, What};

/// Characters of the first words of a human that are kept.
const TITLE: usize = 120;
/// Models that are counted by name; further ones are counted with the last.
const MODELS: usize = 32;

/// Looks on while a session is judged.
pub(super) trait Onlooker {
    /// A session begins.
    fn begins(&mut self, _head: &SessionHead<'_>) {}

    /// A fact was told in this record, and this was said of it; so much evidence there is now.
    fn heard(&mut self, _at: (Option<Moment>, u64), _fact: &AgentFact, _said: &Spoken, _now: u8) {}

    /// The session works in this folder.
    fn project(&mut self, _folder: &str) {}

    /// A human said this.
    fn human(&mut self, _at: (Option<Moment>, u64), _words: &str) {}

    /// The context was condensed.
    fn compacted(&mut self, _at: (Option<Moment>, u64)) {}

    /// A model call used this.
    fn used(&mut self, _at: (Option<Moment>, u64), _agent: &SubAgent, _cost: Cost) {}

    /// The session is over.
    fn ends(&mut self, _session: &SessionReport) {}
}

/// Nobody looks on.
pub(super) struct Nobody;

impl Onlooker for Nobody {}

/// A session under way.
struct Open {
    session: SessionReport,
    hindsight: Hindsight,
    /// Tokens by model, and which one is at work.
    models: BTreeMap<String, u64>,
    model: Option<String>,
    key: Option<u64>,
}

/// Judges the sessions of one transcript.
pub(super) struct Listener<'a, O> {
    rules: &'a CallRules,
    onlooker: O,
    progress: &'a (dyn Fn(u64) + Sync),
    open: Option<Open>,
    sessions: Vec<SessionReport>,
}

impl<'a, O: Onlooker> Listener<'a, O> {
    pub(super) fn new(
        rules: &'a CallRules,
        onlooker: O,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Self {
        Self { rules, onlooker, progress, open: None, sessions: Vec::new() }
    }

    /// All sessions, and who looked on; a session of which nothing was told is none.
    pub(super) fn finish(mut self) -> (Vec<SessionReport>, O) {
        self.close();
        (self.sessions, self.onlooker)
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Open { mut session, hindsight, models, model, .. } = open;
        session.judged = hindsight.finish();
        let most = models.into_iter().max_by_key(|(_, tokens)| *tokens);
        session.model = most.map(|(name, _)| name).or(model);
        let judged = &session.judged;
        if judged.steps > 0 || judged.humans > 0 || judged.spent.tokens() > 0 {
            self.onlooker.ends(&session);
            self.sessions.push(session);
        }
    }
}

/// What a model call used.
fn cost_of(tokens: &Tokens) -> Cost {
    let input_tokens =
        tokens.fresh.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write);
    let all = input_tokens.saturating_add(tokens.output);
    Cost {
        calls: 0,
        input_tokens,
        output_tokens: tokens.output,
        micro_usd: tokens.cost_micro_usd.unwrap_or(0),
        unpriced_tokens: if tokens.cost_micro_usd.is_some() { 0 } else { all },
    }
}

impl Open {
    fn hear(&mut self, place: (Option<Moment>, u64), what: What<'_>, onlooker: &mut impl Onlooker) {
        let at = place.0;
        match what {
            What::Fact(fact) => {
                if let (AgentFact::CalledTool(_), Some(last)) =
                    (&fact, self.session.model_calls.last_mut())
                {
                    last.cost.calls += 1;
                }
                let said = self.hindsight.fact(at, &fact);
                let evidence = agent_of(&fact).map_or(0, |agent| self.hindsight.evidence(agent));
                onlooker.heard(place, &fact, &said, evidence);
            }
            What::Note(AgentNote::Model(name)) => self.model = Some(name),
            What::Note(_) => {}
            What::HumanSaid(words) => {
                if self.session.title.is_empty() {
                    prefix(words.trim(), TITLE).clone_into(&mut self.session.title);
                }
                self.hindsight.human(at);
                onlooker.human(place, words);
            }
            What::Compacted => {
                self.hindsight.compacted();
                onlooker.compacted(place);
            }
            What::Project(folder) => {
                onlooker.project(folder);
                self.session.project.get_or_insert_with(|| folder.to_owned());
            }
            What::ModelCall(key) => self.key = Some(key),
            What::Used(tokens) => {
                onlooker.used(place, &tokens.agent, cost_of(&tokens));
                self.used(&tokens);
            }
        }
    }

    fn used(&mut self, tokens: &Tokens) {
        let cost = cost_of(tokens);
        if let Some(key) = self.key {
            let last = self.session.model_calls.last_mut();
            if let Some(last) = last.filter(|last| last.key == key) {
                last.cost = last.cost.plus(cost);
            } else {
                let step = self.hindsight.steps();
                self.session.model_calls.push(ModelCall { key, step, cost });
            }
        }
        if let Some(model) = &self.model {
            let known = self.models.len() < MODELS || self.models.contains_key(model);
            if known {
                *self.models.entry(model.clone()).or_default() += cost.tokens();
            }
        }
        self.hindsight.used(&tokens.agent, cost);
    }
}

/// Whose fact it is, where it is somebody's.
const fn agent_of(fact: &AgentFact) -> Option<&SubAgent> {
    if let AgentFact::CalledTool(call) = fact {
        Some(&call.agent)
    } else if let AgentFact::ToolReturned(result) = fact {
        Some(&result.agent)
    } else if let AgentFact::OnlySpoke { agent, .. } = fact {
        Some(agent)
    } else {
        None
    }
}

impl<O: Onlooker> Sink for Listener<'_, O> {
    fn session(&mut self, head: &SessionHead<'_>) {
        self.close();
        self.onlooker.begins(head);
        let owned = |text: &str| text.to_owned();
        self.open = Some(Open {
            session: SessionReport {
                id: head.id.to_owned(),
                agent: head.agent.to_owned(),
                parent: head.parent.map(owned),
                outcome: head.outcome.map(owned),
                source: head.source.map(owned),
                ..SessionReport::default()
            },
            hindsight: Hindsight::new(self.rules.clone()),
            models: BTreeMap::new(),
            model: None,
            key: None,
        });
    }

    fn entry(&mut self, entry: Entry<'_>) {
        let Some(open) = &mut self.open else { return };
        if let Some(at) = entry.at {
            let session = &mut open.session;
            session.began = Some(session.began.map_or(at, |began| began.min(at)));
            session.ended = session.ended.max(Some(at));
        }
        open.hindsight.at_record(entry.record);
        open.hear((entry.at, entry.record), entry.what, &mut self.onlooker);
    }

    fn progress(&mut self, bytes: u64) {
        (self.progress)(bytes);
    }
}
