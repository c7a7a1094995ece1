//! Gate commands: the resolved ones, and the recipes and scripts right behind them. Any other edit of
//! a manifest is nobody's business here.

#[cfg(test)]
mod tests;

use flyball_core::gate::Restore;

use super::makefile::{self, Makefile};
use super::recipe::{self, Recipes};
use super::watched::{MANAGERS, MakeCall, PackageCall};
use super::{Context, Edited, Suspicion};
use crate::config::FILE_NAME;
use crate::gate::plan::{Gate, GatePlan, GateSource};

/// What makes a failing command pass.
const SWALLOWS: [&str; 14] = [
    "|| true",
    "||true",
    "|| :",
    "||:",
    "|| exit 0",
    "; true",
    "exit 0",
    "set +e",
    "sys.exit(0)",
    "sys.exit()",
    "os._exit(",
    "SystemExit(0)",
    "process.exit(0)",
    "process.exit()",
];

/// Everything that changed about the gates of the first plan.
pub(super) fn changed(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found: Vec<Suspicion> =
        of.first.gates().iter().filter_map(|gate| resolved(gate, of.now)).collect();
    for call in &of.reach.makes {
        found.extend(behind_make(call, of));
    }
    for call in &of.reach.packages {
        found.extend(behind_package(call, of));
    }
    found
}

