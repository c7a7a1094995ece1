//! `cargo xtask sim`: many runs of the governor in a closed world, or one by its seed.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use flyball_core::{GuardKind, Outcome};
use flyball_testkit::sim::{Advice, Coverage, Sim, sweep};

use crate::say;

/// So many runs reach every guard and every piece of advice.
const ENOUGH: u64 = 3_000;

/// What was asked for.
struct Order {
    /// The first seed; alone, it is the only one and its story is told.
    seed: Option<u64>,
    runs: Option<u64>,
}

/// Runs the chore.
pub(crate) fn run(words: &[String]) -> Result<()> {
    match order(words)? {
        Order { seed: Some(seed), runs: None } => tell(seed),
        Order { seed, runs } => sweep_from(seed.unwrap_or(0), runs.unwrap_or(10_000)),
    }
}

fn order(words: &[String]) -> Result<Order> {
    let mut order = Order { seed: None, runs: None };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || -> Result<u64> {
            let value = words.next().with_context(|| format!("`{word}` needs a number"))?;
            value.parse().with_context(|| format!("`{value}` is no number for `{word}`"))
        };
        match word.as_str() {
            "--seed" => order.seed = Some(number()?),
            "--runs" => order.runs = Some(number()?),
            other => bail!("`{other}` is not known to `sim`; it takes --seed N and --runs N"),
        }
    }
    Ok(order)
}

/// One run, event by event.
fn tell(seed: u64) -> Result<()> {
    let (report, journal) = Sim::new(seed).run_with_journal();
    for (at, event) in &journal {
        let text = format!("{event:?}");
        say(&format!("{:>14}  {}", at.as_millis(), text.chars().take(200).collect::<String>()));
    }
    say(&format!("{report:#?}"));
    if report.broken.is_empty() {
        return Ok(());
    }
    bail!("seed {seed}: {}", report.broken.join("; "))
}

#[expect(clippy::disallowed_methods, reason = "a chore may look at the clock")]
fn sweep_from(first: u64, runs: u64) -> Result<()> {
    let begun = Instant::now();
    let coverage = sweep(first..first.saturating_add(runs));
    let secs = begun.elapsed().as_secs_f64();
    table(&coverage);
    let Coverage { runs, events, .. } = coverage;
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = runs as f64 / secs.max(0.001);
    say(&format!("{runs} runs, {events} events in {secs:.1} s: {rate:.0} runs/s"));
    let failing = coverage.failing.iter().take(20);
    for (seed, what) in failing {
        say(&format!("FAILED  cargo xtask sim --seed {seed}  {what}"));
    }
    let (silent, unheard) = (coverage.silent_guards(), coverage.unheard_advice());
    if runs >= ENOUGH && !(silent.is_empty() && unheard.is_empty()) {
        bail!(
            "guards that never fired: {silent:?}; advice that never reached an agent: {unheard:?}"
        );
    }
    match coverage.failing.len() {
        0 => Ok(()),
        failed => bail!("{failed} of {runs} runs failed"),
    }
}

fn table(coverage: &Coverage) {
    say("runs in which each guard fired");
    for guard in GuardKind::ALL {
        let runs = coverage.guards.get(&guard).copied().unwrap_or(0);
        let of_guard = coverage.rungs.iter().filter(|((it, _), _)| *it == guard);
        let rungs: Vec<String> =
            of_guard.map(|((_, rung), runs)| format!("{rung:?} {runs}")).collect();
        say(&format!("  {:<24}{runs:>7}  {}", guard.as_str(), rungs.join(", ")));
    }
    say("runs in which each piece of advice reached the agent");
    for (advice, _) in Advice::ALL {
        let ways = coverage.advice.iter().filter(|((it, _), _)| *it == advice);
        let ways: Vec<String> = ways.map(|((_, way), runs)| format!("{way:?} {runs}")).collect();
        say(&format!("  {:<24}{}", format!("{advice:?}"), ways.join(", ")));
    }
    let loops = coverage.loops.iter().map(|(guard, runs)| format!("{guard} {runs}"));
    say(&format!(
        "runs in which an agent builder's loop was ended by: {}",
        loops.collect::<Vec<_>>().join(", ")
    ));
    say("runs that ended in each outcome");
    for outcome in Outcome::ALL {
        let runs = coverage.outcomes.get(&outcome).copied().unwrap_or(0);
        say(&format!("  {:<24}{runs:>7}", outcome.as_str()));
    }
}
