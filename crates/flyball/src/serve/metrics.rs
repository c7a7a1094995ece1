//! `/metrics`: the journal in figures, counted when it is asked for, so that counters survive a
//! restart. Labels are few and bounded; a run is one only as long as it has not ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;

use flyball_core::Moment;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::spread::Spreads;
use super::totals::{Figure, Labels};
use super::window::{Books, Problem};
use crate::clock::{self};
use crate::desk::{Ask, AskKind, Life, life};
use crate::journal::RunSummary;
use crate::run_record::model_of;
use crate::stats::{GATE_BOUNDS, ITERATION_BOUNDS, agent, seconds};
use crate::view::words;

/// In which of the two grammars the figures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    /// `OpenMetrics`, for who asks for it, as Prometheus does.
    Open,
    /// The older text of Prometheus, which everybody else reads, and a browser shows.
    Plain,
}

impl Grammar {
    /// The one that is asked for.
    pub(super) fn asked(accept: Option<&str>) -> Self {
        let is_open = accept.is_some_and(|accept| accept.contains("application/openmetrics-text"));
        if is_open { Self::Open } else { Self::Plain }
    }

    /// The kind of text it is.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Open => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

type Amount = Gauge<f64, AtomicU64>;
type Money = Counter<f64, AtomicU64>;

/// All figures, as text.
pub(super) fn text(books: &mut Books, now: Moment, grammar: Grammar) -> Result<String, Problem> {
    let begun = clock::Clock::start();
    let open = books.open_runs()?;
    let mut registry = Registry::default();
    standing(&mut registry, &open, &books.asks()?, now);
    each_run(&mut registry, books, &open)?;
    counters(&mut registry, books)?;
    journal(&mut registry, books)?;
    let took = begun.now().since(now);
    gauge(&mut registry, "flyball_scrape_seconds", "How long it took to count this")
        .get_or_create(&Vec::new())
        .set(seconds(took));
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| Problem::internal(&error.to_string()))?;
    Ok(if grammar == Grammar::Plain { plain(&text) } else { text })
}

/// The same in the older grammar: there a counter is described under the name it is counted under, and
/// nothing says where the text ends.
fn plain(text: &str) -> String {
    let kind = |line: &str| {
        let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
        (kind == "counter").then(|| name.to_owned())
    };
    let counters: BTreeSet<String> = text.lines().filter_map(kind).collect();
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let about = ["# HELP ", "# TYPE "].into_iter().find(|about| line.starts_with(about));
        let Some(about) = about else {
            if !line.starts_with("# ") {
                plain.extend([line, "\n"]);
            }
            continue;
        };
        let (name, rest) =
            line.get(about.len()..).and_then(|of| of.split_once(' ')).unwrap_or_default();
        let total = if counters.contains(name) { "_total " } else { " " };
        plain.extend([about, name, total, rest, "\n"]);
    }
    plain
}

