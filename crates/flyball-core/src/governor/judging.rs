//! An iteration is over and everything is known: what it came to, and what follows (B9).

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::book::{Book, Held};
use super::phase::{Closed, End, Phase};
use super::verifying::{self, Verification};
use super::{Turn, attempts, finish, planning, remedies};
use crate::claim::Claim;
use crate::effect::{Effect, IterationReport, IterationResult, Notice, Rung};
use crate::event::{Exit, ExitHow, Sight};
use crate::gate::GateResult;
use crate::guard::{GuardKind, Trip};
use crate::iteration::{IterationVerdict, Step, Validation};
use crate::outcome::Outcome;
use crate::policy::{OnBlocked, OnSessionHalt, OnStuck, OnTamper};
use crate::task::Standing;

/// What an iteration came to.
pub(super) struct Judgement {
    verdict: IterationVerdict,
    result: IterationResult,
    pub(super) progressed: bool,
    /// It is over without counting as stuck: dead, halted, lost, or declared by a claim.
    is_exempt: bool,
    pub(super) claim: Option<Claim>,
}

/// Judges a closed iteration and decides what follows.
pub(super) fn judge(closed: &Closed, book: &mut Book, turn: &mut Turn) -> Phase {
    let sight = closed.sight.clone().unwrap_or_default();
    book.ring.meters.iterations = book.ring.meters.iterations.saturating_add(1);
    book.last_task.clone_from(&closed.session.task);
    let judgement = weigh(closed, &sight, book);
    count_malformed_claims(closed, &judgement, book);
    record(closed, &sight, &judgement, book, turn);
    let verification = verifying::verify(book, &sight, &closed.exit.claims);
    let phase = follow(closed, &judgement, verification, book, turn);
    book.head = sight.head;
    phase
}

/// Closes an iteration that a human or a used-up budget cut short, and ends the run.
pub(super) fn cut(closed: &Closed, book: &mut Book, turn: &mut Turn) -> Phase {
    book.ring.meters.iterations = book.ring.meters.iterations.saturating_add(1);
    let sight = closed.sight.clone().unwrap_or_default();
    let outcome = match &closed.end {
        End::Human(crate::event::StopCause::Interrupt) => Outcome::Interrupted,
        End::Human(_) | End::Own | End::Troubled => Outcome::Terminated,
        End::Spent(trip) | End::Halted(trip) => trip.guard.outcome().unwrap_or(Outcome::Fault),
    };
    close_iteration(closed, &sight, IterationResult::Cut(outcome), book, turn);
    book.head = sight.head;
    match &closed.end {
        End::Human(cause) => finish::by_human(*cause, book, turn),
        End::Spent(trip) | End::Halted(trip) => {
            let also = book.ring.may_start(&book.policy).also;
            finish::halt(trip.clone(), also, book, turn)
        }
        End::Own | End::Troubled => finish::end(outcome, String::from("cut short"), book, turn),
    }
}

fn weigh(closed: &Closed, sight: &Sight, book: &mut Book) -> Judgement {
    let green = book.green();
    let is_lost = closed.exit.how == ExitHow::Lost;
    let halted = match &closed.end {
        End::Halted(trip) => trip.guard.outcome(),
        End::Own | End::Spent(_) | End::Troubled | End::Human(_) => None,
    };
    let died = closed.end == End::Own && !is_lost && !closed.exit.how.is_clean();
    let moved = sight.head != book.head;
    let step = if moved { Step::Committed } else { Step::Uncommitted };
    let progressed =
        book.stuck.is_progress(book.policy.iterations.progress, step, &sight.progress_tree);
    let left_good_work = moved && progressed && green != Some(false);
    let improved = green == Some(false) && improved(book);
    let (verdict, result) = if is_lost {
        (IterationVerdict::Unjudged, IterationResult::Lost)
    } else if let Some(outcome) = halted {
        (IterationVerdict::Failed, IterationResult::Halted(outcome))
    } else if died && !left_good_work {
        (IterationVerdict::Failed, IterationResult::Died)
    } else if improved {
        (IterationVerdict::Improved, IterationResult::Improved)
    } else if green == Some(false) {
        (IterationVerdict::Failed, IterationResult::Red)
    } else {
        (IterationVerdict::Passed, IterationResult::Passed)
    };
    let claim = closed.exit.claims.leading(false).filter(|claim| *claim != Claim::Complete);
    let is_exempt = is_lost || halted.is_some() || (died && !moved) || claim.is_some();
    Judgement { verdict, result, progressed, is_exempt, claim }
}

/// B6: red, but no gate turned red and the set of failures shrank.
fn improved(book: &Book) -> bool {
    let (Some(now), Some(before)) = (&book.verdict, &book.verdict_before) else { return false };
    if now.tree == before.tree {
        return false;
    }
    let was = before.statuses();
    let turned_red =
        now.red().any(|check| was.get(check.gate.as_str()).is_some_and(|status| !status.is_red()));
    let (failing, failing_before) = (now.failing(), before.failing());
    let shrank = now.failure_count() < before.failure_count();
    !turned_red && shrank && failing.is_subset(&failing_before)
}

