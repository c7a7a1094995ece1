//! How a session is started: what is asked for, and the command line that follows from it.

use std::path::{Path, PathBuf};

use super::hook::Occasion;

/// What is asked of an adapter for one session.
#[derive(Clone, Copy, Debug)]
pub struct LaunchRequest<'a> {
    /// The prompt.
    pub prompt: &'a str,
    /// The model, when the client's own choice is not wanted.
    pub model: Option<&'a str>,
    /// Whether the client may act without asking.
    pub permissions: Permissions,
    /// The hooks flyball puts into this session; none when it only watches.
    pub hooks: Option<&'a HookSetup>,
    /// A folder only this run uses. Not below `/tmp`: gemini reads settings only from folders that
    /// nobody else can write to.
    pub private_dir: &'a Path,
    /// The repository root, where the client will run.
    pub worktree: &'a Path,
    /// The program to start instead of the one found by name.
    pub program: Option<&'a str>,
    /// Arguments of the config, put before the prompt.
    pub extra_args: &'a [String],
}

/// Whether the client may act without asking. Nobody is there to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permissions {
    /// Everything is allowed.
    #[default]
    Bypass,
    /// The client's own rules hold; what it would ask about is denied.
    Own,
}

/// How a prompt reaches a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptBy {
    /// On its standard input.
    #[default]
    Stdin,
    /// As its last argument.
    Argument,
    /// In a file, named by its last argument.
    File,
}

/// How long hooks stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HooksFor {
    /// One session of a run.
    Run,
    /// Every session, in the client's own settings. They keep quiet in a run that brings its own.
    #[default]
    #[serde(rename = "good")]
    Permanent,
}

/// The hooks of a session.
#[derive(Clone, Debug)]
pub struct HookSetup {
    /// How long they stay.
    pub stay: HooksFor,
    /// The flyball program that hooks call.
    pub program: PathBuf,
    /// Seconds a hook before or after a call may take.
    pub call_timeout_secs: u64,
    /// Seconds a hook at the stop may take: gates run in it.
    pub stop_timeout_secs: u64,
}

impl HookSetup {
    /// Seconds a hook may take on this occasion.
    pub(crate) const fn secs(&self, occasion: Occasion) -> u64 {
        match occasion {
            Occasion::Stop => self.stop_timeout_secs,
            Occasion::Before
            | Occasion::After
            | Occasion::Began
            | Occasion::Human
            | Occasion::Ended
            | Occasion::Other => self.call_timeout_secs,
        }
    }

    /// What a hook says of itself.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        (self.stay == HooksFor::Run).then_some("--run")
    }

    /// The shell command for one event of one agent.
    pub(crate) fn command(&self, agent: &str, event: &str) -> String {
        let program = quoted(&self.program.to_string_lossy());
        let flag = self.flag().map(|flag| format!(" {flag}")).unwrap_or_default();
        format!("{program} hook {agent} {event}{flag}")
    }
}

/// How to start one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables to set on top of the inherited ones.
    pub env: Vec<(String, String)>,
    /// Its standard input.
    pub stdin: Stdin,
    /// Files to write before and to remove after the session.
    pub files: Vec<RunFile>,
}

/// What a program finds on its standard input. Never an open pipe: several clients wait on one for
/// ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Null,
    /// This text, then the end.
    Text(String),
}

/// A file for one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    /// Where it belongs.
    pub place: Place,
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Where a session's file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the folder only this run uses.
    Private,
    /// In the worktree, because the client looks nowhere else: it must be gone afterwards, must
    /// not be seen as work of the agent, and an existing file of that name must be left alone.
    Worktree,
}

impl Launch {
    /// Starts a command line with the program of this name, or the one asked for.
    pub(crate) fn of(request: &LaunchRequest<'_>, program: &str, args: &[&str]) -> Self {
        let mut launch = Self::default();
        launch.arg(request.program.unwrap_or(program));
        launch.args(args);
        launch
    }

    pub(crate) fn arg(&mut self, arg: &str) {
        self.argv.push(arg.to_owned());
    }

    pub(crate) fn args(&mut self, args: &[&str]) {
        self.argv.extend(args.iter().map(|&arg| arg.to_owned()));
    }

    pub(crate) fn option(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.args(&[name, value]);
        }
    }

    pub(crate) fn extra(&mut self, request: &LaunchRequest<'_>) {
        self.argv.extend(request.extra_args.iter().cloned());
    }

    pub(crate) fn env(&mut self, name: &str, value: impl Into<String>) {
        self.env.push((name.to_owned(), value.into()));
    }

    /// A file in the run's own folder; returns its path as text.
    pub(crate) fn private(&mut self, dir: &Path, name: &str, text: String) -> String {
        let path = dir.join(name);
        let shown = path.to_string_lossy().into_owned();
        self.files.push(RunFile { place: Place::Private, path, text });
        shown
    }

    /// A file in the worktree.
    pub(crate) fn worktree(&mut self, root: &Path, name: &str, text: String) {
        self.files.push(RunFile { place: Place::Worktree, path: root.join(name), text });
    }
}

/// What a client is given so that it does not ask for permission: words of its command line and
/// variables; nothing for one that never asks.
pub(crate) fn skipping_permissions(client: &dyn super::Adapter) -> Vec<String> {
    let launched = |permissions| {
        let (prompt, here) = ("PROMPT", Path::new("."));
        let (model, hooks, program, extra_args) = (None, None, None, &[][..]);
        let (private_dir, worktree) = (here, here);
        client.launch(&LaunchRequest {
            prompt,
            model,
            permissions,
            hooks,
            private_dir,
            worktree,
            program,
            extra_args,
        })
    };
    let (skipping, asking) = (launched(Permissions::Bypass), launched(Permissions::Own));
    let words = skipping.argv.into_iter().filter(|word| !asking.argv.contains(word));
    let set = skipping.env.into_iter().filter(|pair| !asking.env.contains(pair));
    words.chain(set.map(|(name, value)| format!("{name}={value}"))).collect()
}

/// A word for a POSIX shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_skips_permissions_is_known_of_each_client() {
        let of = |name| skipping_permissions(crate::client::adapter(name).unwrap()).join(" ");
        assert_eq!(of("claude"), "--dangerously-skip-permissions IS_SANDBOX=1");
        assert_eq!(of("codex"), "--dangerously-bypass-approvals-and-sandbox");
        assert_eq!(of("goose"), "GOOSE_MODE=auto");
        assert_eq!(of("copilot"), "--allow-all-tools --allow-all-paths");
        assert_eq!(of("pi"), "");
    }

    #[test]
    fn a_path_with_a_space_or_a_quote_survives_the_shell() {
        assert_eq!(quoted("/usr/bin/flyball"), "/usr/bin/flyball");
        assert_eq!(quoted("/my tools/fly'ball"), r"'/my tools/fly'\''ball'");
        assert_eq!(quoted(""), "''");
    }
}
