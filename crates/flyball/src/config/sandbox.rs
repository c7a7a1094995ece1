//! `[sandbox]`: what holds the agent, and why a project's file can only make it tighter: an agent
//! that edits `flyball.toml` must not open its own door for the next run.

use serde::Deserialize;

use super::key::Key;
use super::layer::{Entry, Settings};
use super::value::Value;
use crate::error::CliError;

/// `[sandbox]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Whether flyball's own state is kept out of the agent's reach.
    pub shield: ShieldWish,
    /// What protects the user from the agent.
    pub profile: SandboxProfile,
    /// More places that can be written.
    pub write: Vec<String>,
    /// More places that look empty.
    pub hide: Vec<String>,
    /// Places taken off the built-in list of hidden ones.
    pub show: Vec<String>,
    /// Hosts that can be reached without a network.
    pub allow_hosts: Vec<String>,
    /// Ports of this machine that can be reached without a network.
    pub loopback: Vec<u16>,
    /// Variables that are not taken out.
    pub keep_env: Vec<String>,
    /// Whether the agent may make namespaces itself.
    pub nested: bool,
}

/// Whether the shield is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShieldWish {
    /// Not.
    Off,
    /// Where it can be had.
    Auto,
    /// Without it nothing runs.
    Require,
}

/// What protects the user from the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxProfile {
    /// Nothing.
    Off,
    /// Only the worktree, caches and the agent's own folders can be written, secrets are hidden.
    Workspace,
    /// The same, with no network but a list of hosts.
    Offline,
}

impl SandboxProfile {
    /// The name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::Offline => "offline",
        }
    }
}

/// The words of `sandbox.shield`, the loosest first.
pub(super) const SHIELDS: &[&str] = &["off", "auto", "require"];
/// The words of `sandbox.profile`, the loosest first.
pub(super) const PROFILES: &[&str] = &["off", "workspace", "offline"];

/// Refuses what a project's file loosens compared to what stands below it, and adds what it hides to
/// what is hidden already.
pub(super) fn tighten_only(below: &Settings, project: &mut Settings) -> Result<(), CliError> {
    for (key, entry) in project.iter_mut() {
        let parts = key.parts();
        let ["sandbox", name] = parts.as_slice() else { continue };
        let before = below.get(key).map(|entry| &entry.value);
        let is_looser = match (*name, &entry.value, before) {
            ("shield", Value::Text(now), Some(Value::Text(before))) => {
                rank(SHIELDS, now) < rank(SHIELDS, before)
            }
            ("profile", Value::Text(now), Some(Value::Text(before))) => {
                rank(PROFILES, now) < rank(PROFILES, before)
            }
            ("nested", Value::Flag(now), Some(Value::Flag(before))) => *now && !before,
            ("hide", Value::Words(_), _) => false,
            (_, Value::Words(words), _) => !words.is_empty(),
            (_, Value::Ports(ports), _) => !ports.is_empty(),
            _ => true,
        };
        if is_looser {
            return Err(loosened(key, entry));
        }
        if let ("hide", Value::Words(words), Some(Value::Words(before))) =
            (*name, &mut entry.value, before)
        {
            let more: Vec<String> =
                words.iter().filter(|word| !before.contains(word)).cloned().collect();
            *words = before.iter().cloned().chain(more).collect();
        }
    }
    Ok(())
}

fn rank(words: &[&str], word: &str) -> Option<usize> {
    words.iter().position(|known| *known == word)
}

fn loosened(key: &Key, entry: &Entry) -> CliError {
    let variable = format!("FLYBALL_{}", key.to_string().to_uppercase().replace('.', "__"));
    CliError::config(format!(
        "{}: `{key} = {}` loosens what holds the agent; a project's file may only tighten it",
        entry.origin,
        entry.value.to_toml()
    ))
    .hint("set it in your own file: ~/.config/flyball/config.toml")
    .hint(format!("or for one run: {variable}=… flyball run"))
}
