//! What goes wrong: flyball dies, humans stop it, clocks go back, and facts come that do not fit.

use flyball_core::event::{AgentFact, HumanFiles, Resume, StopCause, Timer};
use flyball_core::gate::GateResult;
use flyball_core::human::{HumanWish, LimitChange};
use flyball_core::{Event, Governor, IterationNo};

use super::world::World;

/// Longest time flyball stays dead, in milliseconds.
pub(crate) const DEAD_MAX: u64 = 3_600_000;

/// Stray events in one run; each is compared byte for byte.
const STRAYS_MAX: u32 = 12;

impl World {
    /// Whatever is planned to go wrong by now.
    pub(crate) fn misfortune(&mut self) {
        let events = self.events();
        if self.ending.is_some() {
            return;
        }
        if let Some((_, back)) = self.scenario.faults.clock.take_if(|(at, _)| events >= *at) {
            self.behind += back;
        }
        if let Some((_, cause)) = self.scenario.faults.stop.take_if(|(at, _)| events >= *at) {
            self.witness.stop_asked = Some(cause);
            self.tell(Event::StopRequested { cause });
            // Some people ask twice, and mean it.
            if self.rng.chance(50) && self.ending.is_none() {
                self.tell(Event::StopRequested { cause });
            }
        }
        self.wish(events);
        if self.ending.is_none() && self.scenario.faults.shell.take_if(|at| events >= *at).is_some()
        {
            self.witness.shell_failed = true;
            self.tell(Event::ShellFailed { why: String::from("disk full") });
        }
        if let Some(every) = self.scenario.faults.strays
            && events.is_multiple_of(every)
            && self.witness.strays < STRAYS_MAX
            && self.ending.is_none()
        {
            self.stray();
        }
    }

    /// A human says something in between.
    fn wish(&mut self, events: u64) {
        if self.ending.is_some() {
            return;
        }
        let Some((_, mut wish)) = self.scenario.faults.wish.take_if(|(at, _)| events >= *at) else {
            return;
        };
        if let HumanWish::ChangeLimits { limits } = &mut wish
            && let Some(LimitChange::Iterations(count)) = limits.first_mut()
        {
            // Never below what is used already: that is another scenario.
            let used = self.governor.standing().map_or(0, |now| now.tally.iterations);
            *count += used + 1;
        }
        if let HumanWish::ChangeLimits { limits } = &wish
            && let Ok(policy) = LimitChange::applied(limits, &self.scenario.policy)
        {
            self.scenario.policy = policy;
        }
        // Known from here on: flyball may die before it can answer.
        self.witness.word_waits |= matches!(wish, HumanWish::Tell { .. });
        self.witness.stops_after |= matches!(wish, HumanWish::StopAfterIteration);
        self.tell(Event::HumanAsked { request: 1, wish });
    }

    /// flyball dies and is started again: the journal alone must lead to the same state.
    pub(crate) fn crash(&mut self) {
        self.lose_everything();
        self.witness.crashes += 1;
        let (again, last) = Governor::replay(self.journal.iter().cloned());
        if state(&again) != state(&self.governor) {
            self.witness.broken(format!("the replay of {} events differs", self.events()));
        }
        self.governor = again;
        if self.ending.is_some() {
            return;
        }
        for effect in last {
            self.perform_durable(effect);
        }
        self.now += self.rng.below(DEAD_MAX);
        let (policy, human_files) = (self.scenario.policy.clone(), self.human_files.clone());
        let resume = Resume { policy, human_files, closed: false, tasks: None, tamper: None };
        self.tell(Event::RunResumed(Box::new(resume)));
    }

    /// A human has dealt with what ended the run, and goes on with it.
    pub(crate) fn come_back(&mut self) {
        self.lose_everything();
        self.ending = None;
        self.witness.finished = 0;
        self.witness.stop_asked = None;
        self.witness.stops_after = false;
        self.witness.shell_failed = false;
        self.now += self.rng.below(DEAD_MAX);
        self.scenario.human_files = HumanFiles::default();
        let answer = self.human_files.question.is_some().then(|| String::from("B"));
        self.human_files = HumanFiles { blocked: None, answer, ..self.human_files.clone() };
        let mut rules = self.scenario.policy.clone().into_rules();
        if rules.limits.iterations > 0 {
            rules.limits.iterations += 3;
        }
        if let Ok(policy) = flyball_core::Policy::new(rules) {
            self.scenario.policy = policy;
        }
        let (policy, human_files) = (self.scenario.policy.clone(), self.human_files.clone());
        self.tell(Event::RunResumed(Box::new(Resume {
            policy,
            human_files,
            closed: true,
            tasks: None,
            tamper: None,
        })));
    }

