//! What was seen during a simulated run, and whether it was right.

use std::collections::BTreeSet;

use flyball_core::effect::Ending;

use flyball_core::event::{Spend, StopCause};
use flyball_core::guard::Rung;
use flyball_core::policy::{Baseline, OnTamper};
use flyball_core::{GuardKind, Outcome, Trip};

use super::advice::{Advice, Way, has_next_steps};
use super::misfortune::DEAD_MAX;
use super::persona::Persona;
use super::stops::Stops;
use super::world::World;

/// An agent that was told to stop and has not gone yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopping;

/// What was seen during a run.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is seen or not, whatever the others are")]
pub(crate) struct Witness {
    pub(crate) guards: BTreeSet<GuardKind>,
    pub(crate) rungs: BTreeSet<(GuardKind, Rung)>,
    /// How often the shell was told that the run is over.
    pub(crate) finished: u32,
    /// Iterations whose row was written.
    pub(crate) closed: BTreeSet<u32>,
    /// Tests red before the run, as the gates saw them.
    pub(crate) baseline: BTreeSet<u64>,
    /// Whether the last agent that ended by itself said COMPLETE.
    pub(crate) claimed: bool,
    pub(crate) crashes: u32,
    pub(crate) strays: u32,
    pub(crate) stop_asked: Option<StopCause>,
    pub(crate) shell_failed: bool,
    /// A human wants no further iteration.
    pub(crate) stops_after: bool,
    /// A human's word has not reached an agent.
    pub(crate) word_waits: bool,
    /// The largest single report of tokens and of money.
    largest: Spend,
    /// Spent by agents that were being stopped.
    late: Spend,
    pub(crate) stops: Stops,
    /// What reached the agent.
    pub(crate) advice: BTreeSet<(Advice, Way)>,
    /// Guards that ended an agent builder's loop.
    pub(crate) loops: BTreeSet<GuardKind>,
    /// Who was started, and whether to review.
    pub(crate) roles: BTreeSet<(bool, u32)>,
    pub(crate) broken: Vec<String>,
}

impl Witness {
    /// Something was not as it must be.
    pub(crate) fn broken(&mut self, what: String) {
        if self.broken.len() < 20 {
            self.broken.push(what);
        }
    }

    /// A guard tripped.
    pub(crate) fn tripped(&mut self, trip: &Trip, rung: Rung) {
        self.guards.insert(trip.guard);
        self.rungs.insert((trip.guard, rung));
    }

    /// An agent reported what it used.
    pub(crate) fn spent(&mut self, spend: Spend, stopping: Option<Stopping>) {
        let tokens = |spend: &Spend| spend.input_tokens + spend.output_tokens;
        if tokens(&spend) > tokens(&self.largest) {
            self.largest.input_tokens = spend.input_tokens;
            self.largest.output_tokens = spend.output_tokens;
        }
        self.largest.cost_micro_usd = self.largest.cost_micro_usd.max(spend.cost_micro_usd);
        if stopping.is_some() {
            self.late.input_tokens += tokens(&spend);
            self.late.cost_micro_usd += spend.cost_micro_usd;
        }
    }
}

impl World {
    /// Holds the end of the run against what really happened.
    pub(crate) fn check_ending(&mut self) {
        let Some(ending) = self.ending.clone() else { return };
        let mut problems = Vec::new();
        problems.extend(self.check_limits(&ending));
        problems.extend(self.check_outcome(&ending));
        problems.extend(self.check_time(&ending));
        problems.extend(check_roles(&ending));
        if self.has_agent() && ending.outcome != Outcome::Fault {
            problems.push(format!("an agent still runs after {}", ending.outcome));
        }
        if !has_next_steps(ending.outcome, &ending.next_steps) {
            problems.push(format!("{} says not what to do next", ending.outcome));
        }
        if self.governor.ending() != Some(&ending) {
            problems.push(String::from("the governor tells another ending than it ordered"));
        }
        for problem in problems {
            self.witness.broken(problem);
        }
    }

    /// Limits hold: one report of tokens over at most, and the time it takes to stop an agent.
    fn check_limits(&self, ending: &Ending) -> Vec<String> {
        let (limits, tally) = (&self.scenario.policy.limits, &ending.tally);
        let mut problems = Vec::new();
        if limits.iterations > 0 && tally.iterations > limits.iterations {
            problems.push(format!("{} iterations of {}", tally.iterations, limits.iterations));
        }
        let largest = self.witness.largest;
        let report = largest.input_tokens + largest.output_tokens;
        let tokens = limits.tokens + report + self.witness.late.input_tokens;
        if limits.tokens > 0 && tally.tokens > tokens {
            problems.push(format!("{} tokens of {}", tally.tokens, limits.tokens));
        }
        let cost = flyball_core::iteration::micro_usd(limits.cost_usd);
        let most = cost + largest.cost_micro_usd + self.witness.late.cost_micro_usd;
        if cost > 0 && tally.cost_micro_usd > most {
            problems.push(format!("{} micro-dollars of {cost}", tally.cost_micro_usd));
        }
        // Stopping may take every rung of the ladder; then there is a look, and gates.
        let ladder = limits.stop_grace.get() * 7 + 2_000 + 60_000;
        let runtime = limits.runtime.get();
        if runtime > 0 && tally.runtime_ms > runtime + ladder {
            problems.push(format!("{} ms of {runtime}", tally.runtime_ms));
        }
        problems
    }

