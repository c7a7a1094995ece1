//! What the governor announces, in lines.

use flyball_core::effect::{Notice, Rescue};
use flyball_core::guard::{GuardKind, Rung};
use flyball_core::{IterationNo, Moment};

use super::super::line::{Line, Severity, Verb};
use super::{human, trip_words};
use crate::clock;

/// A notice in lines, of the iteration at hand.
pub(super) fn told(at: Moment, notice: &Notice, iteration: Option<IterationNo>) -> Vec<Line> {
    let warn = |verb, text: &str| Line::new(at, verb, Severity::Warn, text).of(iteration);
    let line = match notice {
        Notice::BeginsRed { gates } => {
            let text = format!("the run begins red: {}", gates.join(", "));
            Line::new(at, Verb::Red, Severity::Bad, text)
        }
        Notice::NothingChecks => {
            let text =
                "no gate is configured or detected: nothing checks this work but its task list";
            Line::new(at, Verb::Note, Severity::Warn, text)
        }
        // A notice of its own says the same and more.
        Notice::Noticed { trip } if is_told_otherwise(trip.guard, Rung::Nudge) => {
            return Vec::new();
        }
        Notice::Noticed { trip } => {
            Line::new(at, Verb::Notice, Severity::Quiet, trip_words(trip)).of(iteration)
        }
        Notice::Tripped { trip, rung } if is_told_otherwise(trip.guard, *rung) => {
            return Vec::new();
        }
        Notice::Tripped { trip, rung } => {
            let Some(verb) = Verb::of_rung(*rung) else { return Vec::new() };
            let severity = if *rung == Rung::Halt { Severity::Bad } else { Severity::Warn };
            Line::new(at, verb, severity, trip_words(trip)).of(iteration)
        }
        // The trip that comes with it has said so.
        Notice::CompletionRefused(_) => return Vec::new(),
        Notice::TasksRepaired { violations } => {
            return violations.iter().map(|violation| warn(Verb::Undo, violation)).collect();
        }
        Notice::Waiting { until, message } => {
            let text = format!("{message}; waiting until {}", clock::told(*until));
            warn(Verb::Wait, &text)
        }
        Notice::AgentChanged { agent, message } => {
            warn(Verb::Switch, &format!("{message}; fallback agent {agent} goes on"))
        }
        Notice::RescueCalled(rescue) => {
            warn(Verb::Rescue, &rescue_words(rescue)).of(rescue.iteration)
        }
        Notice::UsageEstimated { bytes, tokens } => {
            let text =
                format!("the agent told no usage; {bytes} bytes are charged as {tokens} tokens");
            warn(Verb::Note, &text)
        }
        Notice::TaskRevisited { task, why } => {
            warn(Verb::Ask, &format!("{task} is done and is worked on again: {why}"))
        }
        Notice::TaskLeft { task, standing, why } => {
            warn(Verb::Leave, &format!("{task} ({}): {why}", standing.words()))
        }
        Notice::AnswerDelivered => {
            let text = "the agent is given the human's answer";
            Line::new(at, Verb::Answer, Severity::Turn, text).of(iteration)
        }
        Notice::WordOnItsWay { text, way } => human::on_its_way(at, (text, *way), iteration),
        Notice::ContextFilling { percent, .. } => {
            let text = format!("{percent} % of the context window is used");
            Line::new(at, Verb::Context, Severity::Quiet, text).of(iteration)
        }
    };
    vec![line]
}

/// Trips that come with a notice of their own, which says the same and more.
fn is_told_otherwise(guard: GuardKind, rung: Rung) -> bool {
    let has_notice = [GuardKind::ContextFill, GuardKind::TaskList, GuardKind::UsageLimit];
    has_notice.contains(&guard) && rung != Rung::Halt
}

/// Which iteration another agent takes, and before what.
fn rescue_words(rescue: &Rescue) -> String {
    let at = rescue.task.as_ref().map(|task| format!(" at {task}")).unwrap_or_default();
    format!("the rescue agent takes one iteration{at} before {} ends the run", rescue.guard)
}
