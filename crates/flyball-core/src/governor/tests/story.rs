//! A small world that obeys: it answers every order at once.

use std::boxed::Box;
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::Governor;
use crate::call::{ToolCall, ToolOutcome, ToolResult};
use crate::claim::{ClaimReading, read_structured};
use crate::effect::{Effect, Ending, IterationReport, Notice};
use crate::event::{
    AgentFact, AgentTraits, Commit, Event, Exit, ExitHow, HumanFiles, Resume, RunStart,
    StopExamined, TasksSnapshot, WorktreeSnapshot,
};
use crate::gate::{
    Check, CheckStatus, Counts, Executed, Finding, FindingKind, GateResult, TamperSight,
};
use crate::guard::GuardKind;
use crate::guard::Rung;
use crate::id::{CallId, GateName, IterationNo, RunId};
use crate::moment::{Millis, Moment};
use crate::outcome::Outcome;
use crate::policy::{Policy, Rules};
use crate::task::TaskMemory;

/// What an agent does in one iteration.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) facts: Vec<AgentFact>,
    /// The tree it commits.
    pub(super) commit: Option<String>,
    pub(super) subject: String,
    /// The tree it leaves uncommitted.
    pub(super) dirty: Option<String>,
    pub(super) tasks: Option<String>,
    pub(super) says: String,
    pub(super) exit: ExitHow,
    pub(super) takes: Millis,
}

impl Default for Act {
    fn default() -> Self {
        Self {
            facts: Vec::new(),
            commit: None,
            subject: String::from("work"),
            dirty: None,
            tasks: None,
            says: String::new(),
            exit: ExitHow::Code(0),
            takes: Millis::from_secs(60),
        }
    }
}

impl Act {
    pub(super) fn idle() -> Self {
        Self::default()
    }

    pub(super) fn says(words: &str) -> Self {
        Self { says: words.into(), ..Self::default() }
    }

    #[expect(clippy::needless_pass_by_value, reason = "numbers and words alike are trees")]
    pub(super) fn commits(tree: impl ToString) -> Self {
        Self { commit: Some(tree.to_string()), ..Self::default() }
    }

    pub(super) fn dies() -> Self {
        Self { exit: ExitHow::Code(1), ..Self::default() }
    }

    pub(super) fn with(mut self, fact: AgentFact) -> Self {
        self.facts.push(fact);
        self
    }

    pub(super) fn and_says(mut self, words: &str) -> Self {
        self.says = words.into();
        self
    }

    pub(super) fn and_tasks(mut self, tasks: impl Into<String>) -> Self {
        self.tasks = Some(tasks.into());
        self
    }
}

/// The same call with the same result, `times` times.
pub(super) fn repeats(times: usize) -> Vec<AgentFact> {
    let args = serde_json::json!({"path": "a.rs"});
    let call = |n: usize| {
        let id = CallId::new(n.to_string());
        AgentFact::CalledTool(ToolCall::new(id, "read_file", &args, &Policy::default().calls))
    };
    let result = |n: usize| {
        let id = CallId::new(n.to_string());
        AgentFact::ToolReturned(ToolResult::new(id, ToolOutcome::Ok, "same"))
    };
    (0..times).flat_map(|n| [call(n), result(n)]).collect()
}

/// The red tests of a tree; a tree nobody mentions is green.
pub(super) type Reds = fn(&str) -> Vec<&'static str>;