fn record(closed: &Closed, sight: &Sight, judgement: &Judgement, book: &mut Book, turn: &mut Turn) {
    let score = book.verdict.as_ref().and_then(GateResult::score);
    book.ring.record(Validation {
        iteration: closed.session.iteration,
        at: turn.at,
        verdict: judgement.verdict,
        score: score.filter(|_| judgement.verdict != IterationVerdict::Unjudged),
        files: files(sight, book),
        tree: sight.code_tree.clone(),
    });
    if judgement.progressed {
        book.stuck.progressed();
    } else if !judgement.is_exempt {
        book.stuck.idled();
    }
    if judgement.verdict != IterationVerdict::Unjudged {
        attempts::record(closed, sight, judgement, book, turn);
    }
    close_iteration(closed, sight, judgement.result, book, turn);
    book.briefing.after(closed, book.stuck.count(), &book.policy);
}

/// Files named in findings of red gates, and files changed.
fn files(sight: &Sight, book: &Book) -> Vec<String> {
    let mut files: BTreeSet<String> = sight.changed.iter().cloned().collect();
    if let Some(verdict) = &book.verdict {
        for (_, finding) in verdict.failures() {
            files.extend(finding.file.clone());
            let named = crate::iteration::files_in_message(&finding.message);
            files.extend(named.into_iter().map(String::from));
        }
    }
    files.into_iter().collect()
}

fn close_iteration(
    closed: &Closed,
    sight: &Sight,
    result: IterationResult,
    book: &Book,
    turn: &mut Turn,
) {
    let (stories_complete, stories_total) = book.stories();
    let spent = closed.session.spent;
    turn.order(Effect::CloseIteration(IterationReport {
        iteration: closed.session.iteration,
        mode: closed.session.mode,
        task: closed.session.task.clone(),
        started: closed.session.started,
        ended: closed.ended,
        commit: if sight.head == book.head { None } else { sight.head.clone() },
        stories_complete,
        stories_total,
        stuck: book.stuck.count(),
        tokens: spent.input_tokens.saturating_add(spent.output_tokens),
        cost_micro_usd: spent.cost_micro_usd,
        green: book.green(),
        score: book.verdict.as_ref().and_then(GateResult::score),
        result,
    }));
}

/// B9: interrupt (handled before), claims, complete, stuck; then the next iteration's own checks.
fn follow(
    closed: &Closed,
    judgement: &Judgement,
    verification: Verification,
    book: &mut Book,
    turn: &mut Turn,
) -> Phase {
    match verification {
        Verification::Done(outcome) => return finish::complete(outcome, book, turn),
        Verification::OnlyTamper if book.tamper.told && asks(book) => {
            return ask_about_tamper(closed, book, turn);
        }
        Verification::OnlyTamper => refuse(closed, &[], book, turn),
        Verification::Missing(missing) => refuse(closed, &missing, book, turn),
    }
    if let Some(claim) = &judgement.claim
        && let Some(phase) = heed(closed, claim, book, turn)
    {
        return phase;
    }
    if let (OnSessionHalt::Stop, End::Halted(trip)) =
        (book.policy.iterations.on_session_halt, &closed.end)
    {
        let also = book.ring.may_start(&book.policy);
        let also = also.trip.into_iter().chain(also.also).collect();
        return finish::halt(trip.clone(), also, book, turn);
    }
    match malformed_claims(closed, book, turn).or_else(|| stuck(closed, book, turn)) {
        Some(phase) => phase,
        None => planning::plan(book, turn),
    }
}

/// A4: malformed claims are read when a session ends, so their streak is one of iterations. One that
/// was lost says nothing.
fn count_malformed_claims(closed: &Closed, judgement: &Judgement, book: &mut Book) {
    if judgement.verdict == IterationVerdict::Unjudged {
        return;
    }
    let counts = !closed.exit.claims.failures.is_empty() && !judgement.progressed;
    book.malformed_claims = if counts { book.malformed_claims.saturating_add(1) } else { 0 };
}

/// A4: too many iterations in a row with a malformed claim and without progress.
fn malformed_claims(closed: &Closed, book: &mut Book, turn: &mut Turn) -> Option<Phase> {
    let (count, limit) = (book.malformed_claims, book.policy.calls.max_validation_failures);
    let failure = closed.exit.claims.failures.last().filter(|_| count >= limit)?;
    let last = crate::call::texts::validation_evidence(failure);
    let evidence = format!(
        "{count} iterations in a row ended with a malformed claim and without progress, the last \
         one with: {last}"
    );
    let trip = Trip::new(GuardKind::Validation, count, limit, evidence);
    let safety = book.ring.may_start(&book.policy);
    let also = safety.trip.into_iter().chain(safety.also).collect();
    Some(finish::halt(trip, also, book, turn))
}

fn asks(book: &Book) -> bool {
    book.policy.gates.on_tamper == OnTamper::Ask
}

