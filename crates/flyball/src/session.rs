//! `flyball session`: the built-in agent. A model is asked, its calls are judged and made, their results
//! go back, until it has nothing left to do and may rest.
//!
//! This is the reference for everyone who builds an agent on `flyball-core`. Read it in this order:
//!
//! 1. [`conversation`]: what was said, and what follows from it. Pure.
//! 2. This file: the loop. It asks the conversation what is next, does it, and writes down what happened
//!    before anything else happens. Its questions to the model are in [`asking`].
//! 3. [`judge`]: who says whether a call may run and the model may rest: a ring of its own, or the run.
//! 4. [`tools`]: what a call does, and what its arguments are checked against.
//!
//! That is less than 1,500 lines altogether, and `cargo xtask tidy` sees to it. The rest is about
//! people and places: `ground` (where it works), `record` (where it is written down), `telling` (who sees
//! it), `inbox` (who speaks to it), `choice` (which model).

mod asking;
pub(crate) mod choice;
pub(crate) mod conversation;
pub(crate) mod ground;
pub(crate) mod inbox;
pub(crate) mod judge;
pub(crate) mod record;
pub(crate) mod telling;
pub(crate) mod texts;
pub(crate) mod tools;

use std::collections::BTreeMap;

use flyball_core::call::{ToolCall, ToolOutcome, ToolResult, ValidationFailure};
use flyball_core::claim::read_structured;
use flyball_core::compaction::Compaction;
use flyball_core::event::Spend;
use flyball_core::policy::CallRules;
use flyball_core::{CallId, Outcome, RoundId, SubAgent};
use flyball_models::{Call, Model, Retries, Stop, Tool};
use serde_json::Value;

use self::conversation::{Conversation, Ending, Entry, INTERRUPTED, Next};
use self::inbox::{Inbox, Leave};
use self::judge::{Judge, Rest, Spoken};
use self::record::Record;
use self::telling::{Shown, Teller};
use self::tools::{Done, Toolbox};
use crate::client::prices::Prices;
use crate::error::CliError;

/// How a session is held.
pub(crate) struct Terms {
    /// The model's window, and how full it may be.
    pub(crate) window: Compaction,
    /// The longest answer, in tokens; none leaves it to the model.
    pub(crate) max_tokens: Option<u32>,
    pub(crate) calls: CallRules,
    /// Whether a human is asked before calls that change something.
    pub(crate) asks_leave: bool,
    pub(crate) prices: Prices,
    pub(crate) retries: Retries,
}

/// A session at work.
pub(crate) struct SessionLoop<'s> {
    pub(crate) model: &'s Model,
    pub(crate) terms: &'s Terms,
    pub(crate) toolbox: &'s Toolbox<'s>,
    pub(crate) judge: &'s mut dyn Judge,
    pub(crate) record: &'s mut Record,
    pub(crate) teller: &'s mut dyn Teller,
    pub(crate) inbox: &'s Inbox,
    pub(crate) conversation: Conversation,
    pub(crate) system: &'s str,
    /// Whose conversation it is: the main agent's, or a sub-agent's with a track of its own.
    pub(crate) agent: SubAgent,
    pub(crate) tools: Vec<Tool>,
    /// Calls that were judged and not made yet, by id.
    pub(crate) announced: BTreeMap<String, (ToolCall, Spoken)>,
}

