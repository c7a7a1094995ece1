//! The numbers of a run, in one row.

use flyball_core::Millis;
use maud::{Markup, html};

use crate::view::{RunView, words};

/// The row of facts; what is not known is not shown.
pub(crate) fn facts(run: &RunView) -> Markup {
    let tally = run.tally;
    let limit = match run.policy.limits.iterations {
        0 => String::new(),
        limit => format!(" of {limit}"),
    };
    let took = words::span(Millis::new(tally.runtime_ms));
    html! {
        dl.facts {
            (fact("agent", &words::line(&run.run.agent, 80), ""))
            (fact("took", &took.to_string(), ""))
            (fact("iterations", &run.iterations_begun().to_string(), &limit))
            @if tally.stories_total > 0 {
                (fact("stories", &tally.stories_complete.to_string(), &format!(" of {}", tally.stories_total)))
            }
            @if let Some((first, last)) = run.failing() {
                (fact("failing checks", &format!("{first} → {last}"), ""))
            }
            @if run.calls() > 0 { (fact("tool calls", &run.calls().to_string(), "")) }
            @if run.guards_spoke() > 0 {
                (fact("guards spoke", &run.guards_spoke().to_string(), if run.guards_spoke() == 1 { " time" } else { " times" }))
            }
            @if tally.tokens > 0 { (fact("tokens", &words::count(tally.tokens), "")) }
            @if tally.cost_micro_usd > 0 {
                (fact("cost", &words::dollars(tally.cost_micro_usd), ""))
                @if let Some(idle) = run.cost_without_progress() {
                    (fact("without progress", &words::dollars(idle), &format!(" {} %", percent(idle, tally.cost_micro_usd))))
                }
            }
            @for one in run.roles.iter().filter(|_| run.roles.len() > 1) {
                (fact(one.role.as_str(), &words::cost_of(one.tokens, one.cost_micro_usd), &format!(" {}, {} tokens", words::line(&one.agent, 40), words::count(one.tokens))))
            }
        }
    }
}

/// A share in whole percent, never above a hundred.
pub(crate) const fn percent(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    let part = if part > whole { whole } else { part };
    part.saturating_mul(100) / whole
}

fn fact(name: &str, value: &str, more: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) @if !more.is_empty() { small { (more) } } } } }
}
