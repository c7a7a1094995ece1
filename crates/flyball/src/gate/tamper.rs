//! Tamper watch (B10): tests deleted, skipped or emptied, thresholds lowered, gate commands changed
//! between two trees. Reads only files that differ; never decides what is to be done about it.

mod asking;
mod checkers;
mod command;
mod doc_tests;
mod endings;
mod excerpt;
mod expected;
mod fewer_checks;
mod files;
mod footprint;
mod foreign;
mod functions;
mod ignored;
mod installed;
mod lint;
mod makefile;
mod natives;
mod outside;
mod pairing;
mod planted;
mod recipe;
mod replaced;
mod restore;
mod runner_files;
mod shell;
mod source;
mod strength;
mod subject;
mod substituted;
mod suspicion;
mod tests_of;
mod threshold;
mod tricks;
mod unlisted;
mod watch;
mod watched;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use flyball_core::gate::{Restore, TamperFinding, Weight};

use self::excerpt::Side;
use self::files::{Files, TreeFiles};
pub use self::footprint::{Footprint, that_check};
use self::foreign::{foreign_deletion, is_foreign_test, stated_less};
use self::pairing::Placed;
pub use self::restore::{Force, Restored};
use self::source::{Language, Source};
use self::suspicion::Suspicion;
use self::tests_of::{may_hold_tests, tests_of};
pub use self::watch::{
    Beginning, Entry, Open, OpenHere, Watch, open_here, repository_of, restore_open,
};
use self::watched::Reach;
use super::plan::GatePlan;
use crate::worktree::{Change, Worktree, WorktreeError};

/// The most findings that are told.
const FINDINGS_MAX: usize = 100;
/// The most files whose patch is shown.
const PATCHES_MAX: usize = 30;

/// What was weakened since the first tree. Trees are git trees, such as those of checkpoints.
#[expect(clippy::assigning_clones, reason = "clearer so")]
pub fn tamper(
    worktree: &Worktree,
    (first_tree, now_tree): (&str, &str),
    first_plan: &GatePlan,
    now_plan: &GatePlan,
) -> Result<Vec<TamperFinding>, WorktreeError> {
    let changes = worktree.changes(first_tree, now_tree)?;
    let files = TreeFiles::new(worktree, first_tree, now_tree);
    let same_plan = first_plan.digest() == now_plan.digest();
    if changes.is_empty() && same_plan {
        return Ok(Vec::new());
    }
    let reach = Reach::of(first_plan, &files);
    let read = read(worktree, &changes, &reach)?;
    let added = changes.iter().filter(|change| change.before.is_none());
    let added: Vec<String> = added.map(|change| change.path.clone()).collect();
    let context = Context {
        edited: &read.edited,
        files: &files,
        added: &added,
        reach: &reach,
        first: first_plan,
        now: now_plan,
    };
    let mut suspicions = suspicions(&context);
    suspicions.extend(read.unread.iter().map(Suspicion::unread));
    // What only counts for red tests comes last: it must not crowd out the rest.
    suspicions.sort_by_key(|one| one.found.weight == Weight::IfRedFirst);
    suspicions.truncate(FINDINGS_MAX);
    let mut patches: BTreeMap<String, String> = BTreeMap::new();
    for Suspicion { found, side } in &mut suspicions {
        let Some(file) = found.finding.file.clone() else { continue };
        if !patches.contains_key(&file) && patches.len() < PATCHES_MAX {
            let patch = worktree.diff(first_tree, now_tree, &[file.as_str()])?;
            patches.insert(file.clone(), patch);
        }
        let patch = patches.get(&file).map_or("", String::as_str);
        found.finding.excerpt = excerpt::around(patch, found.finding.line, *side);
    }
    let ids: BTreeMap<&str, &Change> =
        changes.iter().map(|change| (change.path.as_str(), change)).collect();
    let finished = suspicions.into_iter().map(|suspicion| {
        let mut found = suspicion.found;
        found.base = first_tree.to_owned();
        if found.now.is_empty() {
            let path = found.finding.file.as_deref().unwrap_or("");
            let after = ids.get(path).and_then(|change| change.after.clone());
            found.now = after.unwrap_or_else(|| "gone".to_owned());
        }
        found
    });
    Ok(finished.collect())
}

