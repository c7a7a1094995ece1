//! What a human says to a run in between, in lines.

use flyball_core::human::{HumanWish, LimitChange, WordWay};
use flyball_core::{IterationNo, Moment};

use super::super::line::{Line, Severity, Speaker, Verb};
use crate::config::duration;

/// What a human wants of the run.
pub(super) fn asked(at: Moment, wish: &HumanWish, iteration: Option<IterationNo>) -> Line {
    let (verb, text) = match wish {
        HumanWish::Tell { text } => (Verb::Tell, text.clone()),
        HumanWish::ChangeLimits { limits } => {
            let words: Vec<String> = limits.iter().map(limit_words).collect();
            (Verb::Limits, words.join(", "))
        }
        HumanWish::StopAfterIteration => (Verb::Stop, "asked to end after this iteration".into()),
    };
    Line::new(at, verb, Severity::Turn, text).of(iteration).said_by(Speaker::Human)
}

/// How a human's word reaches the agent.
pub(super) fn on_its_way(
    at: Moment,
    (text, way): (&str, WordWay),
    iteration: Option<IterationNo>,
) -> Line {
    let (severity, words) = match way {
        WordWay::Steer => (Severity::Turn, "the agent is told what the human says".to_owned()),
        WordWay::Door => {
            (Severity::Turn, "the agent is told what the human says, at its door".to_owned())
        }
        WordWay::Briefing => {
            (Severity::Turn, "the next briefing says what the human said".to_owned())
        }
        WordWay::Forgotten => {
            (Severity::Warn, format!("no agent could be told, and newer words wait: {text}"))
        }
        WordWay::Unheard => {
            (Severity::Warn, format!("the run is over before an agent could be told: {text}"))
        }
    };
    Line::new(at, Verb::Tell, severity, words).of(iteration)
}

/// A limit as it would be written.
fn limit_words(limit: &LimitChange) -> String {
    let span = |name: &str, span| format!("{name} = {}", duration::format(span));
    match *limit {
        LimitChange::Iterations(count) => format!("iterations = {count}"),
        LimitChange::Stuck(count) => format!("stuck = {count}"),
        LimitChange::Runtime(time) => span("runtime", time),
        LimitChange::Tokens(count) => format!("tokens = {count}"),
        LimitChange::CostUsd(money) => format!("cost_usd = {money}"),
        LimitChange::IterationTimeout(time) => span("iteration_timeout", time),
        LimitChange::StallAfter(time) => span("stall_after", time),
        LimitChange::Wait(time) => span("wait", time),
        LimitChange::StopGrace(time) => span("stop_grace", time),
    }
}
