//! What earlier runs left open, looked at again: what of it is still there, and how it is undone.

use flyball_core::gate::{TamperFinding, Weight};

use super::gates::plan_of;
use super::{compare, lies_here, place, repository_of};
use crate::error::CliError;
use crate::gate::plan::GatePlan;
use crate::gate::tamper::restore::{self, Force, Origin, Restored};
use crate::gate::tamper::suspicion::Suspicion;
use crate::gate::tamper::watched::Reach;
use crate::gate::tamper::{Context, Edited, Files, TreeFiles, suspicions};
use crate::journal::{Journal, OpenTamper};
use crate::worktree::Worktree;

/// What of these, all found against one tree, is still there. Whatever was done to the same thing
/// since counts as still there.
pub(super) fn still_there(
    worktree: &Worktree,
    tree: &str,
    plan: &GatePlan,
    open: &[&OpenTamper],
) -> Vec<TamperFinding> {
    let Some(first) = open.first() else { return Vec::new() };
    let first_plan = plan_of(&first.base.body);
    let mut found = if worktree.has_tree(&first.base.tree) {
        compare(worktree, (&first.base, tree), &first_plan, plan)
    } else {
        from_kept(worktree, tree, (&first_plan, plan), open)
    };
    found.retain(|one| open.iter().any(|old| old.kept.finding.shares_subject(one)));
    for one in &mut found {
        // It was kept because its tests were red then; that is not asked again.
        if one.weight == Weight::IfRedFirst {
            one.weight = Weight::Firm;
        }
    }
    // What lies where no tree reaches is looked at in its place.
    let placed = open.iter().map(|old| &old.kept.finding);
    found.extend(placed.filter(|one| place::still_stands(worktree, (tree, plan), one)).cloned());
    found
}

/// The same without the tree itself: from what was kept of its files.
fn from_kept(
    worktree: &Worktree,
    tree: &str,
    (first, now): (&GatePlan, &GatePlan),
    open: &[&OpenTamper],
) -> Vec<TamperFinding> {
    let files = KeptFiles { open, now: TreeFiles::new(worktree, tree, tree) };
    let mut edited: Vec<Edited> = Vec::new();
    for file in open.iter().flat_map(|one| &one.kept.before) {
        let after = files.after(&file.path);
        if after != file.text && !edited.iter().any(|edit| edit.path == file.path) {
            edited.push(Edited { path: file.path.clone(), before: file.text.clone(), after });
        }
    }
    let added: Vec<String> =
        edited.iter().filter(|edit| edit.before.is_none()).map(|edit| edit.path.clone()).collect();
    let reach = Reach::of(first, &files);
    let (edited, added, reach, files) = (&edited, &added, &reach, &files);
    let base = open.first().map(|one| one.base.tree.clone()).unwrap_or_default();
    let finish = |Suspicion { mut found, .. }: Suspicion| {
        found.base.clone_from(&base);
        if found.now.is_empty() {
            let path = found.finding.file.as_deref().unwrap_or("");
            let id = files.after(path).and_then(|text| worktree.object_id(text.as_bytes()));
            found.now = id.unwrap_or_else(|| "gone".to_owned());
        }
        found
    };
    suspicions(&Context { edited, files, added, reach, first, now })
        .into_iter()
        .map(finish)
        .collect()
}

struct KeptFiles<'a> {
    open: &'a [&'a OpenTamper],
    now: TreeFiles<'a>,
}

impl Files for KeptFiles<'_> {
    fn before(&self, path: &str) -> Option<String> {
        let mut kept = self.open.iter().flat_map(|one| &one.kept.before);
        match kept.find(|file| file.path == path) {
            Some(file) => file.text.clone(),
            None => self.now.after(path),
        }
    }

    fn after(&self, path: &str) -> Option<String> {
        self.now.after(path)
    }

    fn mentioning(&self, word: &str) -> Vec<String> {
        self.now.mentioning(word)
    }

    fn ending(&self, parts: &str) -> Vec<String> {
        self.now.ending(parts)
    }
}

/// What is open in a worktree, for the commands of people: rows with what is there now.
pub struct OpenHere {
    /// The row.
    pub row: OpenTamper,
    /// What is there now of it; nothing when it is undone.
    pub now: Option<TamperFinding>,
}

/// Looks at what is open here, without a run.
pub fn open_here(
    journal: &mut Journal,
    worktree: &Worktree,
    tree: &str,
    plan: &GatePlan,
) -> Result<Vec<OpenHere>, CliError> {
    let repository = repository_of(journal, worktree)?;
    let open = journal.open_tamper(repository)?.into_iter();
    let open: Vec<OpenTamper> = open.filter(|one| lies_here(worktree, one)).collect();
    let mut here = Vec::with_capacity(open.len());
    for row in open {
        let counted = row.kept.finding.ran_before.is_some();
        let now = if counted {
            Some(row.kept.finding.clone())
        } else {
            still_there(worktree, tree, plan, &[&row]).into_iter().next()
        };
        here.push(OpenHere { row, now });
    }
    Ok(here)
}

/// Brings back what one open finding is about.
pub fn restore_open(
    worktree: &Worktree,
    open: &OpenHere,
    force: Force,
) -> Result<Vec<Restored>, CliError> {
    let Some(now) = &open.now else { return Ok(Vec::new()) };
    let kept = &open.row.kept.before;
    let origin = Origin { worktree, tree: &open.row.base.tree, kept };
    // What was found is compared with what is there; what to bring back is the same.
    let finding = TamperFinding { now: open.row.kept.finding.now.clone(), ..now.clone() };
    restore::restore(&origin, &finding, force)
}
