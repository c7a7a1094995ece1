//! Tamper watch (B10): tests deleted, skipped or emptied, thresholds lowered, gate commands changed
//! between two trees. Reads only files that differ; never decides what is to be done about it.

mod command;
mod excerpt;
mod pairing;
mod recipe;
mod source;
mod strength;
mod tests_of;
mod threshold;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use flyball_core::gate::{Finding, FindingKind};

use self::excerpt::Side;
use self::pairing::{Paired, Placed};
use self::source::{Language, Source};
use self::tests_of::{may_hold_tests, tests_of};
use super::plan::GatePlan;
use crate::worktree::{Change, Worktree, WorktreeError};

/// The gate name that tamper findings are known under.
pub const TAMPER: &str = "tamper";

/// The most findings that are told.
const FINDINGS_MAX: usize = 100;
/// The most files whose patch is shown.
const PATCHES_MAX: usize = 30;

/// What was weakened since the first tree. Trees are git trees, such as those of checkpoints.
pub fn tamper(
    worktree: &Worktree,
    first_tree: &str,
    now_tree: &str,
    first_plan: &GatePlan,
    now_plan: &GatePlan,
) -> Result<Vec<Finding>, WorktreeError> {
    let changes = worktree.changes(first_tree, now_tree)?;
    let edited = read(worktree, &changes, first_plan)?;
    let mut suspicions = suspicions(&edited, first_plan, now_plan);
    suspicions.truncate(FINDINGS_MAX);
    let mut patches: BTreeMap<String, String> = BTreeMap::new();
    for Suspicion { finding, side } in &mut suspicions {
        let Some(file) = finding.file.clone() else { continue };
        if !patches.contains_key(&file) && patches.len() < PATCHES_MAX {
            let patch = worktree.diff(first_tree, now_tree, &[file.as_str()])?;
            patches.insert(file.clone(), patch);
        }
        let patch = patches.get(&file).map_or("", String::as_str);
        finding.excerpt = excerpt::around(patch, finding.line, *side);
    }
    Ok(suspicions.into_iter().map(|suspicion| suspicion.finding).collect())
}

/// A file that differs, with what is in it before and now; none where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edited {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

/// A finding, and which side its line belongs to.
struct Suspicion {
    finding: Finding,
    side: Side,
}

impl Suspicion {
    fn new(name: &str, message: String, side: Side) -> Self {
        Self { finding: Finding::new(FindingKind::Tamper, message).named(name), side }
    }

    fn at(mut self, file: &str, line: impl Into<Option<u32>>) -> Self {
        self.finding = self.finding.at(file, line, None);
        self
    }
}

