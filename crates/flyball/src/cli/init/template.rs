//! The files init writes, from the templates compiled in.

use std::path::Path;

use super::Setup;
use crate::config::{CommandLine, GateCheck, string};
use crate::project::{Detected, NotRunnable};

const CONFIG: &str = include_str!("../../../templates/flyball.toml");
const PROMPT: &str = include_str!("../../../templates/prompt.md");
const TASKS: &str = include_str!("../../../templates/tasks.json");

/// `prd.md`.
pub(in crate::cli) const PRD: &str = include_str!("../../../templates/prd.md");
/// `progress.txt`.
pub(in crate::cli) const PROGRESS: &str = include_str!("../../../templates/progress.txt");
/// The loop folder's `.gitignore`.
pub(super) const IGNORE: &str = include_str!("../../../templates/gitignore");

const NO_GATE: &str = r#"
# None can run here. Without a gate, only the task list says when work is done:
# [[gates.check]]
# name = "tests"
# command = "make test"
# timeout = "5m""#;

/// `flyball.toml` for what was found.
#[expect(clippy::fn_params_excessive_bools, reason = "one flag, named by its parameter")]
pub(super) fn config(setup: &Setup, without_review: bool) -> String {
    let dir = setup.folder.dir.to_string_lossy();
    let folder = if dir == ".flyball" {
        String::new()
    } else {
        format!("\n[loop]\ndir = {}\n", string(&dir))
    };
    let review = if without_review {
        "[review]\nenabled = false                      # the list that was adopted knows no reviews"
    } else {
        "# [review]\n# enabled = false                    # let stories pass without a review iteration"
    };
    CONFIG
        .replace("{{review}}", review)
        .replace("{{agent}}", &string(&setup.agent.name))
        .replace("{{loop}}", &folder)
        .replace("{{gates}}\n", &gates(&setup.detected))
}

/// `prompt.md` for a loop folder of this name. Everything else is filled in by the run.
pub(super) fn prompt(dir: &Path) -> String {
    PROMPT.replace("{{dir}}", &dir.to_string_lossy())
}

/// `tasks.json` with one example story.
pub(in crate::cli) fn tasks(project: &str) -> String {
    TASKS.replace("{{project}}", &serde_json::Value::from(project).to_string())
}

fn gates(detected: &Detected) -> String {
    let mut lines = Vec::new();
    for gate in &detected.gates {
        let command = CommandLine::Shell(gate.command.clone());
        let check = GateCheck::new(&*gate.name, command, gate.timeout);
        lines.push(format!("\n# found by {}\n[[gates.check]]", gate.why));
        lines.extend(check.to_toml_lines());
    }
    for missing in &detected.not_runnable {
        let NotRunnable { command, hindrance, why, .. } = missing;
        lines.push(format!("\n# found by {why}, but {hindrance}:"));
        lines.push(format!("# [[gates.check]]\n# name = \"…\"\n# command = {}", string(command)));
    }
    if detected.gates.is_empty() {
        lines.push(NO_GATE.to_owned());
    }
    lines.join("\n") + "\n"
}