impl SessionLoop<'_> {
    /// Goes on until somebody has to say something, or it is over.
    pub(crate) fn go_on(&mut self) -> Result<Option<Ending>, CliError> {
        loop {
            if let Some(leave) = self.inbox.wants_end() {
                self.leave(leave)?;
            }
            match self.conversation.next(&self.terms.window) {
                Next::Listen => return Ok(None),
                Next::End(ending) => return Ok(Some(ending.clone())),
                Next::Ask => self.ask()?,
                Next::Compact(messages) => self.compact(messages)?,
                Next::Perform(call) => {
                    let call = call.clone();
                    self.perform(&call)?;
                }
                Next::Explain(call) => {
                    let call = call.id.clone();
                    self.explain(call)?;
                }
                Next::Rest => self.rest()?,
            }
        }
    }

    /// Somebody says something to the model.
    pub(crate) fn tell(&mut self, text: &str) -> Result<(), CliError> {
        self.judge.human();
        self.put(Entry::Asked { text: text.to_owned() })
    }

    /// Takes a session up again that was killed or has ended.
    pub(crate) fn resume(&mut self) -> Result<(), CliError> {
        self.judge.resumed();
        self.put(Entry::Resumed)?;
        // What was used up before is used up.
        let spent = self.judge.spent(Spend::default());
        if spent.ends() { self.obey(&spent) } else { Ok(()) }
    }

    /// Writes down what happened, with the judge as it stands now; then it counts.
    fn put(&mut self, entry: Entry) -> Result<(), CliError> {
        self.record.put(&entry, &self.agent, self.judge.kept())?;
        self.conversation.apply(entry);
        Ok(())
    }

    fn end(&mut self, ending: Ending) -> Result<(), CliError> {
        self.put(Entry::Ended { ending })
    }

    /// Does what a judge says beside its yes or no: the model is told, or it is over.
    fn obey(&mut self, spoken: &Spoken) -> Result<(), CliError> {
        self.teller.judged(spoken);
        if spoken.ends() {
            let why = spoken.message.clone().unwrap_or_default();
            return self.end(match spoken.outcome() {
                Some(outcome) => Ending::Halted { outcome, why },
                None => Ending::Left,
            });
        }
        match &spoken.message {
            Some(text) if spoken.may_run() => self.put(Entry::Advised { text: text.clone() }),
            Some(_) | None => Ok(()),
        }
    }

    /// The human, or a signal, wants an end of the turn or of everything.
    fn leave(&mut self, leave: Leave) -> Result<(), CliError> {
        match leave {
            Leave::Turn => self.put(Entry::Interrupted),
            Leave::Session => self.end(Ending::Left),
        }
    }

    /// Judges a call and makes it. What is about to be done is written down before, and what came of it
    /// after: whoever dies in between finds the first and not the second.
    fn perform(&mut self, call: &Call) -> Result<(), CliError> {
        let args = match Toolbox::arguments(&self.tools, call) {
            Ok(args) => args,
            Err(failure) => return self.invalid(call, &failure),
        };
        if !self.announced.contains_key(&call.id) {
            self.announce();
        }
        let Some((asked, spoken)) = self.announced.remove(&call.id) else {
            return Err(CliError::internal("a call was not announced"));
        };
        self.teller.called(&Shown { call: &asked, args });
        self.record.judged("Call", Some(&asked), &spoken);
        if !spoken.may_run() {
            let text = spoken.message.clone().unwrap_or_default();
            self.returned(&asked, &Done::refused(text.clone()), text)?;
            return self.obey(&spoken);
        }
        if self.terms.asks_leave && Toolbox::needs_leave(&call.name) {
            let words = self.teller.question(&Shown { call: &asked, args });
            if !self.inbox.allows(&call.name, &words) {
                let text = "denied by the human".to_owned();
                return self.returned(&asked, &Done::refused(text.clone()), text);
            }
        }
        self.put(Entry::Began { call: call.id.clone() })?;
        self.obey(&spoken)?;
        let done = self.deed(call, args)?;
        if let Some(failure) = &done.invalid {
            let none = ToolResult::new(asked.id.clone(), ToolOutcome::Refused, "");
            self.judge.after(&none.by(self.agent.clone()));
            return self.invalid(call, failure);
        }
        self.record.may_die();
        let text = self.toolbox.bounded(&done);
        // Judged by all it said, not by what is left of it.
        let result = ToolResult::new(asked.id.clone(), done.outcome, &done.text);
        let spoken = self.judge.after(&result.by(self.agent.clone()));
        self.record.judged("Result", None, &spoken);
        self.returned(&asked, &done, text)?;
        self.obey(&spoken)
    }

    /// Has all calls of an answer judged before the first of them is made: they are one round, in which
    /// equal calls are one, and failures count once (A2, A5).
    fn announce(&mut self) {
        let round = RoundId::new(self.conversation.answers().to_string());
        self.announced.clear();
        for call in self.conversation.open_calls() {
            let Ok(args) = Toolbox::arguments(&self.tools, call) else { continue };
            let id = CallId::new(&call.id);
            let mut asked = ToolCall::new(id, &call.name, args, &self.terms.calls)
                .by(self.agent.clone())
                .in_round(round.clone());
            asked.mutating = Toolbox::changes_files(&call.name, args);
            self.teller.announced(&Shown { call: &asked, args });
            let spoken = self.judge.before(&asked);
            self.announced.insert(call.id.clone(), (asked, spoken));
        }
    }

    fn deed(&mut self, call: &Call, args: &Value) -> Result<Done, CliError> {
        if call.name == tools::TASK {
            return self.delegate(call, tools::text(args, "prompt").unwrap_or_default());
        }
        Ok(self.toolbox.perform(&call.name, args))
    }

    /// A call that had begun when flyball was killed: what came of it nobody knows, and so it is told.
    fn explain(&mut self, call: String) -> Result<(), CliError> {
        let unknown = ToolResult::new(CallId::new(&call), ToolOutcome::Refused, "");
        self.judge.after(&unknown.by(self.agent.clone()));
        let (outcome, text) = (ToolOutcome::Refused, INTERRUPTED.to_owned());
        self.put(Entry::Returned { call, outcome, text })
    }

    fn returned(&mut self, call: &ToolCall, done: &Done, text: String) -> Result<(), CliError> {
        self.teller.returned(call, done, &text);
        let (call, outcome) = (call.id.to_string(), done.outcome);
        self.put(Entry::Returned { call, outcome, text })
    }

    /// A call that is none (A4): the model is told what was wrong with it.
    fn invalid(&mut self, call: &Call, failure: &ValidationFailure) -> Result<(), CliError> {
        let spoken = self.judge.invalid(failure);
        self.record.judged("Invalid", None, &spoken);
        let told = format!("{}: expected {}", failure.error, failure.expected);
        let text = spoken.message.clone().unwrap_or(told);
        let (call, outcome) = (call.id.clone(), ToolOutcome::Refused);
        self.put(Entry::Returned { call, outcome, text })?;
        // It was told with the result.
        self.teller.judged(&spoken);
        if spoken.ends() { self.obey(&spoken) } else { Ok(()) }
    }

    /// An answer that is none: the same, without a call to answer.
    fn nonsense(&mut self, failure: &ValidationFailure) -> Result<(), CliError> {
        let spoken = self.judge.invalid(failure);
        self.record.judged("Invalid", None, &spoken);
        if spoken.ends() {
            return self.obey(&spoken);
        }
        self.teller.judged(&spoken);
        let text = spoken.message.unwrap_or_else(|| failure.error.clone());
        self.put(Entry::SentBack { text })
    }

    /// Has a part of the work done in a conversation of its own, on a track of its own.
    fn delegate(&mut self, call: &Call, prompt: &str) -> Result<Done, CliError> {
        let agent = SubAgent::new(format!("task-{}", call.id));
        let mut other = SessionLoop {
            model: self.model,
            terms: self.terms,
            toolbox: self.toolbox,
            judge: &mut *self.judge,
            record: &mut *self.record,
            teller: &mut *self.teller,
            inbox: self.inbox,
            conversation: Conversation::default(),
            system: self.system,
            tools: self.toolbox.definitions(&agent),
            agent,
            announced: BTreeMap::new(),
        };
        other.put(Entry::Asked { text: prompt.to_owned() })?;
        let ended = other.go_on()?;
        let words = other.conversation.last_words();
        Ok(match ended {
            None | Some(Ending::Finished) => Done::said(words),
            Some(Ending::Halted { why, .. } | Ending::Failed { why }) => {
                Done::failed(format!("the sub-agent was stopped: {why}"))
            }
            Some(Ending::Left) => Done::failed("the sub-agent was stopped"),
        })
    }

    /// The model wants to rest: where something is missing it is told in this very session (B10). Nobody
    /// asks a sub-agent for the gates; who sent it is asked.
    fn rest(&mut self) -> Result<(), CliError> {
        let words = self.conversation.last_words();
        match self.conversation.stop() {
            Some(Stop::Length) => return self.nonsense(&texts::cut_off(&words)),
            Some(Stop::Malformed) => return self.nonsense(&texts::malformed(&words)),
            Some(Stop::Refused | Stop::Filtered) => {
                let why = "the model declined to answer".to_owned();
                return self.end(Ending::Failed { why });
            }
            _ => {}
        }
        if !self.agent.as_str().is_empty() {
            return self.put(Entry::Rested);
        }
        if let Some(failure) = texts::bad_claim(&read_structured(&words)) {
            return self.nonsense(&failure);
        }
        let watch = self.teller.watch_gates();
        match self.judge.rest(&words, &*watch)? {
            Rest::Allowed => self.put(Entry::Rested),
            Rest::Refused(reason) => {
                self.teller.sent_back(&reason);
                self.put(Entry::SentBack { text: reason })
            }
            Rest::Exhausted => {
                let why = "the gates are still red, and it was sent back as often as it may be";
                let outcome = Outcome::QualityGateExhausted;
                self.end(Ending::Halted { outcome, why: why.to_owned() })
            }
        }
    }
}
