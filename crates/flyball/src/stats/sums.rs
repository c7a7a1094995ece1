//! Many runs, summed.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use flyball_core::Millis;
use flyball_core::guard::{GuardKind, Rung};
use serde::Serialize;

use super::doubt::{Doubt, DoubtKind};
use super::figures::RunFigures;
use super::halt::Halt;
use crate::replay::Amount;

/// Within which time another run at the same work counts as the same try.
const SAME_TRY: Millis = Millis::from_secs(24 * 3600);

/// How many other runs must have stood the same way before it is said what was likely.
const LIKELY_MIN: usize = 20;

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Heeded {
    /// How often there was advice.
    pub of: u64,
    /// How often it was followed.
    pub heeded: u64,
}

/// What one guard did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GuardSum {
    /// How often it spoke, by rung.
    pub rungs: BTreeMap<&'static str, u64>,
    /// In how many runs.
    pub runs: u64,
    /// How many runs it ended for good.
    pub halts: u64,
    /// Not spent at least, by those.
    pub at_least: Amount,
    /// Not spent at most, by those whose limits say so.
    pub at_most: Amount,
    /// Not spent as likely as not, by those halts of which enough other runs tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likely: Option<Amount>,
    /// How many halts that is.
    pub likely_of: u64,
    /// Halts of other guards that it would have brought too.
    pub would_too: u64,
    /// Halts of runs that nothing limited: they are in no range.
    pub unlimited: u64,
    /// How often it is doubted.
    pub doubted: u64,
    /// How often it refused, asked or halted.
    pub acted: u64,
}

/// Runs of one agent or one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// How many runs, and how many of them verified.
    pub runs: u64,
    /// How many were verified.
    pub verified: u64,
    /// Their iterations.
    pub iterations: u64,
    /// All they used.
    pub spent: Amount,
    /// What of it passed nothing.
    pub idle: Amount,
    /// Stories that verified runs passed.
    pub stories: u64,
    /// Checks fixed.
    pub fixed: u64,
    /// Checks broken.
    pub broken: u64,
}

impl Share {
    fn add(&mut self, run: &RunFigures) {
        self.runs += 1;
        self.verified += u64::from(run.outcome == Some(flyball_core::Outcome::Complete));
        self.iterations += run.iterations;
        self.spent = self.spent.plus(run.spent);
        self.idle = self.idle.plus(run.idle);
        self.stories += run.stories;
        self.fixed += run.fixed;
        self.broken += run.broken;
    }

    /// Checks fixed less those broken, per iteration, in hundredths; none without iterations.
    pub fn fix_rate(&self) -> Option<i64> {
        self.net().checked_mul(100)?.checked_div(i64::try_from(self.iterations).ok()?)
    }

    /// Checks fixed less those broken, per dollar, in hundredths; none where nothing was paid.
    pub fn fix_rate_per_dollar(&self) -> Option<i64> {
        let paid = i64::try_from(self.spent.micro_usd).ok()?;
        self.net().checked_mul(100_000_000)?.checked_div(paid)
    }

    fn net(&self) -> i64 {
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        count(self.fixed).saturating_sub(count(self.broken))
    }

    /// Money for each verified story; none without any.
    pub const fn per_story(&self) -> Option<u64> {
        self.spent.micro_usd.checked_div(self.stories)
    }
}

/// All of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// All runs together.
    pub all: Share,
    /// How runs ended.
    pub outcomes: BTreeMap<String, u64>,
    /// By agent.
    pub agents: BTreeMap<String, Share>,
    /// By model, where one was named.
    pub models: BTreeMap<String, Share>,
    /// By project.
    pub projects: BTreeMap<PathBuf, Share>,
    /// By guard.
    pub guards: BTreeMap<&'static str, GuardSum>,
    /// Streaks of calls that were advised against, and how many ended there.
    pub calls: Heeded,
    /// Iterations advised or redirected, and how many were followed by progress.
    pub iterations: Heeded,
    /// Claims of completion.
    pub claims: u64,
    /// Those refused.
    pub claims_refused: u64,
    /// Those refused with red gates on that very tree.
    pub false_done: u64,
    /// Doubts, with the runs to look at.
    pub doubts: Vec<Doubt>,
}

