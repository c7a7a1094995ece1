//! The closed world: a virtual clock, a queue of what will happen, and a shell that obeys.

use std::collections::BTreeMap;

use flyball_core::claim::{ClaimReading, read_structured};
use flyball_core::effect::Ending;
use flyball_core::event::{
    AgentFact, AgentTraits, Exit, ExitHow, HumanFiles, RunStart, Spend, Timer,
};
use flyball_core::stop::StopTicket;
use flyball_core::tasklist::Mode;
use flyball_core::{Event, Governor, IterationNo, Moment, RunId};

use super::builder::Builder;
use super::repo::Repo;
use super::rng::Rng;
use super::scenario::{HELPER, Scenario};
use super::script::{Act, Script, Words};
use super::witness::Witness;

/// More events than any run should need.
const EVENTS_MAX: u64 = 60_000;
/// When the simulation begins, in milliseconds.
const EPOCH: u64 = 1_000_000_000;

/// Something that will happen.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    /// The agent with this life does its next act.
    Act(u64),
    /// The agent with this life obeys and is gone.
    Gone(u64),
    /// The program could not be started.
    NotStarted(IterationNo),
    /// The worktree has been looked at.
    Look(IterationNo),
    /// The gates have run.
    Gates(IterationNo, String),
    /// The worktree and the gates were looked at because the agent with this life wants to stop.
    Examined(u64, u64, StopTicket),
}

/// The agent that runs.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) life: u64,
    pub(super) iteration: IterationNo,
    pub(super) mode: Mode,
    pub(super) task: Option<String>,
    pub(super) script: Script,
    pub(super) next_in_tail: usize,
    pub(super) is_dying: bool,
    pub(super) was_told_to_stop: bool,
    /// How often it was not allowed to stop.
    pub(super) refused: u32,
    /// The asking it waits for an answer to.
    pub(super) asks: Option<u64>,
}

/// The closed world.
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    pub(crate) rng: Rng,
    pub(crate) governor: Governor,
    pub(crate) journal: Vec<(Moment, Event)>,
    pub(crate) repo: Repo,
    pub(crate) human_files: HumanFiles,
    pub(crate) witness: Witness,
    pub(crate) now: u64,
    /// How far the clock on the wall is behind.
    pub(crate) behind: u64,
    pub(super) queue: BTreeMap<(u64, u64), Happening>,
    pub(super) timers: BTreeMap<Timer, (IterationNo, Moment)>,
    pub(super) agent: Option<Agent>,
    pub(super) lives: u64,
    pub(super) quirk: u64,
    pub(super) askings: u64,
    /// The loop an agent builds, kept as its tools keep it.
    pub(super) builder: Option<Builder>,
    /// The question that was answered last.
    pub(super) answered: Option<u64>,
    serial: u64,
    /// How the run ended, once the shell was told.
    pub(crate) ending: Option<Ending>,
}

impl World {
    /// A world in which nothing has happened yet.
    pub(crate) fn new(scenario: Scenario, mut rng: Rng) -> Self {
        let review = &scenario.policy.review;
        let cap = review.enabled.then(|| u64::from(review.cap));
        let repo = Repo::new(scenario.reds.clone(), scenario.tasks.clone(), cap);
        let quirk = rng.next();
        Self {
            human_files: scenario.human_files.clone(),
            scenario,
            rng,
            governor: Governor::new(),
            journal: Vec::new(),
            repo,
            witness: Witness::default(),
            now: EPOCH,
            behind: 0,
            queue: BTreeMap::new(),
            timers: BTreeMap::new(),
            agent: None,
            lives: 0,
            quirk,
            askings: 0,
            builder: None,
            answered: None,
            serial: 0,
            ending: None,
        }
    }

    /// The clock on the wall.
    pub(crate) fn wall(&self) -> Moment {
        Moment::from_millis(self.now.saturating_sub(self.behind))
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.journal.len() as u64
    }