pub(super) struct Story {
    pub(super) governor: Governor,
    pub(super) now: Moment,
    pub(super) journal: Vec<(Moment, Event)>,
    pub(super) notices: Vec<Notice>,
    pub(super) reports: Vec<IterationReport>,
    pub(super) briefings: Vec<String>,
    pub(super) effects: Vec<Effect>,
    pub(super) tasks: Option<String>,
    pub(super) human_files: HumanFiles,
    pub(super) memory: TaskMemory,
    pub(super) agent: AgentTraits,
    pub(super) other_agents: Vec<AgentTraits>,
    pub(super) fallbacks: u32,
    pub(super) rescue: Option<u32>,
    pub(super) review: Option<u32>,
    /// What was asked for on the command line.
    pub(super) request: Option<String>,
    rules: Rules,
    gates: Vec<GateName>,
    pub(super) reds: Reds,
    /// The files the gate changes on a tree.
    pub(super) edits: fn(&str) -> Vec<String>,
    tamper: Vec<Finding>,
    /// What is weakened in a tree.
    pub(super) sights: fn(&str) -> TamperSight,
    /// How many tests a tree runs.
    pub(super) ran: fn(&str) -> Option<u64>,
    head: u32,
    tree: String,
    is_dirty: bool,
    alive: Option<IterationNo>,
    /// Looks at the worktree never come to an end.
    pub(super) blind: bool,
    /// Made by the agent, not yet seen.
    commits: Vec<Commit>,
}

impl Story {
    pub(super) fn new() -> Self {
        Self {
            governor: Governor::new(),
            now: Moment::from_millis(1_000_000),
            journal: Vec::new(),
            notices: Vec::new(),
            reports: Vec::new(),
            briefings: Vec::new(),
            effects: Vec::new(),
            tasks: None,
            human_files: HumanFiles::default(),
            memory: TaskMemory::default(),
            agent: AgentTraits { steerable: true, ..AgentTraits::default() },
            other_agents: Vec::new(),
            fallbacks: 0,
            rescue: None,
            review: None,
            request: None,
            rules: Policy::default().into_rules(),
            gates: Vec::new(),
            reds: |_| Vec::new(),
            edits: |_| Vec::new(),
            tamper: Vec::new(),
            sights: |_| TamperSight::default(),
            ran: |_| None,
            head: 0,
            tree: String::from("start"),
            is_dirty: false,
            alive: None,
            blind: false,
            commits: Vec::new(),
        }
    }

    pub(super) fn rules(mut self, change: impl FnOnce(&mut Rules)) -> Self {
        change(&mut self.rules);
        self
    }

    /// Only streaks of the same call are looked for.
    pub(super) fn alone_with_streaks(&mut self) {
        self.rules.calls.account = false;
    }

    pub(super) fn tasks(mut self, text: impl Into<String>) -> Self {
        self.tasks = Some(text.into());
        self
    }

    pub(super) fn gate(mut self, reds: Reds) -> Self {
        self.gates = Vec::from([GateName::new("tests")]);
        self.reds = reds;
        self
    }

    pub(super) fn tampered(mut self, message: &str) -> Self {
        self.tamper = Vec::from([Finding::new(FindingKind::Tamper, message)]);
        self
    }

    pub(super) fn policy(&self) -> Policy {
        Policy::new(self.rules.clone()).unwrap()
    }

    pub(super) fn start(&mut self) {
        let start = self.clone_start();
        self.tell(start);
    }

    /// The event a run begins with.
    pub(super) fn clone_start(&self) -> Event {
        let start = RunStart {
            run: RunId::new("run"),
            policy: self.policy(),
            gates: self.gates.clone(),
            snapshot: self.snapshot(Vec::new()),
            human_files: self.human_files.clone(),
            memory: self.memory.clone(),
            agent: self.agent,
            other_agents: self.other_agents.clone(),
            fallbacks: self.fallbacks,
            rescue: self.rescue,
            agent_names: Vec::new(),
            review: self.review,
            request: self.request.clone(),
        };
        Event::RunStarted(Box::new(start))
    }

    /// Runs to the end with what the agent does in each iteration.
    pub(super) fn run(&mut self, mut act: impl FnMut(u32) -> Act) -> Outcome {
        self.start();
        for _ in 0..200 {
            let Some(iteration) = self.alive else { break };
            self.perform(iteration, act(iteration.get()));
        }
        self.ending().outcome
    }

