//! A run that died in another worktree or clone before its work was looked at: what it left is looked
//! at where its work is checked out.

use flyball_core::Millis;

use super::readable;
use crate::error::CliError;
use crate::journal::{Journal, RepositoryKey, TamperBase};
use crate::process;
use crate::worktree::Worktree;

/// How long after its last event a run may still have been alive: agents can be silent for long.
const SILENT_MAX: Millis = Millis::from_secs(3_600);

/// The tree a dead run began on, when something that was committed while it was at work is checked
/// out here. What people committed before or after is trusted.
pub(super) fn find(
    journal: &Journal,
    repository: RepositoryKey,
    worktree: &Worktree,
) -> Result<Option<TamperBase>, CliError> {
    let root = worktree.root();
    for base in journal.unexamined_elsewhere(repository, root)? {
        let Some(head) = base.head.as_deref() else { continue };
        if base.body.taken_over.iter().any(|other| other == root) || !worktree.descends_from(head) {
            continue;
        }
        let Ok(run) = journal.run(&base.run) else { continue };
        let alive = run.pid.is_some_and(|pid| process::still_runs(pid, run.last_at));
        let until = run.last_at.plus(SILENT_MAX);
        if !alive && worktree.committed_between(head, base.at, until) {
            return Ok(readable(worktree, base));
        }
    }
    Ok(None)
}
