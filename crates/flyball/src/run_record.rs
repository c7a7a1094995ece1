//! What a run was started with, kept outside the worktree: a resume uses this and not the files an
//! agent may have edited since.

use std::io;
use std::path::{Path, PathBuf};

use flyball_core::{GateName, Millis, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::CommandLine;
use crate::files::{self, write_whole};
use crate::gate::{Gate, GatePlan, GateSource};
use crate::journal::state_dir;

/// The largest record that is read.
const RECORD_MAX: u64 = 4 * 1024 * 1024;

/// The effective settings and gates of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    /// The effective configuration, as TOML.
    pub(crate) config: String,
    gates: Vec<GateRecord>,
    /// The checkpoint tree the run began with.
    pub(crate) first_tree: String,
    /// The prompt as it was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<String>,
    /// The one task it was given on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<String>,
    /// What holds the agent, in words.
    #[serde(default)]
    pub(crate) holds: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct GateRecord {
    name: GateName,
    command: Value,
    timeout: Millis,
    needs: Vec<GateName>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    cwd: String,
    #[serde(default)]
    env: Vec<(String, String)>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    retry: u32,
}

impl RunRecord {
    pub(crate) fn new(config: String, plan: &GatePlan, first_tree: &str) -> Self {
        let gates = plan
            .gates()
            .iter()
            .map(|gate| GateRecord {
                name: gate.name.clone(),
                command: gate.command.to_json(),
                timeout: gate.timeout,
                needs: gate.needs.clone(),
                source: match gate.source {
                    GateSource::Configured => "configured",
                    GateSource::Detected => "detected",
                    GateSource::VerifyCommand => "verify",
                }
                .to_owned(),
                cwd: gate.cwd.clone(),
                env: gate.env.clone(),
                paths: gate.paths.clone(),
                retry: gate.retry,
            })
            .collect();
        let (first_tree, holds) = (first_tree.to_owned(), Vec::new());
        Self { config, gates, first_tree, prompt: None, request: None, holds }
    }

    /// With the prompt.
    pub(crate) fn with_prompt(mut self, prompt: &str) -> Self {
        self.prompt = Some(prompt.to_owned());
        self
    }

    /// The gates again.
    pub(crate) fn gates(&self) -> Vec<Gate> {
        self.gates
            .iter()
            .map(|gate| Gate {
                name: gate.name.clone(),
                command: command(&gate.command),
                cwd: gate.cwd.clone(),
                env: gate.env.clone(),
                paths: gate.paths.clone(),
                retry: gate.retry,
                timeout: gate.timeout,
                needs: gate.needs.clone(),
                source: match gate.source.as_str() {
                    "detected" => GateSource::Detected,
                    "verify" => GateSource::VerifyCommand,
                    _ => GateSource::Configured,
                },
            })
            .collect()
    }

    pub(crate) fn save(&self, state_dir: &Path, run: &RunId) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        write_whole(&path(state_dir, run), &text)
    }

    pub(crate) fn load(state_dir: &Path, run: &RunId) -> io::Result<Self> {
        let text = files::read(&path(state_dir, run), RECORD_MAX)?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }
}

fn path(state_dir: &Path, run: &RunId) -> PathBuf {
    state_dir.join("runs").join(format!("{run}.json"))
}

fn command(value: &Value) -> CommandLine {
    match value.as_array() {
        Some(words) => {
            let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
            CommandLine::Argv(words.collect())
        }
        None => CommandLine::Shell(value.as_str().unwrap_or_default().to_owned()),
    }
}

/// A run's settings as they were kept.
fn settings_of(run: &RunId) -> Option<toml::Table> {
    let record = RunRecord::load(&state_dir().ok()?, run).ok()?;
    record.config.parse().ok()
}

/// The model a run was asked to use, as its settings were kept.
pub(crate) fn model_of(run: &RunId) -> Option<String> {
    let settings = settings_of(run)?;
    let model = settings.get("agent")?.get("model")?.as_str()?.to_owned();
    (!model.is_empty()).then_some(model)
}

/// Whether telemetry of a run tells what was said, as its settings were kept.
#[cfg(feature = "otel")]
pub(crate) fn sends_content(run: &RunId) -> bool {
    let settings = settings_of(run);
    let content = settings.as_ref().and_then(|settings| settings.get("otel")?.get("content"));
    content.and_then(toml::Value::as_bool).unwrap_or(false)
}
