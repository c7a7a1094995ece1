//! A session that is over, judged again: what the guards of the call ring would have said, where, and
//! what came after that.
//!
//! Nothing is known of what an agent would have done had it been told: the recording goes on as it
//! went. So only the first word of a guard in a loop is certain, and all that is said of what came
//! after it is what the recording shows.
//!
//! - A *step* is a call, or a turn of words without a call. Messages of humans are no steps.
//! - A *loop* begins with a guard's first word to a sub-agent. It ends with a message of a human, or as
//!   soon as nothing speaks for it any more: the evidence account is at 0 and the step repeats nothing.
//!   One of words, or of output that could not be understood, ends with the next call that works.
//! - *Waste* is what was spent in a loop after a guard's word on steps that repeated something: a call
//!   with an answer that had come before, a step by which the evidence rose, a further failure, the same
//!   words. A step costs its call and what the model used for the turn it begins. No step is in two
//!   loops, and what was new is no waste.
//! - A rung did *harm* where, after it and before the next message of a human, files were changed in a
//!   way they had not been before: a session that had ended there would have lost that.
//! - A *dead tail* is the longest end of a session, at least 6 steps, of which at least 80 % are calls
//!   with answers that had come before, and which begins with such a step.

mod cost;
mod loops;
mod novelty;
mod shape;
mod table;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use self::cost::Cost;
pub use self::loops::{Loop, Reached};
pub use self::shape::LoopKind;
pub use self::table::{Row, Table};

use self::loops::{Happened, Now, Tracks};
use self::novelty::{Novelty, Pair};
use self::shape::Answered;
use crate::call::{CallRing, Fingerprint, ToolCall, ToolOutcome, ToolResult, Verdict};
use crate::event::AgentFact;
use crate::guard::Rung;
use crate::id::{CallId, SubAgent};
use crate::moment::{Millis, Moment};
use crate::policy::{CallRules, Policy};
use crate::recording::{Hearing, RecordedWhat, Recording};

/// The step of the first nudge, refusal and halt, from 0. A higher rung reaches the lower ones, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firings {
    /// The first advice.
    pub nudge: Option<u64>,
    /// The first call that would not have run.
    pub refuse: Option<u64>,
    /// The end of the session.
    pub halt: Option<u64>,
}

/// The rungs that the call ring reaches.
pub const RUNGS: [Rung; 3] = [Rung::Nudge, Rung::Refuse, Rung::Halt];

impl Firings {
    fn reach(&mut self, rung: Rung, step: u64) {
        let firsts = [&mut self.nudge, &mut self.refuse, &mut self.halt];
        for (first, least) in firsts.into_iter().zip(RUNGS) {
            if rung >= least {
                first.get_or_insert(step);
            }
        }
    }

    /// As recordings hold them.
    pub const fn as_array(&self) -> [Option<u64>; 3] {
        [self.nudge, self.refuse, self.halt]
    }
}

/// Which guards judge recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// The evidence account by itself (A3).
    AccountAlone,
    /// All of the call ring, under flyball's defaults.
    All,
}

impl Guards {
    /// Their limits.
    pub fn rules(self) -> CallRules {
        let mut rules = Policy::default().calls.clone();
        if self == Self::AccountAlone {
            rules.nudge_after = u32::MAX;
            rules.refuse_after = u32::MAX;
            rules.max_consecutive_failures = u32::MAX;
        }
        rules
    }

    const fn hearing(self) -> Hearing {
        match self {
            Self::AccountAlone => Hearing::AccountAlone,
            Self::All => Hearing::Whole,
        }
    }

    /// Judges a recording.
    pub fn judge(self, recording: &Recording) -> Judged {
        let rules = self.rules();
        let facts = recording.facts(&rules, self.hearing());
        let mut hindsight = Hindsight::new(rules);
        for recorded in facts {
            hindsight.at_record(recorded.record);
            match &recorded.what {
                RecordedWhat::Fact(fact) => {
                    hindsight.fact(recorded.at, fact);
                }
                RecordedWhat::Used { agent, spend } => hindsight.used(agent, Cost::of(*spend)),
                RecordedWhat::Human => hindsight.human(recorded.at),
                RecordedWhat::Compacted => hindsight.compacted(),
            }
        }
        hindsight.finish()
    }
}