    /// Milliseconds since the beginning.
    pub(crate) fn elapsed(&self) -> u64 {
        self.now - EPOCH
    }

    /// Whether an agent runs.
    pub(crate) fn has_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// The run is asked for.
    pub(crate) fn begin(&mut self) {
        let snapshot = self.repo.snapshot();
        let start = RunStart {
            run: RunId::new(format!("run-{}", self.quirk % 1_000)),
            policy: self.scenario.policy.clone(),
            gates: self.scenario.gates.clone(),
            snapshot,
            human_files: self.human_files.clone(),
            memory: flyball_core::task::TaskMemory::default(),
            agent: self.scenario.traits,
            other_agents: (0..HELPER).map(|_| AgentTraits::default()).collect(),
            fallbacks: self.scenario.crew.fallbacks,
            rescue: self.scenario.crew.rescue,
            agent_names: Vec::new(),
            review: self.scenario.crew.review,
            request: None,
        };
        self.tell(Event::RunStarted(Box::new(start)));
    }

    /// Lets things happen until the run is over, or should be.
    pub(crate) fn live(&mut self) {
        while self.ending.is_none() {
            if self.events() > EVENTS_MAX {
                self.witness.broken(format!("no end after {EVENTS_MAX} events"));
                return;
            }
            if !self.turn() {
                let phase =
                    self.governor.standing().map_or("nothing", |standing| standing.phase.as_str());
                self.witness.broken(format!("nothing is left to happen while {phase}"));
                return;
            }
            self.misfortune();
        }
    }

    /// The next thing happens; false when there is none.
    fn turn(&mut self) -> bool {
        let next = self.queue.first_key_value().map(|(key, _)| *key);
        let due = |at: Moment| at.as_millis().saturating_add(self.behind).max(self.now);
        let timer = self.timers.iter().map(|(timer, (no, at))| (due(*at), *timer, *no)).min();
        match (next, timer) {
            (Some(key), timer) if timer.is_none_or(|(at, ..)| key.0 <= at) => {
                self.now = self.now.max(key.0);
                if let Some(happening) = self.queue.remove(&key) {
                    self.happen(happening);
                }
                true
            }
            (_, Some((at, timer, iteration))) => {
                self.now = at;
                self.timers.remove(&timer);
                self.tell(Event::TimerFired { timer, iteration });
                true
            }
            (_, None) => false,
        }
    }

