//! flyball's hooks in a client's own settings, for sessions of the user's own.
//!
//! Installing adds to what is there and loses nothing; removing takes out exactly that. A file that
//! nobody changed in between becomes byte for byte what it was; one that flyball made is gone.

mod files;
mod places;
mod sheet;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use self::places::Target;
pub use self::places::{Homes, Scope};
use crate::agent::{HookSetup, HooksFor};
use crate::error::CliError;

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

/// The clients hooks can be installed in.
pub fn agents() -> impl Iterator<Item = &'static str> {
    places::AGENTS.iter().copied()
}

/// Whether hooks can be installed in this client.
pub fn known(agent: &str) -> Option<&'static str> {
    agents().find(|known| *known == agent)
}

/// Where a client's hooks are installed when nothing is said.
pub fn usual_scope(agent: &str) -> Scope {
    // codex reads hooks from its home only.
    if agent == "codex" { Scope::User } else { Scope::Project }
}

/// What a user has to do besides, if anything.
pub fn remark(agent: &str, scope: Scope) -> Option<&'static str> {
    match (agent, scope) {
        ("codex", Scope::Project | Scope::User) => Some(
            "codex skips hooks it does not trust: start it, open /hooks and trust flyball's once",
        ),
        ("copilot" | "gemini" | "qwen", Scope::Project) => Some(
            "it reads hooks of a repository only when the folder is trusted: say yes when it asks",
        ),
        _ => None,
    }
}

/// Installs flyball's hooks in a client.
pub fn install(
    agent: &'static str,
    scope: Scope,
    homes: &Homes,
    program: &Path,
) -> Result<Vec<Done>, CliError> {
    let setup = setup(program);
    let targets = places::targets(agent, scope, homes, &setup)?;
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
    let Ok(targets) = places::targets(agent, scope, homes, &setup(Path::new("flyball"))) else {
        // A client that has no such place has no hooks there.
        return Ok(Vec::new());
    };
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
        let targets = places::targets(agent, scope, homes, &setup(program)).unwrap_or_default();
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
