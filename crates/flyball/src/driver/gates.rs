//! The gates run in a thread of their own, so that the driver can hear signals meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use flyball_core::event::{StopExamined, WorktreeSnapshot};
use flyball_core::gate::{GateResult, TamperSight};
use flyball_core::stop::StopTicket;
use flyball_core::{GateName, IterationNo};

use super::look::plan_now;
use super::{Driver, DriverInput};
use crate::clock::Deadline;
use crate::error::CliError;
use crate::gate::tamper::{Footprint, that_check};
use crate::gate::{Cancel, Gate, GatePlan, GateProgress, Watch, tell_edits};
use crate::journal::Journal;
use crate::worktree::Worktree;

/// How long the end of cancelled gates is waited for at the end of a run.
const END_MAX: Duration = Duration::from_secs(5);

/// Which gates run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of them.
    Whole,
    /// Those whose files were touched.
    Touched,
}

/// Gates at work.
pub(super) struct GateJob {
    cancel: Cancel,
    thread: JoinHandle<()>,
}

impl GateJob {
    /// Starts the gates on the worktree as it stands.
    pub(super) fn start(
        driver: &Driver,
        iteration: IterationNo,
        tree: String,
        extent: Extent,
    ) -> Result<Self, CliError> {
        let cancel = Cancel::new();
        let mut runner = driver.gate_runner();
        runner.log_dir = Some(driver.places.loop_dir.logs());
        runner.touched_only = extent == Extent::Touched;
        runner.files = files_of_gates(driver);
        let mut journal = Journal::open(&driver.places.state_dir)?;
        let mut look = Look::of(driver)?;
        let (watch, plan) = (driver.terms.guarded.watch.clone(), driver.terms.plan.clone());
        let before = driver.jobs.latest.clone();
        let seen = driver.jobs.latest.tamper.findings.iter();
        let known: BTreeSet<String> = seen.map(|found| found.finding.message.clone()).collect();
        let (outbox, stop, now) = (driver.mail.outbox.clone(), cancel.clone(), driver.clock.now());
        let thread = std::thread::spawn(move || {
            let steps = Mutex::new(Steps::of(&look.worktree, &before.checkpoint_tree));
            // Progress is for people: it is dropped rather than waited for.
            let tell = |progress| {
                steps.lock().unwrap_or_else(PoisonError::into_inner).take(&progress);
                outbox.try_send(DriverInput::GateProgress(progress)).ok();
            };
            let Ok(mut result) = runner.run_known(&journal, &tree, &stop, &tell) else { return };
            let steps = steps.into_inner().unwrap_or_else(PoisonError::into_inner);
            steps.tell(&look.worktree, &plan, &mut result);
            // A gate that edits what it checks has judged another tree. A result that could not be
            // stored costs time later, nothing else.
            let mut tamper = Vec::new();
            match look.snapshot() {
                Ok(snapshot) if snapshot.code_tree == tree => {
                    runner.store(&mut journal, now, &result).ok();
                }
                // What the gates themselves did to their checks comes after the last look.
                Ok(snapshot) => {
                    let looks = (&before, &snapshot);
                    tell_edits(&mut result, &look.worktree, &look.loop_dir, looks);
                    let sight = look.weakened(&watch, &snapshot, &plan);
                    let found = sight.findings.into_iter().map(|found| found.finding);
                    tamper.extend(found.filter(|found| !known.contains(&found.message)));
                }
                Err(_) => {}
            }
            outbox.send(DriverInput::GatesDone { iteration, result, tamper }).ok();
        });
        Ok(Self { cancel, thread })
    }