/// A completion that does not verify: counted, announced, and explained in the next briefing. Red
/// gates are explained whether or not completion was claimed.
fn refuse(closed: &Closed, missing: &[String], book: &mut Book, turn: &mut Turn) {
    let claimed = closed.exit.claims.complete;
    let is_same_task = book.refused_task == closed.session.task;
    let turned_green = book.green() == Some(true)
        && book.verdict_before.as_ref().is_some_and(|before| !before.is_green())
        && closed.sight.as_ref().is_some_and(|sight| !sight.changed.is_empty());
    if !is_same_task || !closed.newly_done.is_empty() || turned_green {
        book.ring.completion_streak_ended();
        book.refused_task.clone_from(&closed.session.task);
    }
    let is_red = book.green() == Some(false);
    let has_tamper = !book.open_tamper().is_empty();
    if !claimed && !is_red && !has_tamper {
        return;
    }
    let shown: &[String] = if claimed { missing } else { &[] };
    let event = verifying::blocking_event(book, shown);
    if claimed {
        book.ring.completion_refused();
        let (refusals, limit) = (book.ring.refusals(), book.policy.iterations.gate_refusals);
        let trip = Trip::new(GuardKind::Completion, refusals, limit, event.summary.clone());
        turn.tripped(trip, Rung::Refuse);
        turn.announce(Notice::CompletionRefused(Box::new(event.clone())));
    }
    if has_tamper {
        let evidence = event.missing.last().cloned().unwrap_or_default();
        let count = book.open_tamper().len() as u64;
        turn.tripped(Trip::new(GuardKind::Tamper, count, 0_u64, evidence), Rung::Nudge);
        book.tamper.told = true;
    }
    book.briefing.blocked(&event, &book.policy.gates);
}

fn ask_about_tamper(closed: &Closed, book: &mut Book, turn: &mut Turn) -> Phase {
    let findings = book.open_tamper();
    let count = findings.len() as u64;
    let list: Vec<String> = findings
        .iter()
        .take(10)
        .map(|finding| format!("- {}", crate::text::head(&finding.message, 300)))
        .collect();
    let question = format!(
        "The work verifies only with weakened tests or gates. Are these changes meant?\n{}\n\
         Accept them with `flyball accept tamper`, or answer what shall be done instead.",
        list.join("\n")
    );
    let evidence = list.first().cloned().unwrap_or_default();
    let trip = Trip::new(GuardKind::Tamper, count, 0_u64, evidence);
    let (iteration, task) = (closed.session.iteration, closed.session.task.clone());
    let held = Held { iteration, task, claim: Claim::Decide { question } };
    finish::ask_about_tamper(held, trip, book, turn)
}

/// B2: BLOCKED and DECIDE end the run, or hold while other tasks can be worked on.
fn heed(closed: &Closed, claim: &Claim, book: &mut Book, turn: &mut Turn) -> Option<Phase> {
    let (iteration, task) = (closed.session.iteration, closed.session.task.clone());
    let held = Held { iteration, task: task.clone(), claim: claim.clone() };
    let (OnBlocked::Next, Some(task)) = (book.policy.iterations.on_blocked, task) else {
        return Some(finish::claimed(held, book, turn));
    };
    let (standing, why) = match claim {
        Claim::Blocked { reason } => (Standing::Blocked, reason.clone()),
        Claim::Decide { question } => (Standing::Asked, question.clone()),
        Claim::Complete => return None,
    };
    book.held.retain(|other| other.task.as_ref() != Some(&task));
    book.held.push(held);
    remedies::leave(&task, standing, &why, book, turn);
    None
}

/// B3: too many iterations without progress.
fn stuck(closed: &Closed, book: &mut Book, turn: &mut Turn) -> Option<Phase> {
    let (count, limit) = (book.stuck.count(), book.policy.limits.stuck);
    if count < limit {
        return None;
    }
    let evidence = format!("{count} iterations in a row without progress (limit {limit})");
    let trip = Trip::new(GuardKind::Stuck, count, limit, evidence);
    let is_hopeless = book.stuck.streak() >= limit.saturating_mul(2);
    match (book.policy.iterations.on_stuck, &closed.session.task) {
        (OnStuck::Next, Some(task)) if !is_hopeless => {
            turn.tripped(trip.clone(), Rung::Redirect);
            remedies::leave(task, Standing::SetAside, &trip.evidence, book, turn);
            book.stuck.next_task();
            book.briefing.set_aside(task, count);
            None
        }
        _ => {
            let safety = book.ring.may_start(&book.policy);
            let also = safety.trip.into_iter().chain(safety.also).collect();
            Some(finish::halt(trip, also, book, turn))
        }
    }
}

/// How an exit reads in a sentence.
pub(super) fn exit_words(exit: &Exit) -> String {
    match exit.how {
        ExitHow::Code(code) => format!("it exited with code {code}"),
        ExitHow::Signal(signal) => format!("it was ended by signal {signal}"),
        ExitHow::Lost => String::from("flyball itself was interrupted while it ran"),
    }
}