/// How the gate's own command changed. Those of the task list are put back there.
fn resolved(gate: &Gate, now: &GatePlan) -> Option<Suspicion> {
    let command = gate.command.to_string();
    let kept = |other: &Gate| same(&command, &other.command.to_string());
    if gate.source == GateSource::VerifyCommand || now.gates().iter().any(kept) {
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
    let mut found = Suspicion::new(gate.name.as_str(), message, super::excerpt::Side::Now);
    found.found.subjects.push(format!("gate:{}", gate.name));
    found.found.now = successor.map(|other| other.command.to_string()).unwrap_or_default();
    if by_config {
        found.found.finding.file = Some(FILE_NAME.to_owned());
        found.found.restore.push(Restore::File { path: FILE_NAME.to_owned() });
    }
    Some(found)
}

/// Whether two commands do the same, or the second one that and more.
fn same(before: &str, now: &str) -> bool {
    let plain = |command: &str| {
        let words = command.split_whitespace();
        let words = words.map(|word| if MANAGERS.contains(&word) { "npm" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let (before, now) = (plain(before), plain(now));
    before == now
        || extends(&before, &now)
        || names_more(&before, &now)
        || finds_more(&before, &now)
}

/// Whether the go tool is given the same packages and more.
fn names_more(before: &str, now: &str) -> bool {
    let more = now.strip_prefix(before).filter(|_| before.starts_with("go "));
    more.is_some_and(|more| more.starts_with(' ') && more.split(' ').skip(1).all(is_package))
}

fn is_package(word: &str) -> bool {
    word.starts_with("./") && !word.contains(['$', '`', ';', '&', '|', '>', '<', '('])
}

/// Whether Python's `discover` looks for tests in the same folder or in all that is named from it, by
/// the same names or more: that is what new folders of tests make of a gate that was detected.
fn finds_more(before: &str, now: &str) -> bool {
    let (Some(before), Some(now)) = (Discover::read(before), Discover::read(now)) else {
        return false;
    };
    let widest = "'*test*.py'";
    before.python == now.python
        && before.top == now.top
        && (now.start == before.start || now.start == now.top)
        && (now.pattern == before.pattern || now.pattern == Some(widest))
}

/// `python3 -m unittest discover -s START [-t TOP] [-p PATTERN]`, and nothing else.
struct Discover<'a> {
    python: &'a str,
    start: &'a str,
    top: &'a str,
    pattern: Option<&'a str>,
}

impl<'a> Discover<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (python, rest) = line.split_once(" -m unittest discover -s ")?;
        let mut words = rest.split(' ');
        let start = words.next()?;
        let mut found = Self { python, start, top: start, pattern: None };
        while let Some(option) = words.next() {
            let value = words.next()?;
            match option {
                "-t" => found.top = value,
                "-p" => found.pattern = Some(value),
                _ => return None,
            }
        }
        let is_plain = |word: &str| !word.contains([';', '|', '&', '>', '<', '$', '`', '(']);
        [Some(found.start), Some(found.top), found.pattern]
            .into_iter()
            .flatten()
            .all(is_plain)
            .then_some(found)
    }
}

/// Whether the second line runs the first one and, when it passes, something more.
pub(super) fn extends(before: &str, now: &str) -> bool {
    let more = now
        .strip_prefix(before)
        .and_then(|rest| rest.strip_prefix(" && "))
        .or_else(|| now.strip_suffix(before).and_then(|rest| rest.strip_suffix(" && ")));
    more.is_some_and(|more| !more.contains([';', '|', '&', '\n']) && !before.contains([';', '|']))
}

/// What changed behind a call of make or just.
fn behind_make(call: &MakeCall, of: &Context<'_>) -> Vec<Suspicion> {
    let read = |file: &dyn Fn(&str) -> Option<String>| {
        Makefile::read(call.maker, &call.dir, call.named.as_deref(), file)
    };
    let Some(before) = read(&|path| of.files.before(path)) else { return Vec::new() };
    let after = read(&|path| of.files.after(path)).unwrap_or_default();
    let touched = |path: &&String| of.edited.iter().any(|edit| edit.path == **path);
    let files: Vec<&String> = before.files.iter().chain(&after.files).filter(touched).collect();
    let mut found = Vec::new();
    let mut differences = if files.is_empty() {
        Vec::new()
    } else {
        makefile::differences(&before, &after, &call.targets)
    };
    if let (Some(was), Some(is)) = (before.files.first(), after.files.first())
        && was != is
    {
        let how = format!("is read in place of `{was}`");
        let name = is.clone();
        differences.push(makefile::Difference {
            name,
            verb: "reads",
            line: None,
            how,
            soft: false,
        });
    }
    for edit in of.edited {
        let read =
            before.patterns.iter().any(|pattern| flyball_core::gate::fits(pattern, &edit.path));
        if read && !before.files.contains(&edit.path) {
            let how = if edit.before.is_none() { "was added" } else { "was changed" };
            let message = format!("`{}`, which gate `{}` reads, {how}", edit.path, call.gate);
            found.push(Suspicion::of_file(&edit.path, &call.gate, message).whole(edit));
        }
    }
    for target in call.targets.iter().filter(|target| !before.is_phony(target)) {
        let inside = format!("{target}/");
        let shadows = |path: &&String| **path == *target || path.starts_with(&inside);
        if call.dir.is_empty() && of.added.iter().any(|path| shadows(&path)) {
            let how = "is now the name of a file, so that nothing is run for it".to_owned();
            let name = target.clone();
            differences.push(makefile::Difference {
                name,
                verb: "runs",
                line: None,
                how,
                soft: false,
            });
        }
    }
    for one in differences {
        let message =
            format!("`{}`, which gate `{}` {}, {}", one.name, call.gate, one.verb, one.how);
        let file = files.first().map_or(one.name.as_str(), |file| file.as_str());
        let mut suspicion = Suspicion::of_file(file, &call.gate, message);
        suspicion.found.finding.line = one.line;
        suspicion.found.restore = files.iter().map(|path| back(path, of.edited)).collect();
        if files.is_empty() {
            suspicion.found.restore.push(Restore::Remove { path: one.name.clone() });
        }
        if one.soft {
            suspicion.soften();
        }
        found.push(suspicion);
    }
    found
}

/// What brings a file back to what it was.
fn back(path: &str, edited: &[Edited]) -> Restore {
    let was_there = edited.iter().any(|edit| edit.path == path && edit.before.is_some());
    let path = path.to_owned();
    if was_there { Restore::File { path } } else { Restore::Remove { path } }
}

/// What changed behind a call of a package's scripts.
fn behind_package(call: &PackageCall, of: &Context<'_>) -> Vec<Suspicion> {
    let Some(file) = of.edited.iter().find(|edit| edit.path == call.path) else {
        return Vec::new();
    };
    let text = |side: &Option<String>| recipe::of_package(side.as_deref().unwrap_or(""));
    let (before, after) = (text(&file.before), text(&file.after));
    let mut found = Vec::new();
    for name in &call.scripts {
        for reached in before.reachable(name) {
            let Some(How::Hides(how) | How::Differs(how)) = weakening(&reached, &before, &after)
            else {
                continue;
            };
            let message = format!("`{reached}`, which gate `{}` runs, {how}", call.gate);
            let mut suspicion = Suspicion::of_file(&file.path, &call.gate, message);
            suspicion.found.subjects = vec![format!("script:{}:{reached}", file.path)];
            let line = before.get(&reached).map(|recipe| recipe.line);
            suspicion.found.finding.line = after.get(&reached).map(|recipe| recipe.line);
            if let Some(line) = line.filter(|_| file.after.is_some()) {
                let path = file.path.clone();
                suspicion.found.restore = vec![Restore::Lines { path, from: line, to: line }];
            }
            found.push(suspicion);
        }
    }
    found
}

/// How a script or recipe changed.
pub(super) enum How {
    /// Failures no longer show.
    Hides(String),
    /// It does something else.
    Differs(String),
}

pub(super) fn weakening(name: &str, before: &Recipes, after: &Recipes) -> Option<How> {
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

pub(super) fn swallowed(text: &str) -> usize {
    let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    code.map(|line| SWALLOWS.iter().map(|mark| line.matches(mark).count()).sum::<usize>()).sum()
}

pub(super) fn stops_at_errors(script: &str) -> bool {
    script.lines().any(|line| {
        let line = line.trim();
        line.starts_with("set -e")
            || (line.starts_with("set -") && line.contains("errexit"))
            || (line.starts_with("#!") && line.contains(" -e"))
    })
}

pub(super) fn shown(text: &str) -> String {
    flyball_core::text::head(&text.replace('\n', "; "), 120)
}