    pub(super) fn later(&mut self, pause: u64, happening: Happening) {
        self.serial += 1;
        self.queue.insert((self.now.saturating_add(pause), self.serial), happening);
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Act(life) => self.act(life),
            Happening::Gone(life) => {
                let is_it = |agent: &mut Agent| agent.life == life;
                if let Some(agent) = self.agent.take_if(is_it) {
                    let (how, claims) = (ExitHow::Signal(15), ClaimReading::default());
                    let fact = AgentFact::Exited(Exit { how, claims, last_words: String::new() });
                    self.tell(Event::Agent { iteration: agent.iteration, fact });
                }
            }
            Happening::NotStarted(iteration) => {
                let fact = AgentFact::CouldNotStart { why: String::from("no such program") };
                self.tell(Event::Agent { iteration, fact });
            }
            Happening::Look(iteration) => {
                let snapshot = Box::new(self.repo.snapshot());
                self.tell(Event::WorktreeSeen { iteration, snapshot });
            }
            Happening::Examined(life, asking, ticket) => self.examined(life, asking, ticket),
            Happening::Gates(iteration, tree) => {
                if tree != self.repo.tree() {
                    self.witness
                        .broken(format!("gates were asked for on {tree}, not what is there"));
                }
                let result = Box::new(self.repo.gates(&self.scenario.gates));
                if iteration == IterationNo::BASELINE {
                    self.witness.baseline.clone_from(&self.repo.work.reds);
                }
                let tamper = self.repo.tamper();
                self.tell(Event::GatesFinished { iteration, result, tamper });
            }
        }
    }

    fn act(&mut self, life: u64) {
        let Some(agent) = self.agent.as_mut().filter(|agent| agent.life == life) else { return };
        let Some((_, act)) = agent.script.acts.pop_front() else { return };
        let iteration = agent.iteration;
        match act {
            Act::Fact(fact) => {
                if let Some(spend) = spend_of(&fact) {
                    let stopping = agent.was_told_to_stop;
                    self.witness.spent(spend, stopping.then_some(super::witness::Stopping));
                }
                let asked = if let AgentFact::Asked(question) = &fact {
                    Some(question.number)
                } else {
                    None
                };
                let (crashes, _) = (self.witness.crashes, self.answered.take());
                self.schedule();
                self.tell(Event::Agent { iteration, fact });
                if asked.is_some() && self.answered != asked && crashes == self.witness.crashes {
                    self.witness.broken(format!("question {asked:?} was not answered"));
                }
            }
            Act::Deed(deed) => {
                self.repo.perform(deed, agent.mode, agent.task.as_deref());
                self.schedule();
            }
            Act::Build => {
                self.schedule();
                self.build();
            }
            Act::AskToStop => self.ask_to_stop(iteration),
            Act::Exit(how, words) => {
                self.agent = None;
                let last_words = self.words(words);
                let claims = read_structured(&last_words);
                self.witness.claimed = claims.complete;
                let fact = AgentFact::Exited(Exit { how, claims, last_words });
                self.tell(Event::Agent { iteration, fact });
            }
        }
    }

    fn words(&mut self, words: Words) -> String {
        let all_done = match self.repo.stories() {
            stories if stories.is_empty() => self.rng.chance(60),
            stories => stories.iter().all(|story| self.repo.finished.contains(story)),
        };
        match words {
            Words::Plain(words) => words,
            Words::Honest if all_done => String::from("<promise>COMPLETE</promise>"),
            Words::Honest => String::from("one step done"),
        }
    }

    /// Puts the agent's next act into the queue.
    pub(super) fn schedule(&mut self) {
        let Some(agent) = &mut self.agent else { return };
        if agent.script.acts.is_empty() && !agent.script.tail.is_empty() {
            let number = agent.next_in_tail % agent.script.tail.len();
            agent.next_in_tail += 1;
            agent.script.acts.extend(agent.script.tail.get(number).cloned());
        }
        if let Some((pause, _)) = agent.script.acts.front() {
            let (pause, life) = (*pause, agent.life);
            self.later(pause, Happening::Act(life));
        }
    }

    /// A fact is journalled and told; what the governor orders is done, unless flyball dies.
    pub(crate) fn tell(&mut self, event: Event) {
        let at = self.wall();
        let effects = self.governor.step(at, &event);
        self.witness.heard(&effects);
        self.journal.push((at, event));
        if self.scenario.faults.crashes.remove(&self.events()) {
            let performed = usize::try_from(self.rng.below(effects.len() as u64 + 1)).unwrap_or(0);
            for effect in effects.into_iter().take(performed) {
                self.perform(effect);
            }
            self.crash();
            return;
        }
        for effect in effects {
            self.perform(effect);
        }
    }

    /// Whatever ran is gone and whatever was to come is forgotten.
    pub(crate) fn lose_everything(&mut self) {
        self.queue.clear();
        self.timers.clear();
        self.agent = None;
    }
}

/// What a fact may be charged as.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other facts cost nothing")]
fn spend_of(fact: &AgentFact) -> Option<Spend> {
    match fact {
        AgentFact::Spent(spend) => Some(*spend),
        AgentFact::Printed { bytes, cost_micro_usd } => {
            let (output_tokens, cost_micro_usd) = (bytes / 4, *cost_micro_usd);
            Some(Spend { output_tokens, cost_micro_usd, ..Spend::default() })
        }
        _ => None,
    }
}
