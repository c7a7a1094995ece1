//! What needs a human, as a card with place, reason, and what can be done.

use maud::{Markup, html};

use super::{address, ago, project};
use crate::desk::{Ask, AskKind};
use crate::serve::window::Look;
use crate::view::words;

/// How much of a question is shown in the list and on the run's own page.
pub(super) const SHORT: usize = 600;
pub(super) const LONG: usize = 4_000;

/// The card.
pub(super) fn card(look: Look<'_>, ask: &Ask, text_max: usize) -> Markup {
    let run = &ask.run;
    html! {
        article.ask id=(format!("ask-{}", run.run)) data-live {
            header {
                span.chip.ask { (word(ask.kind)) }
                a.name href=(address(run)) { (project(run)) }
                @if let Some(task) = &run.state.task { span.task { (words::line(task.as_str(), 40)) } }
                span.right.dim { (ago(ask.since, look.now)) }
            }
            (reason(ask, text_max))
            (acts(look, ask))
        }
    }
}

const fn word(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Decide => "asks",
        AskKind::Tamper => "tests weakened",
        AskKind::Blocked => "blocked",
        AskKind::Lost => "lost",
    }
}

/// What it is about. flyball's own question is written for a terminal: here it is its parts.
fn reason(ask: &Ask, text_max: usize) -> Markup {
    if ask.kind != AskKind::Tamper {
        let text = flyball_core::text::head(&words::lines(&ask.text), text_max);
        return html! { p.q { (text) } };
    }
    let text = words::lines(&ask.text);
    let found: Vec<&str> =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("- ")).collect();
    html! {
        p.q { "The work verifies only with weakened tests or gates. Are these changes meant?" }
        ul.findings {
            @for line in found.iter().take(6) { li { (words::line(line, 300)) } }
            @if found.len() > 6 { li.dim { "and " (found.len() - 6) " more" } }
        }
    }
}

/// What can be done, on the page or at the command line.
fn acts(look: Look<'_>, ask: &Ask) -> Markup {
    let run = &ask.run.run;
    let command = match ask.kind {
        AskKind::Decide => format!("flyball answer --run {run} \"…\""),
        AskKind::Tamper => format!("flyball restore tamper --run {run}"),
        AskKind::Blocked => format!("flyball unblock --run {run}"),
        AskKind::Lost => format!("flyball run --resume {run}"),
    };
    html! { p.type { code { (command) } } @if look.may_act() { "" } }
}
