//! What init says it found and did.

use serde_json::json;

use super::plan::{Existing, Plan};
use super::{Done, Setup};
use crate::client::{adapter, skipping_permissions};
use crate::config::{duration, quoted};
use crate::hook::install;
use crate::project::{self, NotRunnable};
use crate::terminal::Paint;

/// For people.
pub(super) fn text(setup: &Setup, done: &Done<'_>, paint: Paint) -> String {
    let Done { plan, hooks, checked } = *done;
    let mut lines = Vec::new();
    let detected = &setup.detected;
    let kinds: Vec<String> = detected.kinds.iter().map(ToString::to_string).collect();
    lines.push(if kinds.is_empty() {
        let known = project::kinds();
        format!("Project  no kind flyball knows\n         looked for {known}, four folders deep")
    } else {
        format!("Project  {}", kinds.join(", "))
    });
    lines.push(format!("Agent    {}", setup.agent.name));
    lines.extend(permission_words(setup).iter().map(|words| format!("         {words}")));
    let others = setup.agent.others.join(", ");
    if !others.is_empty() {
        lines.push(format!("         also found: {others} (flyball init --agent NAME)"));
    }
    let width = detected.gates.iter().map(|gate| gate.name.chars().count()).max().unwrap_or(0);
    for gate in &detected.gates {
        let why = paint.dim(&format!("({}, {})", gate.why, duration::format(gate.timeout)));
        lines.push(format!("Gate     {:<width$}  {}  {why}", gate.name, paint.cyan(&gate.command)));
    }
    lines.extend(detected.not_runnable.iter().map(not_runnable));
    if setup.folder.adopted {
        lines.push(format!("Adopted  {}/", setup.folder.dir.display()));
    }
    if let Some(converted) = &plan.converted {
        let ((all, passed), from) = (converted.counts, converted.from.display());
        lines.push(format!("Adopted  {from}: {all} stories, {passed} passed, now in tasks.json"));
    }
    if plan.without_review {
        lines.push("Review   off: the list knows no reviews ([review] in flyball.toml)".to_owned());
    }
    lines.push(String::new());
    for file in &plan.files {
        let verb = match file.existing {
            Existing::None => "Wrote   ",
            Existing::Replaced => "Replaced",
            Existing::Extended => "Extended",
        };
        lines.push(format!("{} {}", paint.green(verb), file.path.display()));
    }
    lines.extend(plan.kept.iter().map(|path| format!("Kept     {}", path.display())));
    lines.extend(
        hooks.iter().map(|one| format!("{} {}", paint.green("Hooks   "), one.path.display())),
    );
    if let Some(result) = checked {
        lines.push(String::new());
        lines.extend(result.status_lines().into_iter().map(|line| format!("Now      {line}")));
        if !result.is_green() {
            let word = "a run begins with this red; `flyball gate` shows what was found";
            lines.push(format!("         {word}"));
        }
    }
    let warnings = warnings(setup, plan);
    if !warnings.is_empty() {
        lines.push(String::new());
    }
    lines.extend(warnings.iter().map(|text| format!("{}  {text}", paint.yellow("Warning"))));
    lines.push(String::new());
    let remark = hooks.first().and_then(|one| install::remark(one.agent, one.scope));
    lines.extend(remark.map(|remark| format!("Next     {remark}")));
    lines.extend(next(setup, plan).iter().map(|step| format!("Next     {step}")));
    lines.join("\n") + "\n"
}

/// A gate that would fit, with what takes the hindrance away.
fn not_runnable(missing: &NotRunnable) -> String {
    let NotRunnable { command, hindrance, .. } = missing;
    let line = hindrance.line().map(|line| format!(": {line}")).unwrap_or_default();
    format!("         found but not runnable: {command} ({hindrance}{line})")
}

