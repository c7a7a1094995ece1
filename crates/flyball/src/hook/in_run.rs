//! A hook inside a session of a run: it reads and writes its client's dialect, and the run judges.

use flyball_core::door::DoorAnswer;
use flyball_core::guard::Rung;
use flyball_core::text::prefix;
use flyball_core::{IterationNo, RunId};

use super::context::{HookContext, run_key};
use super::ring_input::{NAME, call, result};
use super::spill::{spilled, with_large};
use super::{Asked, Heard, Occasion, Reply};
use crate::client::REFUSAL_MARK;
use crate::door::{Input, Knock, Visitor};
use crate::error::CliError;

/// Asks the run.
pub(super) fn ask(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    session: &(RunId, IterationNo),
) -> Result<Reply, CliError> {
    if asked.occasion == Occasion::Began {
        context.loop_dir.sweep_responses(asked.at);
    }
    if asked.occasion == Occasion::Stop {
        let time = context.timeout.saturating_add(context.stop_time);
        asked.pace.allow(context, asked.occasion, time);
    }
    let large = match (&heard.result, asked.occasion) {
        (Some(result), Occasion::After) => {
            let key = run_key(&session.0, session.1);
            spilled(&context.policy.calls, (&context.loop_dir, &key), &result.text)
        }
        _ => None,
    };
    let mut reply = reply(knock(asked, context, heard, session)?);
    if let Some(large) = large {
        with_large(&mut reply, large, asked);
    }
    Ok(reply)
}

/// Tells the run that something could not be judged, if it can be told.
pub(super) fn trouble(
    asked: &Asked<'_>,
    context: &HookContext,
    session: &(RunId, IterationNo),
    why: &str,
) {
    let note = format!("a hook of this session could not judge `{}`: {why}", asked.event);
    let knock = Knock::new(session.clone(), asked.dialect.name(), Input::Trouble { note });
    // The client is answered all the same.
    Visitor::at(&context.private_dir(&session.0)).and_then(|mut door| door.ask(&knock)).ok();
}

fn knock(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    session: &(RunId, IterationNo),
) -> Result<DoorAnswer, CliError> {
    let input = match asked.occasion {
        Occasion::Before | Occasion::After if heard.invalid.is_some() => {
            heard.invalid.clone().map_or(Input::Nothing, Input::Invalid)
        }
        Occasion::Before => Input::Call(call(asked, context, heard)),
        Occasion::After => result(heard).map_or(Input::Nothing, Input::Result),
        Occasion::Stop => Input::Stop { said: heard.said.clone() },
        Occasion::Began | Occasion::Human | Occasion::Ended | Occasion::Other => Input::Nothing,
    };
    let mut knock = Knock::new(session.clone(), asked.dialect.name(), input);
    asked.event.clone_into(&mut knock.event);
    prefix(&heard.session, NAME).clone_into(&mut knock.session);
    knock.hears = asked.dialect.advises(asked.occasion);
    knock.context = heard.context;
    let answer =
        Visitor::at(&context.private_dir(&session.0)).and_then(|mut door| door.ask(&knock));
    answer.map_err(|error| CliError::io(error.to_string()))
}

fn reply(answer: DoorAnswer) -> Reply {
    match answer.rung {
        Rung::Refuse | Rung::Halt => Reply {
            rung: answer.rung,
            message: format!("{REFUSAL_MARK} {}", answer.message),
            replaces: false,
        },
        rung @ (Rung::Pass | Rung::Nudge | Rung::Redirect | Rung::Ask) => {
            Reply { rung, message: answer.message, replaces: false }
        }
    }
}
