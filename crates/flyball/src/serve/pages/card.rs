//! A run at work: what it does right now, how its iterations went, what is left of its limits.

use flyball_core::effect::IterationResult;
use flyball_core::{Millis, Moment};
use maud::{Markup, html};

use super::{address, ago, project, span_words};
use crate::journal::RunSummary;
use crate::page::{percent, rung};
use crate::serve::window::{Books, Look, Problem};
use crate::view::{IterationView, RunView, words};

/// How many squares are shown.
const SQUARES_MAX: usize = 30;

/// The card.
pub(super) fn card(look: Look<'_>, books: &mut Books, run: &RunSummary) -> Result<Markup, Problem> {
    let doing = doing(books, run, look.now)?;
    let view = books.views.view(&books.journal, run)?;
    let waits = run.state.phase == "waiting";
    Ok(html! {
        article.card id=(format!("run-{}", run.run)) data-live {
            header {
                span class=(if waits { "chip wait" } else { "chip turn" }) { (if waits { "waits by itself" } else { run.state.phase.as_str() }) }
                a.name href=(address(run)) { (project(run)) }
                span.task { (task(&view)) }
            }
            p.doing {
                span class=(if waits { "still" } else { "pulse" }) {}
                code { (doing) }
                span.dim { (ago(run.last_at, look.now)) }
            }
            (squares(&view))
            (gauges(&view))
            (last_word(&view))
        }
    })
}

/// What is being done.
pub(super) fn doing(books: &mut Books, run: &RunSummary, now: Moment) -> Result<String, Problem> {
    let builder = books.views.builder(&books.journal, run)?;
    let parts = builder.doing(now).unwrap_or_default();
    Ok(parts.first().map_or_else(|| "begins".to_owned(), |first| words::line(first, 200)))
}

/// The task at hand, with its title.
fn task(view: &RunView) -> String {
    let Some(task) = &view.run.state.task else { return String::new() };
    let title = view.stories.iter().find(|story| story.task == *task).map(|story| &story.title);
    match title.filter(|title| title.as_str() != task.as_str()) {
        Some(title) => words::line(&format!("{task} · {title}"), 80),
        None => words::line(task.as_str(), 80),
    }
}

/// One square for each iteration, the newest last.
pub(super) fn squares(view: &RunView) -> Markup {
    let hidden = view.iterations.len().saturating_sub(SQUARES_MAX);
    html! {
        @if !view.iterations.is_empty() {
            ol.strip aria-label="Iterations" {
                @if hidden > 0 { li.more { "+" (hidden) } }
                @for one in view.iterations.iter().skip(hidden) {
                    @let (class, words) = square(one);
                    li class=(format!("s {class}")) title=(format!("{}: {words}", one.iteration)) {
                        span.vh { (one.iteration) ": " (words) }
                    }
                }
            }
        }
    }
}

fn square(one: &IterationView) -> (&'static str, String) {
    let class = match one.result {
        None => "at",
        Some(IterationResult::Passed) => "good",
        Some(IterationResult::Improved) => "better",
        Some(IterationResult::Red) => "red",
        Some(IterationResult::Halted(_) | IterationResult::Died | IterationResult::Lost) => "bad",
        Some(IterationResult::Unchecked | IterationResult::Cut(_)) => "",
    };
    (class, one.result_words().0.replace('_', " "))
}

/// What is used of each limit.
pub(super) fn gauges(view: &RunView) -> Markup {
    let (limits, tally) = (&view.policy.limits, view.tally);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a limit of money")]
    let money = (limits.cost_usd.max(0.0) * 1e6) as u64;
    let of = |limit: u64, words: String| if limit == 0 { "no limit".to_owned() } else { words };
    let runtime = limits.runtime.get();
    let begun = view.iterations_begun();
    // Nobody has told what it costs: that is not the same as nothing.
    let cost = match tally.cost_micro_usd {
        0 => "–".to_owned(),
        cost => words::dollars(cost),
    };
    html! {
        div.gauges {
            (gauge("iteration", &begun.to_string(), &of(limits.iterations.into(), format!("of {}", limits.iterations)), (begun.into(), limits.iterations.into())))
            (gauge("time", &span_words(Millis::new(tally.runtime_ms)), &of(runtime, format!("of {}", span_words(limits.runtime))), (tally.runtime_ms, runtime)))
            (gauge("cost", &cost, &of(money, format!("of {}", words::dollars(money))), (tally.cost_micro_usd, money)))
            (gauge("without progress", &view.run.state.stuck.to_string(), &of(limits.stuck.into(), format!("of {}", limits.stuck)), (view.run.state.stuck.into(), limits.stuck.into())))
        }
    }
}

fn gauge(name: &str, value: &str, of: &str, (used, limit): (u64, u64)) -> Markup {
    let percent = percent(used, limit);
    let heat = match percent {
        0..60 => "",
        60..85 => " warm",
        _ => " hot",
    };
    html! {
        div class=(format!("gauge{heat}")) {
            span { (name) }
            b { (value) } " " small { (of) }
            i class=(format!("v{}", percent.div_ceil(5).min(20))) {}
        }
    }
}

/// What a guard said last.
fn last_word(view: &RunView) -> Markup {
    let said = view.iterations.iter().rev().find_map(|one| one.guards.last().map(|act| (one, act)));
    html! {
        @if let Some((one, act)) = said {
            p.last {
                span class=(format!("rung {}", rung(act.rung))) { (rung(act.rung)) }
                " " b { (act.guard) } " " (words::line(&act.evidence, 160))
                span.dim { " · iteration " (one.iteration) }
            }
        }
    }
}
