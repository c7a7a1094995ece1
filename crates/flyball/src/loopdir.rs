//! The loop folder: the files humans and agents share with flyball. Reads and writes them; what
//! they mean is decided elsewhere.

mod human_files;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flyball_core::event::{TasksSnapshot, WorktreeSnapshot};
use flyball_core::{IterationNo, Moment, RunId};
use serde_json::json;

use crate::files::{self, Folder};
use crate::{clock, platform};

/// The largest task list that is read; each look at the worktree journals it whole.
pub(crate) const TASKS_MAX: u64 = 4 * 1024 * 1024;
/// The largest prompt template, and the largest file humans and agents leave for each other.
pub(super) const TEXT_MAX: u64 = 1024 * 1024;

const IGNORE: &str = ".gitignore";
/// The ignore file of a folder that nothing of is to be committed.
pub(crate) const IGNORE_ALL: &str = "*\n";
const ACTIVE: &str = "active.json";
/// What will stand there next, among the logs, where git does not look.
const SPARE: &str = "active.json.next";
const LOGS: &str = "logs";
const RESPONSES: &str = "responses";
/// The iterations of the latest run, one row each.
pub(crate) const SUMMARY: &str = "logs/summary.csv";

/// The loop folder of one worktree.
#[derive(Clone, Debug)]
pub struct LoopDir {
    root: PathBuf,
    relative: PathBuf,
    tasks: PathBuf,
    /// Whether the work is something else than the task list.
    leaves_tasks: bool,
    /// The task list as flyball last repaired it; its copies know the same.
    repaired: Arc<Mutex<Option<String>>>,
}

/// A path as it is found from where flyball was started: what is printed can be opened.
pub fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let inside = here.as_ref().and_then(|here| path.strip_prefix(here).ok());
    inside.unwrap_or(path).display().to_string()
}

/// What `active.json` says about a run at work.
#[derive(Clone, Debug)]
pub struct Active<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The iteration at hand.
    pub iteration: IterationNo,
    /// Its mode.
    pub mode: &'a str,
    /// Iterations in a row without progress.
    pub stuck: u32,
    /// The checkpoint tree it began with.
    pub snapshot: &'a str,
}

impl LoopDir {
    /// The folder `relative` below `root`, with its task list.
    pub fn new(root: &Path, relative: &Path, tasks: &Path) -> Self {
        let (root, relative, tasks) = (root.into(), relative.into(), tasks.into());
        Self { root, relative, tasks, leaves_tasks: false, repaired: Arc::default() }
    }

