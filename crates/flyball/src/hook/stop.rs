//! An agent wants to stop: what the stop ring asks for is done here, and what it says is told. The
//! ring's state lies in the journal. In a session of a run the run itself does this.

mod examine;

use flyball_core::stop::{StopAsked, StopRing, StopRules, StopStep, StopTicket, StopVerdict};

pub(crate) use self::examine::time_of;
use self::examine::{Examined, gate_time};
use super::calls::{self, CallState};
use super::context::{HookContext, stop_key};
use super::{Asked, Heard, HookReport, Reply};
use crate::client::{Output, REFUSAL_MARK, registry};
use crate::error::CliError;
use crate::journal::{HookChange, Journal};

/// What is said to who has the hooks twice.
const TWICE: &str = "flyball's hooks are installed twice: `flyball hooks remove` takes one away";

/// The agent wants to stop: may it?
pub(super) fn stop(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
) -> Result<Reply, CliError> {
    let key = context.key(asked.dialect, heard);
    let ring = read(journal.session_state(&stop_key(&key))?.as_deref());
    let calls = calls_so_far(asked, heard, &key, journal)?;
    let said = heard.said.as_deref().unwrap_or_default();
    let asking = Some(heard.asking.as_str()).filter(|asking| !asking.is_empty());
    let step = ring.ask(rules(asked, context), &StopAsked { said, calls: Some(calls), asking });
    // A project nobody has set up has no gates to be judged by.
    let (true, StopStep::Examine(ticket)) = (context.configured, step) else {
        return calls::note(asked, context, heard, journal);
    };
    let time = context.timeout.saturating_add(gate_time(context));
    asked.pace.allow(context, asked.occasion, time);
    let Some(found) = Examined::look(asked, context, journal, &ring)? else {
        return calls::note(asked, context, heard, journal);
    };
    conclude((asked, context, heard), journal, &ticket, &found)
}

/// A person spoke, or the session began: what is there now is not the doing of the turn that comes. One
/// that cannot be looked at is judged by all that is there, as if nobody had spoken.
pub(super) fn turn_begins(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
) {
    let Some(tree) = context.configured.then(|| examine::code_tree(context).ok()).flatten() else {
        return;
    };
    let key = stop_key(&context.key(asked.dialect, heard));
    let change = |bytes: Option<&[u8]>| {
        let mut ring = read(bytes);
        ring.turn_began(&tree);
        (serde_json::to_vec(&ring).ok(), ())
    };
    journal.with_session(&key, asked.at, change).ok();
}

/// The rules of the policy, and always fewer refusals than the client's own cap.
fn rules(asked: &Asked<'_>, context: &HookContext) -> StopRules {
    let own = registry::output(asked.dialect.name()).map_or(u32::MAX, Output::stop_refusal_cap);
    StopRules::of(&context.policy).at_most(own)
}

/// The stops so far; none when there are none, or none that can be read.
fn read(bytes: Option<&[u8]>) -> StopRing {
    bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

/// The calls of the session; also takes note of how full its context is.
fn calls_so_far(
    asked: &Asked<'_>,
    heard: &Heard,
    key: &str,
    journal: &mut Journal,
) -> Result<u64, CliError> {
    if let Some(permille) = heard.context {
        journal.with_session(key, asked.at, |bytes| {
            let mut state = CallState::read(bytes);
            state.context(permille);
            (state.write(), ())
        })?;
    }
    Ok(CallState::read(journal.session_state(key)?.as_deref()).calls())
}

/// Has the ring decide on what was found, and tells it. Nobody comes in between.
fn conclude(
    (asked, context, heard): (&Asked<'_>, &HookContext, &Heard),
    journal: &mut Journal,
    ticket: &StopTicket,
    found: &Examined,
) -> Result<Reply, CliError> {
    let key = stop_key(&context.key(asked.dialect, heard));
    let step = context.step(&key, asked.at);
    let report = HookReport::new(asked, heard, context);
    let reply = journal.hook_step(&step, |bytes| {
        let mut ring = read(bytes);
        let verdict = found.judge(&mut ring, rules(asked, context), ticket);
        let reply = match &verdict {
            // Another installation of the same hook has given the reasons.
            StopVerdict::Refuse { again: true, summary, .. } => {
                Reply::refuse(format!("{REFUSAL_MARK} {summary} (refused once; {TWICE})"))
            }
            StopVerdict::Refuse { reason, .. } => Reply::refuse(format!("{REFUSAL_MARK} {reason}")),
            StopVerdict::Allow { .. } => Reply::pass(),
        };
        let mut report = report.answered_with(&reply, None);
        if let StopVerdict::Refuse { reason, again: false, .. } = &verdict {
            report = report.stop_refused(reason, heard.said.as_deref());
        }
        let state = serde_json::to_vec(&ring).ok();
        (HookChange { state, report: report.to_json() }, reply)
    })?;
    Ok(reply)
}
