//! A session outside of a run holds its ring itself: calls, budgets and stops, with the gates of the
//! project. A human sits by it, so its stops are judged as those of other clients' sessions are: only
//! where something was changed.

use std::time::Duration;

use flyball_core::call::{
    CallRing, Chant, ToolCall, ToolResult, ValidationFailure, Verdict, fingerprint_words,
};
use flyball_core::event::Spend;
use flyball_core::gate::GateResult;
use flyball_core::guard::Rung;
use flyball_core::iteration::{Meters, budget_trip};
use flyball_core::policy::Policy;
use flyball_core::starting_point::StartingPoint;
use flyball_core::stop::{
    LetGo, StopAsked, StopEvidence, StopRing, StopRules, StopStep, StopVerdict,
};
use flyball_core::worktree::WorktreeSnapshot;
use flyball_core::{Millis, Moment, SubAgent};
use serde::{Deserialize, Serialize};

use super::super::ground::Ground;
use super::super::inbox::Inbox;
use super::{Judge, Kept, Rest, Spoken};
use crate::call_session::CallSession;
use crate::clock::Clock;
use crate::error::CliError;
use crate::gate::Observe;

/// A ring of one's own.
pub(crate) struct Alone<'g> {
    policy: Policy,
    stall_after: Millis,
    ground: &'g Ground,
    inbox: &'g Inbox,
    clock: Clock,
    calls: CallSession,
    stops: Stops,
    /// Until when the runtime is counted.
    counted: Moment,
    latest_life: Moment,
}

/// The stops of a session, and what it has used.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Stops {
    #[serde(flatten)]
    ring: StopRing,
    meters: Meters,
}

impl<'g> Alone<'g> {
    /// A judge that goes on where one left off, or begins.
    pub(crate) fn new(
        (policy, stall_after): (Policy, Millis),
        (ground, inbox): (&'g Ground, &'g Inbox),
        kept: Option<&Kept>,
    ) -> Self {
        let clock = Clock::start();
        let stops = kept.and_then(|kept| serde_json::from_slice(&kept.stops).ok());
        let mut this = Self {
            policy,
            stall_after,
            ground,
            inbox,
            clock,
            calls: CallSession::read(kept.map(|kept| kept.calls.as_slice())),
            stops: stops.unwrap_or_default(),
            counted: clock.now(),
            latest_life: clock.now(),
        };
        if kept.is_none() {
            this.turn_begins();
        }
        this
    }

    fn ring(&mut self, judge: impl FnOnce(&mut CallRing, &Policy, Moment) -> Verdict) -> Spoken {
        let verdict = judge(&mut self.calls.ring, &self.policy, self.clock.now());
        self.calls.note(&verdict);
        Spoken::of(&verdict)
    }

    /// What is there now is not the doing of the turn that comes.
    fn turn_begins(&mut self) {
        if let Some(tree) = self.ground.look().ok().flatten().map(|look| look.code_tree) {
            self.stops.ring.turn_began(&tree);
        }
    }

    /// It is not sent back any more; whether something is missing is to be known all the same.
    fn last_look(&self, watch: Observe<'_>) -> Result<Rest, CliError> {
        let gates = self.examine(watch)?.and_then(|(_, gates)| gates);
        let is_red = gates.is_some_and(|gates| !gates.is_green());
        Ok(if is_red { Rest::Exhausted } else { Rest::Allowed })
    }

    /// Looks at everything a stop is judged by; nothing where nothing was changed.
    fn examine(
        &self,
        watch: Observe<'_>,
    ) -> Result<Option<(WorktreeSnapshot, Option<GateResult>)>, CliError> {
        let Some(snapshot) = self.ground.look()? else { return Ok(None) };
        if self.stops.ring.changed_nothing(&snapshot) {
            return Ok(None);
        }
        let gates =
            self.ground.run_gates(&snapshot.code_tree, &self.inbox.cancel_gates(), watch)?;
        Ok(Some((snapshot, gates)))
    }
}

