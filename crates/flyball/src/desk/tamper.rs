//! What is weakened and open in a worktree: looked at, accepted, or brought back.

use std::path::Path;

use flyball_core::RunId;
use flyball_core::gate::tamper::is_question;

use super::life::at_work;
use super::place::Workplace;
use crate::clock;
use crate::error::CliError;
use crate::gate::GatePlan;
use crate::gate::tamper::{Force, OpenHere, Restored, open_here, restore_open};
use crate::journal::Journal;
use crate::worktree::Worktree;

/// A worktree with what is open in it.
pub struct TamperDesk {
    /// The journal.
    pub journal: Journal,
    /// The worktree.
    pub worktree: Worktree,
    /// Its settings and files for humans.
    pub place: Workplace,
    /// What is open.
    pub open: Vec<OpenHere>,
    /// Whether the last run here ended before anyone looked at what its agent left.
    pub unexamined: bool,
    /// The tree it stands on now.
    pub tree: String,
}

/// What was brought back, what was not, and what only the next run can count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Brought back.
    pub done: Vec<String>,
    /// Left alone, and why.
    pub left: Vec<String>,
    /// Counted again by the next run.
    pub counted: Vec<String>,
    /// Still open.
    pub still: Vec<String>,
    /// What became of the question.
    pub question: Option<String>,
}

impl TamperDesk {
    /// Looks at a worktree. Where a run is named, only at what it found; at what earlier ones left
    /// there too, where it is the latest: that is what it asks about.
    pub fn look(
        mut journal: Journal,
        place: Workplace,
        only: Option<&RunId>,
    ) -> Result<Self, CliError> {
        let max_file = place.config.checkpoints.max_file;
        let mut worktree = Worktree::open(&place.root)?.holding_files_up_to(max_file);
        let (dir, tasks) = (place.human_files.relative(), place.human_files.tasks_relative());
        let tree = worktree.snapshot(&dir, &tasks)?.checkpoint_tree;
        let plan = GatePlan::resolve(&place.config, &place.root, &[])?;
        let mut open = open_here(&mut journal, &worktree, &tree, &plan)?;
        let latest = journal.latest_run(worktree.root())?.map(|latest| latest.run);
        open.retain(|one| {
            let is_left = |run: &RunId| {
                latest.as_ref() == Some(run) && one.row.root.as_path() == worktree.root()
            };
            only.is_none_or(|run| one.row.run == *run || is_left(run))
        });
        let base = journal.tamper_base(worktree.root())?;
        let unexamined = base.is_some_and(|base| !base.examined);
        Ok(Self { journal, worktree, place, open, unexamined, tree })
    }

    /// What tells each open finding, as it stands now, from any other.
    pub fn marks(&self) -> Vec<String> {
        self.open.iter().map(mark).collect()
    }

    /// Refuses when nothing is open, or when other things are open than were shown.
    pub fn refuse_changed(&self, shown: Option<&[String]>) -> Result<(), CliError> {
        if self.open.is_empty() {
            return Err(self.nothing());
        }
        let Some(shown) = shown else { return Ok(()) };
        let (mut shown, mut now) = (shown.to_vec(), self.marks());
        shown.sort_unstable();
        now.sort_unstable();
        if shown == now {
            return Ok(());
        }
        Err(CliError::already_running("what is weakened has changed since it was shown")
            .hint("look at it again; nothing was accepted or brought back"))
    }

    /// Why there is nothing to do.
    pub fn nothing(&self) -> CliError {
        let root = self.worktree.root().display();
        let error = CliError::no_input(format!("no weakened test or gate is open in `{root}`"));
        if self.unexamined {
            return error.hint(
                "the last run here ended before its work was looked at: `flyball run` looks first",
            );
        }
        error.hint("`flyball log` says what the last run found")
    }

    /// Accepts all that is open, as it was shown; a sentence about the question.
    pub fn accept(&mut self, shown: Option<&[String]>) -> Result<Option<String>, CliError> {
        self.refuse_changed(shown)?;
        let rows: Vec<i64> = self.open.iter().map(|one| one.row.key).collect();
        self.journal.accept_tamper(&rows, clock::wall())?;
        self.clear_question()
    }

    /// Brings back what is open, as it was shown; never under the hands of a run.
    pub fn restore(
        &mut self,
        shown: Option<&[String]>,
        force: Force,
    ) -> Result<RestoreReport, CliError> {
        self.refuse_changed(shown)?;
        if let Some(run) = at_work(&self.journal, self.worktree.root())? {
            let message = format!("run `{}` is at work here", run.run);
            return Err(CliError::already_running(message)
                .hint(format!("end it first: `flyball stop {}`", run.run)));
        }
        let mut told = RestoreReport::default();
        for one in &self.open {
            let finding = &one.row.kept.finding;
            if finding.ran_before.is_some() {
                told.counted.push(finding.finding.message.clone());
            }
            for what in restore_open(&self.worktree, one, force)? {
                let (list, words) = match what {
                    Restored::Done(words) | Restored::Already(words) => (&mut told.done, words),
                    Restored::Left(words) => (&mut told.left, words),
                };
                if !list.contains(&words) {
                    list.push(words);
                }
            }
        }
        Ok(told)
    }

    /// After a look that followed a restoring: what is as it was is no longer open.
    pub fn settle(&mut self, told: &mut RestoreReport) -> Result<(), CliError> {
        let undone = self.open.iter().filter(|one| one.now.is_none());
        let rows: Vec<i64> = undone.map(|one| one.row.key).collect();
        self.journal.undo_tamper(&rows, clock::wall())?;
        let still =
            |one: &&OpenHere| one.now.is_some() && one.row.kept.finding.ran_before.is_none();
        let message = |one: &OpenHere| one.row.kept.finding.finding.message.clone();
        told.still = self.open.iter().filter(still).map(message).collect();
        told.question = if told.still.is_empty() { self.clear_question()? } else { None };
        Ok(())
    }

    /// How a file was changed since the tree a finding is compared with.
    pub fn diff(&self, one: &OpenHere, path: &str) -> String {
        self.worktree.diff(&one.row.base.tree, &self.tree, &[path]).unwrap_or_default()
    }

    /// Takes `decide.txt` away when it asks about nothing but this; a sentence about it.
    fn clear_question(&self) -> Result<Option<String>, CliError> {
        let files = &self.place.human_files;
        let path = files.file("decide.txt");
        let shown = path.display();
        let failed = |verb: &str| format!("`{shown}` could not be {verb}");
        let seen =
            files.human_files().map_err(|error| CliError::io(failed("read")).cause(error))?;
        let Some(question) = seen.question else { return Ok(None) };
        if !is_question(&question) {
            return Ok(Some(format!("Another question waits in {shown}: flyball answer")));
        }
        files.remove_decide().map_err(|error| CliError::io(failed("removed")).cause(error))?;
        Ok(Some(format!("Removed {shown}: it is answered")))
    }
}

/// What tells an open finding, as it stands now, from any other.
pub fn mark(one: &OpenHere) -> String {
    one.now.as_ref().unwrap_or(&one.row.kept.finding).key()
}

/// The files a finding is about.
pub fn files_of(one: &OpenHere) -> Vec<String> {
    let finding = &one.row.kept.finding.finding;
    let named = finding.file.iter().cloned();
    let kept = one.row.kept.before.iter().map(|file| file.path.clone());
    let mut files: Vec<String> =
        named.chain(kept).filter(|file| !Path::new(file).is_absolute()).collect();
    files.sort_unstable();
    files.dedup();
    files
}
