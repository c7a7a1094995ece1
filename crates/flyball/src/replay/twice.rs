//! One run watched as it was, and as it would have been.

use flyball_core::effect::Effect;
use flyball_core::{Event, Governor, GuardKind, IterationNo, Moment, Outcome, RunId};
use serde::Serialize;

use super::amount::Amount;
use super::change::Limits;
use super::difference::{Decision, Difference};
use crate::journal::RunSummary;
use crate::view::Builder;

/// How many differences are kept; the rest is counted.
const DIFFERENCES_MAX: usize = 50;

/// What would have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The session; the run goes on.
    Session,
    /// The run.
    Run,
}

/// Where something would have been stopped that went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// On which event of the run.
    pub seq: u64,
    /// When.
    pub at: Moment,
    /// In which iteration.
    pub iteration: Option<IterationNo>,
    /// What ends there.
    pub scope: Scope,
    /// The guard that would have stopped it.
    pub guard: Option<GuardKind>,
    /// How the run would have ended.
    pub outcome: Option<Outcome>,
    /// What had been spent by then.
    pub spent: Amount,
}

/// What would not have been, had it been stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Iterations that made progress.
    pub iterations: Vec<IterationNo>,
    /// Checks fixed in them, less those they broke.
    pub checks: u64,
    /// Stories passed in them.
    pub stories: u64,
    /// Whether the run was verified in the end.
    pub verified: bool,
}

impl Lost {
    /// Whether nothing would have been lost.
    pub fn is_nothing(&self) -> bool {
        self.iterations.is_empty() && !self.verified
    }
}

/// A run decided again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// Which.
    pub run: RunId,
    /// What it used.
    pub spent: Amount,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Where both decided otherwise, up to where something would have been stopped.
    pub differences: Vec<Difference>,
    /// How many more.
    pub differences_left_out: u64,
    /// Where something would have been stopped, and went on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// What was spent after that point: saved where nothing came of it.
    pub after: Amount,
    /// What came of it.
    pub lost: Lost,
    /// Whether a guard's halt would not have come there; what would have followed is not known.
    pub let_go: bool,
    /// Whether the limits do not go together with those of the run, which was left as it was.
    pub unfit: bool,
}

impl Replayed {
    /// Whether anything would have been stopped that went on.
    pub const fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// What would have been saved: nothing, where something came of it.
    pub fn saved(&self) -> Amount {
        if self.lost.is_nothing() { self.after } else { Amount::default() }
    }
}

/// Decides a run again, its events given one by one.
pub fn replay<Failure>(
    limits: &Limits,
    run: &RunSummary,
    read: impl FnOnce(&mut dyn FnMut(Moment, &Event)) -> Result<(), Failure>,
) -> Result<Replayed, Failure> {
    let mut as_was = AsWas::new(run);
    let mut would = Would::new(limits);
    read(&mut |at, event| {
        let told = as_was.step(at, event);
        would.step(&as_was, at, event, &told);
        as_was.follow(&told);
    })?;
    Ok(would.finish(&as_was, run))
}

/// Decides a run again under each of some limits; its events are read once for all of them.
pub(crate) fn replay_each<Failure>(
    limits: &[Limits],
    run: &RunSummary,
    read: impl FnOnce(&mut dyn FnMut(Moment, &Event)) -> Result<(), Failure>,
) -> Result<Vec<Replayed>, Failure> {
    let mut as_was = AsWas::new(run);
    let mut all: Vec<Would<'_>> = limits.iter().map(Would::new).collect();
    read(&mut |at, event| {
        let told = as_was.step(at, event);
        for would in &mut all {
            would.step(&as_was, at, event, &told);
        }
        as_was.follow(&told);
    })?;
    Ok(all.into_iter().map(|would| would.finish(&as_was, run)).collect())
}

/// What is known of the stop that would have been.
#[derive(Debug)]
struct Point {
    stop: Stop,
    /// What had been spent when the part that would not have been was over.
    until: Amount,
    /// Whether there was such a part.
    went_on: bool,
    /// Stories done by then.
    stories: u64,
}

/// The run as it was.
#[derive(Debug)]
struct AsWas {
    builder: Builder,
    seq: u64,
    iteration: Option<IterationNo>,
    spent: Amount,
    stories: u64,
}

/// What one event led to.
struct Told {
    effects: Vec<Effect>,
    decisions: Vec<Decision>,
}

impl AsWas {
    fn new(run: &RunSummary) -> Self {
        Self {
            builder: Builder::new(run),
            seq: 0,
            iteration: None,
            spent: Amount::default(),
            stories: 0,
        }
    }

    fn step(&mut self, at: Moment, event: &Event) -> Told {
        self.seq += 1;
        let effects = self.builder.step(at, event);
        if let Some(tally) = self.builder.tally() {
            self.spent = Amount::of_run(&tally);
            self.stories = u64::from(tally.stories_complete);
        }
        let decisions = Decision::all(&effects);
        Told { effects, decisions }
    }

    /// Notes what has begun, once everybody has seen what it began with.
    fn follow(&mut self, told: &Told) {
        for effect in &told.effects {
            if let Effect::StartAgent { iteration, .. } = effect {
                self.iteration = Some(*iteration);
            }
        }
    }
}

