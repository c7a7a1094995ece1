//! Gate commands: the resolved ones, and the scripts, recipes and files right behind them. Any
//! other edit of a manifest is nobody's business here.

#[cfg(test)]
mod tests;

use super::Edited;
use super::recipe::{self, Recipes};
use crate::config::FILE_NAME;
use crate::gate::plan::{Gate, GatePlan, GateSource};

/// Package managers that run the scripts of `package.json`.
const MANAGERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];
/// Files make and just read.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];
/// What makes a failing command pass.
const SWALLOWS: [&str; 10] = [
    "|| true",
    "||true",
    "|| :",
    "||:",
    "|| exit 0",
    "; true",
    "exit 0",
    "set +e",
    "sys.exit(0)",
    "process.exit(0)",
];

/// A gate that no longer does what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) gate: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) message: String,
}

/// Whether a file may stand behind a gate's command.
pub(super) fn may_matter(path: &str, plan: &GatePlan) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "package.json"
        || MAKEFILES.contains(&name)
        || JUSTFILES.contains(&name)
        || plan.gates().iter().any(|gate| steps(gate).iter().any(|step| step.names(path)))
}

/// Everything that changed about the gates of the first plan.
pub(super) fn changed(edited: &[Edited], first: &GatePlan, now: &GatePlan) -> Vec<Changed> {
    let mut found: Vec<Changed> =
        first.gates().iter().filter_map(|gate| resolved(gate, now)).collect();
    for gate in first.gates() {
        for step in steps(gate) {
            found.extend(behind(gate, &step, edited));
        }
    }
    found.dedup();
    found
}

/// How the gate's own command changed.
fn resolved(gate: &Gate, now: &GatePlan) -> Option<Changed> {
    let command = gate.command.to_string();
    let kept = |other: &Gate| same(&command, &other.command.to_string());
    if now.gates().iter().any(kept) {
        return None;
    }
    let successor = now.gate(gate.name.as_str());
    let message = match successor {
        Some(other) => {
            format!("gate `{}` no longer runs `{command}` but `{}`", gate.name, other.command)
        }
        None => format!("gate `{}` (`{command}`) was removed", gate.name),
    };
    let configured = |gate: &Gate| gate.source == GateSource::Configured;
    let by_config = configured(gate)
        || successor.map_or_else(|| now.gates().iter().any(configured), configured);
    let file = by_config.then(|| FILE_NAME.to_owned());
    Some(Changed { gate: gate.name.to_string(), file, line: None, message })
}

