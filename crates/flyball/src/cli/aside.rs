//! `flyball run --worktree`: the run works in a worktree and on a branch of its own, and says how to land
//! or drop it.

use std::path::{Path, PathBuf};

use flyball_core::RunId;

use super::{Globals, words};
use crate::apart::{self, Apart};
use crate::config::Config;
use crate::error::CliError;
use crate::journal::{Journal, state_dir};
use crate::terminal;
use crate::worktree::Worktree;

/// A run apart from the user's work, as long as it has not begun.
pub(super) struct Aside {
    journal: Journal,
    origin: Worktree,
    apart: Apart,
}

impl Aside {
    /// Makes the worktree, or finds it again, and makes it ready.
    pub(super) fn begin(
        dir: &Path,
        (run, label): (&RunId, &str),
        config: &Config,
    ) -> Result<Self, CliError> {
        let mut journal = Journal::open(&state_dir()?)?;
        let origin = Worktree::open(dir)?;
        let label = Some(label).filter(|label| !label.is_empty());
        let apart = apart::open(&mut journal, &origin, (run, label))?;
        let aside = Self { journal, origin, apart };
        match aside.apart.set_up(config) {
            Ok(()) => Ok(aside),
            Err(error) => {
                aside.undo();
                Err(error)
            }
        }
    }

    /// Where the run works.
    pub(super) fn dir(&self) -> PathBuf {
        self.apart.entry.path.clone()
    }

    /// The flags every command has, as if it had been started there.
    pub(super) fn globals(&self, globals: &Globals) -> Result<Globals, CliError> {
        let start = globals.start_dir()?;
        let config_file = globals.config_file.as_ref().map(|file| start.join(file));
        Ok(Globals { working_dir: Some(self.dir()), config_file, ..globals.clone() })
    }

    /// What is said of it at the start.
    pub(super) fn notes(&self) -> Vec<String> {
        let entry = &self.apart.entry;
        let from = entry.target.as_deref().unwrap_or("a commit");
        let made = if self.apart.is_new { "a worktree of its own" } else { "its worktree again" };
        let mut notes = vec![format!("{made}: branch {}, from {from}", entry.branch)];
        if self.apart.left_behind > 0 {
            let count = words::counted(self.apart.left_behind, "uncommitted file");
            notes.push(format!("{count} of {} stay behind there", entry.origin.display()));
        }
        notes
    }

    /// The run does not begin: nothing is left of it.
    pub(super) fn undo(mut self) {
        self.apart.undo(&mut self.journal, &self.origin);
    }
}

/// Says how to land or drop a run that worked apart.
pub(super) fn say_next(run: &RunId) {
    let Ok(journal) = state_dir().and_then(|dir| Journal::open(&dir)) else { return };
    let Ok(Some(apart)) = journal.apart(run) else { return };
    if apart.fate.is_some() {
        return;
    }
    let onto = apart.target.as_deref().map(|target| format!("  (on {target})")).unwrap_or_default();
    terminal::write_err(&format!(
        "Worktree:    {}\nBranch:      {}\nLand it:     flyball land {run}{onto}\n\
         Throw away:  flyball drop {run}\n",
        apart.path.display(),
        apart.branch
    ));
}
