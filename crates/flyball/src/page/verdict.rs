//! How a run stands, first of all: in one word, one line, and what helps now.

use flyball_core::Outcome;
use maud::{Markup, html};

use crate::view::RunView;

/// The class of an outcome's colour.
pub(crate) const fn tone(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        None => "turn",
        Some(Outcome::Complete | Outcome::CompleteUnverified) => "good",
        Some(Outcome::Blocked | Outcome::Decide) => "warn",
        Some(
            Outcome::MaxIterations
            | Outcome::MaxRuntime
            | Outcome::MaxTokens
            | Outcome::MaxCost
            | Outcome::Interrupted
            | Outcome::Terminated,
        ) => "quiet",
        Some(_) => "bad",
    }
}

/// The outcome as a heading.
pub(crate) fn outcome_words(run: &RunView) -> String {
    match run.outcome() {
        Some(outcome) => outcome.as_str().replace('_', " "),
        None => run.phase.map_or_else(|| "not begun".to_owned(), str::to_owned),
    }
}

/// The verdict of a run.
pub(crate) fn verdict(run: &RunView, project: &str) -> Markup {
    let ending = run.run.ending.as_ref();
    html! {
        p.crumb { (project) " / " code { (run.run.run) } }
        h1 class=(tone(run.outcome())) { (outcome_words(run)) }
        @match ending {
            Some(ending) => {
                p.why { (ending.outcome.sentence()) }
                @if !ending.why.is_empty() && ending.why != ending.outcome.sentence() {
                    p.why { (crate::view::words::lines(&ending.why)) }
                }
            }
            None => p.why { "It has not ended; this is how it stood." },
        }
        @if let Some(broken) = &run.broken {
            p.why { "Only a part could be read: " (broken) }
        }
        @if let Some(ending) = ending.filter(|ending| !ending.next_steps.is_empty()) {
            div.next {
                h2 { "What helps now" }
                ol { @for step in &ending.next_steps { li { (crate::view::words::lines(step)) } } }
            }
        }
    }
}
