//! The gates: those written down, or those that fit the project.

use std::path::Path;

use super::finding::Report;
use super::repository::Tasks;
use crate::config::{CommandLine, Config, FILE_NAME, GateCheck, quoted};
use crate::error::ErrorKind;
use crate::project::{
    self, AsGate, Detected, Hindrance, NotRunnable, Place, Programs, Purpose, as_gate,
};

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
            configured(report, check, root, &programs);
        }
        // Tests that nobody has decided about yet: in their folder nothing tests.
        let is_open = |gate: &&NotRunnable| {
            let is_told = match gate.hindrance {
                Hindrance::Unfit(_) => false,
                Hindrance::NoProgram(_) | Hindrance::Unready { .. } => gate.role == "tests",
                Hindrance::Unreadable(..) => true,
            };
            is_told && !checks.iter().any(|check| covers(check, gate))
        };
        found.not_runnable.iter().filter(is_open).for_each(|gate| would_fit(report, gate));
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
    found.not_runnable.iter().for_each(|gate| would_fit(report, gate));
    found.gates.len()
}

fn would_fit(report: &mut Report, gate: &NotRunnable) {
    let NotRunnable { command, hindrance, why, .. } = gate;
    let what = format!("{command} would fit (detected by {why}), but {hindrance}");
    report.warn("gate", what, hindrance.remedy());
}

/// Whether a gate that was written down is there for the same thing.
fn covers(check: &GateCheck, gate: &NotRunnable) -> bool {
    let command = check.command.to_string();
    let folder = |line: &str| {
        let entered = line.strip_prefix("cd ").and_then(|rest| rest.split_once(" && "));
        entered.map_or("", |(folder, _)| folder).trim_end_matches('/').to_owned()
    };
    let own = if check.cwd.is_empty() { folder(&command) } else { check.cwd.clone() };
    let is_there = own == folder(&gate.command);
    let has_name = check.name == gate.role || check.name.starts_with(&format!("{}-", gate.role));
    // The shell's own `test` tests nothing.
    let is_of_tests =
        |(at, word): (usize, &str)| word.contains("test") && (at > 0 || word != "test");
    let tests = || command.split(' ').enumerate().any(is_of_tests);
    command == gate.command || (is_there && (has_name || tests()))
}

/// A gate that was written down: its folder and its programs are there, and it can be a gate.
fn configured(report: &mut Report, check: &GateCheck, root: &Path, programs: &Programs) {
    let GateCheck { name, command, cwd, .. } = check;
    let dir = root.join(cwd);
    let mut is_well = is_in_place(report, check, root);
    if is_well {
        let finds = |program: &str| programs.can_start(program, &dir);
        let missing = match command {
            CommandLine::Argv(words) => words.first().filter(|program| !finds(program)).cloned(),
            CommandLine::Shell(line) => {
                project::programs(line).into_iter().find(|program| !finds(program))
            }
        };
        let is_there = |program: &&String| program.contains('/') && dir.join(program).is_file();
        let (what, remedy) = match &missing {
            Some(program) if is_there(&program) => {
                let what = format!("{name}: `{program}` is not executable");
                (Some(what), format!("chmod +x {}", quoted(&in_folder(cwd, program))))
            }
            Some(program) => {
                let what = format!("{name}: there is no program `{program}`");
                (Some(what), format!("install it, or change gate `{name}` in {FILE_NAME}"))
            }
            None => (None, String::new()),
        };
        is_well = what.is_none();
        match (what, command) {
            (Some(what), CommandLine::Argv(_)) => {
                report.fail(("gate", ErrorKind::Config), what, remedy);
            }
            (Some(what), CommandLine::Shell(_)) => report.warn("gate", what, remedy),
            (None, _) => {}
        }
    }
    let place = Place::of(&dir).with_purpose(Purpose::of_gate(name)).in_ci();
    let unfit = match as_gate(&command.to_string(), &place) {
        AsGate::Fits if is_well => return report.ok("gate", format!("{name}: {command}")),
        AsGate::Fits => return,
        AsGate::Instead(line, fault) => (fault, format!("write `{line}` instead")),
        AsGate::Never(fault) => (fault, "give it a command that checks once".to_owned()),
    };
    let what = format!("{name}: {command}: {}", unfit.0);
    report.warn("gate", what, format!("{}, in {FILE_NAME}", unfit.1));
}

/// A path in a gate's folder, as one from the root.
fn in_folder(cwd: &str, path: &str) -> String {
    let path = path.trim_start_matches("./");
    if cwd.is_empty() { path.to_owned() } else { format!("{}/{path}", cwd.trim_end_matches('/')) }
}

/// The folder a gate runs in, and the files it is about, are where it says.
fn is_in_place(report: &mut Report, check: &GateCheck, root: &Path) -> bool {
    let GateCheck { name, cwd, paths, .. } = check;
    let dir = root.join(cwd);
    if !dir.is_dir() {
        let what = format!("{name}: there is no folder `{cwd}` to run it in");
        let remedy = format!("change `cwd` of gate `{name}` in {FILE_NAME}");
        report.fail(("gate", ErrorKind::Config), what, remedy);
        return false;
    }
    let is_inside = match (dir.canonicalize(), root.canonicalize()) {
        (Ok(dir), Ok(root)) => dir.starts_with(root),
        _ => true,
    };
    if !is_inside {
        let what = format!("{name}: its folder `{cwd}` is a link out of the repository");
        let remedy = format!("change `cwd` of gate `{name}` in {FILE_NAME}");
        report.warn("gate", what, remedy);
    }
    let is_lost = |path: &&String| !path.contains(['*', '?']) && !root.join(path).exists();
    if let Some(path) = paths.iter().find(is_lost) {
        let what = format!("{name}: there is no `{path}`, which its `paths` name");
        report.warn("gate", what, format!("change `paths` of gate `{name}` in {FILE_NAME}"));
    }
    is_inside
}
