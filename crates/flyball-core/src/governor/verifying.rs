//! Is it done? A claim is not a fact until everything here says so (B1).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::book::Book;
use crate::claim::ClaimReading;
use crate::event::Sight;
use crate::gate::blocking::{BlockingEvent, Refusal};
use crate::id::TaskId;
use crate::outcome::Outcome;
use crate::text;

/// What verifying the end state came to.
pub(super) enum Verification {
    /// It is done.
    Done(Outcome),
    /// It would be, but for weakened tests.
    OnlyTamper,
    /// This is missing, besides red gates.
    Missing(Vec<String>),
}

/// Whether everything was done before the first iteration.
pub(super) fn done_before_it_began(book: &Book) -> bool {
    book.all_done() && book.green() != Some(false) && book.open_tamper().is_empty()
}

/// Checks the end state.
pub(super) fn verify(book: &Book, sight: &Sight, claims: &ClaimReading) -> Verification {
    let mut missing = Vec::new();
    match &book.tasks {
        Some(board) if board.list.stories().is_empty() => {
            missing.push(String::from("the task list has no story, so nothing can be complete"));
        }
        Some(_) => missing.extend(open_stories(book)),
        None if !claims.complete => missing.push(String::from("the agent has not said COMPLETE")),
        None => {}
    }
    missing.extend(uncommitted(book, sight));
    let gates = match (book.green(), &book.tasks) {
        (Some(green), _) => green,
        (None, Some(_)) => true,
        (None, None) => book.policy.iterations.trust_claims,
    };
    if !gates || !missing.is_empty() {
        return Verification::Missing(missing);
    }
    if !book.open_tamper().is_empty() {
        return Verification::OnlyTamper;
    }
    let is_unverified = book.tasks.is_none() && book.gates.is_empty();
    Verification::Done(if is_unverified { Outcome::CompleteUnverified } else { Outcome::Complete })
}

fn open_stories(book: &Book) -> Option<String> {
    let open: Vec<&str> = book.open_stories().into_iter().map(TaskId::as_str).collect();
    if open.is_empty() {
        return None;
    }
    let shown = open.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = open.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = if open.len() == 1 { "1 story is" } else { "stories are" };
    let count = if open.len() == 1 { String::new() } else { format!("{} ", open.len()) };
    Some(format!("{count}{noun} not finished: {shown}{more}"))
}

fn uncommitted(book: &Book, sight: &Sight) -> Option<String> {
    let paths = book.newly_uncommitted(sight);
    if paths.is_empty() {
        return None;
    }
    let shown = paths.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = paths.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{} not committed: {shown}{more}", text::count(paths.len() as u64, "path")))
}

/// Why it is not done, in the form the agent gets.
pub(super) fn blocking_event(book: &Book, missing: &[String]) -> BlockingEvent {
    let mut missing = missing.to_vec();
    for finding in book.open_tamper() {
        missing.push(format!("weakened checks: {}", text::head(&finding.message, 300)));
    }
    let nothing = crate::gate::GateResult::default();
    let now = book.verdict.as_ref().unwrap_or(&nothing);
    let request = book.last_task.as_ref().map_or_else(
        || String::from("the work described in the prompt"),
        |task| book.task_label(task),
    );
    BlockingEvent::new(Refusal {
        request: &request,
        now,
        before: book.verdict_before.as_ref(),
        baseline: &book.before.failing,
        missing: &missing,
    })
}
