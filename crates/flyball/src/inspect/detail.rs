//! One session, step by step, with the guards' words where they would have come.

use std::io;

use flyball_core::call::{Fingerprint, ToolOutcome};
use flyball_core::guard::Rung;
use flyball_core::hindsight::{Cost, Spoken};
use flyball_core::{AgentFact, GuardKind, Moment, SubAgent};
use serde::Serialize;

use super::listener::{Listener, Onlooker};
use super::look::Lens;
use super::session::SessionReport;
use crate::transcript::{SessionHead, Source, read};
use crate::view::{call_words, words};

/// Steps of a session that are shown; of longer ones the end is cut.
const SHOWN_MAX: usize = 20_000;
/// Characters of what a human said.
const SAID_MAX: usize = 200;

/// A session with all its steps.
#[derive(Clone, Debug, Serialize)]
pub struct Detail {
    /// What is known of it as a whole.
    pub session: SessionReport,
    /// What happened, in order.
    pub lines: Vec<Shown>,
    /// Steps that are not shown.
    pub left_out: u64,
}

impl Detail {
    /// The evidence after each step.
    pub fn curve(&self) -> Vec<u8> {
        self.lines.iter().filter_map(Shown::as_step).map(|step| step.evidence).collect()
    }
}

/// Something in a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Shown {
    /// A human spoke.
    Human {
        /// When.
        at: Option<Moment>,
        /// The first words.
        words: String,
    },
    /// The context was condensed.
    Compacted {
        /// When.
        at: Option<Moment>,
    },
    /// A call, or a turn of words.
    Step(StepShown),
}

impl Shown {
    /// The step, if it is one.
    pub const fn as_step(&self) -> Option<&StepShown> {
        match self {
            Self::Step(step) => Some(step),
            Self::Human { .. } | Self::Compacted { .. } => None,
        }
    }
}

/// A step of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepShown {
    /// Its number, from 1.
    pub step: u64,
    /// The record of the transcript it stands in.
    pub record: u64,
    /// When.
    pub at: Option<Moment>,
    /// The sub-agent; empty for the main agent.
    pub agent: SubAgent,
    /// The call in words.
    pub words: String,
    /// How it went; none where there is no answer, or no call.
    pub outcome: Option<ToolOutcome>,
    /// Evidence after it, 0 to 40.
    pub evidence: u8,
    /// What the model used for it.
    pub cost: Cost,
    /// What guards would have said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<SpokenLine>,
    /// Identity of call and answer.
    #[serde(skip)]
    pub(super) pair: (Fingerprint, Option<Fingerprint>),
    #[serde(skip)]
    pub(super) id: String,
}

impl StepShown {
    /// How it went, where it did not go well.
    pub const fn outcome_word(&self) -> Option<&'static str> {
        match self.outcome {
            Some(ToolOutcome::Exit) => Some("failed"),
            Some(ToolOutcome::Tool) => Some("refused by the tool"),
            Some(ToolOutcome::Refused) => Some("did not run"),
            Some(ToolOutcome::Ok) | None => None,
        }
    }
}

/// What a guard would have said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpokenLine {
    /// On which rung.
    pub rung: Rung,
    /// Which guard.
    pub guard: GuardKind,
    /// What it saw.
    pub evidence: String,
    /// What the agent would have been told.
    pub message: String,
}

/// Reads the session of a transcript that is asked for, or its only one; else those there are.
pub fn detail(
    source: &Source,
    id: Option<&str>,
    lens: &Lens,
) -> io::Result<Result<Detail, Vec<SessionReport>>> {
    let watcher = Watcher { wanted: id.map(str::to_owned), ..Watcher::default() };
    let silent = |_: u64| {};
    let mut listener = Listener::new(&lens.rules, watcher, &silent);
    read(source, &lens.request, &mut listener)?;
    let (sessions, mut watcher) = listener.finish();
    let is_one = id.is_some() || sessions.len() == 1;
    let found = watcher.found.take().filter(|_| is_one);
    Ok(found.ok_or(sessions))
}

/// Writes down what happens.
#[derive(Default)]
struct Watcher {
    wanted: Option<String>,
    is_on: bool,
    lines: Vec<Shown>,
    left_out: u64,
    pending: Cost,
    root: String,
    /// Whether a guard would have ended the session.
    is_halted: bool,
    found: Option<Detail>,
}

