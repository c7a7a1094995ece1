//! A look at the worktree runs in a thread of its own: git may be slow, or made slow, and the driver
//! hears signals and timers meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flyball_core::event::{TasksSnapshot, WorktreeSnapshot};
use flyball_core::governor::RunPhase;
use flyball_core::{Event, IterationNo, Moment, RunId};

use super::parts::Guarded;
use super::setup::verify_commands;
use super::vault::VaultEnd;
use super::{Driver, DriverInput};
use crate::clock::Deadline;
use crate::config::{Config, FILE_MAX, FILE_NAME, Sources, bytes, quoted};
use crate::error::CliError;
use crate::files;
use crate::gate::GatePlan;
use crate::loopdir::LoopDir;
use crate::worktree::{LeftOut, Worktree};

/// How long the end of a look is waited for whose git was ended.
const END_MAX: Duration = Duration::from_secs(2);
/// How many files that were left out are named in a run.
const TOLD_MAX: usize = 100;
/// Between two looks for that.
const PAUSE: Duration = Duration::from_millis(2);

/// The worktree of a run as the run sees it: it remembers the look before, to tell what changed.
pub(super) struct Eyes {
    pub(super) worktree: Worktree,
    pub(super) loop_dir: LoopDir,
    pub(super) run: RunId,
    /// Files that were left out of a checkpoint, and told.
    told: BTreeSet<String>,
    guarded: Guarded,
    /// The gates of the run.
    plan: GatePlan,
    settings: KnownSettings,
}

/// What the repository's settings say, as long as their file says the same. Most of what they take is
/// reading flyball's own defaults.
#[derive(Default)]
pub(super) struct KnownSettings(Option<(Option<Vec<u8>>, Option<Config>)>);

impl KnownSettings {
    /// The settings as they are now; none where they cannot be read.
    fn now(&mut self, root: &Path) -> Option<Config> {
        let text = || files::optional(files::read(&root.join(FILE_NAME), FILE_MAX)).ok();
        let before = text();
        if let (Some(before), Some((known, config))) = (&before, &self.0)
            && known == before
        {
            return config.clone();
        }
        let sources = Sources::of_process(root);
        let sources = Sources { environment: Vec::new(), user_file: None, ..sources };
        let config = sources.load().ok();
        // Nobody wrote to it while it was read, or it is read again next time.
        let after = text().filter(|after| before.as_ref() == Some(after));
        self.0 = after.map(|text| (text, config.clone()));
        config
    }
}

/// Who ended what an agent had started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndedBy {
    /// It came to its own end.
    Itself,
    /// flyball ended it, or a part of it.
    Flyball,
}

/// A look that came to its end, and the eyes it was made with.
pub(super) struct Looked {
    pub(super) eyes: Eyes,
    pub(super) found: Result<WorktreeSnapshot, CliError>,
    /// What people should know of it.
    pub(super) notes: Vec<String>,
}

impl Eyes {
    pub(super) fn new(
        worktree: Worktree,
        loop_dir: LoopDir,
        run: RunId,
        (guarded, plan): (Guarded, GatePlan),
    ) -> Self {
        Self {
            worktree,
            loop_dir,
            run,
            told: BTreeSet::new(),
            guarded,
            plan,
            settings: KnownSettings::default(),
        }
    }

    /// What the latest look left out of its checkpoint and nobody was told of yet, in words.
    pub(super) fn left_out(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        for LeftOut { path, size } in self.worktree.left_out() {
            if self.told.len() < TOLD_MAX && self.told.insert(path.clone()) {
                let (path, size) = (quoted(path), bytes::shown(*size));
                words.push(format!(
                    "left out of the checkpoint: {path} ({size}, more than checkpoints.max_file); \
                     it cannot be brought back"
                ));
            }
        }
        words
    }

