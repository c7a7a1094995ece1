//! A closed world in which the governor meets every kind of agent and every kind of misfortune.
//!
//! Everything follows from one seed: who the agent is, which limits hold, what goes wrong and when.
//! Nothing here reads a clock, a file or a random device, so a seed that fails once fails always:
//!
//! ```
//! use flyball_testkit::sim::Sim;
//!
//! let report = Sim::new(42).run();
//! assert!(report.broken.is_empty(), "{report:?}");
//! assert_eq!(report, Sim::new(42).run());
//! ```

mod advice;
mod builder;
mod coverage;
mod misfortune;
mod persona;
mod repo;
mod rng;
mod scenario;
mod script;
mod shell;
mod stops;
mod witness;
mod world;

use std::collections::BTreeSet;

use flyball_core::guard::Rung;
use flyball_core::{Event, GuardKind, Moment, Outcome};

pub use self::advice::{Advice, Way};
pub use self::coverage::{Coverage, sweep};
pub use self::persona::Persona;
pub(crate) use self::rng::Rng;
use self::scenario::Scenario;
pub use self::stops::Stops;
use self::world::World;

/// One simulated run, not yet begun.
#[derive(Clone, Debug)]
pub struct Sim {
    seed: u64,
    rng: Rng,
    scenario: Scenario,
}

impl Sim {
    /// The run that follows from this seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let first = Persona::Honest;
        let persona = rng.pick(first, Persona::ALL.get(1..).unwrap_or(&[]));
        let scenario = Scenario::random(persona, &mut rng);
        Self { seed, rng, scenario }
    }

    /// A run of this character under flyball's defaults in which nothing goes wrong.
    pub fn calm(persona: Persona, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let scenario = Scenario::calm(persona, &mut rng);
        Self { seed, rng, scenario }
    }

    /// Runs to the end.
    pub fn run(self) -> SimReport {
        self.run_with_journal().0
    }

    /// Runs to the end and hands out every event with its moment.
    pub fn run_with_journal(self) -> (SimReport, Vec<(Moment, Event)>) {
        let Self { seed, rng, scenario } = self;
        let persona = scenario.persona;
        let comeback = scenario.faults.comeback;
        let mut world = World::new(scenario, rng);
        world.begin();
        world.live();
        world.check_ending();
        let goes_on = world.ending.as_ref().is_some_and(|ending| !ending.outcome.is_success());
        if comeback.is_some() && goes_on {
            world.come_back();
            world.live();
            world.check_ending();
        }
        if world.ending.is_some() {
            world.check_silence();
        }
        if world.witness.finished != 1 {
            let times = world.witness.finished;
            world.witness.broken(format!("the run ended {times} times"));
        }
        let ending = world.ending.as_ref();
        let report = SimReport {
            seed,
            persona,
            outcome: ending.map(|ending| ending.outcome),
            iterations: ending.map_or(0, |ending| ending.tally.iterations),
            events: world.events(),
            virtual_ms: world.elapsed(),
            crashes: world.witness.crashes,
            guards: world.witness.guards.clone(),
            stops: world.witness.stops.clone(),
            rungs: world.witness.rungs.clone(),
            advice: world.witness.advice.clone(),
            loops: world.witness.loops.clone(),
            roles: world.witness.roles.clone(),
            broken: world.witness.broken.clone(),
        };
        (report, world.journal)
    }
}

/// What a simulated run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimReport {
    /// The seed it follows from.
    pub seed: u64,
    /// Who the agent was.
    pub persona: Persona,
    /// How it ended; none when it did not.
    pub outcome: Option<Outcome>,
    /// Iterations counted.
    pub iterations: u32,
    /// Events the governor was told.
    pub events: u64,
    /// How long it took on the virtual clock.
    pub virtual_ms: u64,
    /// How often flyball died.
    pub crashes: u32,
    /// Guards that fired.
    pub guards: BTreeSet<GuardKind>,
    /// Why agents that asked were allowed to stop, and how many stops were refused.
    pub stops: Stops,
    /// On which rungs of the ladder.
    pub rungs: BTreeSet<(GuardKind, Rung)>,
    /// What reached the agent, and by which way.
    pub advice: BTreeSet<(Advice, Way)>,
    /// Guards that ended an agent builder's loop.
    pub loops: BTreeSet<GuardKind>,
    /// Who was started, by number, and whether to review.
    pub roles: BTreeSet<(bool, u32)>,
    /// What was not as it must be; empty when all is well.
    pub broken: Vec<String>,
}
