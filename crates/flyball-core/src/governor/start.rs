//! How a run begins, and how it goes on after a death.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::book::{Answer, Before, Book, Carried, TamperWatch, TaskBoard};
use super::briefing::Briefing;
use super::phase::{Closed, End, Phase, Session};
use super::waiting::WaitMeter;
use super::{Turn, finish, planning, verifying};
use crate::claim::ClaimReading;
use crate::effect::{Effect, Notice};
use crate::event::{Desk, Exit, ExitHow, Resume, RunStart, TasksSight};
use crate::gate::{Finding, GateResult};
use crate::id::IterationNo;
use crate::iteration::{IterationRing, StuckMeter};
use crate::outcome::Outcome;
use crate::task::TaskRing;
use crate::tasklist::{TaskList, TaskListError};

/// Why a run cannot begin at all. The shell asks before it starts one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartProblem {
    /// The task list is bad data.
    #[error("the task list cannot be used")]
    BadTasks(#[from] TaskListError),
    /// The file is there and cannot be read.
    #[error("the task list cannot be read: {0}")]
    UnreadableTasks(String),
    /// Nothing could ever show that the work is done.
    #[error("there is neither a task list nor a gate, so nothing could ever verify the work")]
    NothingToVerify,
}

/// What keeps a run from beginning, if anything does.
pub fn start_problem(start: &RunStart) -> Option<StartProblem> {
    match read_tasks(&start.sight.tasks) {
        Err(problem) => Some(problem),
        Ok(None) if start.gates.is_empty() && !start.policy.iterations.trust_claims => {
            Some(StartProblem::NothingToVerify)
        }
        Ok(_) => None,
    }
}

fn read_tasks(sight: &TasksSight) -> Result<Option<TaskBoard>, StartProblem> {
    match sight {
        TasksSight::Absent => Ok(None),
        TasksSight::Unreadable { error } => Err(StartProblem::UnreadableTasks(error.clone())),
        TasksSight::Found { text } => {
            let list = TaskList::parse(text)?;
            Ok(Some(TaskBoard { text: text.clone(), list }))
        }
    }
}

/// The first step of a run.
pub(super) fn begin(start: &RunStart, turn: &mut Turn) -> (Book, Phase) {
    let mut book = open_book(start, turn);
    if let Some(problem) = start_problem(start) {
        let why = problem.to_string();
        let phase = finish::end(Outcome::Fault, why, &mut book, turn);
        return (book, phase);
    }
    let phase = match waiting_human(&start.desk, &mut book, turn) {
        Some(phase) => phase,
        None => first_look(&mut book, turn),
    };
    (book, phase)
}

fn open_book(start: &RunStart, turn: &Turn) -> Book {
    let RunStart { run, policy, gates, sight, desk, memory, agent, fallbacks } = start;
    Book {
        run: run.clone(),
        policy: policy.clone(),
        traits: *agent,
        gates: gates.clone(),
        fallbacks: *fallbacks,
        agent: 0,
        tasks: read_tasks(&sight.tasks).ok().flatten(),
        before: Before {
            uncommitted: sight.uncommitted.iter().cloned().collect(),
            ..Before::default()
        },
        head: sight.head.clone(),
        code_tree: sight.code_tree.clone(),
        verdict: None,
        verdict_before: None,
        tamper: TamperWatch {
            accepted: desk.accepted_tamper.iter().cloned().collect(),
            ..TamperWatch::default()
        },
        ring: IterationRing::default(),
        task_ring: TaskRing::new(memory.clone()),
        stuck: StuckMeter::new(sight.progress_tree.clone()),
        waits: WaitMeter::default(),
        briefing: Briefing::default(),
        answer: answer(desk),
        held: Vec::new(),
        left: Vec::new(),
        last_task: None,
        refused_task: None,
        malformed_claims: 0,
        attempted: alloc::collections::BTreeSet::new(),
        carried: Carried::default(),
        entries: 0,
        mark: turn.at,
    }
}

fn answer(desk: &Desk) -> Option<Answer> {
    let text = desk.answer.clone()?;
    let question = desk.question.clone().unwrap_or_default();
    Some(Answer { question, text, given_to: None })
}

/// B2: what a human has not yet dealt with ends the run at once.
fn waiting_human(desk: &Desk, book: &mut Book, turn: &mut Turn) -> Option<Phase> {
    if let Some(reason) = &desk.blocked {
        let why = alloc::format!(
            "Still blocked: {reason}\nRemove what blocks it, then `flyball unblock` (or delete \
             blocked.txt) and run again."
        );
        return Some(finish::end(Outcome::Blocked, why, book, turn));
    }
    let question = desk.question.as_ref().filter(|_| desk.answer.is_none())?;
    let why = alloc::format!(
        "Still waiting for an answer to: {question}\nGive it with `flyball answer \"…\"` (or write \
         it below the line in decide.txt) and run again."
    );
    Some(finish::end(Outcome::Decide, why, book, turn))
}

