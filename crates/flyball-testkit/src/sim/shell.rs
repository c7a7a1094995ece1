//! The shell of the closed world: every order is performed, by an agent as it obeys.

use flyball_core::IterationNo;
use flyball_core::effect::{Effect, Force, Notice};
use flyball_core::event::AgentFact;
use flyball_core::tasklist::Mode;

use super::persona::Persona;
use super::scenario::{Crew, Scenario};
use super::script::{Act, Stage, script};
use super::world::{Agent, Happening, World};

impl World {
    pub(super) fn perform(&mut self, effect: Effect) {
        if self.ending.is_some() {
            self.witness.broken(format!("an order after the end: {effect:?}"));
        }
        match effect {
            Effect::StartAgent { iteration, mode, task, agent, .. } => {
                let task = task.map(|task| String::from(task.as_str()));
                self.start(iteration, mode, task, agent);
            }
            Effect::StopAgent { iteration, force } => self.stop(iteration, force),
            Effect::SnapshotWorktree { iteration } => {
                let pause = self.rng.between(1, 2_000);
                self.later(pause, Happening::Look(iteration));
            }
            Effect::RunGates { iteration, tree, .. } => {
                let pause = self.rng.between(1, 60_000);
                self.later(pause, Happening::Gates(iteration, tree));
            }
            Effect::AnswerDoor { question, .. } => self.answered = Some(question),
            Effect::ExamineStop { asking, ticket, .. } => self.examine(asking, ticket),
            Effect::AnswerStop { asking, verdict, .. } => self.answer_stop(asking, &verdict),
            Effect::SetTimer { timer, iteration, at } => {
                self.timers.insert(timer, (iteration, at));
            }
            Effect::Announce(Notice::Tripped { trip, rung }) => self.witness.tripped(&trip, rung),
            Effect::Announce(Notice::WordOnItsWay { .. }) => self.witness.word_waits = false,
            Effect::FinishRun(ending) => {
                self.witness.finished += 1;
                self.ending = Some(ending);
            }
            other @ (Effect::WriteTasks { .. }
            | Effect::WriteBlocked { .. }
            | Effect::WriteDecide { .. }
            | Effect::RemoveDecide
            | Effect::CloseIteration(_)
            | Effect::RecordAttempt(_)
            | Effect::RecordContext(_)
            | Effect::MarkTask { .. }
            | Effect::KeepTamper { .. }
            | Effect::SteerAgent { .. }
            | Effect::AnswerHuman { .. }
            | Effect::Announce(_)) => self.perform_durable(other),
        }
    }

    /// Orders that outlive a crash: they are performed again when flyball may have died before.
    pub(crate) fn perform_durable(&mut self, effect: Effect) {
        match effect {
            Effect::WriteTasks { text } => self.repo.repair(text),
            Effect::WriteBlocked { reason } => self.human_files.blocked = Some(reason),
            Effect::WriteDecide { question, .. } => self.human_files.question = Some(question),
            Effect::RemoveDecide => {
                self.human_files.question = None;
                self.human_files.answer = None;
            }
            Effect::CloseIteration(report) => {
                self.witness.closed.insert(report.iteration.get());
            }
            Effect::RecordAttempt(_)
            | Effect::RecordContext(_)
            | Effect::MarkTask { .. }
            | Effect::KeepTamper { .. }
            | Effect::StartAgent { .. }
            | Effect::SteerAgent { .. }
            | Effect::AnswerDoor { .. }
            | Effect::AnswerHuman { .. }
            | Effect::ExamineStop { .. }
            | Effect::AnswerStop { .. }
            | Effect::StopAgent { .. }
            | Effect::SnapshotWorktree { .. }
            | Effect::RunGates { .. }
            | Effect::SetTimer { .. }
            | Effect::Announce(_)
            | Effect::FinishRun(_) => {}
        }
    }

    fn start(&mut self, iteration: IterationNo, mode: Mode, task: Option<String>, agent: u32) {
        if self.witness.stops_after {
            self.witness.broken(format!("iteration {iteration} began against a human's wish"));
        }
        if self.witness.word_waits {
            self.witness.broken(format!("iteration {iteration} began without a human's word"));
        }
        if self.agent.is_some() {
            self.witness.broken(format!("two agents at once in iteration {iteration}"));
        }
        self.check_role(mode, agent);
        if self.scenario.persona == Persona::NotStartable {
            self.later(5, Happening::NotStarted(iteration));
            return;
        }
        let stage = Stage {
            persona: self.scenario.persona,
            policy: &self.scenario.policy,
            repo: &self.repo,
            wall: self.wall(),
            session: self.lives,
            quirk: self.quirk,
            agent,
        };
        let mut script = script(&stage, &mut self.rng);
        let pid = Some(4711);
        script.acts.push_front((20, Act::Fact(AgentFact::Started { pid })));
        self.lives += 1;
        let life = self.lives;
        let (next_in_tail, is_dying, was_told_to_stop) = (0, false, false);
        self.agent = Some(Agent {
            life,
            iteration,
            mode,
            task,
            script,
            next_in_tail,
            is_dying,
            was_told_to_stop,
            refused: 0,
            asks: None,
        });
        self.schedule();
    }

    /// Who takes an iteration is who has that role.
    fn check_role(&mut self, mode: Mode, agent: u32) {
        let Scenario { persona, crew, .. } = &self.scenario;
        let Crew { fallbacks, review, rescue } = *crew;
        let is_whole = matches!(persona, Persona::Honest | Persona::HonestWithReview);
        let reviews = review == Some(agent);
        let works = agent <= fallbacks || rescue == Some(agent);
        // A reviewer that cannot work is replaced; these characters always can.
        let is_wrong = match mode {
            Mode::Review => is_whole && review.is_some() && !reviews && rescue != Some(agent),
            Mode::Implement | Mode::ReviewFix => !works,
        };
        if is_wrong || (mode == Mode::Review && !reviews && !works) {
            self.witness.broken(format!("agent {agent} took an iteration to {mode:?}"));
        }
        self.witness.roles.insert((mode == Mode::Review, agent));
    }

    fn stop(&mut self, iteration: IterationNo, force: Force) {
        let Some(agent) = &mut self.agent else { return };
        if agent.iteration != iteration {
            self.witness
                .broken(format!("iteration {iteration} was to be stopped, not the running"));
            return;
        }
        agent.was_told_to_stop = true;
        let obeys = agent.script.obeys.is_some_and(|least| force >= least);
        if obeys && !agent.is_dying {
            agent.is_dying = true;
            let life = agent.life;
            let pause = self.rng.between(1, 900);
            self.later(pause, Happening::Gone(life));
        }
    }
}
