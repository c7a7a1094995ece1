//! Where a command works: the repository, its configuration and loop folder, and the journal.

use std::path::PathBuf;

use flyball_core::RunId;

use super::{Globals, fault, runs};
use crate::config::Config;
use crate::desk::{Site, Workplace, recorded};
use crate::error::CliError;
use crate::journal::{self, Door, Journal};
use crate::loopdir::LoopDir;
use crate::project;

/// A repository with its settings.
#[derive(Debug)]
pub(super) struct Place {
    /// Its root, as runs are filed under.
    pub(super) root: PathBuf,
    /// What is set for it.
    pub(super) config: Config,
    /// Its loop folder.
    pub(super) human_files: LoopDir,
    /// Whether a run elsewhere was named.
    elsewhere: Option<RunId>,
}

impl Place {
    /// The repository the command was started in.
    pub(super) fn find(globals: &Globals) -> Result<Self, CliError> {
        let root = repository(globals)?;
        let config = globals.sources()?.load()?;
        let human_files = LoopDir::new(&root, &config.loop_dir, &config.tasks_file);
        Ok(Self { root, config, human_files, elsewhere: None })
    }

    /// The repository of this run, or the one the command was started in.
    pub(super) fn of_run(globals: &Globals, asked: Option<&str>) -> Result<Self, CliError> {
        let Some(asked) = asked else { return Self::find(globals) };
        let run = runs::find(&open_journal()?, asked)?;
        let globals = Globals { working_dir: Some(run.root.clone()), ..globals.clone() };
        let place = Self::find(&globals)?;
        Ok(Self { elsewhere: Some(run.run), ..place })
    }

    /// The worktree, as the desk takes it.
    pub(super) fn site(&self) -> Site<'_> {
        Site {
            root: self.root.as_path(),
            human_files: &self.human_files,
            rules: &self.config.policy.tasks,
        }
    }

    /// The same, with all of its settings.
    pub(super) fn workplace(&self) -> Workplace {
        Workplace::with(&self.root, self.config.clone())
    }

    /// Writes down what came of an act here: on the run that was named, or the latest one.
    pub(super) fn recorded<T>(
        &self,
        act: &str,
        body: &serde_json::Value,
        result: Result<T, CliError>,
    ) -> Result<T, CliError> {
        let Ok(mut journal) = open_journal() else { return result };
        let latest = journal.latest_run(&self.root).ok().flatten().map(|run| run.run);
        let Some(run) = self.elsewhere.clone().or(latest) else { return result };
        recorded(&mut journal, (&run, act, Door::Cli), body, result)
    }

    /// What to type for the next run there.
    pub(super) fn next(&self) -> String {
        match &self.elsewhere {
            None => "flyball run".to_owned(),
            Some(run) => runs::resume_command(run, &self.root, None),
        }
    }
}

/// The root of the repository the command was started in.
pub(super) fn repository(globals: &Globals) -> Result<PathBuf, CliError> {
    let start = globals.start_dir()?;
    let root = project::find_repository(&start).ok_or_else(|| {
        CliError::no_input(format!("`{}` is not in a git repository", start.display()))
            .hint("`cd` into the repository, or name it: `flyball -C DIR …`")
    })?;
    root.canonicalize().map_err(fault::file(&root, "found"))
}

/// The journal of this machine.
pub(super) fn open_journal() -> Result<Journal, CliError> {
    let state = journal::state_dir().map_err(fault::journal)?;
    Journal::open(&state).map_err(fault::journal)
}