fn first_look(book: &mut Book, turn: &mut Turn) -> Phase {
    if book.gates.is_empty() {
        turn.announce(Notice::NothingChecks);
        if verifying::done_before_it_began(book) {
            return finish::complete_before_it_began(book, turn);
        }
        return planning::plan(book, turn);
    }
    order_baseline(book, turn);
    Phase::Baselining
}

fn order_baseline(book: &Book, turn: &mut Turn) {
    let (iteration, tree) = (IterationNo::BASELINE, book.code_tree.clone());
    turn.order(Effect::RunGates { iteration, tree });
}

/// The gates have said how things stood before the run.
pub(super) fn baseline(
    result: &GateResult,
    tamper: &[Finding],
    book: &mut Book,
    turn: &mut Turn,
) -> Phase {
    book.take_verdict(result, tamper);
    book.before.failing = result.failing();
    book.before.failures = result.failure_count();
    let meters = book.ring.meters;
    book.ring = IterationRing::with_baseline(result.score());
    book.ring.meters = meters;
    if !result.is_green() {
        let gates = result.red().map(|check| check.gate.to_string()).collect();
        turn.announce(Notice::BeginsRed { gates });
    }
    if verifying::done_before_it_began(book) {
        return finish::complete_before_it_began(book, turn);
    }
    if book.green() == Some(false) {
        book.briefing.begins_red(result, &book.policy.gates);
    }
    planning::plan(book, turn)
}

/// flyball died and goes on: every phase gives its standing order again.
pub(super) fn resume(phase: Phase, resume: &Resume, book: &mut Book, turn: &mut Turn) -> Phase {
    book.policy = resume.policy.clone();
    book.tamper.accepted.extend(resume.desk.accepted_tamper.iter().cloned());
    let answer = answer(&resume.desk);
    // One that is already on its way is not a second one: the iteration it was given to may still
    // be waiting for its gates.
    if answer.as_ref().is_some_and(|new| !book.answer.as_ref().is_some_and(|old| old.says(new))) {
        book.answer = answer;
    }
    match phase {
        Phase::Baselining => {
            order_baseline(book, turn);
            Phase::Baselining
        }
        Phase::Iterating(session) => lost(*session, turn),
        Phase::Stopping(stop) => lost(stop.session, turn),
        Phase::Inspecting(mut closed) => {
            forget_human(&mut closed);
            let iteration = closed.session.iteration;
            turn.order(Effect::LookAtWorktree { iteration });
            Phase::Inspecting(closed)
        }
        Phase::Gating(mut closed) => {
            forget_human(&mut closed);
            let tree = book.code_tree.clone();
            turn.order(Effect::RunGates { iteration: closed.session.iteration, tree });
            Phase::Gating(closed)
        }
        Phase::Waiting(wait) => {
            let (timer, iteration, at) = (crate::event::Timer::Wait, wait.iteration, wait.until);
            turn.order(Effect::SetTimer { timer, iteration, at });
            turn.announce(Notice::Waiting { until: wait.until, message: wait.message.clone() });
            Phase::Waiting(wait)
        }
        Phase::Finished(finished) => {
            let is_over = finished.ending.outcome.is_success() || !resume.closed;
            if is_over {
                turn.effects.extend(finished.orders.iter().cloned());
                return Phase::Finished(finished);
            }
            // The run had ended and a human wants it to go on: with more budget, or unblocked.
            match waiting_human(&resume.desk, book, turn) {
                Some(phase) => phase,
                None => reopen(book, turn),
            }
        }
    }
}

/// A run that was stopped, not one that crashed: the human who asked then asks differently now.
/// The agent did not die of itself either, so its iteration is lost rather than failed.
fn forget_human(closed: &mut Closed) {
    if matches!(closed.end, End::Human(_)) {
        closed.end = End::Own;
        closed.exit.how = ExitHow::Lost;
    }
}

fn reopen(book: &mut Book, turn: &mut Turn) -> Phase {
    book.task_ring.bring_back();
    book.held.clear();
    book.left.clear();
    book.stuck.progressed();
    book.waits.over();
    planning::plan(book, turn)
}

fn lost(session: Session, turn: &mut Turn) -> Phase {
    let iteration = session.iteration;
    turn.order(Effect::LookAtWorktree { iteration });
    let exit =
        Exit { how: ExitHow::Lost, claims: ClaimReading::default(), last_words: String::new() };
    Phase::Inspecting(Box::new(Closed {
        session,
        end: End::Own,
        exit,
        ended: turn.at,
        sight: None,
        violations: Vec::new(),
        newly_done: Vec::new(),
    }))
}