    /// Looks at the worktree, with the task list's text, and keeps a checkpoint of it.
    fn look(&mut self, iteration: IterationNo) -> Result<WorktreeSnapshot, CliError> {
        let (dir, tasks) = (self.loop_dir.relative(), self.loop_dir.tasks_relative());
        self.loop_dir.mend_ignore();
        let mut snapshot = self.worktree.snapshot(&dir, &tasks)?;
        self.loop_dir.look_at_tasks(&mut snapshot);
        self.worktree.checkpoint(&self.run, iteration, &snapshot.checkpoint_tree)?;
        let settings = self.settings.now(self.worktree.root());
        let plan = resolved(settings, self.worktree.root(), &snapshot.tasks, &self.plan);
        let Guarded { watch, wanted, .. } = &self.guarded;
        snapshot.tamper = watch.look(&self.worktree, &snapshot.checkpoint_tree, &plan);
        snapshot.tamper.wanted = wanted.changed(&self.loop_dir);
        Ok(snapshot)
    }
}

/// The gates as the repository would resolve them now; those of the run where it cannot.
pub(super) fn plan_now(root: &Path, tasks: &TasksSnapshot, run: &GatePlan) -> GatePlan {
    resolved(KnownSettings::default().now(root), root, tasks, run)
}

fn resolved(
    settings: Option<Config>,
    root: &Path,
    tasks: &TasksSnapshot,
    run: &GatePlan,
) -> GatePlan {
    let verify = verify_commands(tasks);
    let plan = settings.and_then(|config| GatePlan::resolve(&config, root, &verify).ok());
    // A config that no longer loads is noticed by itself.
    plan.unwrap_or_else(|| run.clone())
}

impl Driver {
    /// The worktree was looked at.
    pub(super) fn looked(
        &mut self,
        iteration: IterationNo,
        looked: Looked,
    ) -> Result<(), CliError> {
        self.jobs.look = None;
        let Looked { eyes, found, notes } = looked;
        for note in notes {
            self.reporter.note(iteration, &note);
        }
        self.deposit(&eyes);
        self.jobs.eyes = Some(eyes);
        let snapshot = Box::new(found?);
        self.jobs.latest.clone_from(&snapshot);
        self.take(&[Event::WorktreeSeen { iteration, snapshot }])
    }

    /// Tells people something of the iteration at hand.
    pub(super) fn note(&mut self, note: &str) {
        let iteration = self.governor.standing().map(|standing| standing.iteration);
        self.reporter.note(iteration.unwrap_or_default(), note);
    }

    /// Has the vault take in the checkpoint that was made last.
    pub(super) fn deposit(&self, eyes: &Eyes) {
        if let (Some(vault), Some(deposit)) = (&self.jobs.vault, eyes.worktree.deposit(&self.run)) {
            vault.take_in(deposit);
        }
    }

    /// Waits a moment for the vault, and says when that was not enough.
    pub(super) fn end_vault(&mut self, patience: Duration) {
        let Some(vault) = self.jobs.vault.take() else { return };
        let VaultEnd { complete, notes } = vault.end(patience);
        // Sent just before the end; nobody takes anything else any more.
        while let Ok(input) = self.mail.inbox.try_recv() {
            if let DriverInput::Note(note) = input {
                self.note(&note);
            }
        }
        for note in &notes {
            self.note(note);
        }
        if !complete {
            self.note(
                "the vault has not taken in every checkpoint yet; they are in the repository",
            );
        }
    }

    /// An agent that ends in the middle of a git command leaves git's locks behind. What flyball ended
    /// cannot put them away any more, so flyball does; any other is the user's affair.
    pub(super) fn see_to_locks(
        &mut self,
        iteration: IterationNo,
        since: Moment,
        ended_by: EndedBy,
    ) {
        let phase = self.governor.standing().map(|standing| standing.phase);
        let is_its_own = ended_by == EndedBy::Itself && phase != Some(RunPhase::Stopping);
        for lock in self.places.worktree.stale_locks(since) {
            let shown = quoted(&lock.to_string_lossy());
            let note = if is_its_own {
                format!("the agent left git's lock behind; nobody holds it: rm {shown}")
            } else if fs::remove_file(&lock).is_ok() {
                format!("removed git's lock {shown}: what held it was ended with the agent")
            } else {
                format!(
                    "git's lock was left behind and cannot be removed; nobody holds it: rm {shown}"
                )
            };
            self.reporter.note(iteration, &note);
        }
    }
}

