//! Loops: where one begins, which steps belong to it, what they cost, and where it ends.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::shape::{Answered, LoopKind, Recent};
use super::{Judged, RUNGS};
use crate::call::Verdict;
use crate::guard::{GuardKind, Rung};
use crate::id::SubAgent;
use crate::moment::Moment;

/// Loops of one session that are kept; the waste of further ones is in the sums.
const LOOPS_MAX: usize = 100;

/// A rung that was reached in a loop, for the first time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// At which step, from 0.
    pub step: u64,
    /// When, as far as the recording tells times.
    pub at: Moment,
    /// Which guard.
    pub guard: GuardKind,
    /// What it saw.
    pub evidence: String,
    /// The record of the transcript it was told by: a line, an element, a row.
    pub record: u64,
    /// What was spent in this loop after that, on steps that repeated something.
    pub after: Cost,
    /// Whether files were changed in a new way after that, before the next message of a human.
    pub changed_later: bool,
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The sub-agent; empty for the main agent.
    pub agent: SubAgent,
    /// What kind.
    pub kind: LoopKind,
    /// The step from which on the evidence rose, from 0.
    pub began: u64,
    /// The last step that repeated something.
    pub ended: u64,
    /// The first advice.
    pub nudge: Option<Reached>,
    /// The first refusal.
    pub refuse: Option<Reached>,
    /// The end of the session.
    pub halt: Option<Reached>,
}

impl Loop {
    /// The rungs, lowest first.
    pub const fn rungs(&self) -> [Option<&Reached>; 3] {
        [self.nudge.as_ref(), self.refuse.as_ref(), self.halt.as_ref()]
    }

    fn rungs_mut(&mut self) -> [&mut Option<Reached>; 3] {
        [&mut self.nudge, &mut self.refuse, &mut self.halt]
    }

    /// The highest rung reached.
    pub fn highest(&self) -> Rung {
        let reached = RUNGS.iter().zip(self.rungs()).filter(|(_, rung)| rung.is_some());
        reached.map(|(rung, _)| *rung).next_back().unwrap_or(Rung::Pass)
    }

    /// What was spent after the first word of a guard.
    pub fn waste(&self) -> Cost {
        self.nudge.as_ref().map(|reached| reached.after).unwrap_or_default()
    }

    fn reach(&mut self, now: Now, verdict: &Verdict) {
        let Some(trip) = verdict.trip() else { return };
        for (place, rung) in self.rungs_mut().into_iter().zip(RUNGS) {
            if verdict.rung() >= rung && place.is_none() {
                *place = Some(Reached {
                    step: now.step,
                    at: now.at,
                    guard: trip.guard,
                    evidence: trip.evidence.clone(),
                    record: now.record,
                    after: Cost::default(),
                    changed_later: false,
                });
            }
        }
    }

    /// Whether it is one of calls, in which everything else is a part of it.
    const fn is_of_calls(&self) -> bool {
        !matches!(self.kind, LoopKind::Malformed | LoopKind::SameWords)
    }

    fn is_of_failures(&self) -> bool {
        self.rungs().into_iter().flatten().any(|one| one.guard == GuardKind::ToolFailures)
    }

    fn changed(&mut self, step: u64) {
        for reached in self.rungs_mut().into_iter().flatten() {
            reached.changed_later |= reached.step < step;
        }
    }
}

/// Where a session stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) step: u64,
    pub(super) at: Moment,
    pub(super) record: u64,
    /// What is in the account of the sub-agent it is about.
    pub(super) evidence: u8,
}

/// Something that happened to a sub-agent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happened {
    /// It made a call.
    Call,
    /// A call that cost this was answered.
    Answer {
        answer: Answered,
        cost: Cost,
        /// Whether that answer to that call had not come before.
        is_new: bool,
        /// Whether it ran.
        ran: bool,
        /// Whether the tool failed.
        failed: bool,
        /// Whether there is more evidence now.
        rose: bool,
    },
    /// An answer to a call that nobody made.
    Stranger,
    /// It only spoke.
    Words {
        /// Whether it had said the same before.
        again: bool,
    },
    /// It said the same again and again in one turn.
    Chant,
    /// It said something that could not be understood.
    Nonsense,
}

impl Happened {
    /// Whether it repeats something in this loop.
    fn repeats(self, open: &Loop) -> bool {
        match (open.kind, self) {
            // What could not be used is no call: what such a turn cost is with its refusal.
            (LoopKind::Malformed, Self::Answer { ran, failed, .. }) => ran && failed,
            (LoopKind::Malformed, Self::Nonsense) => true,
            (LoopKind::Malformed, Self::Words { .. })
            | (LoopKind::SameWords, Self::Answer { .. })
            | (_, Self::Nonsense | Self::Call | Self::Stranger | Self::Chant) => false,
            // In a loop of failing tools a further failure is one more of the same.
            (_, Self::Answer { is_new, ran, failed, rose, .. }) => {
                ran && (!is_new || rose || (failed && open.is_of_failures()))
            }
            (_, Self::Words { again }) => again,
        }
    }

    /// Whether a loop can end with it: a call says nothing before it is answered.
    const fn is_step(self) -> bool {
        match self {
            Self::Answer { ran, .. } => ran,
            Self::Words { .. } | Self::Chant => true,
            Self::Call | Self::Stranger | Self::Nonsense => false,
        }
    }
}

