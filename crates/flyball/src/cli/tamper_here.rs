//! What is weakened and open where a command was started, for `accept` and `restore`.

use flyball_core::RunId;

use super::place::{self, Place};
use super::{Globals, fault, runs};
use crate::config::{Config, Sources};
use crate::error::CliError;
use crate::gate::GatePlan;
use crate::gate::tamper::{OpenHere, open_here};
use crate::journal::Journal;
use crate::loopdir::LoopDir;
use crate::worktree::Worktree;
use flyball_core::gate::tamper::is_question;

/// A repository with what is open in it.
pub(super) struct TamperHere {
    pub(super) journal: Journal,
    pub(super) worktree: Worktree,
    pub(super) human_files: LoopDir,
    pub(super) open: Vec<OpenHere>,
    /// Whether the last run here ended before anyone looked at what its agent left.
    pub(super) unexamined: bool,
}

impl TamperHere {
    /// Looks at the worktree the command was started in, or that of a run; only at what that run
    /// found when one is named.
    pub(super) fn look(globals: &Globals, run: Option<&str>) -> Result<Self, CliError> {
        let mut journal = place::open_journal()?;
        let (root, only) = match run {
            Some(asked) => {
                let run = runs::find(&journal, asked)?;
                (run.root, Some(run.run))
            }
            None => (place::repository(globals)?, None),
        };
        let config = settings(globals, &root)?;
        let max_file = config.checkpoints.max_file;
        let mut worktree = Worktree::open(&root)?.holding_files_up_to(max_file);
        let human_files = LoopDir::new(&root, &config.loop_dir, &config.tasks_file);
        let (dir, tasks) = (human_files.relative(), human_files.tasks_relative());
        let tree = worktree.snapshot(&dir, &tasks)?.checkpoint_tree;
        let plan = GatePlan::resolve(&config, &root, &[])?;
        let mut open = open_here(&mut journal, &worktree, &tree, &plan)?;
        open.retain(|one| only.as_ref().is_none_or(|run: &RunId| one.row.run == *run));
        let base = journal.tamper_base(worktree.root()).map_err(fault::journal)?;
        let unexamined = base.is_some_and(|base| !base.examined);
        Ok(Self { journal, worktree, human_files, open, unexamined })
    }

    /// Why there is nothing to do.
    pub(super) fn nothing(&self) -> CliError {
        let root = self.worktree.root().display();
        let error = CliError::no_input(format!("no weakened test or gate is open in `{root}`"));
        if self.unexamined {
            return error.hint(
                "the last run here ended before its work was looked at: `flyball run` looks first",
            );
        }
        error.hint("`flyball log` says what the last run found")
    }

    /// Takes `decide.txt` away when it asks about nothing but this; a sentence about it.
    pub(super) fn clear_question(&self) -> Result<Option<String>, CliError> {
        let path = self.human_files.file("decide.txt");
        let seen = self.human_files.human_files().map_err(fault::file(&path, "read"))?;
        let Some(question) = seen.question else { return Ok(None) };
        if !is_question(&question) {
            let shown = path.display();
            return Ok(Some(format!("Another question waits in {shown}: flyball answer")));
        }
        self.human_files.remove_decide().map_err(fault::file(&path, "removed"))?;
        Ok(Some(format!("Removed {}: it is answered", path.display())))
    }
}

/// The settings there, or the usual ones where they can no longer be read: that may be the very thing
/// to be brought back.
fn settings(globals: &Globals, root: &std::path::Path) -> Result<Config, CliError> {
    if let Ok(place) = Place::find(globals)
        && place.root == root
    {
        return Ok(place.config);
    }
    let sources = Sources { project_file: None, ..Sources::of_process(root) };
    sources
        .load()
        .or_else(|_| Sources { root: std::path::PathBuf::from("/"), ..Sources::default() }.load())
}
