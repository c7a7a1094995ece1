//! One run, reduced to what is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use flyball_core::effect::{Effect, IterationReport, IterationResult};
use flyball_core::event::RunStart;
use flyball_core::guard::{GuardKind, Rung};
use flyball_core::{Event, GateName, Moment, Outcome, Policy, RunId};
use serde::Serialize;

use super::doubt::{Doubt, DoubtKind};
use super::halt::Halt;
use super::watch::Watch;
use crate::journal::RunSummary;
use crate::replay::Amount;
use crate::view::{Builder, ClaimVerdict, IterationView, RunView};

/// A run in figures.
#[derive(Clone, Debug, Serialize)]
pub struct RunFigures {
    /// Which.
    pub run: RunId,
    /// Its repository.
    pub root: PathBuf,
    /// Its agent.
    pub agent: String,
    /// The model it was asked to use, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it began.
    pub started: Moment,
    /// How it ended; none while it has not.
    pub outcome: Option<Outcome>,
    /// All it used.
    pub spent: Amount,
    /// What of it passed nothing.
    pub idle: Amount,
    /// Its iterations.
    pub iterations: u64,
    /// Checks it fixed, and broke.
    pub fixed: u64,
    /// Checks it broke.
    pub broken: u64,
    /// Stories it passed, where it was verified.
    pub stories: u64,
    /// How often each guard spoke on each rung.
    #[serde(skip)]
    pub trips: Box<[((GuardKind, Rung), u64)]>,
    /// Streaks of calls that were advised against, and those that ended there.
    pub streaks: (u64, u64),
    /// Iterations that were advised or redirected, and those followed by progress.
    pub advised: (u64, u64),
    /// Claims of completion, those refused, and those refused with red gates on that very tree.
    pub claims: (u64, u64, u64),
    /// The halt, where a guard ended it.
    pub halt: Option<Box<Halt>>,
    /// What is to be doubted.
    pub doubts: Vec<Doubt>,
    /// How often it stood where a guard would halt others, and how many iterations came after.
    #[serde(skip)]
    pub(super) stood: Box<[((GuardKind, u64), u64)]>,
    #[serde(skip)]
    pub(super) first_moved: bool,
    /// Digests of where the work stood when it began and when it ended.
    #[serde(skip)]
    pub(super) start: blake3::Hash,
    #[serde(skip)]
    pub(super) end: blake3::Hash,
    #[serde(skip)]
    pub(super) ended: Option<Moment>,
    #[serde(skip)]
    pub(super) accepted: BTreeSet<String>,
}

/// Where the work stood: for telling whether anyone changed it between two runs.
#[derive(Clone, Debug, Default, Serialize)]
struct Standing {
    head: Option<String>,
    /// Their digest.
    tasks: Option<[u8; 32]>,
    gates: Vec<GateName>,
}

impl Standing {
    /// All of it in a few bytes: of every run summed two are held.
    fn digest(&self) -> blake3::Hash {
        digest(self).unwrap_or_else(|| blake3::hash(b""))
    }
}

/// Reduces a run, event by event.
#[derive(Debug)]
pub struct Figures {
    builder: Builder,
    watch: Watch,
    start: Standing,
    end: Standing,
    accepted: BTreeSet<String>,
    policy: Option<Policy>,
    /// A guard ended the run, and a human took it up unchanged: its next iteration tells.
    taken_up: Option<GuardKind>,
    halted: Option<GuardKind>,
    doubts: BTreeSet<(GuardKind, DoubtKind)>,
    measures: Measures,
}

impl Figures {
    /// Nothing has happened yet.
    pub fn new(run: &RunSummary) -> Self {
        Self {
            builder: Builder::without_lines(run),
            watch: Watch::default(),
            start: Standing::default(),
            end: Standing::default(),
            accepted: BTreeSet::new(),
            policy: None,
            taken_up: None,
            halted: None,
            doubts: BTreeSet::new(),
            measures: Measures::default(),
        }
    }

    /// The next event.
    pub fn step(&mut self, at: Moment, event: &Event) {
        let effects = self.builder.step(at, event);
        self.happened(event);
        self.watch.happened(at, event);
        for effect in &effects {
            self.watch.decided(at, effect);
            self.decided(effect);
        }
    }

    fn happened(&mut self, event: &Event) {
        if let Event::RunStarted(start) = event {
            self.started(start);
        } else if let Event::WorktreeSeen { snapshot, .. } = event {
            self.end.head.clone_from(&snapshot.head);
            self.end.tasks = digest(&snapshot.tasks).map(Into::into);
        } else if let Event::RunResumed(resume) = event {
            self.accepted.extend(resume.human_files.accepted_tamper.iter().cloned());
            let is_same = self.policy.as_ref() == Some(&resume.policy);
            self.taken_up = self.halted.take().filter(|_| resume.closed && is_same);
            self.policy = Some(resume.policy.clone());
        }
    }

    fn started(&mut self, start: &RunStart) {
        self.accepted.extend(start.human_files.accepted_tamper.iter().cloned());
        self.start = Standing {
            head: start.snapshot.head.clone(),
            tasks: digest(&start.snapshot.tasks).map(Into::into),
            gates: start.gates.clone(),
        };
        self.end = self.start.clone();
        self.policy = Some(start.policy.clone());
    }

