//! The circumstances of a simulated run: limits, gates, stories, and what goes wrong when.

use std::collections::BTreeSet;

use flyball_core::event::{AgentTraits, CallRecord, HumanFiles, StopCause};
use flyball_core::human::{HumanWish, LimitChange};
use flyball_core::policy::{
    Baseline, OnBlocked, OnSessionHalt, OnStuck, OnTamper, Policy, Preset, Progress, Rules,
};
use flyball_core::{GateName, Millis};

use super::persona::Persona;
use super::repo::{Chained, TESTS, open_stories};
use super::rng::Rng;

/// The agent after the configured one goes on when that cannot; this one reviews.
pub(crate) const REVIEWER: u32 = 2;
/// This one helps before a guard ends the run; it is the last.
pub(crate) const HELPER: u32 = 3;

/// The circumstances of one run.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) persona: Persona,
    pub(crate) policy: Policy,
    pub(crate) gates: Vec<GateName>,
    pub(crate) tasks: Option<String>,
    /// Tests red before the run.
    pub(crate) reds: BTreeSet<u64>,
    pub(crate) human_files: HumanFiles,
    pub(crate) traits: AgentTraits,
    pub(crate) crew: Crew,
    pub(crate) faults: Faults,
}

/// Who else there is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crew {
    /// How many agents go on when one cannot: the first ones after the configured one.
    pub(crate) fallbacks: u32,
    /// The agent that reviews.
    pub(crate) review: Option<u32>,
    /// The agent that helps before a guard ends the run.
    pub(crate) rescue: Option<u32>,
}

impl Crew {
    fn random(persona: Persona, rng: &mut Rng) -> Self {
        let helps = rng.chance(15) || persona == Persona::Rescued;
        let (fallbacks, reviews) = (u32::from(rng.chance(20)), rng.chance(30));
        let (review, rescue) = (reviews.then_some(REVIEWER), helps.then_some(HELPER));
        Self { fallbacks, review, rescue }
    }
}

/// What goes wrong, by the number of the event it happens at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    /// flyball dies.
    pub(crate) crashes: BTreeSet<u64>,
    /// A human asks the run to end.
    pub(crate) stop: Option<(u64, StopCause)>,
    /// The shell fails for good.
    pub(crate) shell: Option<u64>,
    /// The clock goes backwards by this much.
    pub(crate) clock: Option<(u64, u64)>,
    /// Every how many events a stray one comes.
    pub(crate) strays: Option<u64>,
    /// A human says something in between.
    pub(crate) wish: Option<(u64, HumanWish)>,
    /// A human goes on with the run after it has ended badly.
    pub(crate) comeback: Option<Comeback>,
}

/// A human goes on with an ended run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comeback;

impl Scenario {
    /// Random circumstances.
    pub(crate) fn random(persona: Persona, rng: &mut Rng) -> Self {
        let rules = random_rules(rng);
        let mut scenario = Self::with(persona, rules, rng);
        scenario.faults = random_faults(rng);
        scenario
    }

