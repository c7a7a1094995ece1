//! A folder with what would land, for the gates to run in: where the work was done when that is the very
//! same, else a worktree of its own, set up and removed again.

use std::fs;
use std::path::{Path, PathBuf};

use super::Engine;
use crate::config::Config;
use crate::error::CliError;
use crate::files;
use crate::platform::{self, Walls};
use crate::sandbox::{Ground as SandboxGround, Sandbox};
use crate::worktree::Worktree;
use crate::{apart, process};

/// Where the gates of a landing run.
pub(super) struct Ground {
    root: PathBuf,
    walls: Option<Walls>,
    /// The repository, where the folder was made for this and goes again.
    made_in: Option<Worktree>,
    is_set_up: bool,
}

impl Ground {
    /// The place the work was done in, when it holds exactly this commit.
    pub(super) fn at(
        engine: &Engine<'_>,
        place: &Path,
        commit: &str,
    ) -> Result<Option<Self>, CliError> {
        if !holds(place, commit) {
            return Ok(None);
        }
        let walls = walls(engine, &Worktree::open(place)?);
        Ok(Some(Self { root: place.to_path_buf(), walls, made_in: None, is_set_up: true }))
    }

    /// A worktree of its own, not yet set up.
    pub(super) fn make(engine: &Engine<'_>, commit: &str) -> Result<Self, CliError> {
        let folder = apart::folder_of(engine.repository)?.join("landing");
        files::private_folder(&folder)
            .map_err(|e| CliError::io(format!("cannot make `{}`", folder.display())).cause(e))?;
        sweep(engine.repository, &folder);
        let root = folder.join(std::process::id().to_string());
        engine.repository.add_detached(&root, commit)?;
        let made_in = Some(engine.repository.beside());
        let mut ground = Self { root, walls: None, made_in, is_set_up: false };
        ground.walls = walls(engine, &Worktree::open(&ground.root)?);
        Ok(ground)
    }

    /// Has its dependencies there, as the settings say how.
    pub(super) fn set_up(&mut self, config: &Config) -> Result<(), CliError> {
        if !self.is_set_up {
            apart::set_up(&config.worktree, &self.root, self.walls.as_ref())?;
            self.is_set_up = true;
        }
        Ok(())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) const fn walls(&self) -> Option<&Walls> {
        self.walls.as_ref()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Some(repository) = &self.made_in {
            // What cannot be removed now is swept by the next landing.
            repository.remove_worktree(&self.root).ok();
        }
    }
}

/// Whether a worktree holds exactly this commit.
fn holds(place: &Path, commit: &str) -> bool {
    let Ok(worktree) = Worktree::open(place) else { return false };
    let is_there = worktree.head().is_ok_and(|head| head.as_deref() == Some(commit));
    is_there && worktree.uncommitted().is_ok_and(|files| files.is_empty())
}

/// Removes what landings that died left.
fn sweep(repository: &Worktree, folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.parse().is_ok_and(|pid| !platform::alive(pid)) {
            repository.remove_worktree(&entry.path()).ok();
        }
    }
}

/// What holds the gates: what an agent wrote runs in them.
fn walls(engine: &Engine<'_>, worktree: &Worktree) -> Option<Walls> {
    if process::enclosing_run().is_some() {
        return None;
    }
    let sandbox = Sandbox::decide_for_command(&engine.config.sandbox, engine.state_dir);
    let ground = SandboxGround {
        state_dir: engine.state_dir,
        private_dir: None,
        root: worktree.root(),
        git_dirs: vec![worktree.git_dir().to_path_buf(), worktree.common_dir().to_path_buf()],
        clients: Vec::new(),
    };
    sandbox.walls(&ground).ok().flatten()
}