    fn decided(&mut self, effect: &Effect) {
        if let Effect::FinishRun(ending) = effect {
            let guard = ending.trip.as_ref().map(|trip| trip.guard);
            self.halted = guard.filter(|_| ending.outcome.is_guard());
        } else if let Effect::CloseIteration(report) = effect {
            self.measures.closed(report);
            if let Some(guard) = self.taken_up.take()
                && self.moved(report)
            {
                self.doubts.insert((guard, DoubtKind::MovedAfterAll));
            }
        }
    }

    fn moved(&self, report: &IterationReport) -> bool {
        self.builder.progress(report.iteration) == Some(true)
    }

    /// The run in figures, with its row and the model it was asked to use.
    pub fn finish(self, run: &RunSummary, model: Option<String>) -> RunFigures {
        let view = self.builder.view(run);
        let doubts = self.doubts.iter().chain(&self.watch.doubts);
        let doubt = |(guard, kind): &(GuardKind, DoubtKind)| Doubt {
            run: run.run.clone(),
            guard: *guard,
            kind: *kind,
        };
        let closed: Vec<&IterationView> =
            view.iterations.iter().filter(|one| one.result.is_some()).collect();
        let verified = view.outcome() == Some(Outcome::Complete);
        RunFigures {
            run: run.run.clone(),
            root: run.root.clone(),
            agent: run.agent.clone(),
            model,
            started: run.started,
            outcome: view.outcome(),
            spent: Amount {
                micro_usd: view.tally.cost_micro_usd,
                tokens: view.tally.tokens,
                ms: view.tally.runtime_ms,
            },
            idle: idle(&view),
            iterations: view.iterations.len() as u64,
            fixed: view.matrix.columns.iter().map(|column| column.fixed).sum(),
            broken: view.matrix.columns.iter().map(|column| column.broken).sum(),
            stories: if verified { u64::from(view.stories_passed()) } else { 0 },
            trips: self.watch.trips.into_iter().collect(),
            streaks: (self.watch.streaks, self.watch.heeded),
            advised: advised(&closed),
            claims: claims(&view),
            halt: Halt::of(&view).map(Box::new),
            stood: self.measures.stood(closed.len() as u64),
            doubts: doubts.map(doubt).collect(),
            first_moved: closed.first().is_some_and(|one| one.progress == Some(true)),
            start: self.start.digest(),
            end: self.end.digest(),
            ended: run.ended,
            accepted: self.accepted,
        }
    }
}

/// What something says, for telling it from another.
fn digest(what: &impl Serialize) -> Option<blake3::Hash> {
    let text = serde_json::to_vec(what).ok()?;
    Some(blake3::hash(&text))
}

/// What guards measured after each iteration: where the run stood when others were halted.
#[derive(Debug, Default)]
struct Measures {
    closed: u64,
    failed: u64,
    /// After which iteration it first stood so.
    first: BTreeMap<(GuardKind, u64), u64>,
}

impl Measures {
    fn closed(&mut self, report: &IterationReport) {
        self.closed += 1;
        let failed = matches!(
            report.result,
            IterationResult::Halted(_) | IterationResult::Died | IterationResult::Lost
        );
        self.failed = if failed { self.failed + 1 } else { 0 };
        let stood =
            [(GuardKind::Stuck, u64::from(report.stuck)), (GuardKind::CircuitBreaker, self.failed)];
        for (guard, measured) in stood.into_iter().filter(|(_, measured)| *measured > 0) {
            self.first.entry((guard, measured)).or_insert(self.closed);
        }
    }

    /// How many iterations came after each.
    fn stood(self, closed: u64) -> Box<[((GuardKind, u64), u64)]> {
        let after = |at: u64| closed.saturating_sub(at);
        self.first.into_iter().map(|(stood, at)| (stood, after(at))).collect()
    }
}

fn idle(view: &RunView) -> Amount {
    let idle = view.iterations.iter().filter(|one| one.progress == Some(false));
    idle.map(Amount::of).fold(Amount::default(), Amount::plus)
}

/// Iterations that were advised or redirected by the outer rings, and those followed by progress.
fn advised(closed: &[&IterationView]) -> (u64, u64) {
    let (mut all, mut heeded) = (0, 0);
    for pair in closed.windows(2) {
        let [one, next] = pair else { continue };
        let is_outer = |guard: GuardKind| {
            !matches!(
                guard,
                GuardKind::Repetition | GuardKind::GoingNowhere | GuardKind::ContextFill
            )
        };
        let was = one
            .guards
            .iter()
            .any(|act| is_outer(act.guard) && matches!(act.rung, Rung::Nudge | Rung::Redirect));
        all += u64::from(was);
        heeded += u64::from(was && next.progress == Some(true));
    }
    (all, heeded)
}

fn claims(view: &RunView) -> (u64, u64, u64) {
    let (said, refused) = view.completions();
    let is_false = |one: &&IterationView| {
        let verdict = one.claim.as_ref().and_then(|claim| claim.complete);
        let column = view.matrix.column(one.iteration);
        let failing = column.and_then(|at| view.matrix.columns.get(at)).and_then(|c| c.failing);
        verdict == Some(ClaimVerdict::Refused) && failing.is_some_and(|failing| failing > 0)
    };
    (said as u64, refused as u64, view.iterations.iter().filter(is_false).count() as u64)
}