    /// The defaults of flyball, a green beginning, and nothing goes wrong.
    pub(crate) fn calm(persona: Persona, rng: &mut Rng) -> Self {
        let mut rules = Policy::default().into_rules();
        // Room for every review.
        rules.limits.iterations = 60;
        let mut scenario = Self::with(persona, rules, rng);
        let begins_red =
            [Persona::Thrasher, Persona::Improver, Persona::StoryByStory, Persona::Uncoverer];
        if !begins_red.contains(&persona) {
            scenario.reds.clear();
        }
        let rescue = (persona == Persona::Rescued).then_some(HELPER);
        scenario.crew = Crew { rescue, ..Crew::default() };
        scenario
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "everyone else takes what comes")]
    fn with(persona: Persona, mut rules: Rules, rng: &mut Rng) -> Self {
        let mut gates = Vec::from([GateName::new("tests")]);
        if rng.chance(40) {
            gates.push(GateName::new("lint"));
        }
        let chained = if rng.chance(30) { Chained::Yes } else { Chained::No };
        let mut tasks = rng.chance(75).then(|| open_stories(rng.small(1, 3), chained));
        if tasks.is_some() && rng.chance(15) {
            gates.clear();
        }
        let mut reds = BTreeSet::new();
        if rng.chance(20) {
            reds.extend((0..rng.between(1, 4)).map(|_| rng.below(TESTS)));
        }
        let mut human_files = HumanFiles::default();
        fit(persona, &mut rules, rng);
        match persona {
            Persona::HonestWithReview | Persona::SelfApprover | Persona::StoryRemover => {
                let count = rng.small(1, 3);
                tasks = Some(open_stories(count, chained));
            }
            Persona::Lying | Persona::Revisiter | Persona::TaskCycler | Persona::Blocker => {
                let count = rng.small(2, 3);
                tasks = Some(open_stories(count, Chained::No));
            }
            Persona::Tamperer
            | Persona::RedMaker
            | Persona::Regressor
            | Persona::StopsRed
            | Persona::StopsUncommitted
            | Persona::StopsAgain => {
                gates = Vec::from([GateName::new("tests")]);
                reds.clear();
            }
            Persona::Thrasher | Persona::Improver => {
                gates = Vec::from([GateName::new("tests")]);
                reds = (0..4).collect();
            }
            Persona::Trusted => {
                gates.clear();
                tasks = None;
            }
            Persona::StoryByStory => {
                gates = Vec::from([GateName::new("tests")]);
                tasks = Some(open_stories(4, Chained::No));
                reds = BTreeSet::from([7]);
            }
            Persona::Uncoverer => {
                gates = Vec::from([GateName::new("tests")]);
                tasks = Some(open_stories(1, Chained::No));
                reds = BTreeSet::from([0]);
            }
            Persona::Rescued => tasks = Some(open_stories(1, Chained::No)),
            Persona::Hopeless => {
                gates.clear();
                tasks = None;
                hopeless(&mut tasks, &mut human_files, rng);
            }
            _ => {}
        }
        let policy = Policy::new(rules).unwrap_or_default();
        let traits = random_traits(rng);
        let faults = Faults::default();
        let crew = Crew::random(persona, rng);
        Self { persona, policy, gates, tasks, reds, human_files, traits, crew, faults }
    }
}

/// What the agent can be told, and what it shows.
fn random_traits(rng: &mut Rng) -> AgentTraits {
    let steerable = rng.chance(50);
    let record = if rng.chance(50) { CallRecord::Stream } else { CallRecord::Questions };
    AgentTraits { steerable, record, ..AgentTraits::default() }
}

/// Something no agent can work with.
fn hopeless(tasks: &mut Option<String>, human_files: &mut HumanFiles, rng: &mut Rng) {
    match rng.below(4) {
        0 => *tasks = Some(String::from("{ no JSON")),
        1 => human_files.blocked = Some(String::from("no key")),
        2 => human_files.question = Some(String::from("which?")),
        _ => return,
    }
    if tasks.is_none() {
        *tasks = Some(open_stories(1, Chained::No));
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "everyone else takes what comes")]
/// Limits this character needs to be interesting.
fn fit(persona: Persona, rules: &mut Rules, rng: &mut Rng) {
    match persona {
        Persona::Honest => rules.review.enabled = rules.review.enabled && rng.chance(30),
        Persona::HonestWithReview | Persona::SelfApprover => rules.review.enabled = true,
        Persona::TokenSpender => rules.limits.tokens = rng.between(1_000, 50_000),
        Persona::MoneySpender => {
            rules.limits.cost_usd = f64::from(rng.small(1, 500)) / 100.0;
        }
        Persona::Sleeper => rules.limits.runtime = Millis::from_secs(rng.between(600, 14_400)),
        Persona::Trusted => rules.iterations.trust_claims = true,
        // One failure alone is enough for some limits.
        Persona::CancelledSiblings => rules.calls.max_consecutive_failures += 1,
        // What the breaker lets pass must not be ended by a guard that counts otherwise.
        Persona::StoryByStory | Persona::Uncoverer => {
            rules.review.enabled = false;
            rules.iterations.thrashing = 50;
        }
        // One iteration of another agent is then enough.
        Persona::Rescued => rules.review.enabled = false,
        Persona::Unmetered => rules.limits.tokens = rng.between(1_000, 20_000),
        Persona::Hopeless => rules.iterations.trust_claims = false,
        Persona::LapRunner | Persona::OldCallShuffler | Persona::Reapplier => {
            rules.calls.account = true;
        }
        _ => {}
    }
}

