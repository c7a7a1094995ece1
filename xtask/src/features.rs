//! `cargo xtask features`: the program without features, and with each of them alone.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::say;

/// What can be left out of the program.
const FEATURES: [&str; 6] = ["mcp", "otel", "serve", "session", "watch", "webhook"];

/// Lints every small build, and says which ones hold.
pub(crate) fn run(words: &[String]) -> Result<()> {
    if !words.is_empty() {
        bail!("usage: cargo xtask features");
    }
    let mut failed = Vec::new();
    for feature in std::iter::once("").chain(FEATURES) {
        say(&format!("== {}", if feature.is_empty() { "without features" } else { feature }));
        let status = Command::new("cargo")
            .args([
                "clippy",
                "--package",
                "flyball",
                "--no-default-features",
                "--features",
                feature,
            ])
            .args(["--", "-D", "warnings"])
            .status()
            .context("cargo clippy")?;
        if !status.success() {
            failed.push(feature);
        }
    }
    if !failed.is_empty() {
        bail!("these do not hold alone: {}", failed.join(", "));
    }
    say("every small build holds");
    Ok(())
}
