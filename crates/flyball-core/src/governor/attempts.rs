//! What an iteration was for the task ring: the attempt it is recorded as, with what the agent said
//! of it, and attempts at other tasks it touched (C1).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::judging::Judgement;
use super::phase::Closed;
use super::state::RunState;
use super::{StepOutput, remedies};
use crate::claim::Claim;
use crate::effect::Effect;
use crate::event::WorktreeSnapshot;
use crate::id::TaskId;
use crate::task::{Attempt, AttemptReport, AttemptStatus, Standing};

/// C1: what this iteration was for its task, and for finished tasks its commits name.
pub(super) fn record(
    closed: &Closed,
    snapshot: &WorktreeSnapshot,
    judgement: &Judgement,
    state: &mut RunState,
    out: &mut StepOutput,
) {
    let work = work(snapshot, judgement, state);
    let blockers = match &judgement.claim {
        Some(Claim::Blocked { reason }) => [reason.clone()].into(),
        Some(Claim::Decide { .. } | Claim::Complete) | None => BTreeSet::new(),
    };
    let attempt = |task: &TaskId, status: AttemptStatus| Attempt {
        task: task.clone(),
        at: out.at,
        run: state.run.clone(),
        iteration: closed.session.iteration,
        status,
        blockers: BTreeSet::new(),
        work: BTreeSet::new(),
        session: format!("{}/{}", state.run, closed.session.iteration),
    };
    let mut attempts = Vec::new();
    if let Some(task) = &closed.session.task {
        let is_done = state.is_done(task);
        let status = match (&judgement.claim, is_done && state.green() != Some(false)) {
            (Some(Claim::Blocked { .. }), _) => AttemptStatus::Blocked,
            (_, true) => AttemptStatus::Done,
            (_, false) => AttemptStatus::InProgress,
        };
        attempts.push(Attempt { blockers, work, ..attempt(task, status) });
    }
    for task in revisited(closed, snapshot, state) {
        attempts.push(attempt(&task, AttemptStatus::Done));
    }
    for report in closed.session.reports.iter() {
        if let Some(known) = attempts.iter_mut().find(|one| one.task == report.task) {
            known.add(report);
        } else {
            let mut other = attempt(&report.task, reported_status(report, state));
            other.add(report);
            attempts.push(other);
        }
    }
    for attempt in attempts {
        state.last.attempted.insert(attempt.task.clone());
        state.task_ring.record(attempt.clone());
        out.order(Effect::RecordAttempt(attempt));
    }
    leave_tripped(closed, state, out);
}

/// A task whose own guarded loop was ended by a safety guard is out of planning until a human brings
/// it back (D). One that is not of the list stands so, and holds up nothing of this run.
fn leave_tripped(closed: &Closed, state: &mut RunState, out: &mut StepOutput) {
    for report in closed.session.reports.iter().filter(|report| report.tripped) {
        let (task, standing) = (&report.task, Standing::Tripped);
        if state.is_done(task) || state.task_ring.standing(task) == standing {
            continue;
        }
        if state.is_listed(task) {
            let why = report.blockers.iter().next().cloned();
            let why = why.unwrap_or_else(|| String::from("a safety guard ended the work on it"));
            remedies::leave(task, standing, &why, state, out);
        } else {
            state.task_ring.set_standing(task.clone(), standing);
            out.order(Effect::MarkTask { task: task.clone(), standing });
        }
    }
}

/// Where a task stands that the agent worked at beside its own. For a story of the list the list
/// knows better whether it is done.
fn reported_status(report: &AttemptReport, state: &RunState) -> AttemptStatus {
    if !state.is_listed(&report.task) {
        report.status
    } else if state.is_done(&report.task) {
        AttemptStatus::Done
    } else if report.status == AttemptStatus::Done {
        AttemptStatus::InProgress
    } else {
        report.status
    }
}

fn work(snapshot: &WorktreeSnapshot, judgement: &Judgement, state: &RunState) -> BTreeSet<String> {
    let mut work = BTreeSet::new();
    if judgement.progressed {
        work.insert(format!("tree {}", snapshot.progress_tree));
        let commits = snapshot.commits.iter().take(20);
        work.extend(commits.map(|commit| format!("commit {}", commit.hash)));
        let files = snapshot.changed.iter().take(50);
        work.extend(files.map(|file| format!("file {file}")));
    }
    if let (Some(now), Some(before)) = (&state.gates.now, &state.gates.before) {
        let fixed =
            before.failing().difference(&now.failing()).take(50).cloned().collect::<Vec<_>>();
        work.extend(fixed.into_iter().map(|identity| format!("fixed {identity}")));
    }
    work
}

/// Tasks finished before this iteration that a new commit's subject names.
fn revisited(closed: &Closed, snapshot: &WorktreeSnapshot, state: &RunState) -> BTreeSet<TaskId> {
    let names = |subject: &str, id: &str| {
        subject
            .split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)))
            .any(|word| !word.is_empty() && word.trim_matches('.') == id)
    };
    let mut done = state.done();
    done.retain(|id| {
        !closed.newly_done.contains(id)
            && closed.session.task.as_ref() != Some(id)
            && snapshot.commits.iter().any(|commit| names(&commit.subject, id.as_str()))
    });
    done.into_iter().collect()
}