/// A session, judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Calls and turns of words.
    pub steps: u64,
    /// Calls.
    pub calls: u64,
    /// Calls that failed: the tool, or the program it started.
    pub failed: u64,
    /// Messages of humans.
    pub humans: u64,
    /// How often the context was condensed.
    pub compactions: u64,
    /// What was spent.
    pub spent: Cost,
    /// Where each rung was first reached.
    pub firsts: Firings,
    /// How often a guard would have nudged, refused and halted.
    pub said: [u64; 3],
    /// Whether each rung would have done harm.
    pub harmed: [bool; 3],
    /// The loops, as far as they are kept.
    pub loops: Vec<Loop>,
    /// How many there were.
    pub loops_total: u64,
    /// What was spent in all loops after each rung.
    pub waste: [Cost; 3],
    /// The length of the dead tail; 0 without one.
    pub dead_tail: u64,
    /// The last step that changed files in a way it had not before.
    pub last_change: Option<u64>,
}

/// What was said of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The step it belongs to, from 0.
    pub step: u64,
    /// What was said.
    pub verdict: Verdict,
}

/// Judges one session as it is read.
#[derive(Clone, Debug)]
pub struct Hindsight {
    rules: CallRules,
    ring: CallRing,
    now: Moment,
    record: u64,
    judged: Judged,
    tracks: Tracks,
    novelty: Novelty,
    /// Calls that have not been answered, by sub-agent and id.
    open: BTreeMap<(SubAgent, CallId), Open>,
}

/// A call that has not been answered.
#[derive(Clone, Debug)]
struct Open {
    step: u64,
    tool: Fingerprint,
    call: Fingerprint,
    mutating: bool,
    cost: Cost,
}

impl Hindsight {
    /// Before the first fact.
    pub fn new(rules: CallRules) -> Self {
        Self {
            rules,
            ring: CallRing::new(),
            now: Moment::default(),
            record: 0,
            judged: Judged::default(),
            tracks: Tracks::default(),
            novelty: Novelty::default(),
            open: BTreeMap::new(),
        }
    }

    /// What follows stands in this record of the transcript.
    pub const fn at_record(&mut self, record: u64) {
        self.record = record;
    }

    /// How many steps there were.
    pub const fn steps(&self) -> u64 {
        self.judged.steps
    }

    /// What is in the evidence account of a sub-agent, 0 to 40.
    pub fn evidence(&self, agent: &SubAgent) -> u8 {
        self.ring.evidence(agent)
    }

    /// A fact of the agent, in the order told. One without a time comes right after the one before.
    pub fn fact(&mut self, at: Option<Moment>, fact: &AgentFact) -> Spoken {
        let at = self.tick(at);
        match fact {
            AgentFact::CalledTool(call) => self.called(at, call),
            AgentFact::ToolReturned(result) => self.returned(at, result),
            AgentFact::OnlySpoke { agent, words } => self.only_spoke(at, agent, *words),
            AgentFact::Chanted(chant) => {
                let verdict = self.ring.chanted(&self.rules, at, chant);
                self.note(&SubAgent::default(), self.latest(), Happened::Chant, verdict)
            }
            AgentFact::SpokeNonsense(failure) => {
                let verdict = self.ring.invalid(&self.rules, at, failure);
                self.note(&SubAgent::default(), self.latest(), Happened::Nonsense, verdict)
            }
            AgentFact::Spoke => {
                self.ring.spoke(at);
                self.passed()
            }
            AgentFact::Spent(spend) => {
                self.used(&SubAgent::default(), Cost::of(*spend));
                self.passed()
            }
            AgentFact::HeardHuman => {
                self.human(Some(at));
                self.passed()
            }
            AgentFact::Started { .. }
            | AgentFact::CouldNotStart { .. }
            | AgentFact::Printed { .. }
            | AgentFact::FilledContext { .. }
            | AgentFact::ShowedLife
            | AgentFact::HitLimit { .. }
            | AgentFact::LostModel { .. }
            | AgentFact::RefusedCredentials { .. }
            | AgentFact::StoppedItself { .. }
            | AgentFact::StopExamined(_)
            | AgentFact::Asked(_)
            | AgentFact::ReportedAttempt(_)
            | AgentFact::Exited(_) => self.passed(),
        }
    }

    /// A human spoke: everything that was counted against the agent is forgotten.
    pub fn human(&mut self, at: Option<Moment>) {
        let at = self.tick(at);
        self.ring.human(at);
        self.judged.humans += 1;
        self.tracks.end_turn(&mut self.judged);
    }

    /// The context was condensed: the ring forgets nothing.
    pub const fn compacted(&mut self) {
        self.judged.compactions += 1;
    }

    /// A model of this sub-agent was called, and used this.
    pub fn used(&mut self, agent: &SubAgent, cost: Cost) {
        self.judged.spent = self.judged.spent.plus(cost);
        self.tracks.spend(agent, cost);
    }

