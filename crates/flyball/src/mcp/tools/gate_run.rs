//! `gate_run`: the gates of the project, now.

use std::collections::BTreeSet;

use flyball_core::GateName;
use flyball_core::gate::blocking::Refusal;
use flyball_core::gate::{BlockingEvent, Check, Finding, GateResult};
use flyball_core::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::{GatePlan, GateRunner, TreeLook};
use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call, Site};
use crate::mcp::tool::{Tool, ToolEffect};

/// The most findings of one gate that are told.
const FINDINGS_MAX: usize = 20;

pub(super) struct RunGates;

/// Which gates.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// Gates to run, with those they need; all when left out.
    #[serde(default)]
    gates: Vec<String>,
    /// Whether a known result for exactly this tree is taken.
    #[serde(default = "yes")]
    use_cache: bool,
}

const fn yes() -> bool {
    true
}

/// One gate.
#[derive(Debug, Serialize, JsonSchema)]
struct GateRow {
    /// Its name.
    gate: String,
    /// passed, failed, skipped or timed out.
    outcome: &'static str,
    /// How long it took.
    duration_ms: u64,
    /// What it found.
    findings: Vec<String>,
    /// How many more it found.
    findings_left_out: u64,
}

/// What the gates say.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// Whether at least one gate ran and none is red.
    green: bool,
    /// How good it is, 0 to 1; left out when no gate ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// Each gate, in order.
    results: Vec<GateRow>,
    /// What is wrong and what to do about it, when it is not green.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocking_event: Option<String>,
}

impl Tool for RunGates {
    const NAME: &'static str = "gate_run";
    const DESCRIPTION: &'static str = "Run this project's gates (tests, lint, build and others) as \
        flyball runs them, and learn what is red: individual failures with file and line, and what \
        to do. Work counts as done only when the gates are green. Results for an unchanged tree \
        come at once.";
    const EFFECT: ToolEffect = ToolEffect::Runs;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let site = call.site;
        let verify = site.tasks_if_any().map(|list| list.verify_commands().to_vec());
        let plan = GatePlan::resolve(&site.config, &site.root, &verify.unwrap_or_default())?;
        if plan.is_empty() {
            return Err(Refused::new(
                "there are no gates: add `[[gates.check]]` with name and command to flyball.toml",
            ));
        }
        let known: Vec<String> = plan.names().iter().map(ToString::to_string).collect();
        if let Some(unknown) = input.gates.iter().find(|name| !known.contains(name)) {
            let known = known.join("`, `");
            return Err(Refused::new(format!("there is no gate `{unknown}`; there are `{known}`")));
        }
        let mut runner = GateRunner::new(plan, &site.root);
        runner.only = input.gates.iter().map(GateName::new).collect();
        runner.parallel = site.config.gates.parallel;
        let (dir, tasks) = (site.loop_dir.relative(), site.loop_dir.tasks_relative());
        runner.look = site.worktree().map(|worktree| TreeLook::new(worktree, dir, tasks));
        let result = run(call, &runner, input.use_cache)?;
        let event = remember(site, &result)?;
        Ok(Output {
            green: result.is_green(),
            score: result.score(),
            results: result.checks.iter().map(row).collect(),
            blocking_event: event.map(|event| event.to_text()),
        })
    }
}

#[expect(clippy::fn_params_excessive_bools, reason = "what the call's JSON says")]
fn run(call: Call<'_>, runner: &GateRunner, use_cache: bool) -> Result<GateResult, Refused> {
    let interrupted = |_| Refused::new("the gates were interrupted; there is no result");
    let mut worktree = call.site.worktree();
    let (dir, tasks) = (call.site.loop_dir.relative(), call.site.loop_dir.tasks_relative());
    let mut tree = || {
        let snapshot = worktree.as_mut()?.snapshot(&dir, &tasks).ok()?;
        Some(snapshot.code_tree)
    };
    let Some(before) = tree() else {
        return runner.run("", call.cancel, &|_| {}).map_err(interrupted);
    };
    let mut journal = call.site.journal()?;
    let result = if use_cache {
        runner.run_known(&journal, &before, call.cancel, &|_| {})
    } else {
        runner.run(&before, call.cancel, &|_| {})
    }
    .map_err(interrupted)?;
    // What was said of a tree that has changed meanwhile is worth nothing later.
    if tree().is_some_and(|after| after == before) {
        runner.store(&mut journal, site::now(), &result)?;
    }
    Ok(result)
}

/// Keeps the blocking event for those who ask later; a green result takes it away.
fn remember(site: &Site, result: &GateResult) -> Result<Option<BlockingEvent>, Refused> {
    let event = (!result.is_green()).then(|| {
        BlockingEvent::new(Refusal {
            request: "",
            now: result,
            before: None,
            baseline: &BTreeSet::new(),
            missing: &[],
        })
    });
    let body = event.as_ref().and_then(|event| serde_json::to_vec(event).ok());
    site.scratch()?.with_session(&site.key("blocking"), site::now(), |_| (body, ()))?;
    Ok(event)
}

fn row(check: &Check) -> GateRow {
    let told = check.findings.iter().take(FINDINGS_MAX).map(finding).collect();
    let rest = check.findings.len().saturating_sub(FINDINGS_MAX) as u64;
    GateRow {
        gate: check.gate.to_string(),
        outcome: check.status.as_str(),
        duration_ms: check.duration.get(),
        findings: told,
        findings_left_out: check.findings_left_out.saturating_add(rest),
    }
}

fn finding(finding: &Finding) -> String {
    let place = finding.place().map_or_else(String::new, |place| format!("{place}: "));
    let name = finding.name.as_deref().map_or_else(String::new, |name| format!("{name}: "));
    text::head(&format!("{place}{name}{}", finding.message), 500)
}
