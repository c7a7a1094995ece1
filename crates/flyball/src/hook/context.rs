//! Where a hook stands: in a session of a run, whose settings were fixed when it began, or in a
//! session of the user's own.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flyball_core::policy::Policy;
use flyball_core::{IterationNo, Millis, Moment, RunId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Dialect, Heard};
use crate::client::{Adapter, HooksFor, adapter};
use crate::config::{Config, FILE_NAME, OnHookError, Sources};
use crate::door::session_of_environment;
use crate::error::CliError;
use crate::files;
use crate::journal::{HookStep, state_dir};
use crate::loopdir::LoopDir;
use crate::{platform, project};

const GUARDS: &str = "guards.json";
/// The largest settings of hooks that are read.
const SETTINGS_MAX: u64 = 16 * 1024 * 1024;

/// What every hook of a run needs; written by the run, outside of the worktree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunGuards {
    pub(crate) root: PathBuf,
    pub(crate) policy: Policy,
    pub(crate) fails_closed: bool,
    pub(crate) timeout: Millis,
    pub(crate) loop_dir: PathBuf,
    pub(crate) tasks_file: PathBuf,
    /// How long a stop may take: the run's gates.
    pub(crate) stop_time: Millis,
    /// Which hooks count: only the run's own, where it puts some into its sessions.
    #[serde(default)]
    pub(crate) heeds: HooksFor,
}

impl RunGuards {
    pub(crate) fn of(config: &Config, policy: Policy, root: &Path, stop_time: Duration) -> Self {
        Self {
            root: root.to_path_buf(),
            policy,
            fails_closed: config.hooks.on_error == OnHookError::Closed,
            timeout: config.hooks.timeout,
            loop_dir: config.loop_dir.clone(),
            tasks_file: config.tasks_file.clone(),
            stop_time: Millis::new(u64::try_from(stop_time.as_millis()).unwrap_or(u64::MAX)),
            heeds: HooksFor::Permanent,
        }
    }

    /// Writes it into the run's own folder, unless it is there already: it changes with a human's word
    /// only, and is asked for before every session.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_string(self).map_err(io::Error::other)?;
        let path = folder.join(GUARDS);
        if files::read(&path, text.len() as u64).is_ok_and(|found| found == text.as_bytes()) {
            return Ok(());
        }
        files::write_whole(&path, &text)
    }
}

/// Where a hook stands.
#[derive(Debug)]
pub(crate) struct HookContext {
    pub(crate) state_dir: PathBuf,
    pub(crate) run: Option<(RunId, IterationNo)>,
    pub(crate) root: PathBuf,
    /// Whether flyball is set up here: only then gates and spilled results are wanted.
    pub(crate) configured: bool,
    pub(crate) policy: Policy,
    pub(crate) on_error: OnHookError,
    pub(crate) timeout: Duration,
    pub(crate) loop_dir: LoopDir,
    pub(crate) parallel: bool,
    /// How long the run's gates may take at a stop.
    pub(crate) stop_time: Duration,
    /// Which hooks count: the run's own only, or those installed for good too.
    pub(crate) heeds: HooksFor,
}

impl HookContext {
    /// The context of a run's session; none outside of one. A run that is over, or that another
    /// state folder knows, is none.
    pub(crate) fn under_run() -> Result<Option<Self>, CliError> {
        let Some((run, iteration)) = session_of_environment() else { return Ok(None) };
        let state_dir = state_dir()?;
        let folder = state_dir.join("runs").join(run.as_str());
        let Some(guards): Option<RunGuards> = read(&folder.join(GUARDS))? else { return Ok(None) };
        Ok(Some(Self {
            state_dir,
            run: Some((run, iteration)),
            configured: true,
            policy: guards.policy,
            on_error: if guards.fails_closed { OnHookError::Closed } else { OnHookError::Open },
            timeout: Duration::from_millis(guards.timeout.get()),
            loop_dir: LoopDir::new(&guards.root, &guards.loop_dir, &guards.tasks_file),
            root: guards.root,
            parallel: false,
            stop_time: Duration::from_millis(guards.stop_time.get()),
            heeds: guards.heeds,
        }))
    }

    /// The context of a session of the user's own.
    pub(crate) fn of_session(agent: &str, dir: Option<&Path>) -> Result<Self, CliError> {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let root = project::find_root(dir.filter(|dir| dir.is_absolute()).unwrap_or(&here));
        let config = Sources::of_process(&root).load()?;
        let traits = adapter(agent).map(Adapter::traits).unwrap_or_default();
        let policy = config.policy.for_agent(&traits);
        Ok(Self {
            state_dir: state_dir()?,
            run: None,
            configured: root.join(FILE_NAME).is_file(),
            policy,
            on_error: config.hooks.on_error,
            timeout: Duration::from_millis(config.hooks.timeout.get()),
            loop_dir: LoopDir::new(&root, &config.loop_dir, &config.tasks_file),
            root,
            parallel: config.gates.parallel,
            stop_time: Duration::ZERO,
            heeds: HooksFor::Permanent,
        })
    }

    /// Whether this is where a client that works in `dir` stands.
    pub(crate) fn is_for(&self, dir: Option<&Path>) -> bool {
        let dir = dir.filter(|dir| dir.is_absolute());
        self.run.is_some() || dir.is_none_or(|dir| project::find_root(dir) == self.root)
    }

    /// A step of the session that is kept under this key.
    pub(crate) fn step<'a>(&'a self, session: &'a str, at: Moment) -> HookStep<'a> {
        HookStep { run: self.run.as_ref().map(|(run, _)| run), session, at }
    }

    /// What the state of this session is kept under.
    pub(crate) fn key(&self, dialect: &dyn Dialect, heard: &Heard) -> String {
        if let Some((run, iteration)) = &self.run {
            return run_key(run, *iteration);
        }
        let session = flyball_core::text::prefix(&heard.session, 200);
        if session.is_empty() && !dialect.names_sessions() {
            return format!("{}/{}", dialect.name(), client_process());
        }
        format!("{}/{session}", dialect.name())
    }

    /// The folder of its own that a run has in the state folder.
    pub(crate) fn private_dir(&self, run: &RunId) -> PathBuf {
        self.state_dir.join("runs").join(run.as_str())
    }
}

/// What the state of a run's session is kept under.
pub(crate) fn run_key(run: &RunId, iteration: IterationNo) -> String {
    format!("run/{run}/{iteration}")
}

/// What the state of a session's stops is kept under.
pub(crate) fn stop_key(key: &str) -> String {
    format!("{key}/stop")
}

/// The process that asks, by number and, where that can be known, by when it began.
fn client_process() -> String {
    let parent = std::os::unix::process::parent_id();
    let began = platform::look(parent).map(|parent| parent.began.to_string());
    format!("process-{parent}-{}", began.unwrap_or_default())
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, CliError> {
    let refused = |error: io::Error| {
        CliError::io(format!("`{}` cannot be read", path.display())).cause(error)
    };
    let found = files::optional(files::read(path, SETTINGS_MAX)).map_err(refused)?;
    let Some(bytes) = found else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| CliError::io(format!("`{}` cannot be read", path.display())).cause(error))
}