    /// The session is over.
    pub fn finish(mut self) -> Judged {
        self.tracks.end_turn(&mut self.judged);
        let unanswered = self.open.into_iter();
        let pairs =
            unanswered.map(|((agent, _), open)| (open.step, Pair::of(&agent, open.call, None)));
        self.judged.dead_tail = self.novelty.dead_tail(pairs.collect(), self.judged.steps);
        self.judged
    }

    fn tick(&mut self, at: Option<Moment>) -> Moment {
        let next = self.now.plus(Millis::new(1));
        self.now = at.map_or(next, |at| at.max(self.now));
        self.now
    }

    const fn latest(&self) -> u64 {
        self.judged.steps.saturating_sub(1)
    }

    const fn passed(&self) -> Spoken {
        Spoken { step: self.latest(), verdict: Verdict::Pass }
    }

    fn step(&mut self) -> u64 {
        self.judged.steps += 1;
        self.latest()
    }

    fn called(&mut self, at: Moment, call: &ToolCall) -> Spoken {
        let step = self.step();
        self.judged.calls += 1;
        self.judged.spent.calls += 1;
        let tool = Fingerprint::of_text(&call.tool);
        // What the model used for a turn is on the first call of it.
        let cost = Cost { calls: 1, ..self.tracks.take_pending(&call.agent) };
        let open = Open { step, tool, call: call.call, mutating: call.mutating, cost };
        let key = (call.agent.clone(), call.id.clone());
        if let Some(lost) = self.open.insert(key, open) {
            self.novelty.unanswered(lost.step, Pair::of(&call.agent, lost.call, None));
        }
        let verdict = self.ring.before(&self.rules, at, call);
        self.note(&call.agent, step, Happened::Call, verdict)
    }

    fn returned(&mut self, at: Moment, result: &ToolResult) -> Spoken {
        let evidence = self.ring.evidence(&result.agent);
        let verdict = self.ring.after(&self.rules, at, result);
        let Some((agent, open)) = self.answered(result) else {
            return self.note(&result.agent, self.latest(), Happened::Stranger, verdict);
        };
        self.judged.failed += u64::from(result.outcome.failed());
        let is_new =
            self.novelty.answered(open.step, Pair::of(&agent, open.call, Some(result.result)));
        if is_new && open.mutating && result.outcome == ToolOutcome::Ok {
            self.judged.last_change = self.judged.last_change.max(Some(open.step));
            self.tracks.changed(open.step, &mut self.judged);
        }
        let answer = Answered {
            call: open.call,
            tool: open.tool,
            result: result.result,
            mutating: open.mutating,
        };
        let happened = Happened::Answer {
            answer,
            cost: open.cost,
            is_new,
            ran: result.outcome.ran(),
            failed: result.outcome == ToolOutcome::Tool,
            rose: self.ring.evidence(&agent) > evidence,
        };
        self.note(&agent, open.step, happened, verdict)
    }

    /// The call this answers: by sub-agent and id, or by id alone where the answer names nobody.
    fn answered(&mut self, result: &ToolResult) -> Option<(SubAgent, Open)> {
        let key = (result.agent.clone(), result.id.clone());
        if let Some(open) = self.open.remove(&key) {
            return Some((key.0, open));
        }
        let named = !result.agent.as_str().is_empty();
        let key = self.open.keys().find(|(_, id)| !named && *id == result.id).cloned()?;
        let open = self.open.remove(&key)?;
        Some((key.0, open))
    }

    fn only_spoke(&mut self, at: Moment, agent: &SubAgent, words: Option<Fingerprint>) -> Spoken {
        let step = self.step();
        let verdict = self.ring.only_spoke(&self.rules, at, agent, words);
        let is_new = self.novelty.answered(step, Pair::of_words(agent, words));
        let again = words.is_some() && !is_new;
        self.note(agent, step, Happened::Words { again }, verdict)
    }

    fn note(&mut self, agent: &SubAgent, step: u64, what: Happened, verdict: Verdict) -> Spoken {
        self.judged.firsts.reach(verdict.rung(), step);
        for (count, rung) in self.judged.said.iter_mut().zip(RUNGS) {
            *count += u64::from(verdict.rung() == rung);
        }
        let evidence = self.ring.evidence(agent);
        let now = Now { step, at: self.now, record: self.record, evidence };
        self.tracks.note(agent, now, (what, &verdict), &mut self.judged);
        Spoken { step, verdict }
    }
}

#[cfg(test)]
mod tests;
