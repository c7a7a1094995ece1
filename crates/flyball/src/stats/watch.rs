//! What is seen call by call: advice that was heeded, refusals that were wrong, gates that waver.

use std::collections::{BTreeMap, BTreeSet};

use flyball_core::call::{Fingerprint, ToolCall, ToolResult};
use flyball_core::effect::{Effect, Notice};
use flyball_core::gate::GateResult;
use flyball_core::guard::{GuardKind, Rung};
use flyball_core::{AgentFact, CallId, Event, Millis, Moment};

use super::doubt::DoubtKind;

/// How much is remembered; what is older is forgotten.
const REMEMBERED: usize = 4_096;
/// How long after a sign of life a stall is doubted.
const ALIVE: Millis = Millis::from_secs(10);

/// Watches one run.
#[derive(Debug, Default)]
pub(super) struct Watch {
    last: Option<Fingerprint>,
    /// The call that was advised against, while it goes on.
    streak: Option<Streak>,
    pub(super) streaks: u64,
    pub(super) heeded: u64,
    /// How often each guard spoke on each rung.
    pub(super) trips: BTreeMap<(GuardKind, Rung), u64>,
    open: BTreeMap<CallId, Fingerprint>,
    results: BTreeMap<Fingerprint, Fingerprint>,
    refused: BTreeSet<Fingerprint>,
    gates: BTreeMap<(String, String), bool>,
    life: Option<Moment>,
    /// What is to be doubted, each guard once for each reason.
    pub(super) doubts: BTreeSet<(GuardKind, DoubtKind)>,
}

#[derive(Clone, Copy, Debug)]
struct Streak {
    call: Option<Fingerprint>,
    is_judged: bool,
}

impl Watch {
    pub(super) fn happened(&mut self, at: Moment, event: &Event) {
        if let Event::Agent { fact, .. } = event {
            self.fact(at, fact);
        } else if let Event::GatesFinished { result, .. } = event {
            self.gated(result);
        }
    }

    pub(super) fn decided(&mut self, at: Moment, effect: &Effect) {
        if let Effect::StartAgent { .. } = effect {
            // Another session: what it sees may have changed by anyone's hand.
            (self.refused, self.open) = (BTreeSet::new(), BTreeMap::new());
        }
        let Effect::Announce(Notice::Tripped { trip, rung }) = effect else { return };
        if *rung != Rung::Pass {
            *self.trips.entry((trip.guard, *rung)).or_default() += 1;
        }
        let of_calls = matches!(trip.guard, GuardKind::Repetition | GuardKind::GoingNowhere);
        match rung {
            Rung::Nudge if of_calls && self.streak.is_none() => {
                self.streaks += 1;
                self.streak = Some(Streak { call: self.last, is_judged: false });
            }
            Rung::Refuse if of_calls => self.refused.extend(self.last),
            Rung::Halt if trip.guard == GuardKind::Stall => {
                if self.life.is_some_and(|life| at.since(life) <= ALIVE) {
                    self.doubts.insert((GuardKind::Stall, DoubtKind::WasAlive));
                }
            }
            Rung::Pass | Rung::Nudge | Rung::Refuse | Rung::Redirect | Rung::Ask | Rung::Halt => {}
        }
    }

    fn fact(&mut self, at: Moment, fact: &AgentFact) {
        if let AgentFact::CalledTool(call) = fact {
            self.called(call);
        } else if let AgentFact::ToolReturned(result) = fact {
            self.returned(result);
        } else if let AgentFact::ShowedLife = fact {
            self.life = Some(at);
        } else if let AgentFact::StopExamined(examined) = fact
            && let Some(gates) = &examined.gates
        {
            self.gated(gates);
        }
    }

    fn called(&mut self, call: &ToolCall) {
        if let Some(streak) = &mut self.streak {
            let is_other = streak.call != Some(call.call);
            if !streak.is_judged && is_other {
                self.heeded += 1;
            }
            streak.is_judged = true;
            if is_other {
                self.streak = None;
            }
        }
        if call.mutating {
            self.refused.clear();
        }
        self.last = Some(call.call);
        if self.open.len() < REMEMBERED {
            self.open.insert(call.id.clone(), call.call);
        }
    }

    fn returned(&mut self, result: &ToolResult) {
        let Some(call) = self.open.remove(&result.id) else { return };
        if !result.outcome.ran() {
            return;
        }
        let before = self.results.get(&call).copied();
        if self.refused.contains(&call) && before.is_some_and(|before| before != result.result) {
            self.doubts.insert((GuardKind::Repetition, DoubtKind::GaveAnother));
        }
        if self.results.len() >= REMEMBERED {
            self.results.clear();
        }
        self.results.insert(call, result.result);
    }

    fn gated(&mut self, result: &GateResult) {
        if self.gates.len() >= REMEMBERED {
            self.gates.clear();
        }
        for check in &result.checks {
            if check.score().is_none() {
                continue;
            }
            let key = (result.tree.clone(), check.gate.as_str().to_owned());
            let is_red = check.status.is_red();
            if self.gates.insert(key, is_red).is_some_and(|before| before != is_red) {
                self.doubts.insert((GuardKind::Completion, DoubtKind::Flaky));
            }
        }
    }
}