fn random_rules(rng: &mut Rng) -> Rules {
    let mut rules = Policy::default().into_rules();
    let limits = &mut rules.limits;
    limits.iterations = rng.pick(15, &[0, 1, 3, 8, 30]);
    limits.stuck = rng.small(1, 6);
    limits.runtime = Millis::from_secs(rng.pick(14_400, &[36_000, 3_600]));
    if limits.iterations > 0 && rng.chance(20) {
        limits.runtime = Millis::ZERO;
    }
    limits.iteration_timeout = Millis::from_secs(rng.between(300, 3_600));
    limits.stall_after = Millis::from_secs(rng.pick(600, &[0, 30, 7_200]));
    limits.wait = Millis::from_secs(rng.between(600, 21_600));
    limits.stop_grace = Millis::from_secs(rng.between(1, 10));
    let calls = &mut rules.calls;
    calls.nudge_after = rng.small(2, 4);
    calls.refuse_after = rng.small(4, 7);
    calls.max_refusals = rng.small(1, 3);
    calls.max_validation_failures = rng.small(1, 4);
    calls.max_consecutive_failures = rng.small(1, 6);
    calls.nudge_after_success = rng.small(2, 4);
    calls.account = rng.chance(80);
    let iterations = &mut rules.iterations;
    iterations.circuit_breaker = rng.pick(3, &[1, 2, 6, 12]);
    iterations.regression_window = rng.small(2, 5);
    iterations.thrashing = rng.small(3, 6);
    iterations.gate_refusals = rng.small(1, 5);
    iterations.on_session_halt = rng.pick(OnSessionHalt::Restart, &[OnSessionHalt::Stop]);
    iterations.progress = rng.pick(Progress::Commit, &[Progress::Tree]);
    iterations.on_stuck = rng.pick(OnStuck::Halt, &[OnStuck::Next]);
    iterations.on_blocked = rng.pick(OnBlocked::Halt, &[OnBlocked::Next]);
    let preset = rng.pick(Preset::Recommended, &[Preset::Conservative, Preset::Aggressive]);
    rules.tasks = rules.tasks.with_preset(preset);
    rules.review.enabled = rng.chance(50);
    rules.review.cap = rng.small(1, 5);
    rules.gates.on_tamper = rng.pick(OnTamper::Ask, &[OnTamper::Refuse, OnTamper::Report]);
    rules.gates.stop_refusals = rng.small(1, 4);
    rules.gates.baseline = rng.pick(Baseline::Block, &[Baseline::Block, Baseline::Ignore]);
    rules
}

/// What a human says in between.
fn random_wish(rng: &mut Rng) -> HumanWish {
    match rng.below(4) {
        0 => HumanWish::StopAfterIteration,
        1 => {
            let iterations = LimitChange::Iterations(rng.small(1, 30));
            let grace = LimitChange::StopGrace(Millis::from_secs(rng.between(0, 10)));
            HumanWish::ChangeLimits { limits: Vec::from([iterations, grace]) }
        }
        _ => HumanWish::Tell { text: String::from("use the other door") },
    }
}

fn random_faults(rng: &mut Rng) -> Faults {
    let mut faults = Faults::default();
    if rng.chance(40) {
        return faults;
    }
    if rng.chance(40) {
        faults.crashes = (0..rng.between(1, 3)).map(|_| rng.between(2, 80)).collect();
    }
    if rng.chance(12) {
        let cause = rng.pick(StopCause::Interrupt, &[StopCause::Terminate, StopCause::Command]);
        faults.stop = Some((rng.between(1, 60), cause));
    }
    if rng.chance(4) {
        faults.shell = Some(rng.between(1, 60));
    }
    if rng.chance(15) {
        faults.clock = Some((rng.between(1, 60), rng.between(1, 7_200_000)));
    }
    if rng.chance(50) {
        faults.strays = Some(rng.between(3, 12));
    }
    faults.comeback = rng.chance(20).then_some(Comeback);
    if rng.chance(25) {
        faults.wish = Some((rng.between(1, 60), random_wish(rng)));
    }
    faults
}