/// The gates of a plan that run only a part of their tests each time.
pub fn partial_gates(worktree: &Worktree, tree: &str, plan: &GatePlan) -> Vec<String> {
    let files = TreeFiles::new(worktree, tree, tree);
    Reach::of(plan, &files).partial.into_iter().collect()
}

/// A file that differs, with what is in it before and now; none where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edited {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

/// Everything that is known of what changed.
struct Context<'a> {
    edited: &'a [Edited],
    files: &'a dyn Files,
    /// Files that were not there.
    added: &'a [String],
    reach: &'a Reach,
    first: &'a GatePlan,
    now: &'a GatePlan,
}

/// What was read of what differs.
struct ReadChanges {
    edited: Vec<Edited>,
    /// What could not be.
    unread: Vec<Change>,
}

/// Reads what may matter of what differs.
fn read(
    worktree: &Worktree,
    changes: &[Change],
    reach: &Reach,
) -> Result<ReadChanges, WorktreeError> {
    // What the work itself changed tells why a test may have changed with it.
    let wanted = |change: &&Change| {
        let path = &change.path;
        matters(path, reach)
            || Language::of(path).is_some()
            || expected::is_data(path)
            || natives::may_matter(path)
    };
    let wanted: Vec<&Change> = changes.iter().filter(wanted).collect();
    let ids: Vec<&str> =
        wanted.iter().flat_map(|c| [&c.before, &c.after]).flatten().map(String::as_str).collect();
    let mut contents = worktree.contents(&ids)?.into_iter();
    let mut text = |id: &Option<String>| {
        id.as_ref()?;
        contents.next().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut read = ReadChanges { edited: Vec::with_capacity(wanted.len()), unread: Vec::new() };
    for change in wanted {
        let (before, after) = (text(&change.before), text(&change.after));
        // Too large to be read now is not the same as gone.
        let unread = (change.before.is_some() && before.is_none())
            || (change.after.is_some() && after.is_none());
        if !unread {
            read.edited.push(Edited { path: change.path.clone(), before, after });
        } else if change.before.is_some() && matters(&change.path, reach) {
            read.unread.push(change.clone());
        }
    }
    Ok(read)
}

/// Whether a file may hold tests, or stand behind a gate.
#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the tools themselves look at the case"
)]
fn matters(path: &str, reach: &Reach) -> bool {
    Language::of(path).is_some_and(|language| may_hold_tests(language, path))
        || is_foreign_test(path)
        || threshold::may_hold(path)
        || runner_files::may_matter(path)
        || lint::may_matter(path)
        || substituted::may_matter(path)
        || reach.holds(path)
        || reach.makes.iter().any(|call| {
            let named = call.named.as_deref().is_some_and(|name| path.ends_with(name));
            let name = path.rsplit('/').next().unwrap_or(path);
            named
                || call.maker.names().contains(&name)
                || name.ends_with(".mk")
                || name.ends_with(".just")
        })
        || reach.text.contains(path)
}

/// Everything that looks weakened, by file and line.
fn suspicions(of: &Context<'_>) -> Vec<Suspicion> {
    let edited = of.edited;
    let mut found = test_suspicions(edited);
    found.extend(edited.iter().filter_map(|file| foreign_deletion(file, edited)));
    found.extend(edited.iter().filter_map(stated_less));
    found.extend(edited.iter().filter_map(picked_out));
    found.extend(edited.iter().filter_map(replaced::replaced));
    found.extend(unlisted::modules(of));
    found.extend(checkers::weakened(of));
    found.extend(endings::added(of));
    found.extend(tricks::added(of));
    found.extend(natives::added(of));
    found.extend(foreign::switched_off(of.edited));
    found.extend(planted::added(of));
    found.extend(asking::added(of));
    found.extend(subject::replaced(of));
    found.extend(unlisted::uncollected(edited));
    found.extend(threshold::lowered(edited).into_iter().map(|low| {
        let side = if low.removed { Side::Before } else { Side::Now };
        Suspicion::new(low.key, low.message, side)
            .at(&low.file, low.line)
            .about(format!("threshold:{}:{}", low.key, low.file))
    }));
    found.extend(command::changed(of));
    found.extend(watched::changed(edited, of.reach, &|path| has_tests(edited, path)));
    found.extend(runner_files::changed(of));
    found.extend(lint::silenced(of));
    found.extend(doc_tests::weakened(edited));
    found.extend(substituted::added(of));
    // Of a test that is known to be weaker there is nothing more to say.
    let red = expected::changed(of).into_iter().filter(|red| {
        let same = |one: &Suspicion| {
            one.found.weight == Weight::Firm && one.found.shares_subject(&red.found)
        };
        !found.iter().any(same)
    });
    let red: Vec<Suspicion> = red.collect();
    found.extend(red);
    found.sort_by(|a, b| {
        let key = |s: &Suspicion| (s.found.finding.file.clone(), s.found.finding.line);
        key(a).cmp(&key(b))
    });
    found.dedup_by(|a, b| a.found.finding.message == b.found.finding.message);
    found
}

