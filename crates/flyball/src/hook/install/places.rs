//! Where each client looks for hooks, and what belongs there.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::table;
use crate::agent::{HookSetup, Launch, LaunchRequest, Permissions, adapter};
use crate::error::CliError;
use crate::journal::state_dir;

/// The clients that look for hooks somewhere.
pub(super) const AGENTS: [&str; 8] =
    ["claude", "codex", "gemini", "qwen", "goose", "copilot", "opencode", "pi"];

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
#[derive(Clone, Debug, Default)]
pub struct Homes {
    /// The repository's root.
    pub root: PathBuf,
    /// flyball's state folder.
    pub state: PathBuf,
    /// Claude Code's own folder.
    pub claude: PathBuf,
    /// codex's own folder.
    pub codex: PathBuf,
    /// Copilot's own folder.
    pub copilot: PathBuf,
    /// opencode's own folder.
    pub opencode: PathBuf,
    /// Where goose looks for what belongs to the user.
    pub goose: PathBuf,
    /// The user's home, where the others have theirs.
    pub home: PathBuf,
}

impl Homes {
    /// The folders of this process' environment, for the repository at `root`.
    pub fn of_process(root: &Path) -> Result<Self, CliError> {
        let set = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let home = set("HOME").ok_or_else(|| {
            CliError::no_input("`HOME` is not set, so no client's settings can be found")
        })?;
        let config = set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        Ok(Self {
            root: root.to_path_buf(),
            state: state_dir()?,
            claude: set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            codex: set("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            copilot: set("COPILOT_HOME").unwrap_or_else(|| home.join(".copilot")),
            opencode: config.join("opencode"),
            goose: set("GOOSE_PATH_ROOT").unwrap_or_else(|| home.clone()),
            home,
        })
    }
}

/// A file, and what of it is flyball's.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) agent: &'static str,
    pub(super) path: PathBuf,
    pub(super) content: Content,
}

/// What of a file is flyball's.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// All of it; no other file holds the mark.
    Whole { text: String, mark: &'static str },
    /// These hooks by event, among others' settings.
    Part(Map<String, Value>),
}

/// The files of a client.
pub(super) fn targets(
    agent: &'static str,
    scope: Scope,
    homes: &Homes,
    setup: &HookSetup,
) -> Result<Vec<Target>, CliError> {
    let at = |project: &str, user: PathBuf| match scope {
        Scope::Project => homes.root.join(project),
        Scope::User => user,
    };
    let home = &homes.home;
    let path = match agent {
        "claude" => at(".claude/settings.local.json", homes.claude.join("settings.json")),
        "codex" if scope == Scope::Project => {
            return Err(CliError::usage("codex reads hooks from its own home only")
                .hint("flyball hooks install codex --user"));
        }
        "codex" => homes.codex.join("hooks.json"),
        "gemini" => at(".gemini/settings.json", home.join(".gemini/settings.json")),
        "qwen" => at(".qwen/settings.json", home.join(".qwen/settings.json")),
        "goose" => at(".agents/plugins/flyball", homes.goose.join(".agents/plugins/flyball")),
        "copilot" => at(".github/hooks/flyball.json", homes.copilot.join("hooks/flyball.json")),
        "opencode" => at(".opencode/plugins/flyball.js", homes.opencode.join("plugins/flyball.js")),
        _ => at(".pi/extensions/flyball.ts", home.join(".pi/agent/extensions/flyball.ts")),
    };
    let given = files(agent, setup);
    if agent == "goose" {
        let names = [("plugin.json", "guards of flyball"), ("hooks/hooks.json", " hook goose ")];
        let whole = |((name, mark), text)| Target {
            agent,
            path: path.join(name),
            content: Content::Whole { text, mark },
        };
        return Ok(names.into_iter().zip(given).map(whole).collect());
    }
    let mark = match agent {
        "opencode" | "pi" => "flyball's ears in",
        "copilot" => " hook copilot ",
        _ => " hook ",
    };
    // A session may be given other files besides.
    let text = given.into_iter().find(|text| text.contains(mark)).unwrap_or_default();
    let content = match agent {
        "claude" | "codex" | "gemini" | "qwen" => Content::Part(table::hooks(agent, &text)),
        _ => Content::Whole { text, mark },
    };
    Ok(vec![Target { agent, path, content }])
}

/// The files a session of the client would be given, by their text.
fn files(agent: &str, setup: &HookSetup) -> Vec<String> {
    // codex takes its hooks by flags; in a file they look like Claude Code's.
    let like = if agent == "codex" { "claude" } else { agent };
    let launch = adapter(like).map_or_else(Launch::default, |adapter| {
        adapter.launch(&LaunchRequest {
            prompt: "",
            model: None,
            permissions: Permissions::Own,
            hooks: Some(setup),
            private_dir: Path::new("/"),
            worktree: Path::new("/"),
            resume: None,
            program: None,
            extra_args: &[],
        })
    });
    let texts = launch.files.into_iter().map(|file| file.text);
    if agent == "copilot" {
        texts.map(|text| for_copilot(&text)).collect()
    } else {
        texts.collect()
    }
}

/// Copilot denies every call when a hook cannot be started. Hooks that stay in place must not do that
/// to someone who has no flyball, or not there any more; so they look for it first.
fn for_copilot(text: &str) -> String {
    let mut table: Value = serde_json::from_str(text).unwrap_or_default();
    let Some(hooks) = table.get_mut("hooks").and_then(Value::as_object_mut) else {
        return text.to_owned();
    };
    for event in ["sessionStart", "sessionEnd"] {
        let mut entry = hooks.get("postToolUse").cloned().unwrap_or_default();
        let command = entry.pointer_mut("/0/bash");
        if let Some(Value::String(command)) = command {
            *command =
                command.replace(" hook copilot postToolUse", &format!(" hook copilot {event}"));
        }
        hooks.insert(event.to_owned(), entry);
    }
    for entry in hooks.values_mut().filter_map(|entries| entries.get_mut(0)) {
        let Some(Value::String(command)) = entry.get_mut("bash") else { continue };
        if let Some((program, _)) = command.rsplit_once(" hook copilot ") {
            *command = format!("command -v {program} >/dev/null 2>&1 || exit 0; {command}");
        }
    }
    table.to_string()
}
