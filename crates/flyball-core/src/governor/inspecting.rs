//! The agent is gone and the worktree was seen: undo what was illegal, then run the gates.

use alloc::boxed::Box;
use alloc::string::String;

use super::book::Book;
use super::phase::{Closed, End, Phase, Trouble};
use super::{Turn, finish, judging, planning, waiting};
use crate::effect::{Effect, Notice, Rung};
use crate::event::{ExitHow, Sight};
use crate::guard::{GuardKind, Trip};
use crate::outcome::Outcome;
use crate::tasklist::{Transition, check_transition};

/// The worktree as the agent left it.
pub(super) fn seen(
    mut closed: Box<Closed>,
    sight: &Sight,
    book: &mut Book,
    turn: &mut Turn,
) -> Phase {
    let mut sight = sight.clone();
    if let Some(phase) = exempt(&closed, &sight, book, turn) {
        return phase;
    }
    book.waits.over();
    let carried = core::mem::take(&mut book.carried);
    sight.commits.splice(0..0, carried.commits);
    sight.changed.extend(carried.changed);
    closed.session.reports.begin_with(carried.reports);
    sight.changed.sort();
    sight.changed.dedup();
    check_tasks(&mut closed, &sight, book, turn);
    answer_was_given(&closed, book, turn);
    let tree = sight.code_tree.clone();
    book.code_tree.clone_from(&tree);
    let iteration = closed.session.iteration;
    let is_known = book.verdict.as_ref().is_some_and(|verdict| verdict.tree == tree);
    closed.sight = Some(sight);
    match &closed.end {
        End::Human(_) => return judging::cut(&closed, book, turn),
        // The budget is used up: the gates are worth their time only for a finished work.
        End::Spent(_) if !may_be_complete(&closed, book) => {
            return judging::cut(&closed, book, turn);
        }
        End::Spent(_) | End::Own | End::Halted(_) | End::Troubled => {}
    }
    if book.gates.is_empty() || is_known {
        // Nothing changed since the gates' last word, so nothing got better or worse either.
        book.verdict_before.clone_from(&book.verdict);
        return judging::judge(&closed, book, turn);
    }
    turn.order(Effect::RunGates { iteration, tree });
    Phase::Gating(closed)
}

/// B3, B13: what is not an iteration at all. The agent could not work, or may not.
fn exempt(closed: &Closed, sight: &Sight, book: &mut Book, turn: &mut Turn) -> Option<Phase> {
    if let End::Human(_) | End::Spent(_) | End::Halted(_) = closed.end {
        return None;
    }
    let iteration = closed.session.iteration;
    let (resets_at, message) = match closed.session.trouble.clone()? {
        Trouble::Limit { resets_at, message } => (resets_at, message),
        Trouble::Unreachable { message } => (None, message),
        Trouble::Refused { message } => {
            return Some(finish::end(Outcome::AgentRefused, message, book, turn));
        }
        Trouble::OwnGuard { .. } => return None,
    };
    book.carried.commits.extend(sight.commits.iter().cloned());
    book.carried.changed.extend(sight.changed.iter().cloned());
    book.carried.reports.extend(&closed.session.reports);
    book.briefing.again();
    if let Some(answer) = &mut book.answer {
        answer.given_to = None;
    }
    Some(
        other_agent(&message, book, turn)
            .unwrap_or_else(|| waiting::begin(iteration, resets_at, message, book, turn)),
    )
}

fn may_be_complete(closed: &Closed, book: &Book) -> bool {
    closed.exit.claims.complete || book.all_done()
}

/// B13: the next agent goes on at once; after the last one the first has its turn again, later.
fn other_agent(message: &str, book: &mut Book, turn: &mut Turn) -> Option<Phase> {
    if book.agent >= book.fallbacks {
        book.agent = 0;
        return None;
    }
    book.agent = book.agent.saturating_add(1);
    turn.announce(Notice::AgentChanged { agent: book.agent, message: String::from(message) });
    Some(planning::plan(book, turn))
}

/// B11: an illegal change is undone story by story; the agent's other work stays.
fn check_tasks(closed: &mut Closed, sight: &Sight, book: &mut Book, turn: &mut Turn) {
    let done_before = book.done();
    let review = book.policy.review.clone();
    let Some(board) = &mut book.tasks else { return };
    let given =
        Transition { mode: closed.session.mode, story: closed.session.task.clone(), review };
    let check = check_transition(&board.text, &sight.tasks, &given);
    if let Some(text) = check.text {
        turn.order(Effect::WriteTasks { text: text.clone() });
        board.text = text;
    } else if let crate::event::TasksSight::Found { text } = &sight.tasks {
        board.text.clone_from(text);
    }
    board.list = check.list;
    closed.newly_done = book.done();
    closed.newly_done.retain(|task| !done_before.contains(task));
    if !check.violations.is_empty() {
        let evidence = check.violations.first().cloned().unwrap_or_default();
        let count = check.violations.len() as u64;
        turn.tripped(Trip::new(GuardKind::TaskList, count, 0_u64, evidence), Rung::Refuse);
        turn.announce(Notice::TasksRepaired { violations: check.violations.clone() });
    }
    closed.violations = check.violations;
}

/// B2: the file goes once the iteration that was given the answer has ended. One that flyball did
/// not see to its end is given the answer again.
fn answer_was_given(closed: &Closed, book: &mut Book, turn: &mut Turn) {
    let Some(answer) = &mut book.answer else { return };
    if answer.given_to != Some(closed.session.iteration) {
        return;
    }
    if closed.exit.how == ExitHow::Lost {
        answer.given_to = None;
        return;
    }
    book.answer = None;
    turn.order(Effect::RemoveDecide);
}

/// The path of the session's own words into the next briefing.
pub(super) fn last_words(closed: &Closed) -> Option<String> {
    let words = crate::text::tail(closed.exit.last_words.trim(), 600);
    (!words.is_empty()).then(|| String::from(words))
}
