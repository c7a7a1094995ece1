//! The simulated repository: code, commits, the task list, and what is *really* done in it.
//!
//! It never asks the governor: what it calls done is what an agent did by the rules, so it can be
//! held against a completion the governor announces.

use std::collections::BTreeSet;

use flyball_core::GateName;
use flyball_core::event::{Commit, TasksSnapshot, WorktreeSnapshot};
use flyball_core::gate::{Check, CheckStatus, Counts, Finding, FindingKind, GateResult};
use flyball_core::tasklist::Mode;
use serde_json::{Value, json};

/// Tests in the simulated suite.
pub(crate) const TESTS: u64 = 20;

/// The code at one moment; equal code has equal trees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Code {
    /// Counts changes; a flip-flopping agent goes back to an old one.
    pub(crate) version: u32,
    /// The tests that fail.
    pub(crate) reds: BTreeSet<u64>,
    /// Whether tests were weakened.
    pub(crate) weakened: bool,
}

/// What an agent does to the repository.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// Changes the code and leaves these tests red.
    Work(BTreeSet<u64>),
    /// Puts the code back to this version.
    Switch(u32),
    /// Weakens a test.
    Weaken,
    /// Commits everything.
    Commit(String),
    /// Does with the task at hand what its mode asks for.
    Step(Step),
    /// Approves a story that nobody reviewed.
    Cheat,
    /// Takes a story out of the list.
    Remove,
    /// Leaves a task list that cannot be read.
    Garble,
}

/// One legal step of the story at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Towards done.
    Forward,
    /// A review that asks for changes; elsewhere the same as `Forward`.
    Back,
}

/// The simulated repository.
#[derive(Clone, Debug)]
pub(crate) struct Repo {
    /// What lies in the worktree.
    pub(crate) work: Code,
    committed: Code,
    head: u32,
    versions: u32,
    /// The task list in the worktree, when there is one.
    pub(crate) tasks: Option<String>,
    committed_tasks: Option<String>,
    /// Written by flyball: what it repaired is not the agent's to commit.
    repaired: bool,
    /// Stories that went all the way by the rules.
    pub(crate) finished: BTreeSet<String>,
    new_commits: Vec<Commit>,
    last_seen: Code,
    /// The cap of reviews; none when stories are not reviewed.
    review_cap: Option<u64>,
}

impl Repo {
    /// A repository that begins with these red tests.
    pub(crate) fn new(reds: BTreeSet<u64>, tasks: Option<String>, review_cap: Option<u64>) -> Self {
        let code = Code { version: 0, reds, weakened: false };
        Self {
            committed: code.clone(),
            last_seen: code.clone(),
            work: code,
            head: 0,
            versions: 0,
            committed_tasks: tasks.clone(),
            tasks,
            repaired: false,
            finished: BTreeSet::new(),
            new_commits: Vec::new(),
            review_cap,
        }
    }

    /// The code tree's id.
    pub(crate) fn tree(&self) -> String {
        let Code { version, reds, weakened } = &self.work;
        format!("v{version}{reds:?}{}", if *weakened { "w" } else { "" })
    }

    /// Whether something of the agent's is not committed.
    pub(crate) fn is_dirty(&self) -> bool {
        self.work != self.committed || (self.tasks != self.committed_tasks && !self.repaired)
    }

    /// The ids of all stories in the file; none when there is no file or it cannot be read.
    pub(crate) fn stories(&self) -> Vec<String> {
        let list = self.list();
        let stories = list.iter().filter_map(|story| story.get("id")?.as_str());
        stories.map(String::from).collect()
    }

    /// What looking at the worktree shows; commits and changes since the last look.
    #[expect(clippy::default_trait_access, reason = "the type stands beside it")]
    pub(crate) fn snapshot(&mut self) -> WorktreeSnapshot {
        let changed = if self.work == self.last_seen {
            Vec::new()
        } else {
            Vec::from([String::from("src/lib.rs")])
        };
        self.last_seen = self.work.clone();
        let uncommitted =
            if self.is_dirty() { Vec::from([String::from("src/lib.rs")]) } else { Vec::new() };
        let tasks =
            self.tasks.clone().map_or(TasksSnapshot::Absent, |text| TasksSnapshot::Found { text });
        WorktreeSnapshot {
            head: Some(format!("c{}", self.head)),
            code_tree: self.tree(),
            progress_tree: format!("{}+{}", self.tree(), self.tasks.as_deref().unwrap_or("")),
            checkpoint_tree: self.tree(),
            uncommitted,
            changed,
            commits: core::mem::take(&mut self.new_commits),
            tasks,
            tamper: Default::default(),
        }
    }

    /// What the gates say about the code in the worktree.
    pub(crate) fn gates(&self, names: &[GateName]) -> GateResult {
        let check = |name: &GateName| {
            let mut check = Check::passed(name.as_str());
            if name.as_str() == "tests" {
                let failed = self.work.reds.len() as u64;
                check.counts = Some(Counts { passed: TESTS - failed, failed, skipped: 0 });
                if failed > 0 {
                    check.status = CheckStatus::Failed;
                }
                check.findings = self.work.reds.iter().copied().map(finding).collect();
            }
            check
        };
        GateResult { tree: self.tree(), checks: names.iter().map(check).collect() }
    }