impl Watcher {
    fn show(&mut self, shown: Shown) {
        if self.lines.len() < SHOWN_MAX {
            self.lines.push(shown);
        } else {
            self.left_out += u64::from(shown.as_step().is_some());
        }
    }

    fn step(&mut self, (at, record): (Option<Moment>, u64), said: &Spoken) -> StepShown {
        StepShown {
            step: said.step + 1,
            record,
            at,
            agent: SubAgent::default(),
            words: String::new(),
            outcome: None,
            evidence: 0,
            cost: std::mem::take(&mut self.pending),
            said: Vec::new(),
            pair: (Fingerprint::default(), None),
            id: String::new(),
        }
    }

    /// What was said, to be shown. After a halt nothing more would have been, until a human spoke.
    fn spoken(&mut self, said: &Spoken) -> Option<SpokenLine> {
        let trip = said.verdict.trip().filter(|_| !self.is_halted)?;
        self.is_halted = said.verdict.is_halt();
        Some(SpokenLine {
            rung: said.verdict.rung(),
            guard: trip.guard,
            evidence: trip.evidence.clone(),
            message: said.verdict.message().unwrap_or_default().to_owned(),
        })
    }

    /// The step of this number, where it is shown: nearly always one of the last.
    fn find(&mut self, number: u64) -> Option<&mut StepShown> {
        let is_it = |shown: &&mut Shown| shown.as_step().is_some_and(|step| step.step == number);
        match self.lines.iter_mut().rev().find(is_it)? {
            Shown::Step(step) => Some(step),
            Shown::Human { .. } | Shown::Compacted { .. } => None,
        }
    }
}

impl Onlooker for Watcher {
    fn begins(&mut self, head: &SessionHead<'_>) {
        let is_wanted = self.wanted.as_deref().is_none_or(|id| id == head.id);
        self.is_on = is_wanted && self.found.is_none();
        if self.is_on {
            (self.lines, self.left_out, self.pending) = (Vec::new(), 0, Cost::default());
            self.root.clear();
            self.is_halted = false;
        }
    }

    fn heard(&mut self, at: (Option<Moment>, u64), fact: &AgentFact, said: &Spoken, now: u8) {
        if !self.is_on {
            return;
        }
        if let AgentFact::CalledTool(call) = fact {
            let mut step = self.step(at, said);
            step.agent = call.agent.clone();
            step.words = call_words(&call.tool, &call.preview, &self.root);
            (step.pair.0, step.evidence) = (call.call, now);
            call.id.as_str().clone_into(&mut step.id);
            step.said.extend(self.spoken(said));
            self.show(Shown::Step(step));
        } else if let AgentFact::ToolReturned(result) = fact {
            let spoken = self.spoken(said);
            let Some(step) = self.find(said.step + 1) else { return };
            if step.id == result.id.as_str() {
                step.outcome = Some(result.outcome);
                step.pair.1 = Some(result.result);
            }
            step.evidence = now;
            step.said.extend(spoken);
        } else if let AgentFact::OnlySpoke { agent, words } = fact {
            let mut step = self.step(at, said);
            step.agent = agent.clone();
            "words without a call".clone_into(&mut step.words);
            (step.pair.1, step.evidence) = (*words, now);
            step.said.extend(self.spoken(said));
            self.show(Shown::Step(step));
        } else if let Some(spoken) = self.spoken(said)
            && let Some(step) = self.find(said.step + 1)
        {
            step.said.push(spoken);
        }
    }

    fn project(&mut self, folder: &str) {
        folder.clone_into(&mut self.root);
    }

    fn human(&mut self, (at, _): (Option<Moment>, u64), said: &str) {
        self.is_halted = false;
        if self.is_on {
            let words = words::line(said, SAID_MAX);
            self.show(Shown::Human { at, words });
        }
    }

    fn compacted(&mut self, (at, _): (Option<Moment>, u64)) {
        if self.is_on {
            self.show(Shown::Compacted { at });
        }
    }

    fn used(&mut self, _: (Option<Moment>, u64), _: &SubAgent, cost: Cost) {
        self.pending = self.pending.plus(cost);
    }

    fn ends(&mut self, session: &SessionReport) {
        if std::mem::take(&mut self.is_on) {
            let lines = std::mem::take(&mut self.lines);
            let session = SessionReport { model_calls: Vec::new(), ..session.clone() };
            self.found = Some(Detail { session, lines, left_out: self.left_out });
        }
    }
}
