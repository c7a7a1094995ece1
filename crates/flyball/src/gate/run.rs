//! Runs the gates of a plan on the worktree as it is: one after the other or two at a time, each
//! once its needs are green, and never one whose result on this tree is known.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, Scope};

use flyball_core::gate::{Check, CheckStatus, Finding, FindingKind, GateResult};
use flyball_core::{GateName, Moment, RunId};

use super::board::Board;
use super::cancel::{Cancel, Cancelled};
use super::compiled::Compiled;
use super::edits::TreeLook;
use super::plan::{Gate, GatePlan};
use super::{check, environment};
use crate::journal::{GateKey, Journal, JournalError};
use crate::platform::Walls;
use crate::process::KeeperProgram;

/// How many gates run side by side when that is asked for.
const SIDE_BY_SIDE: usize = 2;

/// Runs gates.
#[derive(Clone, Debug)]
pub struct GateRunner {
    /// All gates there are.
    pub plan: GatePlan,
    /// Only these and what they need; all when there are none.
    pub only: Vec<GateName>,
    /// Where they run.
    pub root: PathBuf,
    /// Whether gates that do not need each other run side by side.
    pub parallel: bool,
    /// Variables set, or removed with `None`, on top of what is inherited.
    pub env: Vec<(String, Option<String>)>,
    /// The folder for `gate-<name>.log`: beginning and end of what each gate printed.
    pub log_dir: Option<PathBuf>,
    /// What stands for the files a gate is about, by gate: equal while none of them was touched.
    pub files: BTreeMap<GateName, String>,
    /// Whether a gate that was green is left out while none of its files was touched.
    pub touched_only: bool,
    /// Who sees whether a gate changed what it checks. A gate that did is not tried again.
    pub look: Option<TreeLook>,
    /// What stands between them and their surroundings.
    pub walls: Option<Walls>,
    /// Where what Python compiles for them lies.
    pub compiled: Option<Arc<Compiled>>,
    /// The run they belong to, which is told to those who ask what they are part of.
    pub run: Option<RunId>,
    /// The program that keeps process trees together. In a program that is not flyball, see
    /// [`crate::process`].
    pub keeper: KeeperProgram,
}

/// What happens while gates run, in order for each gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateProgress {
    /// A gate was started.
    Started {
        /// Which.
        name: GateName,
        /// The how-manieth it is, from 1.
        index: usize,
        /// How many are to run.
        of: usize,
    },
    /// A gate ended, or is skipped.
    Finished(Check),
    /// The result of a gate on this tree was known.
    Cached(Check),
}

/// Why a gate's result was known.
pub(crate) const fn why_known(check: &Check) -> &'static str {
    if check.carried { "its paths were not touched" } else { "known for this tree" }
}

/// Who is told what happens.
pub type Observe<'a> = &'a (dyn Fn(GateProgress) + Sync);

/// Results that may be known already, by gate.
pub(super) type Known<'a> = &'a dyn Fn(&Gate) -> Option<Check>;

impl GateRunner {
    /// A runner for all gates, one after the other, with the inherited environment and no logs.
    pub fn new(plan: GatePlan, root: impl Into<PathBuf>) -> Self {
        Self {
            plan,
            only: Vec::new(),
            root: root.into(),
            parallel: false,
            env: Vec::new(),
            log_dir: None,
            files: BTreeMap::new(),
            touched_only: false,
            look: None,
            walls: None,
            compiled: None,
            run: None,
            keeper: KeeperProgram::Own,
        }
    }

    /// Runs the gates. There is no result when they are interrupted.
    pub fn run(
        &self,
        tree: &str,
        cancel: &Cancel,
        observe: Observe<'_>,
    ) -> Result<GateResult, Cancelled> {
        self.go(tree, cancel, observe, &|_| None)
    }