    /// The same for a run that was given its one task: the list is neither read nor written.
    #[must_use]
    pub fn leaving_tasks(mut self) -> Self {
        self.leaves_tasks = true;
        self
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.relative)
    }

    /// Its path below the root, as git writes it.
    pub fn relative(&self) -> String {
        self.relative.to_string_lossy().replace('\\', "/")
    }

    /// A file in it that is there, as it is found from where flyball was started.
    pub fn shown(&self, name: &str) -> Option<String> {
        let path = self.file(name);
        path.exists().then(|| from_here(&path))
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The task list's path below the root.
    pub fn tasks_relative(&self) -> PathBuf {
        self.relative.join(&self.tasks)
    }

    /// The task list's path.
    pub fn tasks_path(&self) -> PathBuf {
        self.path().join(&self.tasks)
    }

    /// Where logs are.
    pub fn logs(&self) -> PathBuf {
        self.file(LOGS)
    }

    /// The folder itself, opened; made when it is not there.
    pub fn open(&self) -> io::Result<Folder> {
        Folder::make(&self.root, &self.relative)
    }

    /// The folder of the logs, opened; made when it is not there.
    pub fn open_logs(&self) -> io::Result<Folder> {
        Folder::make(&self.root, &self.relative.join(LOGS))
    }

    /// The task list as it stands in the file.
    pub fn tasks(&self) -> TasksSnapshot {
        if self.leaves_tasks {
            return TasksSnapshot::Absent;
        }
        match files::read_text(&self.tasks_path(), TASKS_MAX) {
            Ok(text) => TasksSnapshot::Found { text },
            Err(error) if error.kind() == io::ErrorKind::NotFound => TasksSnapshot::Absent,
            Err(error) => TasksSnapshot::Unreadable { error: error.to_string() },
        }
    }

    /// Writes the task list anew, whole or not at all; its folder too, should the agent have
    /// deleted it.
    pub fn write_tasks(&self, text: &str) -> io::Result<()> {
        self.remember_repair(text);
        let path = self.tasks_relative();
        let folder = Folder::make(&self.root, path.parent().unwrap_or(Path::new("")))?;
        folder.write(&path.file_name().unwrap_or_default().to_string_lossy(), text)
    }

    /// flyball has written the task list like this.
    pub fn remember_repair(&self, text: &str) {
        *self.repaired.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
    }

    /// Puts the task list into a look at the worktree. One that stands as flyball repaired it is
    /// flyball's change: nobody else has left it uncommitted (B1).
    pub fn look_at_tasks(&self, snapshot: &mut WorktreeSnapshot) {
        snapshot.tasks = self.tasks();
        let repaired = self.repaired.lock().unwrap_or_else(PoisonError::into_inner);
        if let (TasksSnapshot::Found { text }, Some(repaired)) = (&snapshot.tasks, &*repaired)
            && text == repaired
        {
            let path = self.tasks_relative().to_string_lossy().replace('\\', "/");
            snapshot.uncommitted.retain(|one| *one != path);
        }
    }

    /// The prompt template; none when there is none.
    pub fn prompt(&self) -> io::Result<Option<String>> {
        for name in ["prompt.md", "PROMPT.md"] {
            let found = files::optional(files::read_text(&self.file(name), TEXT_MAX));
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("`{name}`: {error}"));
            if let Some(text) = found.map_err(named)? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Shows that a run is at work here.
    pub fn write_active(&self, active: &Active<'_>) -> io::Result<()> {
        let Active { run, iteration, mode, stuck, snapshot } = active;
        let body = json!({
            "pid": std::process::id(), "run": run, "iteration": iteration, "mode": mode,
            "stuckCount": stuck, "snapshot": snapshot,
        });
        let (folder, logs) = (self.open()?, self.open_logs()?);
        let text = format!("{body:#}\n");
        // Whoever reads it finds the old or the new one, and no file is made for each iteration.
        logs.overwrite(SPARE, &text).or_else(|_| logs.write(SPARE, &text))?;
        logs.trade(SPARE, &folder, ACTIVE)
    }

    /// Takes that sign down.
    pub fn remove_active(&self) {
        // A folder that is gone, or not ours any more, holds no sign of ours.
        Folder::open(&self.root, &self.relative).and_then(|folder| folder.remove(ACTIVE)).ok();
        let logs = Folder::open(&self.root, &self.relative.join(LOGS));
        logs.and_then(|logs| logs.remove(SPARE)).ok();
    }

    /// Whether an earlier run left its sign behind: the process it names is gone.
    pub fn stale_active(&self) -> Option<u32> {
        let text = files::read(&self.file(ACTIVE), TEXT_MAX).ok()?;
        let body: serde_json::Value = serde_json::from_slice(&text).ok()?;
        let pid = u32::try_from(body.get("pid")?.as_u64()?).ok()?;
        (!platform::alive(pid)).then_some(pid)
    }

    /// Puts the ignore file back where something else stands in its place: git would wait for a pipe
    /// there for ever.
    pub fn mend_ignore(&self) {
        let path = self.file(IGNORE);
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            let template = include_str!("../templates/gitignore");
            // Should that fail, git is ended when it takes too long.
            self.open().and_then(|folder| folder.write(IGNORE, template)).ok();
        }
    }

    /// Makes the folder, with an ignore file that keeps flyball's own files out of commits. One that
    /// is only there for a run with a task of its own is nobody's business: all of it is ignored.
    pub fn prepare(&self) -> io::Result<()> {
        let is_new = !self.path().exists();
        let folder = self.open()?;
        if folder.has(IGNORE) {
            self.mend_ignore();
            return Ok(());
        }
        let template = include_str!("../templates/gitignore");
        folder.write(IGNORE, if is_new && self.leaves_tasks { IGNORE_ALL } else { template })
    }

    /// Has the files that people share committed again, in a folder of which all was ignored.
    pub fn share(&self) -> io::Result<()> {
        let folder = self.open()?;
        let found = files::optional(files::read_text(&self.file(IGNORE), TEXT_MAX))?;
        if found.is_none_or(|text| text == IGNORE_ALL) {
            folder.write(IGNORE, include_str!("../templates/gitignore"))?;
        }
        Ok(())
    }

    /// Moves the logs of an earlier run out of the way, to `logs/<run>/`.
    pub fn rotate_logs(&self, earlier: &str) -> io::Result<()> {
        let logs = self.relative.join(LOGS);
        let Some(folder) = files::optional(Folder::open(&self.root, &logs))? else {
            return Ok(());
        };
        let is_log = |name: &String| name.starts_with("iteration-") || name == "summary.csv";
        let names: Vec<String> = folder.names()?.into_iter().filter(is_log).collect();
        if names.is_empty() {
            return Ok(());
        }
        let moved = Folder::make(&self.root, &logs.join(earlier))?;
        names.iter().try_for_each(|name| folder.move_to(name, &moved))
    }

    /// Sweeps large tool results an earlier session left, once they are a day old (A7).
    pub fn sweep_responses(&self, now: Moment) {
        let Ok(folder) = Folder::open(&self.root, &self.relative.join(RESPONSES)) else { return };
        for name in folder.names().unwrap_or_default() {
            let changed = folder.changed_secs(&name).ok().and_then(|secs| u64::try_from(secs).ok());
            let is_old = changed.is_some_and(|secs| {
                let at = Moment::from_millis(secs.saturating_mul(1000));
                now.since(at).get() > 24 * 3600 * 1000
            });
            if is_old {
                folder.remove(&name).ok();
            }
        }
    }

    /// Removes the large tool results of a run that is over.
    pub fn remove_responses(&self) {
        let below = self.relative.join(RESPONSES);
        let Ok(folder) = Folder::open(&self.root, &below) else { return };
        for name in folder.names().unwrap_or_default() {
            folder.remove(&name).ok();
        }
        drop(folder);
        // Stays when something of others is in it. Removing a folder follows no link.
        fs::remove_dir(self.file(RESPONSES)).ok();
    }

    /// The time for a heading.
    fn stamp(now: Moment) -> String {
        clock::rfc3339(now)
    }
}
