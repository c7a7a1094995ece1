//! What needs a human, as a card with place, reason, and what can be done.

use maud::{Markup, html};

use super::{act, address, ago, project, ticked};
use crate::desk::{self, Ask, AskKind};
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

/// The same as the heading of the run's own page.
pub(super) const fn heading(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Decide => "Asks you",
        AskKind::Tamper => "Tests were weakened",
        AskKind::Blocked => "Blocked",
        AskKind::Lost => "Lost",
    }
}

/// What it is about. flyball's own question is written for a terminal: here it is its parts.
fn reason(ask: &Ask, text_max: usize) -> Markup {
    if ask.kind != AskKind::Tamper {
        let text = flyball_core::text::head(&words::lines(&ask.text), text_max);
        return html! { p.q { (text) } };
    }
    let text = words::lines(&ask.text);
    let asked = text.trim_start().lines().next().unwrap_or_default();
    let found: Vec<&str> =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("- ")).collect();
    html! {
        p.q { (words::line(asked, 300)) }
        ul.findings {
            @for line in found.iter().take(6) { li { (ticked(&words::line(line, 300))) } }
            @if found.len() > 6 { li.dim { "and " (found.len() - 6) " more" } }
        }
    }
}

/// What can be done, on the page or at the command line.
fn acts(look: Look<'_>, ask: &Ask) -> Markup {
    let run = &ask.run;
    let id = &run.run;
    if !look.may_act() {
        let command = match ask.kind {
            AskKind::Decide => format!("flyball answer --run {id} \"…\""),
            AskKind::Tamper => format!("flyball restore tamper --run {id}"),
            AskKind::Blocked => format!("flyball unblock --run {id}"),
            AskKind::Lost => desk::resume_command(id, &run.root, None),
        };
        return html! { p.type { code { (words::line(&command, 300)) } } };
    }
    match ask.kind {
        AskKind::Decide => act::form(
            look,
            run,
            "answer",
            &html! {
                label.vh for=(format!("text-{id}")) { "Your answer" }
                textarea id=(format!("text-{id}")) name="text" rows="2" required placeholder="Goes into the next briefing" {}
                input type="hidden" name="about" value=(ask.about);
                div.row {
                    button.go name="then" value="resume" { "Answer and resume" }
                    button name="then" value="" { "Answer only" }
                }
            },
        ),
        AskKind::Blocked => act::form(
            look,
            run,
            "unblock",
            &html! {
                input type="hidden" name="about" value=(ask.about);
                div.row {
                    button.go name="then" value="resume" { "Unblock and resume" }
                    button name="then" value="" { "Unblock only" }
                }
            },
        ),
        AskKind::Tamper => html! {
            div.row.last-row { a.btn.go href=(format!("{}/tamper", address(run))) { "See what changed" } }
        },
        AskKind::Lost => act::form(
            look,
            run,
            "resume",
            &html! {
                div.row { button.go { "Resume" } }
            },
        ),
    }
}