/// Whether a changed file held tests that are compared one by one.
fn has_tests(edited: &[Edited], path: &str) -> bool {
    let file = edited.iter().find(|edit| edit.path == path);
    file.is_some_and(|file| !placed(file, file.before.as_deref()).is_empty())
}

fn test_suspicions(edited: &[Edited]) -> Vec<Suspicion> {
    let all = |side: fn(&Edited) -> Option<&str>| -> Vec<Placed> {
        edited.iter().flat_map(|file| placed(file, side(file))).collect()
    };
    let before = all(|file| file.before.as_deref());
    let after = all(|file| file.after.as_deref());
    let paired = pairing::pair(&before, &after);
    let rest = fewer_checks::Elsewhere::new(edited);
    let mut found: Vec<Suspicion> = Vec::new();
    for (old, new) in &paired.pairs {
        let name = &new.test.name;
        let condition = new.test.conditions.iter().find(|one| !old.test.conditions.contains(one));
        let mut tests = 1;
        let message = if new.test.skipped && !old.test.skipped {
            format!("test `{name}` is now skipped in {}", new.file)
        } else if let Some(how) = strength::weakness(&old.test, &new.test) {
            tests = 0;
            format!("test `{name}` {how} in {}", new.file)
        } else if let Some(condition) = condition {
            let condition = flyball_core::text::head(condition, 80);
            format!(
                "test `{name}` is now only there under a condition, `{condition}`, in {}",
                new.file
            )
        } else if let Some(how) = rest.fewer(&old.test, &new.test) {
            tests = 0;
            format!("test `{name}` {how} in {}", new.file)
        } else {
            continue;
        };
        let mut suspicion =
            Suspicion::of_test(old, name, message, Side::Now, tests).at(&new.file, new.test.line);
        suspicion.found.now = blake3::hash(new.test.whole.as_bytes()).to_hex().to_string();
        if !new.test.skipped && tests == 1 {
            suspicion.soften();
        }
        if new.file != old.file {
            suspicion.found.restore.clear();
        }
        found.push(suspicion);
    }
    found.extend(expected::taken_in(&before, &after, &paired));
    found.extend(deletions(edited, &before, &paired.gone));
    found.extend(edited.iter().filter_map(|edit| {
        let name = subject::overwritten(&before, edit)?;
        let message = format!("test `{name}` is overwritten by another one in {}", edit.path);
        Some(Suspicion::of_file(&edit.path, &name, message))
    }));
    found
}

fn placed(file: &Edited, text: Option<&str>) -> Vec<Placed> {
    let language =
        Language::of(&file.path).filter(|language| may_hold_tests(*language, &file.path));
    let tests = language.zip(text).map(|(language, text)| tests_of(language, text));
    let condition = tests_of::condition_of_name(&file.path);
    let place = |mut test: tests_of::Test| {
        test.conditions.extend(condition.clone());
        Placed { file: file.path.clone(), test }
    };
    tests.unwrap_or_default().into_iter().map(place).collect()
}

/// One finding per deleted test; one for all of them when the file went with them.
#[expect(clippy::assigning_clones, reason = "clearer so")]
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
            let mut found = Suspicion::of_test(placed, name, message, Side::Before, 1);
            found.found.now = "gone".to_owned();
            if file_gone {
                found.found.restore = vec![Restore::File { path: file.to_owned() }];
            }
            found.at(file, placed.test.line)
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
    let mut found = Suspicion::of_file(file, file, message);
    found.side = Side::Before;
    found.found.subjects.extend(gone.iter().map(|placed| suspicion::test_subject(placed)));
    found.found.tests = u32::try_from(gone.len()).unwrap_or(u32::MAX);
    found
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
    let mut found = Suspicion::of_file(&file.path, "only", message);
    found.found.subjects = vec![format!("only:{}", file.path)];
    Some(found.at(&file.path, line))
}
