//! Facts about an agent, each on one line.

use std::collections::BTreeSet;

use flyball_core::call::{ToolOutcome, ToolResult};
use flyball_core::door::{DoorQuestion, Matter};
use flyball_core::event::{Exit, ExitHow};
use flyball_core::task::AttemptReport;
use flyball_core::{AgentFact, Moment};

use super::super::echo::Heard;
use super::super::line::{Line, Severity, Verb, Weight};
use super::super::words;

/// A fact, when it is worth a line to anybody.
pub(super) fn told(at: Moment, fact: &AgentFact) -> Option<Line> {
    let line = |verb, severity, text: &str| Line::new(at, verb, severity, text);
    let agent = |severity, text: &str| line(Verb::Agent, severity, text);
    let detail =
        |verb, text: String| line(verb, Severity::Plain, &text).for_readers_of(Weight::Detail);
    Some(match fact {
        AgentFact::CouldNotStart { why } => agent(Severity::Bad, why),
        AgentFact::RefusedCredentials { message } => agent(Severity::Bad, message),
        AgentFact::StoppedItself { message } => {
            agent(Severity::Warn, &format!("stopped itself: {message}"))
        }
        // Waiting for it, or going on with another agent, is told with the same words.
        AgentFact::HitLimit { message, .. } => {
            detail(Verb::Agent, format!("usage limit: {message}"))
        }
        AgentFact::LostModel { message } => detail(Verb::Agent, message.clone()),
        AgentFact::ReportedAttempt(report)
        | AgentFact::Asked(DoorQuestion { matter: Matter::Report(report), .. }) => {
            line(Verb::Report, Severity::Plain, &reported(report))
        }
        AgentFact::Asked(question) => detail(Verb::Door, asked(question)),
        AgentFact::Exited(exit) => exited(at, exit),
        AgentFact::Started { pid } => {
            let pid = pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
            detail(Verb::Agent, format!("started{pid}"))
        }
        AgentFact::SpokeNonsense(failure) => detail(Verb::Invalid, failure.error.clone()),
        AgentFact::Chanted(chant) => {
            detail(Verb::Agent, format!("said {} times: {}", chant.times, chant.unit))
        }
        AgentFact::Spent(spend) => {
            let tokens = spend.input_tokens.saturating_add(spend.output_tokens);
            let cost = words::cost_of(tokens, spend.cost_micro_usd);
            detail(Verb::Spend, format!("{} tokens, {cost}", words::count(tokens)))
        }
        AgentFact::FilledContext { permille } => {
            detail(Verb::Context, format!("{} % of the context window is used", permille / 10))
        }
        // Told by the narrator, who knows the repository and what was said before.
        AgentFact::CalledTool(_)
        | AgentFact::ToolReturned(_)
        | AgentFact::OnlySpoke { .. }
        | AgentFact::HeardHuman
        | AgentFact::Printed { .. }
        | AgentFact::Spoke
        | AgentFact::StopExamined(_)
        | AgentFact::ShowedLife => return None,
    })
}

/// A call, in words.
pub(super) fn call(at: Moment, words: &str) -> Line {
    Line::new(at, Verb::Call, Severity::Quiet, words).for_readers_of(Weight::Call)
}

/// A call that a guard is asked about.
pub(super) fn may_run(at: Moment, words: &str) -> Line {
    let text = format!("may it run? {words}");
    Line::new(at, Verb::Door, Severity::Plain, text).for_readers_of(Weight::Detail)
}

/// What a tool answered; not what the client only repeats.
pub(super) fn returned(at: Moment, result: &ToolResult, heard: Heard) -> Line {
    let outcome = outcome_words(result.outcome);
    let text = match heard {
        Heard::New => format!("{outcome}, {} characters: {}", result.chars, result.preview),
        Heard::Repeated | Heard::Again => format!("{outcome}, as it was told"),
    };
    Line::new(at, Verb::Result, Severity::Plain, text).for_readers_of(Weight::Detail)
}

const fn outcome_words(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Ok => "ok",
        ToolOutcome::Exit => "non-zero exit",
        ToolOutcome::Tool => "failed",
        ToolOutcome::Refused => "refused",
    }
}

/// What was asked or told at the session's door.
fn asked(question: &DoorQuestion) -> String {
    match &question.matter {
        Matter::Call(call) => format!("may it run? {}", call.tool),
        Matter::Result(result) => format!("told a result of {} characters", result.chars),
        Matter::Invalid(failure) => format!("told what was invalid: {}", failure.error),
        Matter::Stop { .. } => "may it stop?".to_owned(),
        Matter::Report(report) => reported(report),
        Matter::AsksModel => "may it ask its model again?".to_owned(),
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

/// How the agent ended: what it claimed, or how it ended badly. A clean end without a claim is only
/// for those who look closely.
fn exited(at: Moment, exit: &Exit) -> Line {
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
    let is_clean = exit.how.is_clean();
    if parts.is_empty() {
        let severity = if is_clean { Severity::Plain } else { Severity::Warn };
        let weight = if is_clean { Weight::Detail } else { Weight::Story };
        return Line::new(at, Verb::Agent, severity, how).for_readers_of(weight);
    }
    if !is_clean {
        parts.push(how);
    }
    Line::new(at, Verb::Claim, Severity::Turn, parts.join("; "))
}
