//! What a human can do to a run, as forms: they work without a script, and stay in the page with one.

use maud::{Markup, html};

use crate::desk::{Ask, Life, life};
use crate::journal::RunSummary;
use crate::serve::window::Look;
use crate::view::RunView;

/// A form that does something to a run.
pub(super) fn form(look: Look<'_>, run: &RunSummary, act: &str, fields: &Markup) -> Markup {
    html! {
        form method="post" action=(format!("/api/runs/{}/{act}", run.run)) data-act=(act) {
            input type="hidden" name="page" value=(look.token(run.run.as_str()));
            (fields)
            span role="status" {}
        }
    }
}

/// What can be done to a run as it stands; what it asks for stands elsewhere.
pub(super) fn acts(look: Look<'_>, view: &RunView, asked: Option<&Ask>) -> Markup {
    if !look.may_act() {
        return html! {};
    }
    let run = &view.run;
    let success = run.ending.as_ref().is_some_and(|ending| ending.outcome.is_success());
    match life(run) {
        Life::Running => at_work(look, view),
        Life::Ended if !success && asked.is_none() => html! {
            div #acts-of-run .acts data-live {
                (form(look, run, "resume", &html! { button.go { "Resume" } }))
            }
        },
        Life::Ended | Life::Lost => html! {},
    }
}

fn at_work(look: Look<'_>, view: &RunView) -> Markup {
    let (run, limits) = (&view.run, &view.policy.limits);
    html! {
        div #acts-of-run .acts.row data-live {
            (form(look, run, "stop", &html! {
                button.stop name="after_iteration" value="true" { "Stop after this iteration" }
                button.stop { "Stop now" }
            }))
            details #tell-box {
                summary.btn { "Tell the agent…" }
                div.panel { (form(look, run, "tell", &html! {
                    label.vh for="tell-text" { "What the agent should know" }
                    textarea #tell-text name="text" rows="2" required placeholder="At once where it listens, else in the next briefing" {}
                    div.row { button.go { "Tell" } }
                })) }
            }
            details #limits-box {
                summary.btn { "Change limits…" }
                div.panel { (form(look, run, "limits", &html! {
                    p.note { "Empty stays as it is; 0 is no limit." }
                    div.row {
                        (field("iterations", "iterations", &limits.iterations.to_string()))
                        (field("stuck", "without progress", &limits.stuck.to_string()))
                        (field("runtime", "time", &limits.runtime.to_string()))
                        (field("cost_usd", "cost in $", &limits.cost_usd.to_string()))
                    }
                    div.row { button.go { "Change" } }
                })) }
            }
        }
    }
}

fn field(name: &str, label: &str, now: &str) -> Markup {
    html! { label { (label) " " input type="text" name=(name) size="8" placeholder=(now) autocomplete="off"; } }
}