    /// An agent wants to stop: looks at the worktree, runs the gates on it, and reports both.
    pub(super) fn examine_stop(
        driver: &Driver,
        (iteration, asking): (IterationNo, u64),
        ticket: StopTicket,
    ) -> Result<Self, CliError> {
        let cancel = Cancel::new();
        let runner = driver.gate_runner();
        let has_gates = !driver.terms.plan.is_empty();
        let mut journal = Journal::open(&driver.places.state_dir)?;
        // One beside the driver's own: that one still tells what the whole iteration changed.
        let mut look = Look::of(driver)?;
        let loop_dir = driver.places.loop_dir.clone();
        let (watch, plan) = (driver.terms.guarded.watch.clone(), driver.terms.plan.clone());
        let (outbox, stop, now) = (driver.mail.outbox.clone(), cancel.clone(), driver.clock.now());
        let thread = std::thread::spawn(move || {
            let report = |found| {
                outbox.send(DriverInput::StopExamined { iteration, asking, found }).ok();
            };
            let Ok(mut snapshot) = look.snapshot() else { return report(None) };
            loop_dir.look_at_tasks(&mut snapshot);
            snapshot.tamper = look.weakened(&watch, &snapshot, &plan);
            let tree = &snapshot.code_tree;
            let steps = Mutex::new(Steps::of(&look.worktree, &snapshot.checkpoint_tree));
            let tell = |progress| {
                steps.lock().unwrap_or_else(PoisonError::into_inner).take(&progress);
                outbox.try_send(DriverInput::GateProgress(progress)).ok();
            };
            let mut gates =
                if has_gates { runner.run_known(&journal, tree, &stop, &tell).ok() } else { None };
            if stop.is_cancelled() {
                return;
            }
            // The agent is still there and may write, too: who it was is found out after its end.
            let steps = steps.into_inner().unwrap_or_else(PoisonError::into_inner);
            let rewrote = steps.rewrote(&look.worktree, &plan);
            if let (Some(result), Ok(after)) = (&mut gates, look.snapshot()) {
                let is_still = after.code_tree == *tree;
                tell_edits(result, &look.worktree, &look.loop_dir, (&snapshot, &after));
                if is_still && rewrote.is_empty() {
                    runner.store(&mut journal, now, result).ok();
                }
            }
            let (snapshot, gates) = (Box::new(snapshot), gates.map(Box::new));
            report(Some(StopExamined { asking, ticket, snapshot, gates }));
        });
        Ok(Self { cancel, thread })
    }

    /// Ends everything the gates started. Their thread ends by itself; nobody waits for it.
    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits for a moment until cancelled jobs are over.
    #[expect(clippy::needless_pass_by_value, reason = "it is taken over")]
    pub(super) fn await_all(jobs: Vec<Self>) {
        let limit = Deadline::after(END_MAX);
        while jobs.iter().any(|job| !job.thread.is_finished()) && !limit.passed() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What each gate touches of the checks while it runs.
struct Steps {
    tree: String,
    footprint: Footprint,
    touched: BTreeMap<GateName, Vec<String>>,
}

impl Steps {
    fn of(worktree: &Worktree, tree: &str) -> Self {
        let footprint = Footprint::of(worktree, tree);
        Self { tree: tree.to_owned(), footprint, touched: BTreeMap::new() }
    }

    fn take(&mut self, progress: &GateProgress) {
        if let GateProgress::Finished(check) = progress {
            let touched = self.footprint.touched();
            self.touched.entry(check.gate.clone()).or_default().extend(touched);
        }
    }

    /// What was touched and checks something, by gate.
    fn rewrote(self, worktree: &Worktree, plan: &GatePlan) -> BTreeMap<GateName, Vec<String>> {
        let Self { tree, touched, .. } = self;
        let check = |(gate, touched)| (gate, that_check(worktree, &tree, plan, touched));
        touched.into_iter().map(check).filter(|(_, paths)| !paths.is_empty()).collect()
    }

    /// Says so in the result.
    fn tell(self, worktree: &Worktree, plan: &GatePlan, result: &mut GateResult) {
        let mut rewrote = self.rewrote(worktree, plan);
        for check in &mut result.checks {
            check.rewrote.extend(rewrote.remove(&check.gate).unwrap_or_default());
        }
    }
}

/// What stands for the files a gate is about, where it names them. Not being able to look makes a
/// gate run that need not.
fn files_of_gates(driver: &Driver) -> BTreeMap<GateName, String> {
    let with_paths = driver.terms.plan.gates().iter().filter(|gate| !gate.paths.is_empty());
    let tree = &driver.jobs.latest.checkpoint_tree;
    let digest = |gate: &Gate| driver.places.worktree.digest_of(tree, &gate.paths).ok();
    with_paths.filter_map(|gate| Some((gate.name.clone(), digest(gate)?))).collect()
}

/// A look at the worktree from beside the driver.
pub(super) struct Look {
    worktree: Worktree,
    loop_dir: String,
    tasks: std::path::PathBuf,
}

impl Look {
    #[expect(clippy::unnecessary_wraps, reason = "the shape its callers share")]
    pub(super) fn of(driver: &Driver) -> Result<Self, CliError> {
        Ok(Self {
            worktree: driver.places.worktree.beside(),
            loop_dir: driver.places.loop_dir.relative(),
            tasks: driver.places.loop_dir.tasks_relative(),
        })
    }

    /// The worktree as it stands.
    pub(super) fn snapshot(&mut self) -> Result<WorktreeSnapshot, CliError> {
        Ok(self.worktree.snapshot(&self.loop_dir, &self.tasks)?)
    }

    /// What is weakened as the worktree stands.
    fn weakened(&self, watch: &Watch, snapshot: &WorktreeSnapshot, plan: &GatePlan) -> TamperSight {
        let now = plan_now(self.worktree.root(), &snapshot.tasks, plan);
        watch.look(&self.worktree, &snapshot.checkpoint_tree, &now)
    }
}
