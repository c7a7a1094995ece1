//! flyball's hooks in a client's own settings, for sessions of the user's own.
//!
//! Installing adds to what is there and loses nothing; removing takes out exactly that. A file that
//! nobody changed in between becomes byte for byte what it was; one that flyball made is gone.

mod files;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use self::files::Target;
pub use crate::client::hook_home::{Folders, Scope};
use crate::client::hook_home::{HookFile, HookHome};
use crate::client::{Adapter, HookSetup, HooksFor, adapter, adapters};
use crate::error::CliError;
use crate::journal::state_dir;

/// Seconds a client waits for a hook before or after a call.
const CALL_SECS: u64 = 15;
/// Seconds a client waits for a hook at a stop: gates run in it.
const STOP_SECS: u64 = 900;

/// How long a hook takes at most before or after a call, so that the client hears its answer.
pub(super) const CALL_WAIT: Duration = Duration::from_secs(CALL_SECS - 1);
/// How long it takes at most at a stop.
pub(super) const STOP_WAIT: Duration = Duration::from_secs(STOP_SECS - 5);

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// flyball's hooks were put in.
    Installed,
    /// They were in it already, just so.
    Unchanged,
    /// They were taken out.
    Removed,
    /// There were none.
    Absent,
}

impl Change {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Absent => "absent",
        }
    }
}

/// What was done to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Whose it is.
    pub agent: &'static str,
    /// Where it holds.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
    /// What became of it.
    pub change: Change,
}

impl Done {
    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "agent": self.agent, "scope": self.scope.as_str(),
            "path": self.path.display().to_string(), "change": self.change.as_str(),
        })
    }
}

/// Whether a client has flyball's hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Where they hold.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
    /// Whether they are as this flyball would write them.
    pub current: bool,
}

/// The folders that count.
#[derive(Clone, Debug)]
pub struct Homes {
    /// Where clients look for hooks.
    pub folders: Folders,
    /// flyball's state folder.
    pub state: PathBuf,
}

impl Homes {
    /// The folders of this process' environment, for the repository at `root`.
    pub fn of_process(root: &Path) -> Result<Self, CliError> {
        let variable = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let home = variable("HOME").ok_or_else(|| {
            CliError::no_input("`HOME` is not set, so no client's settings can be found")
        })?;
        let folders = Folders { root: root.to_path_buf(), home, variable };
        Ok(Self { folders, state: state_dir()? })
    }
}

/// The clients hooks can be installed in.
pub fn agents() -> impl Iterator<Item = &'static str> {
    adapters().filter(|client| client.hook_home().is_some()).map(Adapter::name)
}

/// Whether hooks can be installed in this client.
pub fn known(agent: &str) -> Option<&'static str> {
    agents().find(|known| *known == agent)
}

fn home(agent: &str) -> Option<&'static dyn HookHome> {
    adapter(agent).and_then(Adapter::hook_home)
}

/// Where a client's hooks are installed when nothing is said.
pub fn usual_scope(agent: &str) -> Scope {
    home(agent).map_or(Scope::Project, HookHome::usual_scope)
}

/// What a user has to do besides, if anything.
pub fn remark(agent: &str, scope: Scope) -> Option<&'static str> {
    home(agent)?.remark(scope)
}

/// The files of a client; none when it reads no hooks there.
fn targets(
    agent: &'static str,
    scope: Scope,
    homes: &Homes,
    program: &Path,
) -> Option<Vec<Target>> {
    let files = home(agent)?.files(scope, &homes.folders, &setup(program))?;
    let target = |HookFile { path, content }| Target { agent, path, content };
    Some(files.into_iter().map(target).collect())
}

/// Installs flyball's hooks in a client.
pub fn install(
    agent: &'static str,
    scope: Scope,
    homes: &Homes,
    program: &Path,
) -> Result<Vec<Done>, CliError> {
    let targets = targets(agent, scope, homes, program).ok_or_else(|| {
        CliError::usage(format!("{agent} reads hooks from its own home only"))
            .hint(format!("flyball hooks install {agent} --user"))
    })?;
    for target in &targets {
        files::refuse_foreign(target, &homes.state)?;
    }
    let one = |target: &Target| {
        let change = files::install(target, &homes.state)?;
        Ok(Done { agent, scope, path: target.path.clone(), change })
    };
    targets.iter().map(one).collect()
}

/// Takes flyball's hooks out of a client.
pub fn remove(agent: &'static str, scope: Scope, homes: &Homes) -> Result<Vec<Done>, CliError> {
    // A client that has no such place has no hooks there.
    let targets = targets(agent, scope, homes, Path::new("flyball")).unwrap_or_default();
    let one = |target: &Target| {
        let change = files::remove(target, &homes.state)?;
        Ok(Done { agent, scope, path: target.path.clone(), change })
    };
    // What was made last is removed first: folders go once they are empty.
    targets.iter().rev().map(one).collect()
}

/// Where a client has flyball's hooks.
pub fn state(agent: &str, homes: &Homes, program: &Path) -> Vec<Installed> {
    let Some(agent) = known(agent) else { return Vec::new() };
    let mut found = Vec::new();
    for scope in [Scope::Project, Scope::User] {
        let targets = targets(agent, scope, homes, program).unwrap_or_default();
        found.extend(targets.into_iter().filter_map(|target| {
            let current = files::state(&target)?;
            Some(Installed { scope, path: target.path, current })
        }));
    }
    found
}

/// The program hooks should call: plain `flyball` when PATH leads to this very one.
pub fn program() -> Result<PathBuf, CliError> {
    let own = std::env::current_exe()
        .map_err(|error| CliError::io("flyball cannot find its own program").cause(error))?;
    let named = crate::project::Programs::on_path().find("flyball");
    let is_own = named.and_then(|path| path.canonicalize().ok()) == own.canonicalize().ok();
    Ok(if is_own { PathBuf::from("flyball") } else { own })
}

fn setup(program: &Path) -> HookSetup {
    HookSetup {
        stay: HooksFor::Permanent,
        program: program.to_path_buf(),
        call_timeout_secs: CALL_SECS,
        stop_timeout_secs: STOP_SECS,
    }
}
