//! Blockers that were met before, in whatever project, and what was done when they were gone (C1).
//! For people, and for the briefing of a task that meets one of them again.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{AppliedRemedy, Attempt, AttemptStatus, Remedy};
use crate::id::TaskId;
use crate::moment::Moment;
use crate::text;

/// How many blockers are known, the latest ones.
const KNOWN_MAX: usize = 200;
/// How many ways out of each are kept, the latest ones.
const RESOLVED_MAX: usize = 5;
/// How many files of each are named.
const FILES_MAX: usize = 6;
/// How much of a blocker is kept.
const WORDS_MAX: usize = 300;
/// How many known blockers one briefing names.
const TOLD_MAX: usize = 2;

/// How a blocker went away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// In which project.
    pub project: String,
    /// At which task.
    pub task: TaskId,
    /// When.
    pub at: Moment,
    /// Attempts that had met it there before.
    pub attempts: u32,
    /// What flyball had done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// Whether the task was done with it.
    pub done: bool,
    /// Files that were changed in the attempt that got past it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// A blocker that was met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownBlocker {
    /// In the words of who met it first.
    pub blocker: String,
    /// How often.
    pub times: u64,
    /// In which projects.
    pub projects: BTreeSet<String>,
    /// When last.
    pub last: Moment,
    /// How it went away, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<Resolution>,
}

/// What was met and what resolved it, from attempts of all projects, oldest first. What was met most
/// often comes first.
pub fn catalogue(
    attempts: &[(String, Attempt)],
    remedies: &[(String, AppliedRemedy)],
) -> Vec<KnownBlocker> {
    let mut known: Vec<KnownBlocker> = Vec::new();
    // What each task is blocked by: the blocker's words, and how many attempts met it.
    let mut open: BTreeMap<(&str, &TaskId), BTreeMap<String, u32>> = BTreeMap::new();
    for (project, attempt) in attempts {
        let key = (project.as_str(), &attempt.task);
        if attempt.status == AttemptStatus::Blocked {
            for blocker in attempt.blockers.iter().filter(|blocker| !blocker.trim().is_empty()) {
                let words = meet(&mut known, project, blocker, attempt.at);
                let count = open.entry(key).or_default().entry(words).or_default();
                *count = count.saturating_add(1);
            }
            continue;
        }
        let is_past = attempt.status == AttemptStatus::Done || !attempt.work.is_empty();
        let Some(blockers) = open.remove(&key).filter(|_| is_past) else { continue };
        for (words, attempts) in blockers {
            let remedy = remedies.iter().rfind(|(root, one)| {
                root == project && one.task == attempt.task && one.at <= attempt.at
            });
            let way = resolution(project, attempt, attempts, remedy.map(|(_, one)| one.remedy));
            if let Some(one) = known.iter_mut().find(|one| one.blocker == words) {
                one.resolved.push(way);
                let most = one.resolved.len().saturating_sub(RESOLVED_MAX);
                one.resolved.drain(..most);
            }
        }
    }
    known.sort_by(|one, other| other.times.cmp(&one.times).then(other.last.cmp(&one.last)));
    known
}

/// Counts a blocker; the words it is known by.
fn meet(known: &mut Vec<KnownBlocker>, project: &str, blocker: &str, at: Moment) -> String {
    if let Some(one) = known.iter_mut().find(|one| is_alike(&one.blocker, blocker)) {
        one.times = one.times.saturating_add(1);
        one.projects.insert(project.to_owned());
        one.last = at;
        return one.blocker.clone();
    }
    if known.len() >= KNOWN_MAX
        && let Some(oldest) =
            (0..known.len()).min_by_key(|place| known.get(*place).map(|one| one.last))
    {
        known.swap_remove(oldest);
    }
    let words = text::head(blocker.trim(), WORDS_MAX);
    let (projects, resolved) = (BTreeSet::from([project.to_owned()]), Vec::new());
    known.push(KnownBlocker { blocker: words.clone(), times: 1, projects, last: at, resolved });
    words
}

fn resolution(
    project: &str,
    attempt: &Attempt,
    attempts: u32,
    remedy: Option<Remedy>,
) -> Resolution {
    let files = attempt.work.iter().filter_map(|work| work.strip_prefix("file "));
    Resolution {
        project: project.to_owned(),
        task: attempt.task.clone(),
        at: attempt.at,
        attempts,
        remedy,
        done: attempt.status == AttemptStatus::Done,
        files: files.take(FILES_MAX).map(|file| text::head(file, 120)).collect(),
    }
}

/// Whether two texts name the same blocker: the same words, or most of those that say something.
pub fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    if one.is_empty() || other.is_empty() {
        return false;
    }
    let shared = one.intersection(&other).count();
    let all = one.union(&other).count();
    one == other || (shared >= 2 && shared * 5 >= all * 3)
}

/// The words of a text that say something.
fn words(text: &str) -> BTreeSet<String> {
    const FILLING: [&str; 24] = [
        "the", "and", "for", "with", "this", "that", "from", "has", "have", "are", "was", "is",
        "it", "to", "of", "in", "on", "at", "be", "an", "can", "i", "a", "there",
    ];
    text.chars()
        .take(2_000)
        .collect::<String>()
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !FILLING.contains(word))
        .map(String::from)
        .collect()
}