    /// Runs those gates whose result on this tree is not in the journal. Stores nothing. A
    /// journal that cannot be read is as good as an empty one.
    pub fn run_known(
        &self,
        journal: &Journal,
        tree: &str,
        cancel: &Cancel,
        observe: Observe<'_>,
    ) -> Result<GateResult, Cancelled> {
        let surroundings = self.surroundings();
        let known = |gate: &Gate| self.known(journal, gate, (tree, &surroundings));
        let result = self.go(tree, cancel, observe, &known)?;
        Ok(self.beside_earlier(journal, result))
    }

    /// Whether the results of all gates on this tree are in the journal: nothing would be run.
    pub fn is_known(&self, journal: &Journal, tree: &str) -> bool {
        let surroundings = self.surroundings();
        let known = |gate| self.known(journal, gate, (tree, &surroundings)).is_some();
        self.plan.gates().iter().all(known)
    }

    fn known(
        &self,
        journal: &Journal,
        gate: &Gate,
        (tree, surroundings): (&str, &str),
    ) -> Option<Check> {
        let find = |tree: &str| {
            let found = journal.gate_cache_get(&key(gate, tree, surroundings)).ok().flatten()?;
            let check = found.checks.into_iter().next()?;
            Some(Check { gate: gate.name.clone(), ..check })
        };
        find(tree).or_else(|| {
            let files = self.files.get(&gate.name).filter(|_| self.touched_only)?;
            let same = find(&of_files(files))?;
            // What is red may be red for another reason by now.
            let is_green = same.status == CheckStatus::Passed;
            is_green.then_some(Check { carried: true, ..same })
        })
    }

    /// The result, with those gates named flaky that were of another colour on the same tree, in
    /// whatever run that was.
    pub fn beside_earlier(&self, journal: &Journal, result: GateResult) -> GateResult {
        let GateResult { tree, checks } = result;
        let surroundings = self.surroundings();
        let beside = |check: Check| {
            let earlier = self.plan.gate(check.gate.as_str()).filter(|_| has_colour(&check));
            let earlier = earlier.map(|gate| key(gate, &seen_on(&tree), &surroundings));
            match earlier.and_then(|key| journal.gate_cache_get(&key).ok().flatten()) {
                Some(earlier) => earlier.checks.first().map(|c| check.clone().beside(c)),
                None => None,
            }
            .unwrap_or(check)
        };
        let checks = checks.into_iter().map(beside).collect();
        GateResult { tree, checks }
    }

    /// Keeps what gates said on a tree, as far as it would be said again: not what timed out,
    /// crashed, was skipped or is flaky. What was said before is forgotten then: the newest word
    /// counts, and the next who asks has the gate run. The caller knows that the worktree was still the same afterwards.
    pub fn store(
        &self,
        journal: &mut Journal,
        now: Moment,
        result: &GateResult,
    ) -> Result<(), JournalError> {
        let surroundings = self.surroundings();
        // What was carried over was not said of this tree.
        let said = |check: &&Check| has_colour(check) && !check.carried;
        for check in result.checks.iter().filter(said) {
            let Some(gate) = self.plan.gate(check.gate.as_str()) else { continue };
            let single = GateResult { tree: result.tree.clone(), checks: vec![check.clone()] };
            let seen = key(gate, &seen_on(&result.tree), &surroundings);
            journal.gate_cache_put(&seen, now, &single)?;
            let of_files = self.files.get(&gate.name).map(|files| of_files(files));
            for tree in [Some(result.tree.clone()), of_files].into_iter().flatten() {
                let key = key(gate, &tree, &surroundings);
                if is_lasting(check) {
                    journal.gate_cache_put(&key, now, &single)?;
                } else {
                    journal.gate_cache_forget(&key)?;
                }
            }
        }
        Ok(())
    }