fn gauge(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Amount> {
    let family = Family::<Labels, Amount>::default();
    registry.register(name, help, family.clone());
    family
}

fn counter(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Counter> {
    let family = Family::<Labels, Counter>::default();
    registry.register(name, help, family.clone());
    family
}

fn money(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Money> {
    let family = Family::<Labels, Money>::default();
    registry.register(name, help, family.clone());
    family
}

#[expect(clippy::cast_precision_loss, reason = "figures for curves")]
const fn number(count: u64) -> f64 {
    count as f64
}

fn dollars(micro_usd: u64) -> f64 {
    number(micro_usd) / 1e6
}

fn standing(registry: &mut Registry, runs: &[RunSummary], asks: &[Ask], now: Moment) {
    let build = gauge(registry, "flyball_build_info", "The version that serves");
    build.get_or_create(&vec![("version", env!("CARGO_PKG_VERSION").to_owned())]).set(1.0);
    let mut states = BTreeMap::from([("at_work", 0_u64), ("waiting", 0), ("lost", 0)]);
    for run in runs {
        let state = match life(run) {
            Life::Running if run.state.phase == "waiting" => "waiting",
            Life::Running => "at_work",
            Life::Lost => "lost",
            Life::Ended => continue,
        };
        *states.entry(state).or_default() += 1;
    }
    let family = gauge(registry, "flyball_runs", "Runs that have not ended, by how they stand");
    for (state, count) in states {
        family.get_or_create(&vec![("state", state.to_owned())]).set(number(count));
    }
    let family = gauge(registry, "flyball_asks", "What needs a human, by what it is");
    for kind in AskKind::ALL {
        let count = asks.iter().filter(|ask| ask.kind == kind).count();
        let labels = vec![("kind", kind.as_str().to_owned())];
        family.get_or_create(&labels).set(number(count as u64));
    }
    let oldest = asks.first().map_or(0.0, |ask| seconds(now.since(ask.since)));
    gauge(registry, "flyball_ask_oldest_seconds", "How long the oldest of them has waited")
        .get_or_create(&Vec::new())
        .set(oldest);
}

/// Figures of runs that have not ended.
fn each_run(
    registry: &mut Registry,
    books: &mut Books,
    runs: &[RunSummary],
) -> Result<(), Problem> {
    let info = gauge(registry, "flyball_run_info", "A run that has not ended");
    let iteration = gauge(registry, "flyball_run_iteration", "Its iteration");
    let failing = gauge(registry, "flyball_run_failing_checks", "Checks that fail in it");
    let cost = gauge(registry, "flyball_run_cost_usd", "What it has cost");
    let stuck = gauge(registry, "flyball_run_stuck", "Its iterations without progress in a row");
    let last =
        gauge(registry, "flyball_run_last_event_timestamp_seconds", "When its last event came");
    for run in runs.iter().take(50) {
        let project = run.root.file_name().unwrap_or(run.root.as_os_str()).to_string_lossy();
        let task = run.state.task.as_ref().map_or("", |task| task.as_str());
        let name = vec![("run", run.run.as_str().to_owned())];
        info.get_or_create(&vec![
            ("run", run.run.as_str().to_owned()),
            ("project", words::line(&project, 60)),
            ("agent", agent(run)),
            ("model", words::line(&model_of(&run.run).unwrap_or_default(), 60)),
            ("task", words::line(task, 60)),
        ])
        .set(1.0);
        iteration.get_or_create(&name).set(f64::from(run.state.iteration.get()));
        cost.get_or_create(&name).set(dollars(run.state.cost_micro_usd));
        stuck.get_or_create(&name).set(f64::from(run.state.stuck));
        last.get_or_create(&name).set(number(run.last_at.as_millis()) / 1e3);
        if let Some((_, now)) = books.views.view(&books.journal, run)?.failing() {
            failing.get_or_create(&name).set(number(now));
        }
    }
    Ok(())
}

/// What all runs add to the counters.
fn counters(registry: &mut Registry, books: &mut Books) -> Result<(), Problem> {
    let ended = counter(registry, "flyball_runs_ended", "Runs that ended, by outcome");
    let iterations = counter(registry, "flyball_iterations", "Iterations that were closed");
    let trips = counter(registry, "flyball_guard_trips", "How often guards spoke");
    let claims = counter(registry, "flyball_claims", "What agents claimed, and what came of it");
    let gates = counter(registry, "flyball_gate_runs", "Words of gates");
    let calls = counter(registry, "flyball_tool_calls", "Calls of tools");
    let tokens = counter(registry, "flyball_tokens", "Tokens used");
    let cost = money(registry, "flyball_cost_usd", "Money used");
    let idle = money(registry, "flyball_cost_without_progress_usd", "Money that moved nothing");
    let stories = counter(registry, "flyball_stories_verified", "Stories of verified runs");
    let (mut took, mut checked) = (Spreads::new(&ITERATION_BOUNDS), Spreads::new(&GATE_BOUNDS));
    for (figure, labels, count) in books.totals.of(&books.journal)? {
        let family = match figure {
            Figure::Ended => &ended,
            Figure::Iterations => &iterations,
            Figure::Trips => &trips,
            Figure::Claims => &claims,
            Figure::Gates => &gates,
            Figure::Calls => &calls,
            Figure::Tokens => &tokens,
            Figure::Stories => &stories,
            Figure::Cost => {
                cost.get_or_create(labels).inc_by(dollars(count));
                continue;
            }
            Figure::Idle => {
                idle.get_or_create(labels).inc_by(dollars(count));
                continue;
            }
            Figure::IterationSpans(part) => {
                took.add(labels, part, count);
                continue;
            }
            Figure::GateSpans(part) => {
                checked.add(labels, part, count);
                continue;
            }
        };
        family.get_or_create(labels).inc_by(count);
    }
    registry.register("flyball_iteration_duration_seconds", "How long iterations took", took);
    registry.register("flyball_gate_duration_seconds", "How long gates took", checked);
    Ok(())
}

fn journal(registry: &mut Registry, books: &Books) -> Result<(), Problem> {
    let bytes = books.journal.path().metadata().map_or(0, |meta| meta.len());
    gauge(registry, "flyball_journal_bytes", "How large the journal's file is")
        .get_or_create(&Vec::new())
        .set(number(bytes));
    counter(registry, "flyball_journal_events", "Events in the journal")
        .get_or_create(&Vec::new())
        .inc_by(books.journal.event_count()?);
    Ok(())
}
