//! The worktree of a run, with its settings and its files for humans.

use std::path::{Path, PathBuf};

use crate::config::{Config, Sources};
use crate::error::CliError;
use crate::loopdir::LoopDir;

/// A worktree in which somebody acts.
#[derive(Debug)]
pub struct Workplace {
    /// Its root, as runs are filed under.
    pub root: PathBuf,
    /// What is set for it.
    pub config: Config,
    /// Its loop folder.
    pub human_files: LoopDir,
}

impl Workplace {
    /// The worktree at this root, with the settings that hold there.
    pub fn at(root: &Path) -> Result<Self, CliError> {
        let config = Sources::of_process(root).load()?;
        Ok(Self::with(root, config))
    }

    /// The same, with the usual settings where its own can no longer be read: that may be the very
    /// thing to be brought back.
    pub fn for_restoring(root: &Path) -> Result<Self, CliError> {
        let sources = Sources { project_file: None, ..Sources::of_process(root) };
        let config = sources
            .load()
            .or_else(|_| Sources { root: PathBuf::from("/"), ..Sources::default() }.load())?;
        Ok(Self::with(root, config))
    }

    /// The same, with settings that are known already.
    pub fn with(root: &Path, config: Config) -> Self {
        let human_files = LoopDir::new(root, &config.loop_dir, &config.tasks_file);
        Self { root: root.to_path_buf(), config, human_files }
    }
}
