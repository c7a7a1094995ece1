//! Many simulated runs, and what they reached.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flyball_core::guard::Rung;
use flyball_core::{GuardKind, Outcome};

use super::{Advice, Persona, Sim, SimReport, Way};

/// What many runs reached.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Runs made.
    pub runs: u64,
    /// Events the governors were told.
    pub events: u64,
    /// How many runs ended in each outcome.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// In how many runs each guard fired.
    pub guards: BTreeMap<GuardKind, u64>,
    /// On which rung each guard fired.
    pub rungs: BTreeMap<(GuardKind, Rung), u64>,
    /// In how many runs each piece of advice reached the agent, and by which way.
    pub advice: BTreeMap<(Advice, Way), u64>,
    /// In how many runs each guard ended an agent builder's loop.
    pub loops: BTreeMap<GuardKind, u64>,
    /// In how many runs each agent was started, by number, and whether to review.
    pub roles: BTreeMap<(bool, u32), u64>,
    /// How many runs each character had.
    pub personas: BTreeMap<Persona, u64>,
    /// Runs in which something was not as it must be: the seed, and what.
    pub failing: Vec<(u64, String)>,
}

impl Coverage {
    /// Guards that never fired.
    pub fn silent_guards(&self) -> Vec<GuardKind> {
        GuardKind::ALL.into_iter().filter(|guard| !self.guards.contains_key(guard)).collect()
    }

    /// Advice that never reached an agent.
    pub fn unheard_advice(&self) -> Vec<Advice> {
        let reached = |advice: Advice| self.advice.keys().any(|(heard, _)| *heard == advice);
        let all = Advice::ALL.into_iter().map(|(advice, _)| advice);
        all.filter(|advice| !reached(*advice)).collect()
    }

    /// Outcomes no run ended in.
    pub fn missing_outcomes(&self) -> Vec<Outcome> {
        // A state folder that is swapped is seen by the shell alone: the escape suite shows it.
        let here = Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::Tampered);
        here.filter(|outcome| !self.outcomes.contains_key(outcome)).collect()
    }

    /// Takes in one run.
    pub fn add(&mut self, report: &SimReport) {
        self.runs += 1;
        self.events += report.events;
        *self.personas.entry(report.persona).or_default() += 1;
        if let Some(outcome) = report.outcome {
            *self.outcomes.entry(outcome).or_default() += 1;
        }
        for guard in &report.guards {
            *self.guards.entry(*guard).or_default() += 1;
        }
        for rung in &report.rungs {
            *self.rungs.entry(*rung).or_default() += 1;
        }
        for heard in &report.advice {
            *self.advice.entry(*heard).or_default() += 1;
        }
        for guard in &report.loops {
            *self.loops.entry(*guard).or_default() += 1;
        }
        for role in &report.roles {
            *self.roles.entry(*role).or_default() += 1;
        }
        if !report.broken.is_empty() {
            let what = format!("{:?}: {}", report.persona, report.broken.join("; "));
            self.failing.push((report.seed, what));
        }
    }
}

/// Runs every seed. A panic of the core is one more failing seed.
pub fn sweep(seeds: impl IntoIterator<Item = u64>) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in seeds {
        match catch_unwind(AssertUnwindSafe(|| Sim::new(seed).run())) {
            Ok(report) => coverage.add(&report),
            Err(_) => coverage.failing.push((seed, String::from("it panicked"))),
        }
    }
    coverage
}
