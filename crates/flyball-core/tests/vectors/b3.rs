//! B3: stuck, played through a whole run.

use flyball_core::claim::ClaimReading;
use flyball_core::event::{
    AgentFact, AgentTraits, Exit, ExitHow, HumanFiles, RunStart, TasksSnapshot, Timer,
    WorktreeSnapshot,
};
use flyball_core::{Event, Governor, IterationNo, Millis, Moment, Outcome, Policy, RunId};
use serde::Deserialize;

use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    max_stuck: u32,
    #[serde(default)]
    max_iterations: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    outcome: Option<Outcome>,
    at: Option<usize>,
    exit: Option<u8>,
    counts: Option<Vec<u32>>,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let steps: Vec<String> = vector.input();
    let expect: Expect = vector.expect();
    let mut run = Run::begin(&config);
    let mut counts = Vec::new();
    let mut ended_at = None;
    for (number, step) in (1..).zip(&steps) {
        run.iterate(step);
        counts.push(run.governor.standing().unwrap().stuck);
        ended_at = ended_at.or_else(|| run.governor.ending().map(|_| number));
    }
    let outcome = run.governor.ending().map(|ending| ending.outcome);
    vector.same(outcome, expect.outcome);
    if expect.at.is_some() {
        vector.same(ended_at, expect.at);
    }
    if expect.exit.is_some() {
        vector.same(outcome.map(Outcome::exit_code), expect.exit);
    }
    if let Some(expected) = expect.counts {
        vector.same(counts, expected);
    }
}

struct Run {
    governor: Governor,
    now: Moment,
    head: u32,
    tree: String,
}

impl Run {
    fn begin(config: &Config) -> Self {
        let mut rules = Policy::default().into_rules();
        rules.limits.stuck = config.max_stuck;
        rules.limits.iterations = config.max_iterations;
        let (now, tree) = (Moment::from_millis(1_000), String::from("start"));
        let mut run = Self { governor: Governor::new(), now, head: 0, tree };
        let start = RunStart {
            run: RunId::new("r"),
            policy: Policy::new(rules).unwrap(),
            gates: Vec::new(),
            snapshot: run.snapshot(),
            human_files: HumanFiles::default(),
            memory: flyball_core::task::TaskMemory::default(),
            agent: AgentTraits::default(),
            other_agents: Vec::new(),
            fallbacks: 0,
            rescue: None,
            agent_names: Vec::new(),
            review: None,
            request: None,
        };
        run.tell(&Event::RunStarted(Box::new(start)));
        run
    }

    fn tell(&mut self, event: &Event) {
        self.governor.step(self.now, event);
    }

    /// One iteration that leaves nothing, a commit, this tree, or a usage limit.
    fn iterate(&mut self, step: &str) {
        let iteration = self.governor.standing().unwrap().iteration;
        match step {
            "none" => {}
            "wait" => return self.wait(iteration),
            "commit" => self.commit(format!("new {}", self.head)),
            tree => self.commit(tree.strip_prefix("tree:").unwrap().into()),
        }
        self.exit(iteration);
    }

    fn commit(&mut self, tree: String) {
        self.head += 1;
        self.tree = tree;
    }

    fn wait(&mut self, iteration: IterationNo) {
        let fact = AgentFact::HitLimit { resets_at: None, message: "limit".into() };
        self.tell(&Event::Agent { iteration, fact });
        self.exit(iteration);
        self.now = self.now.plus(Millis::from_secs(3_600));
        self.tell(&Event::TimerFired { timer: Timer::Wait, iteration });
    }

    fn exit(&mut self, iteration: IterationNo) {
        let (how, claims) = (ExitHow::Code(0), ClaimReading::default());
        let fact = AgentFact::Exited(Exit { how, claims, last_words: String::new() });
        self.tell(&Event::Agent { iteration, fact });
        let snapshot = Box::new(self.snapshot());
        self.tell(&Event::WorktreeSeen { iteration, snapshot });
    }

    fn snapshot(&self) -> WorktreeSnapshot {
        let text = r#"{"userStories": [{"id": "a", "title": "a"}]}"#.into();
        WorktreeSnapshot {
            head: Some(self.head.to_string()),
            code_tree: self.tree.clone(),
            progress_tree: self.tree.clone(),
            checkpoint_tree: self.tree.clone(),
            tasks: TasksSnapshot::Found { text },
            ..WorktreeSnapshot::default()
        }
    }
}
