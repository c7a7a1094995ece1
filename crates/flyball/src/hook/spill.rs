//! The large results of a session that speaks through hooks: one process after the other, the files
//! are known by the session's key.

use flyball_core::guard::Rung;
use flyball_core::policy::CallRules;

use super::{Asked, Reply};
use crate::loopdir::LoopDir;
use crate::spill::{Spill, Spilled};

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

/// Puts a large result's short form into the answer, in place of the result where that is possible.
pub(super) fn with_large(reply: &mut Reply, large: Spilled, asked: &Asked<'_>) {
    let replaces = asked.dialect.replaces();
    let text = match large {
        Spilled::Written(text) => text,
        Spilled::Cut(text) if replaces => text,
        // The agent has the whole of it already.
        Spilled::Cut(_) => return,
    };
    reply.rung = reply.rung.max(Rung::Nudge);
    reply.replaces = replaces;
    reply.message =
        if reply.message.is_empty() { text } else { format!("{text}\n\n{}", reply.message) };
}