    /// Weakened tests, as the gates report them.
    pub(crate) fn tamper(&self) -> Vec<Finding> {
        let finding = || Finding::new(FindingKind::Tamper, "test `t0` was deleted");
        self.work.weakened.then(finding).into_iter().collect()
    }

    /// flyball wrote the task list anew.
    pub(crate) fn repair(&mut self, text: String) {
        self.tasks = Some(text);
        self.repaired = true;
    }

    /// An agent that was given this mode and task does something.
    pub(crate) fn perform(&mut self, deed: Deed, mode: Mode, task: Option<&str>) {
        match deed {
            Deed::Work(reds) => {
                self.versions += 1;
                self.work.version = self.versions;
                self.work.reds = reds;
            }
            Deed::Switch(version) => self.work.version = version,
            Deed::Weaken => self.work.weakened = true,
            Deed::Commit(subject) => self.commit(subject),
            Deed::Step(step) => self.step(step, mode, task),
            Deed::Cheat => self.change(task, |story| {
                set(story, "reviewStatus", json!("approved"));
                set(story, "passes", json!(true));
                set(story, "reviewCount", json!(9));
            }),
            Deed::Remove => {
                let mut list = self.list();
                list.pop();
                self.write(&list);
            }
            Deed::Garble => self.tasks = Some(String::from("{ no JSON")),
        }
    }

    fn commit(&mut self, subject: String) {
        self.head += 1;
        self.committed = self.work.clone();
        self.committed_tasks.clone_from(&self.tasks);
        self.new_commits.push(Commit { hash: format!("c{}", self.head), subject });
    }

    fn list(&self) -> Vec<Value> {
        let text = self.tasks.as_deref().unwrap_or("");
        let parsed: Value = serde_json::from_str(text).unwrap_or_default();
        parsed.get("userStories").and_then(Value::as_array).cloned().unwrap_or_default()
    }

    fn write(&mut self, stories: &[Value]) {
        if self.tasks.is_some() {
            self.tasks = Some(json!({ "project": "p", "userStories": stories }).to_string());
            self.repaired = false;
        }
    }

    fn change(&mut self, task: Option<&str>, change: impl FnOnce(&mut Value)) {
        let mut list = self.list();
        let is_it = |story: &&mut Value| story.get("id").and_then(Value::as_str) == task;
        if let Some(story) = list.iter_mut().find(is_it) {
            change(story);
            self.write(&list);
        }
    }

    /// The legal step of the story at hand. Without reviews it passes; with them it is handed in,
    /// reviewed, mended. A step that was already made (before a wait) is not made again.
    fn step(&mut self, step: Step, mode: Mode, task: Option<&str>) {
        let Some(cap) = self.review_cap else {
            self.pass(task);
            return;
        };
        let mut finished = false;
        self.change(task, |story| {
            let status = story.get("reviewStatus").and_then(Value::as_str).map(String::from);
            set(story, "notes", json!("checked"));
            match (mode, status.as_deref()) {
                (Mode::Implement, None) => set(story, "reviewStatus", json!("needs_review")),
                (Mode::ReviewFix, Some("changes_requested")) => {
                    set(story, "reviewStatus", json!("needs_review"));
                }
                (Mode::Review, Some("needs_review")) => {
                    let count = story.get("reviewCount").and_then(Value::as_u64).unwrap_or(0);
                    set(story, "reviewCount", json!(count + 1));
                    let approves = matches!(step, Step::Forward);
                    // At the cap even a review that wants changes is an approval (B11).
                    finished = approves || count + 1 >= cap;
                    let word = if approves { "approved" } else { "changes_requested" };
                    set(story, "reviewStatus", json!(word));
                    set(story, "passes", json!(approves));
                    let feedback = if approves { "" } else { "rename it" };
                    set(story, "reviewFeedback", json!(feedback));
                }
                (Mode::Implement | Mode::Review | Mode::ReviewFix, _) => {}
            }
        });
        if finished {
            self.finished.extend(task.map(String::from));
        }
    }

    /// Sets a story to passed, as it is done without reviews.
    fn pass(&mut self, task: Option<&str>) {
        self.change(task, |story| {
            set(story, "notes", json!("checked"));
            set(story, "passes", json!(true));
        });
        self.finished.extend(task.map(String::from));
    }
}

fn set(story: &mut Value, field: &str, value: Value) {
    if let Some(fields) = story.as_object_mut() {
        fields.insert(String::from(field), value);
    }
}

fn finding(test: u64) -> Finding {
    let message = format!("left != right in file: src/m{test}.rs");
    Finding::new(FindingKind::Test, message).named(format!("t{test}")).at("src/lib.rs", 7, None)
}

/// A task list of this many open stories, each but the first perhaps waiting for the one before.
pub(crate) fn open_stories(count: u32, chained: Chained) -> String {
    let story = |number: u32| {
        let waits = matches!(chained, Chained::Yes) && number > 1;
        let depends_on = if waits { json!([format!("s{}", number - 1)]) } else { json!([]) };
        json!({
            "id": format!("s{number}"), "title": format!("story {number}"), "priority": number,
            "passes": false, "reviewStatus": null, "reviewCount": 0, "dependsOn": depends_on,
        })
    };
    let stories: Vec<Value> = (1..=count).map(story).collect();
    json!({ "project": "p", "userStories": stories }).to_string()
}

/// Whether stories wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chained {
    /// Each waits for the one before.
    Yes,
    /// None waits.
    No,
}