/// A git lock that is there before the first iteration: nothing could ever be committed.
pub(super) fn no_lock(worktree: &Worktree) -> Result<(), CliError> {
    let Some(lock) = worktree.lasting_lock() else { return Ok(()) };
    let shown = quoted(&lock.to_string_lossy());
    Err(CliError::io(format!(
        "the repository is locked for git ({shown} is there): nothing could be committed"
    ))
    .hint(format!("wait for the git that is at work here, or if there is none: rm {shown}")))
}

/// Before a run goes on: the locks that its own death left are put away; what was done, in words.
pub(super) fn clear_locks(
    worktree: &Worktree,
    run: &RunId,
    since: Moment,
) -> Result<Vec<String>, CliError> {
    let mut notes = Vec::new();
    for lock in worktree.locks_left_by(run, since) {
        if fs::remove_file(&lock).is_ok() {
            let shown = quoted(&lock.to_string_lossy());
            notes.push(format!("removed git's lock {shown}: it was left when the run was lost"));
        }
    }
    no_lock(worktree).map(|()| notes)
}

/// A look under way.
pub(super) struct LookJob(JoinHandle<()>);

impl LookJob {
    /// Begins to look. There is one look at a time.
    pub(super) fn start(driver: &mut Driver, iteration: IterationNo) -> Result<Self, CliError> {
        let mut eyes = driver.jobs.eyes.take().unwrap_or_else(|| {
            let mut worktree = driver.places.worktree.beside();
            worktree.remember(&driver.jobs.latest);
            let of = (driver.terms.guarded.clone(), driver.terms.plan.clone());
            Eyes::new(worktree, driver.places.loop_dir.clone(), driver.run.clone(), of)
        });
        let outbox = driver.mail.outbox.clone();
        let look = move || {
            let found = eyes.look(iteration);
            let mut notes = eyes.left_out();
            // A configuration that cannot be read is told by whoever needs it.
            notes.extend(eyes.worktree.newly_planted().unwrap_or_default());
            let looked = Box::new(Looked { eyes, found, notes });
            outbox.send(DriverInput::Looked { iteration, looked }).ok();
        };
        let started = thread::Builder::new().name("look".to_owned()).spawn(look);
        started.map(Self).map_err(|error| CliError::io("cannot look at the worktree").cause(error))
    }

    /// Waits for the end of one whose git was ended.
    pub(super) fn end(self) {
        let limit = Deadline::after(END_MAX);
        while !self.0.is_finished() && !limit.passed() {
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_again_when_their_file_says_something_else() {
        let dir = tempfile::tempdir().unwrap();
        let (file, mut known) = (dir.path().join(FILE_NAME), KnownSettings::default());
        let names = |known: &mut KnownSettings| -> Option<Vec<String>> {
            let checks = known.now(dir.path())?.gates.checks;
            Some(checks.into_iter().map(|check| check.name).collect())
        };
        assert_eq!(names(&mut known), Some(Vec::new()));
        let check =
            |name: &str| format!("[[gates.check]]\nname = \"{name}\"\ncommand = \"true\"\n");
        for name in ["a", "a", "b"] {
            fs::write(&file, check(name)).unwrap();
            assert_eq!(names(&mut known), Some(vec![name.to_owned()]));
            assert_eq!(names(&mut known), Some(vec![name.to_owned()]));
        }
        fs::write(&file, "no = such setting").unwrap();
        assert!(names(&mut known).is_none() && names(&mut known).is_none());
        fs::remove_file(&file).unwrap();
        assert_eq!(names(&mut known), Some(Vec::new()));
    }
}
