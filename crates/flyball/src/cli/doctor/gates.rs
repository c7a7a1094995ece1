//! The gates: those written down, or those that fit the project.

use std::path::Path;

use super::agent::missing;
use super::finding::Report;
use super::repository::Tasks;
use crate::config::{CommandLine, Config, FILE_NAME, GateCheck};
use crate::error::ErrorKind;
use crate::project::{self, AsGate, Detected, Programs, as_gate};

/// Gates are there and their programs are too.
pub(super) fn gates(report: &mut Report, config: &Config, root: &Path, tasks: Tasks) {
    let programs = Programs::on_path();
    let found = project::detect_with(root, &programs);
    for missing in &found.not_installed {
        let what = format!("{} is not there, and gates may need it", missing.what);
        report.warn("gate", what, &*missing.remedy);
    }
    let checks = &config.gates.checks;
    let count = if checks.is_empty() {
        detected(report, &found)
    } else {
        let enabled: Vec<&GateCheck> = checks.iter().filter(|check| check.enabled).collect();
        for check in &enabled {
            configured(report, check, |program| programs.can_start(program, root));
        }
        enabled.len()
    };
    if count > 0 {
        return;
    }
    let remedy = format!("add a [[gates.check]] to {FILE_NAME}");
    if tasks == Tasks::There || config.policy.iterations.trust_claims {
        report.warn("gate", "there is none: nothing checks the work", remedy);
    } else {
        let what = "there is neither a task list nor a gate: nothing could verify the work";
        report.fail(("gate", ErrorKind::Config), what, remedy);
    }
}

/// Those that fit the project; how many can run.
fn detected(report: &mut Report, found: &Detected) -> usize {
    for gate in &found.gates {
        report.ok("gate", format!("{}: {} (detected by {})", gate.name, gate.command, gate.why));
    }
    for gate in &found.not_runnable {
        let what = format!(
            "{} would fit (detected by {}), but {}",
            gate.command, gate.why, gate.hindrance
        );
        report.warn("gate", what, gate.hindrance.remedy());
    }
    found.gates.len()
}

fn configured(report: &mut Report, check: &GateCheck, finds: impl Fn(&str) -> bool) {
    let remedy = format!("install it, or change gate `{}` in {FILE_NAME}", check.name);
    match &check.command {
        CommandLine::Argv(words) => {
            let program = words.first().map_or("", String::as_str);
            if !finds(program) {
                let what = format!("{}: there is no program `{program}`", check.name);
                return report.fail(("gate", ErrorKind::Config), what, remedy);
            }
        }
        CommandLine::Shell(line) => {
            if let Some(program) = missing(line, finds) {
                let what = format!("{}: there is no program `{program}`", check.name);
                return report.warn("gate", what, remedy);
            }
        }
    }
    let unfit = match as_gate(&check.command.to_string(), str::to_owned) {
        AsGate::Fits => return report.ok("gate", format!("{}: {}", check.name, check.command)),
        AsGate::Instead(line, fault) => (fault, format!("write `{line}` instead")),
        AsGate::Never(fault) => (fault, "give it a command that checks once".to_owned()),
    };
    let what = format!("{}: {}: {}", check.name, check.command, unfit.0);
    report.warn("gate", what, format!("{}, in {FILE_NAME}", unfit.1));
}
