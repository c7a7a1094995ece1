//! One run watched twice: as it was, and as it would have been.

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
    let mut twice = Twice::new(run, limits);
    read(&mut |at, event| twice.step(at, event))?;
    Ok(twice.finish(run))
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

/// Both governors.
#[derive(Debug)]
struct Twice<'l> {
    limits: &'l Limits,
    builder: Builder,
    other: Governor,
    seq: u64,
    iteration: Option<IterationNo>,
    spent: Amount,
    stories: u64,
    differences: Vec<Difference>,
    left_out: u64,
    point: Option<Point>,
    lost: Lost,
    /// Whether it ended, as it was and as it would have been.
    ended: (bool, bool),
    unfit: bool,
}

impl<'l> Twice<'l> {
    fn new(run: &RunSummary, limits: &'l Limits) -> Self {
        Self {
            limits,
            builder: Builder::new(run),
            other: Governor::new(),
            seq: 0,
            iteration: None,
            spent: Amount::default(),
            stories: 0,
            differences: Vec::new(),
            left_out: 0,
            point: None,
            lost: Lost::default(),
            ended: (false, false),
            unfit: false,
        }
    }

    fn step(&mut self, at: Moment, event: &Event) {
        self.seq += 1;
        let was = self.builder.step(at, event);
        let changed = self.limits.event(event);
        self.unfit |= changed.is_none();
        let would = self.other.step(at, changed.as_ref().unwrap_or(event));
        if let Event::RunResumed(_) = event {
            self.ended = (false, false);
        }
        if let Some(tally) = self.builder.tally() {
            self.spent = Amount::of_run(&tally);
            self.stories = u64::from(tally.stories_complete);
        }
        self.compare(at, &Decision::all(&was), &Decision::all(&would));
        self.after(&was);
        for effect in &was {
            if let Effect::StartAgent { iteration, .. } = effect {
                self.iteration = Some(*iteration);
            }
        }
    }

    /// As long as nothing is stopped, both see the same.
    fn compare(&mut self, at: Moment, was: &[Decision], would: &[Decision]) {
        let ends = |some: &[Decision]| some.iter().any(Decision::is_end);
        let halts = |some: &[Decision]| some.iter().any(Decision::is_halt);
        let is_apart = self.point.is_some() || self.ended.0 != self.ended.1;
        if !is_apart {
            let place = (self.seq, at, self.iteration);
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
        if let Some(scope) = scope.filter(|_| self.point.is_none() && !self.ended.0) {
            self.point = Some(self.point_at(at, scope, would));
        }
        self.ended = (self.ended.0 || ends(was), self.ended.1 || ends(would));
    }

    fn point_at(&self, at: Moment, scope: Scope, would: &[Decision]) -> Point {
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
        let (seq, iteration, spent) = (self.seq, self.iteration, self.spent);
        let stop = Stop { seq, at, iteration, scope, guard, outcome, spent };
        Point { stop, until: spent, went_on: false, stories: self.stories }
    }

    /// What the rest of the journal says about a point that was passed.
    fn after(&mut self, was: &[Effect]) {
        let Some(point) = &mut self.point else { return };
        for effect in was {
            let Effect::CloseIteration(report) = effect else { continue };
            let number = Some(report.iteration);
            let concerns = match point.stop.scope {
                Scope::Session => number == point.stop.iteration,
                Scope::Run => number > point.stop.iteration,
            };
            // The event at which it would have been stopped may close the iteration itself.
            if !concerns || (self.seq == point.stop.seq && point.stop.scope == Scope::Run) {
                continue;
            }
            (point.went_on, point.until) = (true, self.spent);
            if self.builder.progress(report.iteration) == Some(true) {
                self.lost.iterations.push(report.iteration);
                self.lost.checks += self.builder.fixed_in(report.iteration);
            }
            let passed = u64::from(report.stories_complete).saturating_sub(point.stories);
            self.lost.stories = self.lost.stories.max(passed);
        }
    }

    fn finish(self, run: &RunSummary) -> Replayed {
        let ending = self.builder.ending();
        let was_guard = ending.is_some_and(|ending| ending.outcome.is_guard());
        let let_go = was_guard && self.ended == (true, false) && self.point.is_none();
        let outcome = ending.map(|ending| ending.outcome);
        let point = self.point.filter(|point| point.went_on);
        let is_run = point.as_ref().is_some_and(|point| point.stop.scope == Scope::Run);
        let mut lost = self.lost;
        lost.verified = is_run && outcome == Some(Outcome::Complete);
        Replayed {
            run: run.run.clone(),
            spent: self.spent,
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
