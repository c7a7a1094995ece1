//! The governor: all three rings for one run, as one state machine.
//!
//! An event goes in with the moment it happened, a list of effects comes out. [`Governor::step`]
//! never fails and never panics; a late or impossible event changes nothing. Replaying the same
//! events gives the same state, byte for byte.
//!
//! ```
//! use flyball_core::event::{AgentTraits, HumanFiles, RunStart, WorktreeSnapshot};
//! use flyball_core::{Effect, Event, GateName, Governor, Moment, Policy, RunId};
//!
//! let start = RunStart {
//!     run: RunId::new("r1"),
//!     policy: Policy::default(),
//!     gates: vec![GateName::new("tests")],
//!     snapshot: WorktreeSnapshot { code_tree: "t0".into(), ..WorktreeSnapshot::default() },
//!     human_files: HumanFiles::default(),
//!     memory: Default::default(),
//!     agent: AgentTraits::default(),
//!     other_agents: Vec::new(),
//!     fallbacks: 0,
//!     rescue: None,
//!     agent_names: Vec::new(),
//!     review: None,
//!     request: None,
//! };
//! let mut governor = Governor::new();
//! let effects = governor.step(Moment::from_millis(0), &Event::RunStarted(Box::new(start)));
//! // Before any agent is started, flyball wants to know how the gates stand.
//! assert!(matches!(effects.last(), Some(Effect::RunGates { .. })));
//! ```

mod advice;
mod attempts;
mod briefing;
mod crew;
mod door;
mod finish;
mod human;
mod inspecting;
mod iterating;
mod judging;
mod malformed;
mod next_steps;
mod phase;
mod planning;
mod remedies;
mod start;
mod state;
mod stopping;
mod stops;
mod tamper;
#[cfg(test)]
mod tests;
mod verifying;
mod waiting;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use serde::{Deserialize, Serialize};

use self::phase::Phase;
pub use self::phase::RunPhase;
pub use self::start::{StartProblem, start_problem};
use self::state::RunState;
use crate::call::CallStatus;
use crate::effect::{Effect, Ending, Notice, RoleSpend, Tally};
use crate::event::{AgentFact, Event, StopCause, Timer};
use crate::guard::Rung;
use crate::guard::Trip;
use crate::id::{IterationNo, TaskId};
use crate::moment::Moment;
use crate::policy::{LimitRules, Policy};
use crate::task::TaskRing;
use crate::tasklist::{Mode, TaskList};

/// The version of the serialised state; a state of another version is replayed, not read.
pub const STATE_VERSION: u16 = 2;

/// Decides; never acts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Governor {
    version: u16,
    run: Option<Box<Started>>,
}

/// A run that has begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Started {
    state: RunState,
    phase: Phase,
}

impl Default for Governor {
    fn default() -> Self {
        Self::new()
    }
}

impl Governor {
    /// A governor to which nothing has happened yet.
    pub fn new() -> Self {
        Self { version: STATE_VERSION, run: None }
    }

    /// The governor these events lead to; their effects are dropped, except those of the last one,
    /// which a shell that died may not have performed.
    pub fn replay(events: impl IntoIterator<Item = (Moment, Event)>) -> (Self, Vec<Effect>) {
        let mut governor = Self::new();
        let mut last = Vec::new();
        for (at, event) in events {
            last = governor.step(at, &event);
        }
        (governor, last)
    }

    /// Takes one fact in and gives orders. Never fails; a fact that does not fit changes nothing.
    pub fn step(&mut self, at: Moment, event: &Event) -> Vec<Effect> {
        let mut out = StepOutput::new(at);
        match (&mut self.run, event) {
            (None, Event::RunStarted(start)) => {
                let (state, phase) = start::begin(start, &mut out);
                self.run = Some(Box::new(Started { state, phase }));
            }
            (None, _) | (Some(_), Event::RunStarted(_)) => {}
            (Some(run), event) => run.step(event, &mut out),
        }
        out.effects
    }

    /// Whether the run has begun and not ended.
    pub fn is_running(&self) -> bool {
        self.run.as_ref().is_some_and(|run| !matches!(run.phase, Phase::Finished(_)))
    }

    /// How the run ended, once it has.
    pub fn ending(&self) -> Option<&Ending> {
        match &self.run.as_ref()?.phase {
            Phase::Finished(finished) => Some(&finished.ending),
            Phase::Baselining
            | Phase::Iterating(_)
            | Phase::Stopping(_)
            | Phase::Inspecting(_)
            | Phase::Gating(_)
            | Phase::Waiting(_) => None,
        }
    }

    /// The limits that hold now, once the run has begun.
    pub fn policy(&self) -> Option<&Policy> {
        self.run.as_ref().map(|run| &run.state.given_policy)
    }

    /// Where the run stands, for watchers.
    pub fn standing(&self) -> Option<RunStanding<'_>> {
        let run = self.run.as_ref()?;
        let session = run.phase.session();
        Some(RunStanding {
            phase: run.phase.shown(),
            iteration: run
                .phase
                .iteration()
                .unwrap_or(IterationNo::new(run.state.ring.meters.iterations)),
            mode: session.map_or(Mode::Implement, |s| s.mode),
            task: session.and_then(|s| s.task.as_ref()),
            waiting_until: run.phase.waiting_until(),
            stuck: run.state.stuck.count(),
            tally: run.state.tally(),
            tasks: run.state.tasks.as_ref().map(|tasks| &tasks.list),
            task_ring: &run.state.task_ring,
            calls: session.map(|s| s.calls.status()),
            roles: run.state.crew.by_role(),
            limits: &run.state.policy.limits,
        })
    }
}