/// What keeps the agent from asking, where flyball sets it.
fn permission_words(setup: &Setup) -> Vec<String> {
    let set = adapter(&setup.agent.name).map(skipping_permissions).unwrap_or_default();
    if set.is_empty() {
        return Vec::new();
    }
    vec![
        format!("asks nobody (permission = \"skip\"): {}", set.join(" ")),
        "permission = \"ask\" in flyball.toml keeps its prompts".to_owned(),
    ]
}

/// For programs.
pub(super) fn json(setup: &Setup, done: &Done<'_>) -> serde_json::Value {
    let Done { plan, hooks, checked } = *done;
    let gates = setup.detected.gates.iter().map(|gate| {
        let timeout = duration::format(gate.timeout);
        json!({ "name": gate.name, "command": gate.command, "timeout": timeout, "why": gate.why })
    });
    let missing = setup.detected.not_runnable.iter().map(|missing| {
        let because = missing.hindrance.to_string();
        let line = missing.hindrance.line();
        json!({ "command": missing.command, "because": because, "why": missing.why, "type": line })
    });
    let not_installed = setup.detected.not_installed.iter();
    let not_installed = not_installed.map(|one| json!({ "what": one.what, "type": one.remedy }));
    let kinds = setup.detected.kinds.iter().map(|kind| kind.word());
    let written = plan.files.iter().map(|file| file.path.display().to_string());
    let kept = plan.kept.iter().map(|path| path.display().to_string());
    let converted = plan.converted.as_ref().map(|converted| {
        let (stories, passed) = converted.counts;
        json!({ "from": converted.from.display().to_string(), "stories": stories, "passed": passed })
    });
    json!({
        "root": setup.root.display().to_string(),
        "agent": { "name": setup.agent.name, "installed": setup.agent.installed },
        "agentsAlsoFound": setup.agent.others,
        "permission": { "value": "skip", "sets": adapter(&setup.agent.name).map(skipping_permissions) },
        "review": !plan.without_review,
        "kinds": kinds.collect::<Vec<_>>(),
        "gates": gates.collect::<Vec<_>>(),
        "notRunnable": missing.collect::<Vec<_>>(),
        "notInstalled": not_installed.collect::<Vec<_>>(),
        "loopDir": setup.folder.dir.display().to_string(),
        "adopted": setup.folder.adopted,
        "converted": converted,
        "written": written.collect::<Vec<_>>(),
        "kept": kept.collect::<Vec<_>>(),
        "hooks": hooks.iter().map(install::Done::to_json).collect::<Vec<_>>(),
        "checked": checked,
        "warnings": warnings(setup, plan),
        "next": next(setup, plan),
    })
}

fn warnings(setup: &Setup, plan: &Plan) -> Vec<String> {
    let mut warnings = plan.warnings.clone();
    if setup.detected.gates.is_empty() {
        warnings.push(
            "no gate was found, so nothing checks the work: add one to flyball.toml".to_owned(),
        );
    }
    warnings.extend(setup.detected.not_installed.iter().map(|missing| {
        format!("{} is not there, and gates may need it: {}", missing.what, missing.remedy)
    }));
    if !setup.agent.installed {
        warnings.push(format!(
            "`{0}` is not on PATH: install it, or set `agent.name` or `agent.command` in flyball.toml",
            setup.agent.name
        ));
    }
    warnings
}

fn next(setup: &Setup, plan: &Plan) -> Vec<String> {
    let dir = setup.folder.dir.display();
    let skeleton =
        plan.converted.is_none() && plan.files.iter().any(|f| f.path.ends_with("tasks.json"));
    let mut steps = Vec::new();
    if skeleton {
        steps.push(format!("write what you want into {dir}/prd.md and {dir}/tasks.json"));
        steps.push("or have it drafted: flyball plan \"what you want\"".to_owned());
    }
    let folder = quoted(&dir.to_string());
    steps.push(format!("git add flyball.toml {folder} && git commit -m 'Set up flyball'"));
    steps.push("flyball run".to_owned());
    steps
}
