//! What git is told on its command line and in its environment, whatever the user's configuration
//! and the caller's own environment say.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Settings that hold for every call.
const SETTINGS: [&str; 17] = [
    // Nobody hides a change by setting a file's time back.
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.quotePath=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "core.safecrlf=false",
    "core.logAllRefUpdates=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.addEmbeddedRepo=false",
    "advice.detachedHead=false",
    "color.ui=false",
    "core.pager=cat",
];

/// Variables of git's that say how git itself works here; all others are the caller's own business.
const KEPT: [&str; 7] = [
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSL_CAINFO",
];

/// Variables of every call. The person is who signs what flyball commits for itself; what a partial
/// clone lacks is not fetched, for that would start what its configuration names. An object is what its
/// name says: whoever may write `refs/replace` could show another one in its place.
const VARIABLES: [(&str, &str); 10] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("LC_ALL", "C"),
    ("GIT_AUTHOR_NAME", "flyball"),
    ("GIT_AUTHOR_EMAIL", "flyball@localhost"),
    ("GIT_COMMITTER_NAME", "flyball"),
    ("GIT_COMMITTER_EMAIL", "flyball@localhost"),
];

/// What git is started with: its arguments, where, and the variables set, or removed with none.
#[derive(Clone, Debug)]
pub(super) struct GitOrder {
    pub(super) args: Vec<OsString>,
    pub(super) dir: PathBuf,
    pub(super) env: Vec<(OsString, Option<OsString>)>,
    /// Its command, for what is said of it.
    pub(super) name: String,
}

impl GitOrder {
    /// In a folder whose repository git finds itself.
    pub(super) fn in_folder(dir: &Path) -> Self {
        let foreign = std::env::vars_os().filter_map(|(name, _)| {
            let text = name.to_string_lossy();
            let goes = text.starts_with("GIT_") && !KEPT.contains(&text.as_ref());
            goes.then_some((name, None))
        });
        let own = VARIABLES.iter().map(|(name, value)| ((*name).into(), Some((*value).into())));
        let mut args = vec![OsString::from("--no-optional-locks")];
        args.extend(SETTINGS.iter().flat_map(|setting| ["-c", setting]).map(OsString::from));
        let env = foreign.chain(own).collect();
        Self { args, dir: dir.to_path_buf(), env, name: String::new() }
    }

    /// In this worktree and no other.
    pub(super) fn in_worktree(mut self, git_dir: &Path, root: &Path) -> Self {
        root.clone_into(&mut self.dir);
        self.set("GIT_DIR", git_dir);
        self.set("GIT_WORK_TREE", root);
        self
    }

    /// In this repository, which has no worktree.
    pub(super) fn in_bare(mut self, git_dir: &Path) -> Self {
        self.set("GIT_DIR", git_dir);
        self
    }

    /// Sets a variable; what is set last counts.
    pub(super) fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.env.push((name.into(), Some(value.as_ref().to_owned())));
    }

    /// Takes a variable away again.
    pub(super) fn unset(&mut self, name: &str) {
        self.env.retain(|(known, _)| known.as_os_str() != OsStr::new(name));
    }

    /// What happens to a branch is written into its reflog, as for people.
    pub(super) fn keeps_reflogs(&mut self) {
        let setting = OsStr::new("core.logAllRefUpdates=false");
        if let Some(at) = self.args.iter().position(|arg| arg == setting) {
            self.args.splice(at..=at, [OsString::from("core.logAllRefUpdates=true")]);
        }
    }

    /// With these arguments; the first one ever is the command.
    pub(super) fn args<I, S>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        for arg in args {
            if self.name.is_empty() {
                self.name = arg.as_ref().to_string_lossy().into_owned();
            }
            self.args.push(arg.as_ref().to_owned());
        }
        self
    }
}
