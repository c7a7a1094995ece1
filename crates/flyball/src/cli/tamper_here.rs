//! What is weakened and open where a command was started, for `accept` and `restore`.

use super::place::{self, Place};
use super::{Globals, runs};
use crate::desk::{TamperDesk, Workplace};
use crate::error::CliError;

/// Looks at the worktree the command was started in, or that of a run; only at what that run found
/// when one is named.
pub(super) fn look(globals: &Globals, run: Option<&str>) -> Result<TamperDesk, CliError> {
    let journal = place::open_journal()?;
    let (root, only) = match run {
        Some(asked) => {
            let run = runs::find(&journal, asked)?;
            (run.root, Some(run.run))
        }
        None => (place::repository(globals)?, None),
    };
    let here = match Place::find(globals) {
        Ok(place) if place.root == root => place.workplace(),
        Ok(_) | Err(_) => Workplace::for_restoring(&root)?,
    };
    TamperDesk::look(journal, here, only.as_ref())
}