impl Judge for Alone<'_> {
    fn before(&mut self, call: &ToolCall) -> Spoken {
        self.ring(|ring, policy, at| ring.before(&policy.calls, at, call))
    }

    fn after(&mut self, result: &ToolResult) -> Spoken {
        self.ring(|ring, policy, at| ring.after(&policy.calls, at, result))
    }

    fn invalid(&mut self, failure: &ValidationFailure) -> Spoken {
        self.ring(|ring, policy, at| ring.invalid(&policy.calls, at, failure))
    }

    fn spoke(&mut self, agent: &SubAgent, words: &str) -> Spoken {
        let identity = fingerprint_words(words);
        let spoken =
            self.ring(|ring, policy, at| ring.only_spoke(&policy.calls, at, agent, identity));
        match Chant::at_end_of(words) {
            Some(chant) if spoken.rung == Rung::Pass => {
                self.ring(|ring, policy, at| ring.chanted(&policy.calls, at, &chant))
            }
            Some(_) | None => spoken,
        }
    }

    fn filled(&mut self, permille: u16) -> Spoken {
        let notice = self.calls.ring.context(permille);
        notice.map_or_else(Spoken::pass, |notice| Spoken {
            rung: Rung::Nudge,
            message: Some(notice.message),
            trip: Some(notice.trip),
        })
    }

    fn spent(&mut self, spend: Spend) -> Spoken {
        let (now, meters) = (self.clock.now(), &mut self.stops.meters);
        meters.spend(spend);
        meters.runtime = meters.runtime.plus(now.since(self.counted));
        self.counted = now;
        budget_trip(meters, &self.policy.limits).map_or_else(Spoken::pass, Spoken::halt)
    }

    fn time_left(&self) -> Option<Duration> {
        let limit = self.policy.limits.runtime.get();
        let used = self.stops.meters.runtime.plus(self.clock.now().since(self.counted));
        (limit > 0).then(|| Duration::from_millis(limit.saturating_sub(used.get())))
    }

    fn life(&mut self) {
        self.latest_life = self.clock.now();
        self.calls.ring.life(self.latest_life);
    }

    fn stalled(&mut self) -> Spoken {
        let now = self.clock.now();
        // Measured here and where the silence was noticed, a moment apart.
        let limit = self.stall_after.min(now.since(self.latest_life));
        let stall = self.calls.ring.stalled(now, limit);
        self.life();
        stall.map_or_else(Spoken::pass, |stall| Spoken {
            rung: Rung::Nudge,
            message: Some(stall.message),
            trip: Some(stall.trip),
        })
    }

    fn human(&mut self) {
        self.resumed();
        self.turn_begins();
    }

    fn resumed(&mut self) {
        // What its turn has changed is still its doing.
        let now = self.clock.now();
        self.calls.ring.human(now);
        self.counted = now;
    }

    fn rest(&mut self, said: &str, watch: Observe<'_>) -> Result<Rest, CliError> {
        let rules = StopRules::of(&self.policy);
        let calls = Some(self.calls.ring.status().calls);
        let asked = StopAsked { said, calls, asking: None };
        let ticket = match self.stops.ring.ask(rules, &asked) {
            StopStep::Examine(ticket) => ticket,
            StopStep::LetGo(LetGo::Exhausted) => return self.last_look(watch),
            StopStep::LetGo(_) => return Ok(Rest::Allowed),
        };
        let Some((snapshot, gates)) = self.examine(watch)? else { return Ok(Rest::Allowed) };
        let evidence = StopEvidence {
            start: &StartingPoint::default(),
            assignment: None,
            snapshot: &snapshot,
            gates: gates.as_ref(),
            weakened: &[],
        };
        Ok(match self.stops.ring.judge(rules, &ticket, &evidence) {
            StopVerdict::Refuse { reason, .. } => Rest::Refused(reason),
            StopVerdict::Allow { why: LetGo::Exhausted } => Rest::Exhausted,
            StopVerdict::Allow { .. } => Rest::Allowed,
        })
    }

    fn kept(&self) -> Option<Kept> {
        let calls = serde_json::to_vec(&self.calls).ok()?;
        let stops = serde_json::to_vec(&self.stops).ok()?;
        Some(Kept { calls, stops })
    }
}
