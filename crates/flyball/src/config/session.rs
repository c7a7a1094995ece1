//! `[session]`: the built-in agent.

use std::collections::BTreeMap;

use flyball_core::Millis;

use super::build::Typed;
use super::{CommandLine, Permission};
use crate::error::CliError;

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
