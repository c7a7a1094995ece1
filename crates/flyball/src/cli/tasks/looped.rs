//! What is remembered across runs: tasks that went in circles before, blockers that come again and how
//! they went away.

use flyball_core::task::KnownBlocker;
use serde_json::json;

use super::super::{fault, words};
use crate::desk::Task;
use crate::error::CliError;
use crate::journal::Journal;
use crate::view::remembered::{circles, met, ways};

/// How many blockers are shown.
const SHOWN_MAX: usize = 20;
const RECURRING_MAX: usize = 8;
/// How much of a blocker is shown.
const BLOCKER_CHARS: usize = 160;

/// Lines below the table.
pub(super) fn text(tasks: &[Task]) -> String {
    let looped: String = tasks.iter().filter_map(loops_of).collect();
    let known = tasks.iter().flat_map(|task| task.known.iter().map(move |one| (task, one)));
    let known: Vec<String> = known
        .map(|(task, one)| {
            let blocker = words::line(&one.blocker, BLOCKER_CHARS);
            format!("  {}: \"{blocker}\" {}\n", words::line(task.id.as_str(), 40), ways(one))
        })
        .collect();
    let under = |heading: &str, lines: String| {
        if lines.is_empty() { String::new() } else { format!("\n{heading}:\n{lines}") }
    };
    let (circles, elsewhere) = ("Went in circles before", "Blocked by what went away elsewhere");
    format!("{}{}", under(circles, looped), under(elsewhere, known.concat()))
}

fn loops_of(task: &Task) -> Option<String> {
    let circles = circles(&task.loops)?;
    Some(format!("  {}: {circles}\n", words::line(task.id.as_str(), 40)))
}

/// The whole catalogue.
#[expect(clippy::fn_params_excessive_bools, reason = "a flag of the command line")]
pub(super) fn catalogue(journal: &Journal, is_json: bool) -> Result<String, CliError> {
    let known = journal.known_blockers().map_err(fault::journal)?;
    if is_json {
        return Ok(format!("{:#}\n", json!(known)));
    }
    if known.is_empty() {
        return Ok("No task has been blocked so far.\n".to_owned());
    }
    let line = |one: &KnownBlocker| {
        let blocker = words::line(&one.blocker, BLOCKER_CHARS);
        format!("\"{blocker}\"\n  {}\n  {}\n", met(one), ways(one))
    };
    let lines: String = known.iter().take(SHOWN_MAX).map(line).collect();
    let more = known.len().saturating_sub(SHOWN_MAX);
    let more = if more > 0 { format!("and {more} more: --json\n") } else { String::new() };
    Ok(format!("{lines}{more}"))
}

/// Blockers that were met more than once, for `flyball stats`.
pub(in super::super) fn recurring(known: &[KnownBlocker]) -> String {
    let again: Vec<&KnownBlocker> = known.iter().filter(|one| one.times > 1).collect();
    if again.is_empty() {
        return String::new();
    }
    let line = |one: &&KnownBlocker| {
        let blocker = words::line(&one.blocker, BLOCKER_CHARS);
        let way = if one.resolved.is_empty() { "" } else { "; it went away before" };
        format!("  \"{blocker}\": {}{way}\n", met(one))
    };
    let lines: String = again.iter().take(RECURRING_MAX).map(line).collect();
    format!("\nBlockers that come again (`flyball tasks blockers`):\n{lines}")
}