    /// What decides besides the tree and the command, as it is now.
    fn surroundings(&self) -> String {
        let given = |name: &str| self.env.iter().rev().find(|(given, _)| given == name);
        let variable = |name: &str| match given(name) {
            Some((_, value)) => value.as_ref().map(Into::into),
            None => std::env::var_os(name),
        };
        let folders = self.plan.gates().iter().map(|gate| gate.cwd.as_str());
        environment::digest(&self.root, folders, variable)
    }

    fn go(
        &self,
        tree: &str,
        cancel: &Cancel,
        observe: Observe<'_>,
        known: Known<'_>,
    ) -> Result<GateResult, Cancelled> {
        let mut board = Board::new(self, observe);
        let width = if self.parallel { SIDE_BY_SIDE } else { 1 };
        let (tell, told) = channel();
        thread::scope(|scope| {
            let mut running = 0_usize;
            loop {
                while running < width && !cancel.is_cancelled() {
                    let Some(at) = board.next() else { break };
                    if board.begin(at, known) {
                        continue;
                    }
                    self.start(scope, at, cancel, tell.clone());
                    running = running.saturating_add(1);
                }
                if running == 0 {
                    return;
                }
                let Ok((at, check)) = told.recv() else { return };
                running = running.saturating_sub(1);
                // Without a check it was interrupted, and so is everything else.
                if let Ok(check) = check {
                    board.end(at, check);
                }
            }
        });
        self.compiled.iter().for_each(|compiled| compiled.close());
        if cancel.is_cancelled() {
            return Err(Cancelled);
        }
        Ok(GateResult { tree: tree.to_owned(), checks: board.checks() })
    }

    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        at: usize,
        cancel: &'scope Cancel,
        tell: Sender<(usize, Result<Check, Cancelled>)>,
    ) {
        let Some(gate) = self.plan.gates().get(at) else { return };
        let work = move || {
            let run = || check::run(gate, self, cancel);
            let check = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Ok(panicked(gate)));
            // The other end waits for exactly this.
            tell.send((at, check)).ok();
        };
        let name = format!("gate {}", gate.name);
        let spare = thread::Builder::new().name(name).spawn_scoped(scope, work.clone());
        if spare.is_err() {
            // No thread to be had: then here, one after the other.
            work();
        }
    }
}

/// What a gate's result is kept under.
fn key(gate: &Gate, tree: &str, surroundings: &str) -> GateKey {
    GateKey { tree: tree.to_owned(), command: gate.digest(), environment: surroundings.to_owned() }
}

/// What stands in the place of a tree for a gate that is about some files only.
fn of_files(digest: &str) -> String {
    format!("files {digest}")
}

/// What stands in the place of a tree for the last colour a gate had on it, kept or not.
fn seen_on(tree: &str) -> String {
    format!("seen {tree}")
}

/// Whether a check says something of the tree, and not only of what is installed.
fn has_colour(check: &Check) -> bool {
    let could_not = |found: &Finding| found.kind == FindingKind::CouldNotRun;
    match check.status {
        CheckStatus::Passed => true,
        CheckStatus::Failed => !check.findings.iter().any(could_not),
        CheckStatus::Skipped { .. } | CheckStatus::TimedOut => false,
    }
}

/// What is said of a gate whose output flyball stumbled over.
fn panicked(gate: &Gate) -> Check {
    let message = "flyball failed while it ran this gate; this is a fault in flyball";
    let finding = Finding::new(FindingKind::Crash, message).named(gate.name.as_str());
    Check { findings: vec![finding], ..Check::failed(gate.name.as_str()) }
}

/// Whether a check would end the same way on the same tree.
fn is_lasting(check: &Check) -> bool {
    // A flaky one may be of another colour the next time.
    if check.flaky.is_some() {
        return false;
    }
    match check.status {
        CheckStatus::Passed => true,
        CheckStatus::Failed => !check
            .findings
            .iter()
            .any(|found| matches!(found.kind, FindingKind::Crash | FindingKind::CouldNotRun)),
        CheckStatus::Skipped { .. } | CheckStatus::TimedOut => false,
    }
}
