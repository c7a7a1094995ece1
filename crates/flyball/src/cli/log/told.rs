//! Facts about an agent, each on one line.

use std::collections::BTreeSet;

use flyball_core::AgentFact;
use flyball_core::call::ToolOutcome;
use flyball_core::door::{DoorQuestion, Matter};
use flyball_core::event::{Exit, ExitHow};
use flyball_core::task::AttemptReport;

use super::super::columns::Tint;
use super::story::Detail;
use super::words;

type Told = (&'static str, Tint, String);

/// How much of an agent's own words is shown.
const WORDS_MAX: usize = 300;

/// A fact, when it is worth a line.
pub(super) fn agent(fact: &AgentFact, detail: Detail) -> Option<Told> {
    let told = |word, tint, text: &str| Some((word, tint, words::line(text, WORDS_MAX)));
    match fact {
        AgentFact::CouldNotStart { why } => told("agent", Tint::Bad, why),
        AgentFact::HitLimit { message, .. } => {
            told("limit", Tint::Warn, &format!("usage limit: {message}"))
        }
        AgentFact::LostModel { message } => told("agent", Tint::Warn, message),
        AgentFact::RefusedCredentials { message } => told("agent", Tint::Bad, message),
        AgentFact::StoppedItself { message } => {
            told("agent", Tint::Warn, &format!("stopped itself: {message}"))
        }
        AgentFact::ReportedAttempt(report) => told("reported", Tint::Plain, &reported(report)),
        AgentFact::Asked(question) => match (&question.matter, detail) {
            (Matter::Report(report), _) => told("reported", Tint::Plain, &reported(report)),
            (_, Detail::Everything) => told("asks", Tint::Plain, &asked(question)),
            (_, Detail::WorthReading) => None,
        },
        AgentFact::Exited(exit) => exited(exit, detail),
        AgentFact::Started { .. }
        | AgentFact::CalledTool(_)
        | AgentFact::OnlySpoke { .. }
        | AgentFact::HeardHuman
        | AgentFact::ToolReturned(_)
        | AgentFact::SpokeNonsense(_)
        | AgentFact::Spent(_)
        | AgentFact::Printed { .. }
        | AgentFact::FilledContext { .. }
        | AgentFact::Spoke
        | AgentFact::StopExamined(_)
        | AgentFact::ShowedLife => match detail {
            Detail::WorthReading => None,
            Detail::Everything => busy(fact),
        },
    }
}

/// What was asked or told at the session's door.
fn asked(question: &DoorQuestion) -> String {
    match &question.matter {
        Matter::Call(call) => format!("may {} {} run?", call.tool, call.preview),
        Matter::Result(result) => format!("told a result of {} characters", result.chars),
        Matter::Invalid(failure) => format!("told what was invalid: {}", failure.error),
        Matter::Stop { .. } => "may it stop?".to_owned(),
        Matter::Report(report) => reported(report),
        Matter::Nothing => "a sign of life".to_owned(),
    }
}

/// What an agent said of an attempt.
fn reported(report: &AttemptReport) -> String {
    let mut text = format!("{} is {}", report.task, report.status.as_str());
    let list = |items: &BTreeSet<String>| items.iter().cloned().collect::<Vec<_>>().join("; ");
    if !report.blockers.is_empty() {
        text = format!("{text}, in the way: {}", list(&report.blockers));
    }
    if !report.work.is_empty() {
        text = format!("{text}, done: {}", list(&report.work));
    }
    text
}

/// What an agent does all day.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other facts have a line of their own")]
fn busy(fact: &AgentFact) -> Option<Told> {
    let (word, text) = match fact {
        AgentFact::Started { pid } => {
            let pid = pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
            ("agent", format!("started{pid}"))
        }
        AgentFact::CalledTool(call) => ("call", format!("{} {}", call.tool, call.preview)),
        AgentFact::ToolReturned(result) => {
            let outcome = match result.outcome {
                ToolOutcome::Ok => "ok",
                ToolOutcome::Exit => "non-zero exit",
                ToolOutcome::Tool => "failed",
                ToolOutcome::Refused => "refused",
            };
            ("result", format!("{outcome}, {} characters: {}", result.chars, result.preview))
        }
        AgentFact::SpokeNonsense(failure) => ("invalid", failure.error.clone()),
        AgentFact::Spent(spend) => {
            let tokens = spend.input_tokens.saturating_add(spend.output_tokens);
            let cost = words::money(spend.cost_micro_usd);
            ("spent", format!("{} tokens, {cost}", words::count(tokens)))
        }
        AgentFact::FilledContext { permille } => ("context", format!("{} % full", permille / 10)),
        _ => return None,
    };
    Some((word, Tint::Plain, words::line(&text, WORDS_MAX)))
}

/// How the agent ended, when it ended badly or claimed something.
fn exited(exit: &Exit, detail: Detail) -> Option<Told> {
    let claims = &exit.claims;
    let mut parts = Vec::new();
    if claims.complete {
        parts.push("COMPLETE".to_owned());
    }
    parts.extend(claims.blocked.iter().map(|reason| format!("BLOCKED: {reason}")));
    parts.extend(claims.decide.iter().map(|question| format!("DECIDE: {question}")));
    let how = match exit.how {
        ExitHow::Code(code) => format!("exited with {code}"),
        ExitHow::Signal(signal) => format!("ended by signal {signal}"),
        ExitHow::Lost => "was lost with flyball".to_owned(),
    };
    let silent = parts.is_empty() && exit.how.is_clean() && detail == Detail::WorthReading;
    if silent {
        return None;
    }
    let (word, tint) =
        if parts.is_empty() { ("agent", Tint::Warn) } else { ("claims", Tint::Name) };
    if parts.is_empty() || !exit.how.is_clean() {
        parts.push(how);
    }
    Some((word, tint, words::line(&parts.join("; "), WORDS_MAX)))
}
