//! Where a client looks for hooks that stay, and what belongs there: what is the same for each.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::HookSetup;

/// For whom hooks hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In this repository.
    Project,
    /// Everywhere, for this user.
    User,
}

impl Scope {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// The folders that count.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The repository's root.
    pub root: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// A folder named by a variable of the environment, where it names one.
    pub variable: fn(&str) -> Option<PathBuf>,
}

impl Folders {
    /// A client's own folder: the one a variable names, or one in the user's home.
    pub(crate) fn own(&self, variable: &str, in_home: &str) -> PathBuf {
        (self.variable)(variable).unwrap_or_else(|| self.home.join(in_home))
    }

    /// A file of the repository or of the user.
    pub(crate) fn at(&self, scope: Scope, in_project: &str, of_user: PathBuf) -> PathBuf {
        match scope {
            Scope::Project => self.root.join(in_project),
            Scope::User => of_user,
        }
    }
}

/// A file, and what of it is flyball's.
#[derive(Clone, Debug)]
pub struct HookFile {
    /// Where it is.
    pub path: PathBuf,
    /// What of it is flyball's.
    pub content: HookContent,
}

/// What of a file is flyball's.
#[derive(Clone, Debug)]
pub enum HookContent {
    /// All of it; no other file holds the mark.
    Whole {
        /// Its text.
        text: String,
        /// What tells that it is flyball's.
        mark: &'static str,
    },
    /// These hooks by event, among others' settings.
    Part(Map<String, Value>),
}

/// Where a client looks for hooks that stay.
pub trait HookHome: Sync {
    /// The files with hooks, in the order they are made; none when it reads no hooks there.
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>>;

    /// Where hooks are installed when nothing is said.
    fn usual_scope(&self) -> Scope {
        Scope::Project
    }

    /// What a user has to do besides, if anything.
    fn remark(&self, _scope: Scope) -> Option<&'static str> {
        None
    }
}

/// The remark for clients that ask before they heed the settings of a repository.
pub(crate) fn trusted_folder(scope: Scope) -> Option<&'static str> {
    (scope == Scope::Project).then_some(
        "it reads hooks of a repository only when the folder is trusted: say yes when it asks",
    )
}

/// The one file of a client whose hooks stand among other settings.
pub(crate) fn part(path: PathBuf, hooks: Map<String, Value>) -> Vec<HookFile> {
    vec![HookFile { path, content: HookContent::Part(hooks) }]
}

/// A file that is flyball's alone.
pub(crate) const fn whole(path: PathBuf, text: String, mark: &'static str) -> HookFile {
    HookFile { path, content: HookContent::Whole { text, mark } }
}
