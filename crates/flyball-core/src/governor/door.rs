//! Questions at the session's door: judged by the session's one ring, answered at once, but for a
//! stop, whose gates may have to run first.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::advice::Advice;
use super::phase::{End, Phase, SessionState};
use super::state::RunState;
use super::{StepOutput, human, iterating, stopping, stops};
use crate::call::{Verdict, texts};
use crate::door::{DoorAnswer, DoorQuestion, Matter};
use crate::effect::Effect;
use crate::guard::Rung;

/// A question at the door of the running session.
pub(super) fn asked(
    mut session: Box<SessionState>,
    question: &DoorQuestion,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    session.door_used = true;
    if let Some(permille) = question.context {
        iterating::note_context(&mut session, permille, state, out);
    }
    let (rules, at) = (&state.policy.calls, out.at);
    let verdict = match &question.matter {
        Matter::Call(call) => {
            session.trouble = None;
            let was_judged = session.calls.has_judged(call);
            let verdict = session.calls.ask(rules, at, call);
            if was_judged {
                return answer_again(session, question, &verdict, out);
            }
            verdict
        }
        Matter::Result(result) => {
            iterating::note_large(result, state, out);
            session.calls.told(rules, at, result)
        }
        Matter::Invalid(failure) => session.calls.invalid(rules, at, failure),
        Matter::Report(report) => {
            session.reports.add(report.clone());
            Verdict::Pass
        }
        Matter::AsksModel | Matter::Nothing => Verdict::Pass,
        Matter::Stop { said, client_cap } => {
            return stops::asked(session, (question.number, said, *client_cap), state, out);
        }
    };
    answer(session, question, verdict, state, out)
}

/// Answers with what the ring says and the advice that can be given now.
fn answer(
    mut session: Box<SessionState>,
    question: &DoorQuestion,
    verdict: Verdict,
    state: &RunState,
    out: &mut StepOutput,
) -> Phase {
    let verdict = match verdict {
        Verdict::Nudge { message, trip } => {
            session.advice.defer(Advice { message, trip });
            Verdict::Pass
        }
        other @ (Verdict::Pass | Verdict::Refuse { .. } | Verdict::Halt { .. }) => other,
    };
    let is_told = question.hears || !verdict.may_run();
    let mut words = if is_told { told(&mut session, out) } else { Vec::new() };
    let nudges = if words.is_empty() { Rung::Pass } else { Rung::Nudge };
    let rung = verdict.rung().max(nudges);
    words.extend(match &verdict {
        Verdict::Halt { message, .. } => Some(texts::ended(message)),
        Verdict::Pass | Verdict::Nudge { .. } | Verdict::Refuse { .. } => {
            verdict.message().map(String::from)
        }
    });
    let said = DoorAnswer {
        rung,
        message: words.join("\n"),
        trip: verdict.trip().cloned(),
        calls: session.calls.status(),
    };
    answer_with(&session, question.number, said, out);
    match verdict {
        Verdict::Pass | Verdict::Nudge { .. } => Phase::Iterating(session),
        Verdict::Refuse { trip, .. } => {
            out.tripped(trip, Rung::Refuse);
            Phase::Iterating(session)
        }
        Verdict::Halt { trip, .. } => {
            out.tripped(trip.clone(), Rung::Halt);
            stopping::begin(session, End::Halted(trip), out, state)
        }
    }
}

/// What reaches the agent with this answer: a human's word first, then advice.
fn told(session: &mut SessionState, out: &mut StepOutput) -> Vec<String> {
    let mut words = human::at_the_door(session, out);
    words.extend(session.advice.give(out));
    words
}

/// The same call was asked about before, or has been shown: the same answer, told once.
fn answer_again(
    mut session: Box<SessionState>,
    question: &DoorQuestion,
    verdict: &Verdict,
    out: &mut StepOutput,
) -> Phase {
    let refused = !verdict.may_run();
    let is_told = question.hears || refused;
    let mut words = if is_told { told(&mut session, out) } else { Vec::new() };
    let nudges = if words.is_empty() { Rung::Pass } else { Rung::Nudge };
    let rung = if refused { verdict.rung() } else { nudges };
    words.extend(verdict.message().filter(|_| refused).map(String::from));
    reply(&session, question.number, rung, words.join("\n"), out);
    Phase::Iterating(session)
}

/// A question of an agent that is being stopped: nothing new begins, and it may go.
pub(super) fn asked_while_stopping(
    session: &mut SessionState,
    question: &DoorQuestion,
    out: &mut StepOutput,
) {
    if matches!(question.matter, Matter::Stop { .. }) {
        return stops::asked_while_stopping(session, question.number, out);
    }
    let (rung, message) = match &question.matter {
        Matter::Call(_) => {
            (Rung::Halt, String::from("flyball is ending this session; this call does not run"))
        }
        Matter::AsksModel => (Rung::Halt, String::from("flyball is ending this session")),
        Matter::Report(report) => {
            session.reports.add(report.clone());
            (Rung::Pass, String::new())
        }
        Matter::Result(_) | Matter::Invalid(_) | Matter::Stop { .. } | Matter::Nothing => {
            (Rung::Pass, String::new())
        }
    };
    reply(session, question.number, rung, message, out);
}

fn reply(session: &SessionState, question: u64, rung: Rung, message: String, out: &mut StepOutput) {
    let answer = DoorAnswer { rung, message, trip: None, calls: session.calls.status() };
    answer_with(session, question, answer, out);
}

fn answer_with(session: &SessionState, question: u64, answer: DoorAnswer, out: &mut StepOutput) {
    out.order(Effect::AnswerDoor { iteration: session.iteration, question, answer });
}