/// Whether two commands do the same, or the second one that and more.
fn same(before: &str, now: &str) -> bool {
    let plain = |command: &str| {
        let words = command.split_whitespace();
        let words = words.map(|word| if MANAGERS.contains(&word) { "npm" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let (before, now) = (plain(before), plain(now));
    before == now || extends(&before, &now)
}

/// Whether the second line runs the first one and, when it passes, something more.
fn extends(before: &str, now: &str) -> bool {
    let more = now
        .strip_prefix(before)
        .and_then(|rest| rest.strip_prefix(" && "))
        .or_else(|| now.strip_suffix(before).and_then(|rest| rest.strip_suffix(" && ")));
    more.is_some_and(|more| !more.contains([';', '|', '&', '\n']) && !before.contains([';', '|']))
}

/// One program a gate's command starts, and the folder it is started in.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    dir: String,
    words: Vec<String>,
}

impl Step {
    fn path(&self, name: &str) -> String {
        let name = name.trim_start_matches("./");
        if self.dir.is_empty() { name.to_owned() } else { format!("{}/{name}", self.dir) }
    }

    /// Whether the file is one of the words.
    fn names(&self, path: &str) -> bool {
        self.words.iter().any(|word| !word.starts_with('-') && self.path(word) == path)
    }
}

/// The programs a command starts, as far as they can be told apart without a shell.
fn steps(gate: &Gate) -> Vec<Step> {
    let line = gate.command.to_string();
    let mut dir = String::new();
    let mut steps = Vec::new();
    for piece in line.split(['&', '|', ';', '\n']) {
        let unquoted = |word: &str| word.trim_matches(['\'', '"', '(', ')']).to_owned();
        let words: Vec<String> = piece.split_whitespace().map(unquoted).collect();
        match words.as_slice() {
            [] => {}
            [cd, to] if cd == "cd" => {
                let to = to.trim_start_matches("./").trim_end_matches('/');
                dir = if dir.is_empty() { to.to_owned() } else { format!("{dir}/{to}") };
            }
            _ => steps.push(Step { dir: dir.clone(), words }),
        }
    }
    steps
}

/// What changed behind one step of a gate.
fn behind(gate: &Gate, step: &Step, edited: &[Edited]) -> Vec<Changed> {
    let program = step.words.first().map_or("", String::as_str);
    let arguments = || step.words.iter().skip(1).filter(|word| !word.starts_with('-'));
    let files: &[&str] = match program {
        program if MANAGERS.contains(&program) => &["package.json"],
        "make" | "gmake" => &MAKEFILES,
        "just" => &JUSTFILES,
        _ => return scripts(gate, step, edited),
    };
    let paths: Vec<String> = files.iter().map(|file| step.path(file)).collect();
    let Some(file) = edited.iter().find(|file| paths.contains(&file.path)) else {
        return Vec::new();
    };
    let read_makefile = !MANAGERS.contains(&program);
    let read = if read_makefile { recipe::of_makefile } else { recipe::of_package };
    let text = |side: &Option<String>| read(side.as_deref().unwrap_or(""));
    let (before, after) = (text(&file.before), text(&file.after));
    let mut found = Vec::new();
    for name in arguments().filter(|word| *word != "run") {
        for reached in before.reachable(name) {
            // What a makefile builds on the way is no check, however it is built.
            let is_check = !read_makefile || before.is_check(name, &reached);
            let how = match weakening(&reached, &before, &after) {
                Some(How::Hides(how)) => how,
                Some(How::Differs(how)) if is_check => how,
                Some(How::Differs(_)) | None => continue,
            };
            found.push(Changed {
                gate: gate.name.to_string(),
                file: Some(file.path.clone()),
                line: after.get(&reached).map(|recipe| recipe.line),
                message: format!("`{reached}`, which gate `{}` runs, {how}", gate.name),
            });
        }
    }
    found
}

/// How a script or recipe changed.
enum How {
    /// Failures no longer show.
    Hides(String),
    /// It does something else.
    Differs(String),
}

fn weakening(name: &str, before: &Recipes, after: &Recipes) -> Option<How> {
    let old = before.get(name)?;
    let Some(new) = after.get(name) else {
        return Some(How::Differs("was removed".to_owned()));
    };
    let (was, is) = (old.body.join("\n"), new.body.join("\n"));
    let ignored = |lines: &[String]| lines.iter().filter(|line| line.starts_with('-')).count();
    if swallowed(&is) > swallowed(&was) || ignored(&new.body) > ignored(&old.body) {
        return Some(How::Hides(format!("now hides failures: `{}`", shown(&is))));
    }
    let lost =
        old.calls.iter().find(|call| !new.calls.contains(call) && before.get(call).is_some());
    if let (true, Some(lost)) = (old.body.is_empty(), lost) {
        return Some(How::Differs(format!("no longer runs `{lost}`")));
    }
    let only_more =
        new.body.len() > old.body.len() && old.body.iter().all(|line| new.body.contains(line));
    if same(&was, &is) || only_more {
        return None;
    }
    let (was, is) = (shown(&was), shown(&is));
    Some(How::Differs(format!("was changed from `{was}` to `{is}`")))
}

/// Scripts named in the command that begin to swallow failures.
fn scripts(gate: &Gate, step: &Step, edited: &[Edited]) -> Vec<Changed> {
    let named = edited.iter().filter(|file| step.names(&file.path));
    let weakened = named.filter_map(|file| {
        let before = file.before.as_deref()?;
        let how = match file.after.as_deref() {
            None => "was removed",
            Some(after) if swallowed(after) > swallowed(before) => "now hides failures",
            Some(after) if stops_at_errors(before) && !stops_at_errors(after) => {
                "no longer stops at the first failure"
            }
            Some(_) => return None,
        };
        Some(Changed {
            gate: gate.name.to_string(),
            file: Some(file.path.clone()),
            line: None,
            message: format!("`{}`, which gate `{}` runs, {how}", file.path, gate.name),
        })
    });
    weakened.collect()
}

fn swallowed(text: &str) -> usize {
    let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    code.map(|line| SWALLOWS.iter().map(|mark| line.matches(mark).count()).sum::<usize>()).sum()
}

fn stops_at_errors(script: &str) -> bool {
    script.lines().any(|line| {
        let line = line.trim();
        line.starts_with("set -e")
            || (line.starts_with("set -") && line.contains("errexit"))
            || (line.starts_with("#!") && line.contains(" -e"))
    })
}

fn shown(text: &str) -> String {
    flyball_core::text::head(&text.replace('\n', "; "), 120)
}
