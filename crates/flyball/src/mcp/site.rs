//! The repository the server stands in: its settings, loop folder and journal. Opened once; the
//! settings are not read again, so that an agent cannot change them while it is guarded.

use std::path::{Path, PathBuf};

use flyball_core::event::TasksSnapshot;
use flyball_core::task::{Standing, TaskRing};
use flyball_core::tasklist::TaskList;
use flyball_core::{Moment, RunId, TaskId};

use super::enclosing_run::EnclosingRun;
use super::refused::Refused;
use crate::clock;
use crate::config::{Config, Sources};
use crate::error::CliError;
use crate::gate::Cancel;
use crate::journal::{Journal, state_dir};
use crate::loopdir::LoopDir;
use crate::process;
use crate::run_record::RunRecord;
use crate::spill::Spill;
use crate::worktree::Worktree;

/// Characters of a task's id.
const TASK_MAX: usize = 400;

/// Where the server stands.
#[derive(Debug)]
pub(crate) struct Site {
    pub(super) root: PathBuf,
    pub(super) config: Config,
    pub(super) loop_dir: LoopDir,
    /// Where large results go; they go with the server.
    pub(super) spill: Spill,
    pub(super) state_dir: PathBuf,
}

/// One call of a tool: where, and whether the caller still wants it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) site: &'a Site,
    pub(super) cancel: &'a Cancel,
}

impl Site {
    /// The repository around this folder, with the settings of these sources.
    pub(crate) fn open(start: &Path, sources: Sources) -> Result<Self, CliError> {
        // Without a repository there are no checkpoints and no cached gates; all else works.
        let root = Worktree::open(start)
            .map_or_else(|_| sources.root.clone(), |worktree| worktree.root().to_path_buf());
        let config = sources.load()?;
        let loop_dir = LoopDir::new(&root, &config.loop_dir, &config.tasks_file);
        let spill = Spill::of_process(&loop_dir, now());
        let state_dir = state_dir()?;
        // In a run that was given its one task nobody plans or marks the stories of the list.
        let run = process::enclosing_run().map(RunId::new);
        let record = run.and_then(|run| RunRecord::load(&state_dir, &run).ok());
        let loop_dir = match record.and_then(|record| record.request) {
            Some(_) => loop_dir.leaving_tasks(),
            None => loop_dir,
        };
        let site = Self { root, config, loop_dir, spill, state_dir };
        // What is wrong with the journal is said now and not with every call.
        Journal::open(&site.state_dir)?;
        Ok(site)
    }

    pub(super) fn journal(&self) -> Result<Journal, Refused> {
        Ok(Journal::open(&self.state_dir)?)
    }

    /// The journal for what this server keeps for itself. Behind the shield of a run that is one of
    /// its own, beside the large results, and goes with them.
    pub(super) fn scratch(&self) -> Result<Journal, Refused> {
        let is_shut = crate::platform::is_read_only(&self.state_dir);
        let own = self.loop_dir.file("responses").join("mcp");
        Ok(Journal::open(if is_shut { &own } else { &self.state_dir })?)
    }

    /// A name for something kept for this repository.
    pub(super) fn key(&self, what: &str) -> String {
        let root = blake3::hash(self.root.as_os_str().as_encoded_bytes()).to_hex();
        format!("mcp:{what}:{}", root.get(..16).unwrap_or_default())
    }

    /// The task list and its text.
    pub(super) fn tasks(&self) -> Result<(String, TaskList), Refused> {
        let path = self.loop_dir.tasks_relative();
        let text = match self.loop_dir.tasks() {
            TasksSnapshot::Found { text } => text,
            TasksSnapshot::Absent => {
                return Err(Refused::new(format!(
                    "there is no task list `{}`; `flyball init` writes one",
                    path.display()
                )));
            }
            TasksSnapshot::Unreadable { error } => {
                return Err(Refused::new(format!(
                    "the task list `{}` cannot be read: {error}",
                    path.display()
                )));
            }
        };
        let list = TaskList::parse(&text).map_err(|error| {
            Refused::new(format!("the task list `{}` cannot be used: {error}", path.display()))
        })?;
        Ok((text, list))
    }

    /// The task list, where there is one that can be used.
    pub(super) fn tasks_if_any(&self) -> Option<TaskList> {
        self.tasks().ok().map(|(_, list)| list)
    }

    /// The task ring with what is remembered of this repository, as far back as attempts count.
    pub(super) fn task_ring(
        &self,
        journal: &Journal,
        now: Moment,
        enclosing: Option<&EnclosingRun>,
    ) -> Result<TaskRing, Refused> {
        let window = self.config.policy.tasks.attempt_window;
        let window = enclosing.map_or(window, |enclosing| enclosing.reaches_back(now, window));
        Ok(TaskRing::new(journal.task_memory(&self.root, now, window)?))
    }

    /// The task ring as planning sees it. Inside a run a remedy that is due counts as applied: the
    /// run applies it before its next iteration, and `loop_check` has told the agent so.
    pub(super) fn due_ring(&self, journal: &Journal, now: Moment) -> Result<TaskRing, Refused> {
        let enclosing = self.enclosing_run(journal)?;
        let mut ring = self.task_ring(journal, now, enclosing.as_ref())?;
        if let Some(enclosing) = enclosing {
            for task in self.trips(&enclosing.run)? {
                ring.set_standing(task, Standing::Tripped);
            }
            let rules = &self.config.policy.tasks;
            for status in ring.status(rules, now, &enclosing.run) {
                if let Some(found) = ring.detect(rules, &enclosing.run, now, &status.task) {
                    ring.apply(rules, now, &found, String::new());
                }
            }
        }
        Ok(ring)
    }

    /// Makes sure that a task name is one.
    pub(super) fn task_id(name: &str) -> Result<TaskId, Refused> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Refused::new("`task` is empty; give a task's id, as `task_list` shows it"));
        }
        if name.chars().count() > TASK_MAX {
            return Err(Refused::new(format!(
                "`task` has more than {TASK_MAX} characters; give a task's id, as `task_list` \
                 shows it"
            )));
        }
        Ok(TaskId::new(name))
    }

    /// The worktree, where the site is in one.
    pub(super) fn worktree(&self) -> Option<Worktree> {
        let max_file = self.config.checkpoints.max_file;
        Some(Worktree::open(&self.root).ok()?.holding_files_up_to(max_file))
    }

    /// A file of the site, by a path that is relative to its root or absolute.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(Path::new(path))
    }
}

/// The machine's time of day: what is recorded here is compared with what other processes record.
pub(super) fn now() -> Moment {
    clock::wall()
}