/// The sums of runs, given in the order they began.
pub fn sum(runs: &[impl Borrow<RunFigures>]) -> Stats {
    let runs: Vec<&RunFigures> = runs.iter().map(Borrow::borrow).collect();
    let runs = runs.as_slice();
    let mut stats = Stats::default();
    let doubts = doubts(runs);
    for run in runs {
        stats.all.add(run);
        let outcome = run.outcome.map_or("not ended", flyball_core::Outcome::as_str);
        *stats.outcomes.entry(outcome.to_owned()).or_default() += 1;
        stats.agents.entry(run.agent.clone()).or_default().add(run);
        if let Some(model) = &run.model {
            stats.models.entry(model.clone()).or_default().add(run);
        }
        stats.projects.entry(run.root.clone()).or_default().add(run);
        stats.calls.of += run.streaks.0;
        stats.calls.heeded += run.streaks.1;
        stats.iterations.of += run.advised.0;
        stats.iterations.heeded += run.advised.1;
        stats.claims += run.claims.0;
        stats.claims_refused += run.claims.1;
        stats.false_done += run.claims.2;
        guards(&mut stats, run);
        // A run that moved after all when it was taken up unchanged is a doubt, and saved nothing.
        let moved = |doubt: &&Doubt| doubt.run == run.run && doubt.kind == DoubtKind::MovedAfterAll;
        if let Some(halt) = &run.halt
            && doubts.iter().find(moved).is_none_or(|doubt| doubt.guard != halt.guard)
        {
            saved(&mut stats, halt, &further(runs, run, halt));
        }
    }
    for doubt in &doubts {
        stats.guards.entry(doubt.guard.as_str()).or_default().doubted += 1;
    }
    stats.doubts = doubts;
    stats
}

fn guards(stats: &mut Stats, run: &RunFigures) {
    let spoke: BTreeSet<GuardKind> = run.trips.iter().map(|((guard, _), _)| *guard).collect();
    for guard in spoke {
        stats.guards.entry(guard.as_str()).or_default().runs += 1;
    }
    for ((guard, rung), count) in &run.trips {
        let sum = stats.guards.entry(guard.as_str()).or_default();
        *sum.rungs.entry(rung_word(*rung)).or_default() += count;
        if matches!(rung, Rung::Refuse | Rung::Ask | Rung::Halt) {
            sum.acted += count;
        }
    }
}

/// How far the other runs went that stood as this one did when it was halted, and were not.
fn further(runs: &[&RunFigures], halted: &RunFigures, halt: &Halt) -> Vec<u64> {
    let stood = (halt.guard, halt.measured);
    let went_on = |run: &&&RunFigures| {
        let is_halted = |own: &Halt| (own.guard, own.measured) == stood;
        run.run != halted.run
            && run.outcome.is_some()
            && !run.halt.as_deref().is_some_and(is_halted)
    };
    let after = |run: &&RunFigures| {
        let found = run.stood.iter().find(|(own, _)| *own == stood);
        found.map(|(_, after)| *after)
    };
    runs.iter().filter(went_on).filter_map(after).collect()
}

fn saved(stats: &mut Stats, halt: &Halt, further: &[u64]) {
    for guard in &halt.also {
        stats.guards.entry(guard.as_str()).or_default().would_too += 1;
    }
    let sum = stats.guards.entry(halt.guard.as_str()).or_default();
    sum.halts += 1;
    if further.len() >= LIKELY_MIN
        && let Some(likely) = halt.likely(further)
    {
        sum.likely = Some(sum.likely.unwrap_or_default().plus(likely));
        sum.likely_of += 1;
    }
    match halt.at_most {
        None => sum.unlimited += 1,
        Some(at_most) => {
            sum.at_least = sum.at_least.plus(halt.at_least);
            sum.at_most = sum.at_most.plus(at_most);
        }
    }
}

/// All doubts: those of each run, and those that only the next run shows.
fn doubts(runs: &[&RunFigures]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = runs.iter().flat_map(|run| run.doubts.clone()).collect();
    let mut accepted: BTreeMap<&PathBuf, BTreeSet<&String>> = BTreeMap::new();
    let mut before: BTreeMap<&PathBuf, &RunFigures> = BTreeMap::new();
    for run in runs {
        let known = accepted.entry(&run.root).or_default();
        let newly = run.accepted.iter().filter(|finding| known.insert(finding)).count();
        if newly > 0 {
            let (guard, kind) = (GuardKind::Tamper, DoubtKind::Accepted);
            doubts.push(Doubt { run: run.run.clone(), guard, kind });
        }
        if let Some(earlier) = before.insert(&run.root, run)
            && let Some(halt) = &earlier.halt
            && moved_unchanged(earlier, run)
        {
            let (guard, kind) = (halt.guard, DoubtKind::MovedAfterAll);
            doubts.push(Doubt { run: earlier.run.clone(), guard, kind });
        }
    }
    doubts
}

/// Whether the next run at the same work, with nothing changed by anyone, moved at once.
fn moved_unchanged(earlier: &RunFigures, next: &RunFigures) -> bool {
    let in_time = earlier.ended.is_some_and(|ended| next.started.since(ended) <= SAME_TRY);
    in_time && next.first_moved && earlier.end == next.start
}

/// The word of a rung.
pub(crate) const fn rung_word(rung: Rung) -> &'static str {
    match rung {
        Rung::Pass => "pass",
        Rung::Nudge => "nudge",
        Rung::Refuse => "refuse",
        Rung::Redirect => "redirect",
        Rung::Ask => "ask",
        Rung::Halt => "halt",
    }
}