    /// A fact that belongs elsewhere: it must change nothing.
    fn stray(&mut self) {
        self.witness.strays += 1;
        let event = self.foreign();
        let before = state(&self.governor);
        let at = self.journal.last().map_or(self.wall(), |(at, _)| *at);
        let effects = self.governor.step(at, &event);
        if !effects.is_empty() || state(&self.governor) != before {
            self.witness.broken(format!("a stray event changed something: {event:?}"));
        }
        self.journal.push((at, event));
    }

    /// Something of another iteration, of another tree, or of another run.
    fn foreign(&mut self) -> Event {
        let here = self.governor.standing().map_or(0, |standing| standing.iteration.get());
        let past = here.checked_sub(1).map_or(99, |past| past);
        let other = IterationNo::new(self.rng.pick(here + 1, &[here + 7, past]));
        let timers =
            [Timer::Runtime, Timer::Stall, Timer::StopGrace, Timer::Wait, Timer::IterationTimeout];
        match self.rng.below(7) {
            0 => {
                let timer = self.rng.pick(Timer::IterationTimeout, &timers);
                Event::TimerFired { timer, iteration: other }
            }
            1 => {
                let result =
                    Box::new(GateResult { tree: String::from("elsewhere"), checks: Vec::new() });
                let iteration = IterationNo::new(self.rng.pick(here, &[0, here + 1]));
                Event::GatesFinished { iteration, result, tamper: Vec::new() }
            }
            2 => Event::WorktreeSeen { iteration: other, snapshot: Box::default() },
            3 => Event::Agent { iteration: other, fact: AgentFact::ShowedLife },
            4 => self.journal.first().map_or_else(
                || Event::Agent { iteration: other, fact: AgentFact::Spoke },
                |(_, first)| first.clone(),
            ),
            5 => Event::TimePassed,
            _ => self.recalled(here).unwrap_or(Event::Agent {
                iteration: other,
                fact: AgentFact::LostModel { message: String::from("late") },
            }),
        }
    }

    /// An earlier fact about an iteration that is over.
    fn recalled(&mut self, here: u32) -> Option<Event> {
        let number = usize::try_from(self.rng.below(self.events())).ok()?;
        let (_, event) = self.journal.get(number)?;
        let iteration = match event {
            Event::Agent { iteration, .. }
            | Event::WorktreeSeen { iteration, .. }
            | Event::GatesFinished { iteration, .. }
            | Event::TimerFired { iteration, .. } => *iteration,
            Event::RunStarted(_)
            | Event::RunResumed(_)
            | Event::StopRequested { .. }
            | Event::TimePassed
            | Event::StateReplaced { .. }
            | Event::HumanAsked { .. }
            | Event::ShellFailed { .. } => return None,
        };
        (iteration.get() < here && iteration.get() > 0).then(|| event.clone())
    }

    /// The run is over: whatever is said now must not be answered.
    pub(crate) fn check_silence(&mut self) {
        let iteration = IterationNo::new(self.rng.small(0, 20));
        let at = self.wall();
        let mut junk = Vec::from([
            Event::StopRequested { cause: StopCause::Interrupt },
            Event::ShellFailed { why: String::from("late") },
            Event::StateReplaced { why: String::from("late") },
            Event::Agent { iteration, fact: AgentFact::ShowedLife },
            Event::WorktreeSeen { iteration, snapshot: Box::default() },
            Event::GatesFinished { iteration, result: Box::default(), tamper: Vec::new() },
            Event::TimerFired { timer: Timer::StopGrace, iteration },
        ]);
        let step = self.journal.len() / 10 + 1;
        let is_no_resume = |event: &&Event| !matches!(event, Event::RunResumed(_));
        let events = self.journal.iter().step_by(step).map(|(_, event)| event);
        junk.extend(events.filter(is_no_resume).cloned());
        for event in junk {
            let effects = self.governor.step(at, &event);
            if !effects.is_empty() {
                self.witness.broken(format!("after the end {event:?} was answered: {effects:?}"));
            }
        }
        let json = state(&self.governor);
        let restored = serde_json::from_str::<Governor>(&json).ok();
        if restored.as_ref() != Some(&self.governor) {
            self.witness.broken(String::from("the state does not survive being written and read"));
        }
    }
}

/// The state, byte for byte.
fn state(governor: &Governor) -> String {
    serde_json::to_string(governor).unwrap_or_default()
}