/// Reads what may matter of what differs.
fn read(
    worktree: &Worktree,
    changes: &[Change],
    plan: &GatePlan,
) -> Result<Vec<Edited>, WorktreeError> {
    let matters = |path: &str| {
        Language::of(path).is_some_and(|language| may_hold_tests(language, path))
            || threshold::may_hold(path)
            || command::may_matter(path, plan)
    };
    let wanted: Vec<&Change> = changes.iter().filter(|change| matters(&change.path)).collect();
    let ids: Vec<&str> =
        wanted.iter().flat_map(|c| [&c.before, &c.after]).flatten().map(String::as_str).collect();
    let mut contents = worktree.contents(&ids)?.into_iter();
    let mut text = |id: &Option<String>| {
        id.as_ref()?;
        contents.next().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut edited: Vec<Edited> = Vec::with_capacity(wanted.len());
    for change in wanted {
        let (before, after) = (text(&change.before), text(&change.after));
        // Too large to be read now is not the same as gone.
        let unread = (change.before.is_some() && before.is_none())
            || (change.after.is_some() && after.is_none());
        if !unread {
            edited.push(Edited { path: change.path.clone(), before, after });
        }
    }
    let foreign =
        changes.iter().filter(|change| !matters(&change.path) && is_foreign_test(&change.path));
    edited.extend(foreign.map(|change| Edited {
        path: change.path.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
    }));
    Ok(edited)
}

/// A test file in a language whose tests are not told apart here: only its absence is noticed, and
/// its content is stood for by its id.
fn is_foreign_test(path: &str) -> bool {
    const ENDINGS: [&str; 17] = [
        "bats", "c", "cc", "cpp", "cs", "cxx", "dart", "ex", "exs", "lua", "php", "pl", "scala",
        "sh", "swift", "t", "zig",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let lower = stem.to_ascii_lowercase();
    let says_so = lower.starts_with("test_")
        || ["_test", "-test", "_tests", ".test", ".spec"].iter().any(|end| lower.ends_with(end))
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || matches!(ending, "bats" | "t");
    ENDINGS.contains(&ending) && says_so
}

/// Everything that looks weakened, by file and line.
fn suspicions(edited: &[Edited], first: &GatePlan, now: &GatePlan) -> Vec<Suspicion> {
    let mut found = test_suspicions(edited);
    found.extend(edited.iter().filter_map(|file| foreign_deletion(file, edited)));
    found.extend(edited.iter().filter_map(picked_out));
    found.extend(threshold::lowered(edited).into_iter().map(|low| {
        let side = if low.removed { Side::Before } else { Side::Now };
        Suspicion::new(low.key, low.message, side).at(&low.file, low.line)
    }));
    found.extend(command::changed(edited, first, now).into_iter().map(|changed| {
        let suspicion = Suspicion::new(&changed.gate, changed.message, Side::Now);
        match changed.file {
            Some(file) => suspicion.at(&file, changed.line),
            None => suspicion,
        }
    }));
    found.sort_by(|a, b| {
        let key = |s: &Suspicion| (s.finding.file.clone(), s.finding.line);
        key(a).cmp(&key(b))
    });
    found
}

fn test_suspicions(edited: &[Edited]) -> Vec<Suspicion> {
    let all = |side: fn(&Edited) -> Option<&str>| -> Vec<Placed> {
        edited.iter().flat_map(|file| placed(file, side(file))).collect()
    };
    let before = all(|file| file.before.as_deref());
    let after = all(|file| file.after.as_deref());
    let Paired { pairs, gone } = pairing::pair(&before, &after);
    let mut found: Vec<Suspicion> = Vec::new();
    for (old, new) in pairs {
        let name = &new.test.name;
        let message = if new.test.skipped && !old.test.skipped {
            format!("test `{name}` is now skipped in {}", new.file)
        } else if let Some(how) = strength::weakness(&old.test, &new.test) {
            format!("test `{name}` {how} in {}", new.file)
        } else {
            continue;
        };
        found.push(Suspicion::new(name, message, Side::Now).at(&new.file, new.test.line));
    }
    found.extend(deletions(edited, &before, &gone));
    found
}

fn placed(file: &Edited, text: Option<&str>) -> Vec<Placed> {
    let language =
        Language::of(&file.path).filter(|language| may_hold_tests(*language, &file.path));
    let tests = language.zip(text).map(|(language, text)| tests_of(language, text));
    let place = |test| Placed { file: file.path.clone(), test };
    tests.unwrap_or_default().into_iter().map(place).collect()
}

/// One finding per deleted test; one for all of them when the file went with them.
fn deletions(edited: &[Edited], before: &[Placed], gone: &[&Placed]) -> Vec<Suspicion> {
    let mut by_file: BTreeMap<&str, Vec<&Placed>> = BTreeMap::new();
    for placed in gone {
        by_file.entry(placed.file.as_str()).or_default().push(placed);
    }
    let mut found = Vec::new();
    for (file, gone) in by_file {
        let file_gone = edited.iter().any(|edit| edit.path == file && edit.after.is_none());
        let all = before.iter().filter(|other| other.file == file).count() == gone.len();
        if file_gone && all && gone.len() > 1 {
            found.push(whole_file(file, &gone));
            continue;
        }
        found.extend(gone.into_iter().take(FINDINGS_MAX).map(|placed| {
            let name = &placed.test.name;
            let message = format!("test `{name}` was deleted from {file}");
            Suspicion::new(name, message, Side::Before).at(file, placed.test.line)
        }));
    }
    found
}

fn whole_file(file: &str, gone: &[&Placed]) -> Suspicion {
    let shown: Vec<String> =
        gone.iter().take(10).map(|placed| format!("`{}`", placed.test.name)).collect();
    let more = if gone.len() > shown.len() { ", …" } else { "" };
    let count = gone.len();
    let names = shown.join(", ");
    let message = format!("test file {file} was deleted with its {count} tests: {names}{more}");
    Suspicion::new(file, message, Side::Before).at(file, None)
}

/// A deleted test file of another language, unless a file of its name or content came elsewhere.
fn foreign_deletion(file: &Edited, edited: &[Edited]) -> Option<Suspicion> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    if !is_foreign_test(&file.path) || file.before.is_none() || file.after.is_some() {
        return None;
    }
    let came = |other: &Edited| {
        other.before.is_none()
            && (other.after == file.before || name(&other.path) == name(&file.path))
    };
    let message = format!("test file {} was deleted", file.path);
    let suspicion = Suspicion::new(&file.path, message, Side::Before).at(&file.path, None);
    (!edited.iter().any(came)).then_some(suspicion)
}

/// `.only`: all other tests of the file are silently left out.
fn picked_out(file: &Edited) -> Option<Suspicion> {
    if Language::of(&file.path) != Some(Language::JavaScript)
        || !may_hold_tests(Language::JavaScript, &file.path)
    {
        return None;
    }
    let lines = |text: &Option<String>| {
        let source = Source::new(Language::JavaScript, text.as_deref().unwrap_or(""));
        tests_of::picked_out(&source)
    };
    let (before, after) = (lines(&file.before), lines(&file.after));
    let line = *after.first().filter(|_| after.len() > before.len() && file.before.is_some())?;
    let message = format!("only part of the tests of {} still runs: `only` was added", file.path);
    Some(Suspicion::new("only", message, Side::Now).at(&file.path, line))
}
