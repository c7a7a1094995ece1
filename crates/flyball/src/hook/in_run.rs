//! A hook inside a session of a run: it reads and writes its client's dialect, and the run judges.

use flyball_core::call::{ToolCall, ToolResult};
use flyball_core::door::DoorAnswer;
use flyball_core::guard::Rung;
use flyball_core::text::prefix;
use flyball_core::{CallId, IterationNo, RoundId, RunId, SubAgent};

use super::context::{HookContext, run_key};
use super::spill::{Spilled, spilled};
use super::{Asked, Heard, Occasion, Reply};
use crate::client::{Output, REFUSAL_MARK, changes_files, registry};
use crate::door::{Input, Knock, Visitor};
use crate::error::CliError;

/// Characters of a name or an id that count.
const NAME: usize = 200;

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

/// The call as the ring knows it.
pub(super) fn call(asked: &Asked<'_>, context: &HookContext, heard: &Heard) -> ToolCall {
    let mut rules = context.policy.calls.clone();
    let output = registry::output(asked.dialect.name());
    let own = output.map_or(&[][..], Output::free_text);
    rules.free_text.extend(own.iter().map(|&name| name.to_owned()));
    let call = &heard.call;
    let id = CallId::new(prefix(&call.id, NAME));
    let mut made = ToolCall::new(id, prefix(&call.tool, NAME), &call.args, &rules)
        .by(SubAgent::new(prefix(&call.agent, NAME)))
        .in_round(RoundId::new(prefix(&call.round, NAME)));
    let tools = output.map_or(&[][..], Output::tools);
    made.mutating = call
        .changes_files
        .unwrap_or_else(|| changes_files(tools, &call.tool, || call.args.clone()));
    made
}

/// The result as the ring knows it; none where the client tells none.
pub(super) fn result(heard: &Heard) -> Option<ToolResult> {
    let result = heard.result.as_ref()?;
    let id = CallId::new(prefix(&heard.call.id, NAME));
    let agent = SubAgent::new(prefix(&heard.call.agent, NAME));
    Some(ToolResult::new(id, result.outcome, &result.text).by(agent))
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