/// The run as it would have been.
#[derive(Debug)]
struct Would<'l> {
    limits: &'l Limits,
    governor: Governor,
    differences: Vec<Difference>,
    left_out: u64,
    point: Option<Point>,
    lost: Lost,
    /// Whether it ended, as it was and as it would have been.
    ended: (bool, bool),
    unfit: bool,
}

impl<'l> Would<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            governor: Governor::new(),
            differences: Vec::new(),
            left_out: 0,
            point: None,
            lost: Lost::default(),
            ended: (false, false),
            unfit: false,
        }
    }

    fn step(&mut self, was: &AsWas, at: Moment, event: &Event, told: &Told) {
        // Behind the point where it would have been stopped only the journal knows.
        if self.point.is_none() {
            let changed = self.limits.event(event);
            self.unfit |= changed.is_none();
            let effects = self.governor.step(at, changed.as_deref().unwrap_or(event));
            if let Event::RunResumed(_) = event {
                self.ended = (false, false);
            }
            self.compare(was, at, &told.decisions, &Decision::all(&effects));
        }
        self.after(was, &told.effects);
    }

    /// As long as nothing is stopped, both see the same.
    fn compare(&mut self, of: &AsWas, at: Moment, was: &[Decision], would: &[Decision]) {
        let ends = |some: &[Decision]| some.iter().any(Decision::is_end);
        let halts = |some: &[Decision]| some.iter().any(Decision::is_halt);
        if self.ended.0 == self.ended.1 {
            let place = (of.seq, at, of.iteration);
            if let Some(difference) = Difference::between(place, was, would) {
                if self.differences.len() < DIFFERENCES_MAX {
                    self.differences.push(difference);
                } else {
                    self.left_out += 1;
                }
            }
        }
        let scope = match (ends(would) && !ends(was), halts(would) && !halts(was)) {
            (true, _) => Some(Scope::Run),
            (false, true) => Some(Scope::Session),
            (false, false) => None,
        };
        if let Some(scope) = scope.filter(|_| !self.ended.0) {
            self.point = Some(point_at(of, at, scope, would));
        }
        self.ended = (self.ended.0 || ends(was), self.ended.1 || ends(would));
    }

    /// What the rest of the journal says about a point that was passed.
    fn after(&mut self, was: &AsWas, effects: &[Effect]) {
        let Some(point) = &mut self.point else { return };
        for effect in effects {
            let Effect::CloseIteration(report) = effect else { continue };
            let number = Some(report.iteration);
            let concerns = match point.stop.scope {
                Scope::Session => number == point.stop.iteration,
                Scope::Run => number > point.stop.iteration,
            };
            // The event at which it would have been stopped may close the iteration itself.
            if !concerns || (was.seq == point.stop.seq && point.stop.scope == Scope::Run) {
                continue;
            }
            (point.went_on, point.until) = (true, was.spent);
            if was.builder.progress(report.iteration) == Some(true) {
                self.lost.iterations.push(report.iteration);
                self.lost.checks += was.builder.fixed_in(report.iteration);
            }
            let passed = u64::from(report.stories_complete).saturating_sub(point.stories);
            self.lost.stories = self.lost.stories.max(passed);
        }
    }

    fn finish(self, was: &AsWas, run: &RunSummary) -> Replayed {
        let ending = was.builder.ending();
        let was_guard = ending.is_some_and(|ending| ending.outcome.is_guard());
        let let_go = was_guard && self.ended == (true, false) && self.point.is_none();
        let outcome = ending.map(|ending| ending.outcome);
        let point = self.point.filter(|point| point.went_on);
        let is_run = point.as_ref().is_some_and(|point| point.stop.scope == Scope::Run);
        let mut lost = self.lost;
        lost.verified = is_run && outcome == Some(Outcome::Complete);
        Replayed {
            run: run.run.clone(),
            spent: was.spent,
            outcome,
            differences: self.differences,
            differences_left_out: self.left_out,
            after: point
                .as_ref()
                .map_or_else(Amount::default, |point| point.until.minus(point.stop.spent)),
            stop: point.map(|point| point.stop),
            lost,
            let_go,
            unfit: self.unfit,
        }
    }
}

fn point_at(of: &AsWas, at: Moment, scope: Scope, would: &[Decision]) -> Point {
    let guard = would.iter().find_map(|one| match one {
        Decision::Guard { guard, .. } if one.is_halt() => Some(*guard),
        Decision::Guard { .. }
        | Decision::Refused
        | Decision::Starts { .. }
        | Decision::Ends { .. } => None,
    });
    let outcome = would.iter().find_map(|one| match one {
        Decision::Ends { outcome } => Some(*outcome),
        Decision::Guard { .. } | Decision::Refused | Decision::Starts { .. } => None,
    });
    let (seq, iteration, spent) = (of.seq, of.iteration, of.spent);
    let stop = Stop { seq, at, iteration, scope, guard, outcome, spent };
    Point { stop, until: spent, went_on: false, stories: of.stories }
}
