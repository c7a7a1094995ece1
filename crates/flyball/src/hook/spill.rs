//! The large results of a session that speaks through hooks: one process after the other, the files
//! are known by the session's key.

use flyball_core::policy::CallRules;

use crate::loopdir::LoopDir;
use crate::spill::Spill;
pub(super) use crate::spill::Spilled;

/// What the agent is told about a result that is too large; none when it is not.
pub(super) fn spilled(
    rules: &CallRules,
    (loop_dir, key): (&LoopDir, &str),
    result: &str,
) -> Option<Spilled> {
    Spill::in_folder(&loop_dir.file("responses"), key).large(rules, result)
}

/// Removes what a session has left.
pub(crate) fn remove_spilled(loop_dir: &LoopDir, key: &str) {
    Spill::in_folder(&loop_dir.file("responses"), key).clear();
}