/// What a task that is blocked again is told of the ways out others found; nothing where none is known.
pub(super) fn directive(blockers: &BTreeSet<String>, known: &[KnownBlocker]) -> Option<String> {
    let met = |one: &&KnownBlocker| {
        !one.resolved.is_empty() && blockers.iter().any(|blocker| is_alike(blocker, &one.blocker))
    };
    let lines: Vec<String> = known.iter().filter(met).take(TOLD_MAX).map(told).collect();
    (!lines.is_empty()).then(|| {
        format!(
            "# A Blocker That Was Met Before\n{}\nThis is what was done elsewhere, not an order: see \
             whether it fits here before you say BLOCKED again.",
            lines.join("\n")
        )
    })
}

fn told(one: &KnownBlocker) -> String {
    let ways: Vec<String> =
        one.resolved.iter().rev().take(TOLD_MAX).map(Resolution::words).collect();
    format!("\"{}\" went away before: {}.", text::head(&one.blocker, 200), ways.join("; "))
}

impl Resolution {
    /// In a person's words.
    pub fn words(&self) -> String {
        let place = self.project.rsplit('/').next().unwrap_or(&self.project);
        let met = text::count(self.attempts.into(), "attempt");
        let mut words = format!("at task {} in {place}, after {met}", self.task);
        words.push_str(match self.remedy {
            Some(Remedy::UnblockAuthority) => " and the permission to remove it",
            Some(Remedy::Escalate) => " and a human's help",
            Some(Remedy::Advise | Remedy::ForceNext) | None => "",
        });
        words.push_str(if self.done { ", the task was done" } else { ", the work moved on" });
        if !self.files.is_empty() {
            words.push_str(" by changing ");
            words.push_str(&self.files.join(", "));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{IterationNo, RunId};
    use crate::task::Pattern;

    fn attempt(task: &str, minute: u64, status: AttemptStatus, items: &[&str]) -> Attempt {
        let items: BTreeSet<String> = items.iter().map(|item| (*item).to_owned()).collect();
        let is_blocked = status == AttemptStatus::Blocked;
        Attempt {
            task: TaskId::new(task),
            at: Moment::from_millis(minute * 60_000),
            run: RunId::new("r"),
            iteration: IterationNo::new(1),
            status,
            blockers: if is_blocked { items.clone() } else { BTreeSet::new() },
            work: if is_blocked { BTreeSet::new() } else { items },
            session: String::new(),
        }
    }

    fn of(project: &str, attempt: Attempt) -> (String, Attempt) {
        (project.to_owned(), attempt)
    }

    #[test]
    fn what_says_the_same_is_one_blocker() {
        for (one, other, alike) in [
            ("no database", "No database!", true),
            ("the database is not available", "database not available", true),
            ("port 5432 is in use", "port 5433 is in use", false),
            ("no database", "no network", false),
            ("", "", false),
            (
                "no API key for the payment provider",
                "API key for payment provider is missing",
                true,
            ),
        ] {
            assert_eq!(is_alike(one, other), alike, "{one} / {other}");
            assert_eq!(is_alike(other, one), alike, "{other} / {one}");
        }
    }

    #[test]
    fn a_blocker_is_known_over_projects_with_what_got_past_it() {
        use AttemptStatus::{Blocked, Done, InProgress};
        let attempts = [
            of("/x/shop", attempt("B", 1, Blocked, &["no database"])),
            of("/x/shop", attempt("B", 2, Blocked, &["No database."])),
            of("/x/shop", attempt("B", 3, InProgress, &[])),
            of("/x/bank", attempt("Q", 4, Blocked, &["no database"])),
            of("/x/shop", attempt("B", 5, Blocked, &["no database"])),
            of("/x/bank", attempt("Q", 6, Done, &["file compose.yml", "commit abc"])),
        ];
        let applied = |project: &str, task: &str, remedy: Remedy, minute: u64| {
            let applied = AppliedRemedy {
                task: TaskId::new(task),
                pattern: Pattern::BlockedTaskSpin,
                remedy,
                at: Moment::from_millis(minute * 60_000),
                attempts: 1,
                blockers: BTreeSet::new(),
                times: 1,
            };
            (project.to_owned(), applied)
        };
        // What helped another task, or came when it was past, is not what got past it.
        let remedies = [
            applied("/x/bank", "Q", Remedy::UnblockAuthority, 5),
            applied("/x/bank", "B", Remedy::Escalate, 5),
            applied("/x/shop", "Q", Remedy::Escalate, 5),
            applied("/x/bank", "Q", Remedy::Escalate, 7),
        ];
        let known = catalogue(&attempts, &remedies);
        assert_eq!(known.len(), 1);
        let one = &known[0];
        assert_eq!((one.times, one.projects.len(), one.blocker.as_str()), (4, 2, "no database"));
        // An attempt that did nothing did not get past it.
        assert_eq!(one.resolved.len(), 1);
        assert_eq!(
            one.resolved[0].words(),
            "at task Q in bank, after 1 attempt and the permission to remove it, the task was done by \
             changing compose.yml"
        );
        let told = directive(&["there is no database".to_owned()].into(), &known).unwrap();
        assert!(told.contains("\"no database\" went away before: at task Q in bank"), "{told}");
        assert_eq!(directive(&["no network".to_owned()].into(), &known), None);
        assert_eq!(
            directive(&["no database".to_owned()].into(), &catalogue(&attempts[..3], &[])),
            None
        );
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let many: Vec<(String, Attempt)> = (0..900)
            .map(|n| {
                of("/p", attempt("T", n, AttemptStatus::Blocked, &[&format!("only{n} word{n}")]))
            })
            .collect();
        let known = catalogue(&many, &[]);
        assert_eq!(known.len(), KNOWN_MAX);
        assert!(
            known.iter().all(|one| one.last.as_millis() >= 700 * 60_000),
            "the latest are kept"
        );
    }
}
