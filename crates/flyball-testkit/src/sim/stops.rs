//! Agents that ask before they stop, what the world finds then, and whether the answer was right.

use std::collections::BTreeSet;

use flyball_core::door::{DoorQuestion, Matter};
use flyball_core::event::{AgentFact, StopExamined};
use flyball_core::policy::Baseline;
use flyball_core::stop::{LetGo, StopTicket, StopVerdict};
use flyball_core::{Event, IterationNo};

use super::persona::Persona;
use super::repo::Deed;
use super::script::Act;
use super::world::{Agent, Happening, World};

/// What became of stops that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// Stops refused.
    pub refused: u32,
    /// Why others were allowed, in the words of the core.
    pub allowed: BTreeSet<String>,
}

impl World {
    /// The agent asks whether it may stop.
    pub(super) fn ask_to_stop(&mut self, iteration: IterationNo) {
        self.askings += 1;
        let asking = self.askings;
        let Some(agent) = &mut self.agent else { return };
        agent.asks = Some(asking);
        let life = agent.life;
        let matter = Matter::Stop { said: String::from("done"), client_cap: u32::MAX };
        let question = DoorQuestion { number: asking, matter, hears: false, context: None };
        let fact = AgentFact::Asked(question);
        self.tell(Event::Agent { iteration, fact });
        let waits =
            self.agent.as_ref().is_some_and(|one| one.life == life && one.asks == Some(asking));
        let is_examined =
            |one: &Happening| matches!(one, Happening::Examined(_, other, _) if *other == asking);
        if waits && !self.queue.values().any(is_examined) {
            self.witness.broken(format!("asking {asking} was neither answered nor examined"));
        }
    }

    /// The shell looks, which takes its time.
    pub(super) fn examine(&mut self, asking: u64, ticket: StopTicket) {
        let Some(life) = self.agent.as_ref().map(|agent| agent.life) else { return };
        // Long enough to look like a stall, short enough for all stops of an iteration.
        let most = self.scenario.policy.limits.iteration_timeout.get() / 12;
        let pause = self.rng.between(1, most);
        self.later(pause, Happening::Examined(life, asking, ticket));
    }

    /// The shell has looked.
    pub(super) fn examined(&mut self, life: u64, asking: u64, ticket: StopTicket) {
        let Some(agent) = self.agent.as_ref().filter(|agent| agent.life == life) else { return };
        let iteration = agent.iteration;
        let gates = &self.scenario.gates;
        let gates = (!gates.is_empty()).then(|| Box::new(self.repo.gates(gates)));
        let snapshot = Box::new(self.repo.clone().snapshot());
        let found = StopExamined { asking, ticket, snapshot, gates };
        self.tell(Event::Agent { iteration, fact: AgentFact::StopExamined(found) });
    }

    /// The agent hears whether it may stop, and goes on as it is.
    pub(super) fn answer_stop(&mut self, asking: u64, verdict: &StopVerdict) {
        let is_missing = self.is_something_missing();
        let cap = self.scenario.policy.gates.stop_refusals;
        let Some(agent) = self.agent.as_mut().filter(|agent| agent.asks == Some(asking)) else {
            self.witness.broken(format!("an answer to asking {asking}, which nobody waits for"));
            return;
        };
        agent.asks = None;
        match verdict {
            StopVerdict::Allow { why } => {
                if *why == LetGo::Done && is_missing {
                    self.witness.broken(String::from("allowed to stop, but something is missing"));
                }
                self.witness.stops.allowed.insert(format!("{why:?}"));
            }
            StopVerdict::Refuse { summary, .. } => {
                agent.refused += 1;
                let refused = agent.refused;
                self.react();
                self.witness.stops.refused += 1;
                if refused > cap {
                    self.witness.broken(format!("{refused} stops refused, of {cap}"));
                }
                if !is_missing {
                    self.witness.broken(format!("a stop was refused without a reason: {summary}"));
                }
            }
        }
        self.schedule();
    }

    /// What the agent does about a refusal, before it asks again.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whoever else asks only asks again")]
    fn react(&mut self) {
        let mut reds = self.repo.work.reds.clone();
        let commit = || Act::Deed(Deed::Commit(String::from("more")));
        let acts = match self.scenario.persona {
            Persona::StopsRed => {
                reds.pop_last();
                Vec::from([Act::Deed(Deed::Work(reds)), commit(), Act::AskToStop])
            }
            Persona::StopsUncommitted => Vec::from([commit(), Act::AskToStop]),
            _ => Vec::from([Act::AskToStop]),
        };
        let pauses: Vec<u64> = acts.iter().map(|_| self.rng.between(500, 5_000)).collect();
        let Some(Agent { script, .. }) = &mut self.agent else { return };
        for (pause, act) in pauses.into_iter().zip(acts).rev() {
            script.acts.push_front((pause, act));
        }
    }

    /// What the world itself knows of the work.
    fn is_something_missing(&self) -> bool {
        let policy = &self.scenario.policy;
        let forgiven = |red: &u64| {
            policy.gates.baseline == Baseline::Ignore && self.witness.baseline.contains(red)
        };
        let is_red = !self.scenario.gates.is_empty() && !self.repo.work.reds.iter().all(forgiven);
        is_red || self.repo.is_dirty()
    }
}