/// Where a run stands, for watchers.
#[derive(Debug)]
pub struct RunStanding<'a> {
    /// The phase.
    pub phase: RunPhase,
    /// The iteration at hand, or the last one.
    pub iteration: IterationNo,
    /// Its mode.
    pub mode: Mode,
    /// Its task.
    pub task: Option<&'a TaskId>,
    /// Until when it waits for a usage limit, while it does.
    pub waiting_until: Option<Moment>,
    /// The stuck count.
    pub stuck: u32,
    /// The numbers so far.
    pub tally: Tally,
    /// The task list as flyball holds it.
    pub tasks: Option<&'a TaskList>,
    /// The task ring.
    pub task_ring: &'a TaskRing,
    /// The call ring of the session at hand.
    pub calls: Option<CallStatus>,
    /// What each role has used.
    pub roles: Vec<RoleSpend>,
    /// The limits that hold.
    pub limits: &'a LimitRules,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "in any other phase the event is late")]
impl Started {
    fn step(&mut self, event: &Event, out: &mut StepOutput) {
        self.state.pass_time(out.at, event, &self.phase);
        let phase = mem::replace(&mut self.phase, Phase::Baselining);
        self.phase = match event {
            Event::RunStarted(_) | Event::TimePassed => phase,
            Event::RunResumed(resume) => start::resume(phase, resume, &mut self.state, out),
            Event::Agent { iteration, fact } => self.agent(phase, *iteration, fact, out),
            Event::WorktreeSeen { iteration, snapshot } => match phase {
                Phase::Inspecting(closed) if closed.session.iteration == *iteration => {
                    inspecting::seen(closed, snapshot, &mut self.state, out)
                }
                other => other,
            },
            // A word on another tree says nothing about this one.
            Event::GatesFinished { result, .. } if result.tree != self.state.code.tree => phase,
            Event::GatesFinished { iteration, result, tamper } => match phase {
                Phase::Baselining if *iteration == IterationNo::BASELINE => {
                    start::baseline(result, tamper, &mut self.state, out)
                }
                Phase::Gating(closed) if closed.session.iteration == *iteration => {
                    self.state.take_verdict(result, tamper);
                    judging::judge(&closed, &mut self.state, out)
                }
                other => other,
            },
            Event::TimerFired { timer, iteration } => self.timer(phase, *timer, *iteration, out),
            Event::StopRequested { cause } => self.stop(phase, *cause, out),
            Event::HumanAsked { request, wish } => {
                human::asked(phase, (*request, wish), &mut self.state, out)
            }
            Event::ShellFailed { why } => match phase {
                Phase::Finished(finished) => Phase::Finished(finished),
                running => finish::fault(&running, why, &mut self.state, out),
            },
            Event::StateReplaced { why } => match phase {
                Phase::Finished(finished) => Phase::Finished(finished),
                running => finish::tampered(&running, why, &mut self.state, out),
            },
        };
    }

    fn agent(
        &mut self,
        phase: Phase,
        iteration: IterationNo,
        fact: &AgentFact,
        out: &mut StepOutput,
    ) -> Phase {
        match phase {
            Phase::Iterating(session) if session.iteration == iteration => {
                iterating::fact(session, fact, &mut self.state, out)
            }
            Phase::Stopping(stop) if stop.session.iteration == iteration => {
                stopping::fact(stop, fact, &mut self.state, out)
            }
            late => late,
        }
    }

    fn timer(
        &mut self,
        phase: Phase,
        timer: Timer,
        iteration: IterationNo,
        out: &mut StepOutput,
    ) -> Phase {
        match phase {
            Phase::Iterating(session) if session.iteration == iteration => {
                iterating::timer(session, timer, &self.state, out)
            }
            Phase::Stopping(stop) if stop.session.iteration == iteration => {
                stopping::timer(stop, timer, &mut self.state, out)
            }
            Phase::Inspecting(closed) if closed.session.iteration == iteration => {
                inspecting::timer(closed, timer, &mut self.state, out)
            }
            Phase::Waiting(wait) if wait.iteration == iteration && timer == Timer::Wait => {
                waiting::over(wait, &mut self.state, out)
            }
            late => late,
        }
    }

    fn stop(&mut self, phase: Phase, cause: StopCause, out: &mut StepOutput) -> Phase {
        match phase {
            Phase::Iterating(session) => stopping::requested(session, cause, out, &self.state),
            Phase::Stopping(stop) => stopping::requested_again(stop, cause, out, &self.state),
            Phase::Inspecting(closed) => {
                inspecting::stop_requested(closed, cause, &mut self.state, out)
            }
            Phase::Gating(mut closed) => {
                closed.end = phase::End::Human(cause);
                judging::cut(&closed, &mut self.state, out)
            }
            Phase::Baselining | Phase::Waiting(_) => finish::by_human(cause, &mut self.state, out),
            Phase::Finished(finished) => Phase::Finished(finished),
        }
    }
}

/// One step under way: its moment and the orders given so far.
struct StepOutput {
    at: Moment,
    effects: Vec<Effect>,
}

impl StepOutput {
    fn new(at: Moment) -> Self {
        Self { at, effects: Vec::new() }
    }

    fn order(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn announce(&mut self, notice: Notice) {
        self.order(Effect::Announce(notice));
    }

    fn tripped(&mut self, trip: Trip, rung: Rung) {
        self.announce(Notice::Tripped { trip, rung });
    }
}
