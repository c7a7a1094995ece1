//! The loop folder: the files humans and agents share with flyball. Reads and writes them; what
//! they mean is decided elsewhere.

mod human_files;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flyball_core::event::TasksSnapshot;
use flyball_core::{IterationNo, Moment, RunId};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::{clock, platform};

/// The loop folder of one worktree.
#[derive(Clone, Debug)]
pub struct LoopDir {
    root: PathBuf,
    relative: PathBuf,
    tasks: PathBuf,
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
        Self { root: root.into(), relative: relative.into(), tasks: tasks.into() }
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.relative)
    }

    /// Its path below the root, as git writes it.
    pub fn relative(&self) -> String {
        self.relative.to_string_lossy().replace('\\', "/")
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
        self.file("logs")
    }

    /// The task list as it stands in the file.
    pub fn tasks(&self) -> TasksSnapshot {
        match fs::read(self.tasks_path()) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => TasksSnapshot::Found { text },
                Err(_) => TasksSnapshot::Unreadable { error: "it is not UTF-8 text".into() },
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => TasksSnapshot::Absent,
            Err(error) => TasksSnapshot::Unreadable { error: error.to_string() },
        }
    }

    /// Writes the task list anew, whole or not at all; its folder too, should the agent have
    /// deleted it.
    pub fn write_tasks(&self, text: &str) -> io::Result<()> {
        let path = self.tasks_path();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        write_whole(&path, text)
    }

    /// The prompt template; none when there is none.
    pub fn prompt(&self) -> io::Result<Option<String>> {
        for name in ["prompt.md", "PROMPT.md"] {
            match fs::read_to_string(self.file(name)) {
                Ok(text) => return Ok(Some(text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
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
        fs::create_dir_all(self.path())?;
        write_whole(&self.file("active.json"), &format!("{body:#}\n"))
    }

    /// Takes that sign down.
    pub fn remove_active(&self) {
        remove(&self.file("active.json")).ok();
    }

    /// Whether an earlier run left its sign behind: the process it names is gone.
    pub fn stale_active(&self) -> Option<u32> {
        let text = fs::read_to_string(self.file("active.json")).ok()?;
        let body: serde_json::Value = serde_json::from_str(&text).ok()?;
        let pid = u32::try_from(body.get("pid")?.as_u64()?).ok()?;
        (!platform::alive(pid)).then_some(pid)
    }

    /// Makes the folder, with an ignore file that keeps flyball's own files out of commits.
    pub fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(self.path())?;
        let ignore = self.file(".gitignore");
        if ignore.exists() {
            return Ok(());
        }
        write_whole(&ignore, include_str!("../templates/gitignore"))
    }

    /// Moves the logs of an earlier run out of the way, to `logs/<run>/`.
    pub fn rotate_logs(&self, earlier: &str) -> io::Result<()> {
        let logs = self.logs();
        let is_log = |name: &str| name.starts_with("iteration-") || name == "summary.csv";
        let Ok(entries) = fs::read_dir(&logs) else { return Ok(()) };
        let files: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(is_log))
            .map(|entry| entry.path())
            .collect();
        if files.is_empty() {
            return Ok(());
        }
        let folder = logs.join(earlier);
        fs::create_dir_all(&folder)?;
        for file in files {
            if let Some(name) = file.file_name() {
                fs::rename(&file, folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Sweeps large tool results an earlier session left, once they are a day old (A7).
    pub fn sweep_responses(&self, now: Moment) {
        let Ok(entries) = fs::read_dir(self.file("responses")) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).ok();
            let is_old = age
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .is_some_and(|since| {
                    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
                    now.since(Moment::from_millis(millis)).get() > 24 * 3600 * 1000
                });
            if is_old {
                remove(&entry.path()).ok();
            }
        }
    }

    /// The time for a heading.
    fn stamp(now: Moment) -> String {
        clock::rfc3339(now)
    }
}

/// Writes a file beside and renames it over: a reader sees the old or the new one, never a half.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = beside(path, 0o666)?;
    beside.write_all(text.as_bytes())?;
    beside.persist(path)?;
    Ok(())
}

/// A new file beside another, with these rights as far as the user's mask allows; gone when it is
/// not kept.
pub fn beside(path: &Path, rights: u32) -> io::Result<NamedTempFile> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    tempfile::Builder::new()
        .prefix(&name)
        .suffix(".tmp")
        .permissions(fs::Permissions::from_mode(rights))
        .tempfile_in(path.parent().unwrap_or(path))
}

/// Removes a file; one that is not there is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
