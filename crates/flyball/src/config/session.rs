//! `[session]`: the built-in agent.

use std::collections::BTreeMap;

use flyball_core::Millis;

use super::build::Typed;
use super::layer::Settings;
use super::value::Value;
use super::{CommandLine, Permission};
use crate::error::CliError;

/// Settings that say where a key goes or where it comes from.
const OF_THE_KEY: [&str; 3] = ["base_url", "key_env", "key_command"];

/// `[session]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    /// Whose model; none looks into the environment.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The variable that holds the key.
    pub key_env: Option<String>,
    /// A program that prints the key.
    pub key_command: Option<CommandLine>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u32>,
    /// Tokens that fit into its context.
    pub window: Option<u64>,
    /// How full that may be, in percent.
    pub compact_at: u8,
    /// Whether a human is asked before calls.
    pub permission: Permission,
    /// How long a command may take.
    pub command_timeout: Millis,
    /// Silence in the middle of an answer.
    pub stall_after: Millis,
    /// Silence before it.
    pub first_byte: Millis,
    /// MCP servers, by name.
    pub mcp: BTreeMap<String, CommandLine>,
}

/// Reads the section.
pub(super) fn session(from: &Typed<'_>) -> Result<SessionSettings, CliError> {
    let count =
        |key: &str| from.number(key).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let compact_at = u8::try_from(from.number("session.compact_at")?).ok();
    let compact_at = compact_at.filter(|percent| (30..=95).contains(percent)).ok_or_else(|| {
        CliError::config("`session.compact_at` is a share of the window: 30 to 95 percent")
    })?;
    Ok(SessionSettings {
        provider: from.text_or_none("session.provider")?,
        model: from.text_or_none("session.model")?,
        base_url: from.text_or_none("session.base_url")?,
        key_env: from.text_or_none("session.key_env")?,
        key_command: from.command("session.key_command")?,
        max_tokens: Some(count("session.max_tokens")?).filter(|tokens| *tokens > 0),
        window: Some(from.number("session.window")?).filter(|tokens| *tokens > 0),
        compact_at,
        permission: from.choice("session.permission")?,
        command_timeout: from.duration("session.command_timeout")?,
        stall_after: from.duration("session.stall_after")?,
        first_byte: from.duration("session.first_byte")?,
        mcp: from.commands(&["session", "mcp"]),
    })
}

/// Refuses what a project's file has no business with: a repository that was cloned from a stranger must
/// not get the user's key sent to an address of its own, or have its calls made without a question.
pub(super) fn own_only(below: &Settings, project: &Settings) -> Result<(), CliError> {
    for (key, entry) in project {
        let parts = key.parts();
        let ["session", name] = parts.as_slice() else { continue };
        let is_new = below.get(key).is_none_or(|before| before.value != entry.value);
        let why = match (*name, &entry.value) {
            (name, _) if OF_THE_KEY.contains(&name) => "says where your key goes or comes from",
            ("permission", Value::Text(how)) if how == "skip" => {
                "has calls made without asking you"
            }
            _ => continue,
        };
        if is_new {
            let variable = format!("FLYBALL_SESSION__{}", name.to_uppercase());
            let message = format!("{}: `{key}` {why}; a project's file may not", entry.origin);
            return Err(CliError::config(message)
                .hint("if you want it, set it in your own file: ~/.config/flyball/config.toml")
                .hint(format!("or for once: {variable}=… flyball session")));
        }
    }
    Ok(())
}