    /// The run is over within what its limits add up to.
    fn check_time(&self, ending: &Ending) -> Option<String> {
        let limits = &self.scenario.policy.limits;
        let sessions = u64::from(ending.tally.iterations) + u64::from(self.witness.crashes) + 2;
        let sessions = sessions * (1 + u64::from(self.scenario.crew.fallbacks));
        let session = 2 * limits.iteration_timeout.get() + 2 * limits.wait.get() + 200_000;
        let dead = DEAD_MAX * (u64::from(self.witness.crashes) + 1);
        let most = sessions * session + dead + 2 * self.behind;
        let took = self.elapsed();
        (took > most).then(|| format!("it took {took} ms, more than {most}"))
    }

    fn check_outcome(&self, ending: &Ending) -> Option<String> {
        let (limits, tally) = (&self.scenario.policy.limits, &ending.tally);
        let cost = flyball_core::iteration::micro_usd(limits.cost_usd);
        let is_right = match ending.outcome {
            Outcome::Complete => return self.check_complete(),
            Outcome::CompleteUnverified => {
                let unchecked = self.scenario.gates.is_empty() && self.repo.tasks.is_none();
                unchecked && self.witness.claimed && self.scenario.policy.iterations.trust_claims
            }
            Outcome::MaxIterations => tally.iterations == limits.iterations,
            Outcome::MaxTokens => limits.tokens > 0 && tally.tokens >= limits.tokens,
            Outcome::MaxCost => cost > 0 && tally.cost_micro_usd >= cost,
            Outcome::MaxRuntime => tally.runtime_ms >= limits.runtime.get(),
            Outcome::Interrupted => self.witness.stop_asked == Some(StopCause::Interrupt),
            Outcome::Terminated => self.witness.stop_asked.is_some() || self.witness.stops_after,
            Outcome::Fault => self.witness.shell_failed || self.expects(Outcome::Fault),
            Outcome::Blocked
            | Outcome::Decide
            | Outcome::Stuck
            | Outcome::CircuitBreaker
            | Outcome::QualityRegression
            | Outcome::Thrashing
            | Outcome::ConsecutiveFailures
            | Outcome::ValidationFailure
            | Outcome::RepetitionLoop
            | Outcome::Stalled
            | Outcome::QualityGateExhausted
            | Outcome::Tampered
            | Outcome::AgentNotStarted
            | Outcome::AgentRefused
            | Outcome::UsageLimit => self.expects(ending.outcome),
        };
        (!is_right).then(|| format!("{} has no reason: {}", ending.outcome, ending.why))
    }

    /// Whether this character, in these circumstances, may end like this.
    fn expects(&self, outcome: Outcome) -> bool {
        let persona = self.scenario.persona;
        // Who leaves red tests alone fails every time, in the same files.
        let begins_red = !self.witness.baseline.is_empty();
        let is_red = matches!(outcome, Outcome::CircuitBreaker | Outcome::Thrashing);
        // A limit lasts longer when flyball died in between or the clock went back.
        let is_limited = matches!(persona, Persona::Limited | Persona::LimitedBlindly);
        let delayed = self.witness.crashes > 0 || self.behind > 0;
        let waited = is_limited && delayed && outcome == Outcome::UsageLimit;
        persona.outcomes().contains(&outcome) || (begins_red && is_red) || waited
    }

    /// What the world itself knows about being done.
    fn check_complete(&self) -> Option<String> {
        let stories = self.repo.stories();
        let policy = &self.scenario.policy;
        let open = stories.iter().find(|story| !self.repo.finished.contains(*story));
        if let Some(open) = open {
            return Some(format!("complete, but {open} was never finished by the rules"));
        }
        if stories.is_empty() && !self.witness.claimed {
            return Some(String::from("complete, but nobody said so and there are no stories"));
        }
        if stories.is_empty() && self.scenario.gates.is_empty() {
            return Some(String::from("complete, but nothing could have checked it"));
        }
        let forgiven = |red: &u64| {
            policy.gates.baseline == Baseline::Ignore && self.witness.baseline.contains(red)
        };
        if !self.scenario.gates.is_empty() && !self.repo.work.reds.iter().all(forgiven) {
            return Some(format!("complete, but {:?} are red", self.repo.work.reds));
        }
        if self.repo.is_dirty() {
            return Some(String::from("complete, but something is not committed"));
        }
        let weakened = self.repo.work.weakened && !self.scenario.gates.is_empty();
        (weakened && policy.gates.on_tamper != OnTamper::Report)
            .then(|| String::from("complete, but a test was weakened"))
    }
}

/// What the roles used is what the run used.
fn check_roles(ending: &Ending) -> Option<String> {
    let tokens: u64 = ending.roles.iter().map(|role| role.tokens).sum();
    let cost: u64 = ending.roles.iter().map(|role| role.cost_micro_usd).sum();
    let (all, all_cost) = (ending.tally.tokens, ending.tally.cost_micro_usd);
    ((tokens, cost) != (all, all_cost))
        .then(|| format!("roles used {tokens} tokens and {cost}, the run {all} and {all_cost}"))
}