    pub(super) fn ending(&self) -> &Ending {
        self.governor.ending().expect("the run has ended")
    }

    pub(super) fn iterations(&self) -> u32 {
        self.governor.standing().unwrap().tally.iterations
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "trips are looked for")]
    pub(super) fn tripped(&self, guard: GuardKind) -> Vec<Rung> {
        let rung = |notice: &Notice| match notice {
            Notice::Tripped { trip, rung } if trip.guard == guard => Some(*rung),
            _ => None,
        };
        self.notices.iter().filter_map(rung).collect()
    }

    /// The agent never began.
    pub(super) fn never_began(&mut self, iteration: IterationNo, why: &str) {
        self.alive = None;
        let fact = AgentFact::CouldNotStart { why: why.into() };
        self.tell(Event::Agent { iteration, fact });
    }

    pub(super) fn alive(&self) -> Option<IterationNo> {
        self.alive
    }

    pub(super) fn perform(&mut self, iteration: IterationNo, act: Act) {
        for fact in act.facts {
            if self.alive == Some(iteration) {
                self.tell(Event::Agent { iteration, fact });
            }
        }
        if self.alive != Some(iteration) {
            return;
        }
        self.now = self.now.plus(act.takes);
        let mut commits = Vec::new();
        if let Some(tree) = act.commit {
            self.head += 1;
            self.tree = tree;
            self.is_dirty = false;
            commits.push(Commit { hash: format!("c{}", self.head), subject: act.subject });
        }
        if let Some(tree) = act.dirty {
            self.tree = tree;
            self.is_dirty = true;
        }
        if let Some(tasks) = act.tasks {
            self.tasks = Some(tasks);
        }
        let exit = Exit {
            how: act.exit,
            claims: read_structured(&act.says),
            last_words: act.says.clone(),
        };
        self.exit(iteration, exit, commits);
    }

    /// The running agent commits this tree and goes on.
    pub(super) fn commits_meanwhile(&mut self, tree: &str) {
        self.head += 1;
        self.tree = tree.into();
    }

    pub(super) fn exit(&mut self, iteration: IterationNo, exit: Exit, commits: Vec<Commit>) {
        self.alive = None;
        self.commits = commits;
        self.tell(Event::Agent { iteration, fact: AgentFact::Exited(exit) });
    }

    pub(super) fn tell(&mut self, event: Event) {
        let effects = self.governor.step(self.now, &event);
        self.journal.push((self.now, event));
        for effect in effects {
            self.obey(effect);
        }
    }

    /// flyball died and goes on.
    pub(super) fn resume_after_death(&mut self) {
        let (policy, human_files) = (self.policy(), self.human_files.clone());
        self.resume(Resume { policy, human_files, closed: false, tasks: None, tamper: None });
    }

    /// A human goes on with a run that had ended.
    pub(super) fn reopen(&mut self) {
        let (policy, human_files) = (self.policy(), self.human_files.clone());
        self.resume(Resume {
            policy,
            human_files,
            closed: true,
            tasks: Some(self.snapshot(Vec::new()).tasks),
            tamper: Some((self.sights)(&self.tree)),
        });
    }

    fn resume(&mut self, resume: Resume) {
        self.alive = None;
        self.tell(Event::RunResumed(Box::new(resume)));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else needs an answer")]
    fn obey(&mut self, effect: Effect) {
        self.effects.push(effect.clone());
        match effect {
            Effect::StartAgent { iteration, briefing, .. } => {
                assert_eq!(self.alive, None, "two agents at once");
                self.alive = Some(iteration);
                self.briefings.push(briefing);
            }
            Effect::StopAgent { iteration, .. } => {
                let exit = Exit {
                    how: ExitHow::Signal(2),
                    claims: ClaimReading::default(),
                    last_words: String::new(),
                };
                self.exit(iteration, exit, Vec::new());
            }
            Effect::SnapshotWorktree { .. } if self.blind => {}
            Effect::SnapshotWorktree { iteration } => {
                let commits = core::mem::take(&mut self.commits);
                let snapshot = Box::new(self.snapshot(commits));
                self.tell(Event::WorktreeSeen { iteration, snapshot });
            }
            Effect::RunGates { iteration, tree, .. } => {
                let result = Box::new(self.gates_on(&tree));
                let tamper = if iteration.get() > 0 { self.tamper.clone() } else { Vec::new() };
                self.tell(Event::GatesFinished { iteration, result, tamper });
            }
            Effect::ExamineStop { iteration, asking, ticket } => {
                let snapshot = Box::new(self.snapshot(Vec::new()));
                let gates = self.gates_on(&self.tree);
                let gates = (!self.gates.is_empty()).then(|| Box::new(gates));
                let found = StopExamined { asking, ticket, snapshot, gates };
                self.tell(Event::Agent { iteration, fact: AgentFact::StopExamined(found) });
            }
            Effect::WriteTasks { text } => self.tasks = Some(text),
            Effect::Announce(notice) => self.notices.push(notice),
            Effect::CloseIteration(report) => self.reports.push(report),
            _ => {}
        }
    }

    fn gates_on(&self, tree: &str) -> GateResult {
        let reds = (self.reds)(tree);
        let mut check = Check::passed("tests");
        check.edited = (self.edits)(tree);
        let failed = reds.len() as u64;
        check.counts = Some(Counts { passed: 10 - failed.min(10), failed, skipped: 0 });
        let executed = |ran| Executed { runner: "r".into(), ran, ..Executed::default() };
        check.executed = (self.ran)(tree).map(executed).into_iter().collect();
        if !reds.is_empty() {
            check.status = CheckStatus::Failed;
            check.findings = reds
                .into_iter()
                .map(|name| {
                    Finding::new(FindingKind::Test, "left != right").named(name).at(
                        "src/lib.rs",
                        7,
                        None,
                    )
                })
                .collect();
        }
        GateResult { tree: tree.into(), checks: Vec::from([check]) }
    }

    fn snapshot(&self, commits: Vec<Commit>) -> WorktreeSnapshot {
        let tasks =
            self.tasks.clone().map_or(TasksSnapshot::Absent, |text| TasksSnapshot::Found { text });
        let dirty = if self.is_dirty { Vec::from(["src/lib.rs".into()]) } else { Vec::new() };
        WorktreeSnapshot {
            head: Some(format!("c{}", self.head)),
            code_tree: self.tree.clone(),
            progress_tree: format!("{}+{}", self.tree, self.tasks.as_deref().unwrap_or("")),
            checkpoint_tree: self.tree.clone(),
            uncommitted: dirty,
            changed: if commits.is_empty() { Vec::new() } else { Vec::from(["src/lib.rs".into()]) },
            commits,
            tasks,
            tamper: (self.sights)(&self.tree),
        }
    }
}

/// A task list of open stories with these ids.
pub(super) fn stories(ids: &[&str]) -> String {
    let done = BTreeSet::new();
    stories_done(ids, &done)
}

/// A task list where some have passed (as with review off).
pub(super) fn stories_done(ids: &[&str], done: &BTreeSet<&str>) -> String {
    let stories: Vec<_> = ids
        .iter()
        .enumerate()
        .map(|(index, id)| {
            serde_json::json!({
                "id": id, "title": format!("title of {id}"), "priority": index + 1,
                "passes": done.contains(id), "notes": "checked by hand",
            })
        })
        .collect();
    serde_json::json!({ "project": "p", "userStories": stories }).to_string()
}

/// The list with exactly these passed.
pub(super) fn passed(ids: &[&str], done: &[&str]) -> String {
    stories_done(ids, &done.iter().copied().collect())
}