/// One sub-agent.
#[derive(Clone, Debug, Default)]
struct Track {
    /// Spent since its latest step.
    pending: Cost,
    recent: Recent,
    /// Since which step there is evidence.
    rising: Option<u64>,
    open: Option<Loop>,
}

/// All sub-agents.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracks {
    by_agent: BTreeMap<SubAgent, Track>,
    /// Loops that ended since a human last spoke: their places in the list.
    ended: Vec<usize>,
    /// Where each rung was first reached since a human last spoke.
    reached: [Option<u64>; 3],
}

impl Tracks {
    /// A sub-agent's model used this.
    pub(super) fn spend(&mut self, agent: &SubAgent, cost: Cost) {
        let track = self.track(agent);
        track.pending = track.pending.plus(cost);
    }

    /// What a sub-agent's next step costs.
    pub(super) fn take_pending(&mut self, agent: &SubAgent) -> Cost {
        core::mem::take(&mut self.track(agent).pending)
    }

    fn track(&mut self, agent: &SubAgent) -> &mut Track {
        self.by_agent.entry(agent.clone()).or_default()
    }

    /// Something happened, and this was said of it.
    pub(super) fn note(
        &mut self,
        agent: &SubAgent,
        now: Now,
        (what, verdict): (Happened, &Verdict),
        judged: &mut Judged,
    ) {
        let track = self.track(agent);
        let cost = match what {
            Happened::Answer { answer, cost, .. } => {
                track.recent.add(answer);
                cost
            }
            Happened::Words { .. } | Happened::Nonsense => core::mem::take(&mut track.pending),
            Happened::Call | Happened::Stranger | Happened::Chant => Cost::default(),
        };
        if now.evidence > 0 {
            track.rising.get_or_insert(now.step);
        }
        let repeats =
            track.open.as_mut().is_some_and(|open| add(open, now.step, cost, what, judged));
        if verdict.rung() > Rung::Pass {
            let kind = kind(verdict, what, &track.recent);
            let ended = track.open.take_if(|open| !open.is_of_calls() && open.kind != kind);
            reach(track, agent, now, (kind, what), verdict);
            self.keep(ended, judged);
            for (first, rung) in self.reached.iter_mut().zip(RUNGS) {
                if verdict.rung() >= rung {
                    first.get_or_insert(now.step);
                }
            }
        } else if !repeats && what.is_step() {
            let ended = track.open.take_if(|open| now.evidence == 0 || !open.is_of_calls());
            self.keep(ended, judged);
        }
        if now.evidence == 0 {
            self.track(agent).rising = None;
        }
    }

    /// Files were changed in a new way.
    pub(super) fn changed(&mut self, step: u64, judged: &mut Judged) {
        for open in self.by_agent.values_mut().filter_map(|track| track.open.as_mut()) {
            open.changed(step);
        }
        for place in &self.ended {
            if let Some(ended) = judged.loops.get_mut(*place) {
                ended.changed(step);
            }
        }
        for (harmed, reached) in judged.harmed.iter_mut().zip(self.reached) {
            *harmed |= reached.is_some_and(|reached| reached < step);
        }
    }

    /// A human spoke, or the session is over.
    pub(super) fn end_turn(&mut self, judged: &mut Judged) {
        let ended = core::mem::take(&mut self.by_agent);
        for track in ended.into_values() {
            self.keep(track.open, judged);
        }
        self.ended.clear();
        self.reached = [None; 3];
    }

    fn keep(&mut self, ended: Option<Loop>, judged: &mut Judged) {
        let Some(ended) = ended else { return };
        judged.loops_total += 1;
        if judged.loops.len() < LOOPS_MAX {
            self.ended.push(judged.loops.len());
            judged.loops.push(ended);
        }
    }
}

/// A guard spoke: in the loop that is open, or a new one.
fn reach(
    track: &mut Track,
    agent: &SubAgent,
    now: Now,
    (kind, what): (LoopKind, Happened),
    verdict: &Verdict,
) {
    let began = track.rising.unwrap_or(now.step);
    let open = track.open.get_or_insert_with(|| Loop {
        agent: agent.clone(),
        kind,
        began,
        ended: now.step,
        nudge: None,
        refuse: None,
        halt: None,
    });
    let before = open.highest();
    open.reach(now, verdict);
    // What is refused has no answer yet that would tell the kind.
    if open.highest() > before && open.is_of_calls() && !matches!(what, Happened::Call) {
        open.kind = kind;
    }
    open.ended = open.ended.max(now.step);
}

/// Books a step in the loop it happened in, if it repeats something; whether it does.
fn add(open: &mut Loop, step: u64, cost: Cost, what: Happened, judged: &mut Judged) -> bool {
    if !what.repeats(open) {
        return false;
    }
    open.ended = open.ended.max(step);
    for (place, sum) in open.rungs_mut().into_iter().zip(&mut judged.waste) {
        if let Some(reached) = place.as_mut().filter(|reached| reached.step < step) {
            reached.after = reached.after.plus(cost);
            *sum = sum.plus(cost);
        }
    }
    true
}

fn kind(verdict: &Verdict, what: Happened, recent: &Recent) -> LoopKind {
    let guard = verdict.trip().map(|trip| trip.guard);
    match (guard, what) {
        (Some(GuardKind::ToolFailures), _) => LoopKind::FailingTools,
        (_, Happened::Nonsense) => LoopKind::Malformed,
        (_, Happened::Words { .. } | Happened::Chant) => LoopKind::SameWords,
        (_, Happened::Call | Happened::Answer { .. } | Happened::Stranger) => recent.kind(),
    }
}
