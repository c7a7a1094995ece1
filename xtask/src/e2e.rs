//! `cargo xtask e2e [CLIENT…]`: real agent clients against the scripted model. Installs pinned
//! versions from npm; a client that cannot be had fails.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::say;

/// Every client the testkit can install; npm brings several hundred megabytes for some.
const CLIENTS: [&str; 9] =
    ["session", "goose", "claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi"];

/// Runs the suite for each client on its own, and says which ones hold.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let asked: Vec<&str> = words.iter().map(String::as_str).collect();
    let clients = if asked.is_empty() { CLIENTS.to_vec() } else { asked };
    let mut failed = Vec::new();
    for client in clients {
        say(&format!("== {client}"));
        let status = Command::new("cargo")
            .args(["test", "--package", "flyball", "--test", "e2e", "--test", "e2e_hooks"])
            .args(["--no-fail-fast", "--", "--nocapture"])
            .env("FLYBALL_E2E", client)
            .status()
            .context("cargo test")?;
        if !status.success() {
            failed.push(client);
        }
    }
    if !failed.is_empty() {
        bail!("these clients do not hold: {}", failed.join(", "));
    }
    say("every client holds");
    Ok(())
}
