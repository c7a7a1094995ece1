//! Runs apart from the user's work: a worktree in the cache folder and a branch of its own, made, set up
//! once, and removed again.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flyball_core::RunId;

use crate::clock;
use crate::config::{Config, WorktreeSettings};
use crate::error::CliError;
use crate::files;
use crate::journal::{ApartRun, Journal};
use crate::platform::Walls;
use crate::process::{Spec, run_shown};
use crate::terminal;
use crate::worktree::Worktree;

/// What people wrote down for a run, beside the task list; taken along when it is not committed.
const TAKEN_ALONG: [&str; 2] = ["prompt.md", "prd.md"];

/// The folder that worktrees are made in: `$XDG_CACHE_HOME/flyball`, else `~/.cache/flyball`.
pub fn cache_dir() -> Result<PathBuf, CliError> {
    choose(|name| env::var_os(name)).ok_or_else(|| {
        CliError::io("there is no folder for worktrees").hint("set `XDG_CACHE_HOME`, or `HOME`")
    })
}

fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("flyball"))
}

/// Where worktrees of a repository are: its own name, and what tells it from others of that name.
pub fn folder_of(worktree: &Worktree) -> Result<PathBuf, CliError> {
    let shared = worktree.shared_dir();
    let top = shared.parent().filter(|_| shared.file_name().is_some_and(|name| name == ".git"));
    let name = top.unwrap_or(shared).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fits = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().map(fits).take(40).collect();
    let hash = blake3::hash(shared.as_os_str().as_encoded_bytes()).to_hex();
    let short = flyball_core::text::prefix(&hash, 8);
    Ok(cache_dir()?.join("worktrees").join(format!("{name}-{short}")))
}

/// A worktree for a run, made or found again.
#[derive(Debug)]
pub struct Apart {
    /// What is kept of it.
    pub entry: ApartRun,
    /// Whether it was made for this run.
    pub is_new: bool,
    /// Uncommitted files of the origin, which it does not have.
    pub left_behind: usize,
}

/// Makes the worktree a run works in, or finds the one of this name again.
pub fn open(
    journal: &mut Journal,
    origin: &Worktree,
    (run, name): (&RunId, Option<&str>),
) -> Result<Apart, CliError> {
    let label = name.unwrap_or(run.as_str());
    if !label.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        || label.starts_with(['.', '-'])
        || label.is_empty()
    {
        return Err(CliError::usage(format!("`{label}` cannot name a worktree"))
            .hint("letters, digits, `-`, `_` and `.` can")
            .hint("a task to do may stand anywhere: `flyball run --worktree \"Fix the tests\"`"));
    }
    let (path, branch) = (folder_of(origin)?.join(label), format!("flyball/{label}"));
    let base = origin.head()?.ok_or_else(|| {
        CliError::no_input("there is no commit yet that a worktree could begin with")
            .hint("commit what is there: `git add -A && git commit`")
    })?;
    let known = journal.apart_from(origin.root())?.into_iter().find(|one| one.path == path);
    let target = origin.branch()?;
    let entry = ApartRun {
        run: run.clone(),
        path: path.clone(),
        origin: origin.root().to_path_buf(),
        branch: branch.clone(),
        target,
        base,
        fate: None,
    };
    let left_behind = origin.uncommitted()?.len();
    if path.is_dir() {
        let Some(known) = known else {
            return Err(CliError::usage(format!("there is a worktree at `{}`", path.display()))
                .hint("`--worktree NAME` chooses another name"));
        };
        let entry = ApartRun { run: run.clone(), ..known };
        journal.set_apart(&entry, clock::wall())?;
        return Ok(Apart { entry, is_new: false, left_behind });
    }
    if origin.tip(&branch)?.is_some() {
        return Err(CliError::usage(format!("there is a branch `{branch}` already"))
            .hint("`--worktree NAME` chooses another name"));
    }
    if let Some(folder) = path.parent() {
        let made = files::private_folder(folder);
        made.map_err(|e| CliError::io(format!("cannot make `{}`", folder.display())).cause(e))?;
    }
    origin.add_worktree(&path, &branch, &entry.base)?;
    journal.set_apart(&entry, clock::wall())?;
    Ok(Apart { entry, is_new: true, left_behind })
}

impl Apart {
    /// Makes a new worktree ready: what people wrote for the run comes along where it is not
    /// committed, and the setup runs.
    pub fn set_up(&self, config: &Config) -> Result<(), CliError> {
        if !self.is_new {
            return Ok(());
        }
        let from = &self.entry.origin;
        let loop_dir = &config.loop_dir;
        let written = TAKEN_ALONG.iter().map(|name| loop_dir.join(name));
        let written = written.chain([
            loop_dir.join(&config.tasks_file),
            loop_dir.join(".gitignore"),
            PathBuf::from(crate::config::FILE_NAME),
        ]);
        for name in written {
            take_along(&from.join(&name), &self.entry.path.join(&name)).map_err(|error| {
                CliError::io(format!("`{}` cannot be taken along", name.display())).cause(error)
            })?;
        }
        set_up(&config.worktree, &self.entry.path, None)
    }

    /// Takes a worktree back whose run did not begin.
    pub fn undo(&self, journal: &mut Journal, origin: &Worktree) {
        if !self.is_new {
            return;
        }
        let ApartRun { path, branch, base, run, .. } = &self.entry;
        if origin.remove_worktree(path).is_ok() {
            origin.remove_branch(branch, base).ok();
            journal.forget_apart(run).ok();
        }
    }
}

fn take_along(from: &Path, to: &Path) -> std::io::Result<()> {
    if to.symlink_metadata().is_ok() || !from.is_file() {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).map(drop)
}

/// Runs the setup of a new worktree; what it prints is shown.
pub fn set_up(
    settings: &WorktreeSettings,
    root: &Path,
    walls: Option<&Walls>,
) -> Result<(), CliError> {
    let timeout = Duration::from_millis(settings.timeout.get());
    for line in &settings.setup {
        terminal::write_err(&format!("   SETUP  {line}\n"));
        let mut spec = Spec::new("sh", root);
        spec.args = vec!["-c".to_owned(), line.clone()];
        spec.walls = walls.cloned();
        let ran = run_shown(&spec, timeout, |bytes| {
            terminal::write_err(&String::from_utf8_lossy(bytes));
        });
        ran.map_err(|why| {
            CliError::io(format!("the worktree could not be set up: `{line}` failed: {why}"))
                .hint("mend `worktree.setup` in flyball.toml, and run again")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_folder_is_the_users() {
        let of = |set: &[(&str, &str)]| {
            choose(|name| {
                set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(*value))
            })
        };
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(of(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), path("/c/flyball"));
        assert_eq!(of(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]), path("/h/.cache/flyball"));
        assert_eq!(of(&[("HOME", "h")]), None);
    }
}
