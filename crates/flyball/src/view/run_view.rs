//! A whole run as data: its row, its iterations, its checks, what was told of it. Built event by
//! event, in bounded memory however long the run is.

use std::collections::VecDeque;

use flyball_core::effect::{
    Effect, Ending, IterationReport, IterationResult, Notice, RoleSpend, Tally,
};
use flyball_core::event::{RunStart, TasksSnapshot};
use flyball_core::governor::{RunPhase, RunStanding};
use flyball_core::guard::Rung;
use flyball_core::policy::LimitRules;
use flyball_core::tasklist::TaskList;
use flyball_core::{Event, GateName, IterationNo, Moment, Outcome, Policy};
use serde::Serialize;

use super::iteration::{ClaimVerdict, GateView, GuardAct, IterationView, fact_in};
use super::line::{Line, Weight};
use super::matrix::{Column, Matrix, MatrixBuilder};
use super::replay::Replay;
use super::story_view::StoryView;
use super::words;
use crate::journal::{Journal, JournalError, RunSummary};

/// Told lines that are kept: the first, and the last. Between them the others are counted.
const FIRST_LINES: usize = 200;
const LAST_LINES: usize = 800;
/// How many stories are kept.
const STORIES_MAX: usize = 300;
/// How many iterations keep their briefing and last words.
const TEXTS_KEPT: usize = 200;

/// A run.
#[derive(Debug, Serialize)]
pub struct RunView {
    /// Its row.
    pub run: RunSummary,
    /// Its gates.
    pub gates: Vec<GateName>,
    /// Its limits.
    pub policy: Policy,
    /// Where it stands.
    pub phase: Option<&'static str>,
    /// Until when it waits.
    pub waiting_until: Option<Moment>,
    /// Its numbers, counted again.
    pub tally: Tally,
    /// What each role used, the work first.
    pub roles: Vec<RoleSpend>,
    /// Stories that were done before it began.
    pub stories_before: u32,
    /// Its stories, as the list stands.
    pub stories: Vec<StoryView>,
    /// Its iterations.
    pub iterations: Vec<IterationView>,
    /// Failing checks by iteration.
    pub matrix: Matrix,
    /// What was told of it: the first lines and the last.
    pub lines: Vec<Line>,
    /// How many lines between them are left out.
    pub lines_left_out: u64,
    /// Why not all of it could be read.
    pub broken: Option<String>,
}

impl RunView {
    /// A run from the journal. Events that cannot be read end it, and it says so.
    pub fn read(journal: &Journal, run: &RunSummary) -> Result<Self, JournalError> {
        let mut builder = Builder::new(run);
        let mut broken = None;
        for recorded in journal.events(&run.run)? {
            match recorded {
                Ok(recorded) => {
                    builder.step(recorded.at, &recorded.event);
                }
                Err(error @ (JournalError::BadEvent { .. } | JournalError::Corrupt { .. })) => {
                    broken = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        let view = builder.view(run);
        Ok(Self { broken: broken.or(view.broken), ..view })
    }
}

/// Builds a [`RunView`], event by event. A page that watches a run keeps it and feeds it what is
/// new.
#[derive(Debug)]
pub struct Builder {
    replay: Replay,
    gates: Vec<GateName>,
    policy: Policy,
    stories: Option<u32>,
    stories_before: u32,
    best: Option<f64>,
    /// The tree the gates spoke of last.
    judged_tree: Option<String>,
    iterations: Vec<IterationView>,
    matrix: MatrixBuilder,
    first: Vec<Line>,
    last: VecDeque<Line>,
    left_out: u64,
    keeps_lines: bool,
}

impl Builder {
    /// Nothing has happened yet.
    pub fn new(run: &RunSummary) -> Self {
        Self {
            replay: Replay::new(run),
            gates: Vec::new(),
            policy: Policy::default(),
            stories: None,
            stories_before: 0,
            best: None,
            judged_tree: None,
            iterations: Vec::new(),
            matrix: MatrixBuilder::default(),
            first: Vec::new(),
            last: VecDeque::new(),
            left_out: 0,
            keeps_lines: true,
        }
    }

    /// The same, for one who wants no lines in the view: nothing of them is held.
    pub(crate) fn without_lines(run: &RunSummary) -> Self {
        Self { keeps_lines: false, ..Self::new(run) }
    }

    /// The next event; what was decided on it.
    pub fn step(&mut self, at: Moment, event: &Event) -> Vec<Effect> {
        self.step_told(at, event, |_| ())
    }

    /// The same, for one who hears every line that is told of it.
    pub(crate) fn step_told(
        &mut self,
        at: Moment,
        event: &Event,
        hear: impl FnMut(&Line),
    ) -> Vec<Effect> {
        let step = self.replay.step(at, event);
        step.lines.iter().for_each(hear);
        self.happened(at, event);
        for effect in &step.effects {
            self.decided(at, effect);
        }
        for line in step.lines {
            if self.keeps_lines && line.weight == Weight::Story {
                self.keep(line);
            }
        }
        step.effects
    }

    /// What is being done right now, and for how long; none before it began.
    pub fn doing(&mut self, now: Moment) -> Option<Vec<String>> {
        self.replay.doing(now)
    }

    /// How the run ended, as these events decide it.
    pub fn ending(&self) -> Option<&Ending> {
        self.replay.governor().ending()
    }

    /// The numbers so far; none before the run has begun.
    pub fn tally(&self) -> Option<Tally> {
        self.replay.governor().standing().map(|standing| standing.tally)
    }

    /// What the gates said after an iteration.
    pub fn column(&self, iteration: IterationNo) -> Option<&Column> {
        let matrix = self.matrix.matrix();
        matrix.column(iteration).and_then(|at| matrix.columns.get(at))
    }

    /// An iteration as it stands.
    pub fn iteration(&self, number: IterationNo) -> Option<&IterationView> {
        self.iterations.iter().rev().find(|one| one.iteration == number)
    }

    /// Checks fixed in an iteration, less those it broke.
    pub fn fixed_in(&self, iteration: IterationNo) -> u64 {
        self.column(iteration).map_or(0, |column| column.fixed.saturating_sub(column.broken))
    }

    /// How the run stands right now, in parts, the most wanted first; none before it began.
    pub fn live(&mut self, now: Moment) -> Option<Vec<String>> {
        self.replay.live(now)
    }

    /// Failures counted last, where gates ran.
    pub fn failing(&self) -> Option<u64> {
        self.matrix.matrix().columns.iter().rev().find_map(|column| column.failing)
    }

    /// Until when it waits.
    pub fn waiting_until(&self) -> Option<Moment> {
        self.replay.governor().standing()?.waiting_until
    }

    /// The limits that hold.
    pub fn limits(&self) -> &LimitRules {
        let standing = self.replay.governor().standing();
        standing.map_or(&self.policy.limits, |standing| standing.limits)
    }

    /// Whether an iteration passed anything, once it is closed.
    pub fn progress(&self, iteration: IterationNo) -> Option<bool> {
        self.iteration(iteration)?.progress
    }

    /// The run as it stands, with its row as it is now.
    pub fn view(&self, run: &RunSummary) -> RunView {
        let standing = self.replay.governor().standing();
        let mut iterations = self.iterations.clone();
        iterations.iter_mut().for_each(IterationView::rank_tools);
        RunView {
            run: run.clone(),
            gates: self.gates.clone(),
            policy: self.policy.clone(),
            phase: standing.as_ref().map(|standing| RunPhase::as_str(standing.phase)),
            waiting_until: standing.as_ref().and_then(|standing| standing.waiting_until),
            tally: standing.as_ref().map(|standing| standing.tally).unwrap_or_default(),
            roles: standing.as_ref().map(|one| one.roles.clone()).unwrap_or_default(),
            stories_before: self.stories_before,
            stories: self.stories_of(standing.as_ref()),
            iterations,
            matrix: self.matrix.matrix().clone(),
            lines: self.first.iter().chain(&self.last).cloned().collect(),
            lines_left_out: self.left_out,
            broken: run.damaged.clone(),
        }
    }

    /// The stories with what was spent on each.
    fn stories_of(&self, standing: Option<&RunStanding<'_>>) -> Vec<StoryView> {
        let list = standing.and_then(|standing| standing.tasks);
        let stories = list.map_or(&[][..], TaskList::stories).iter().take(STORIES_MAX);
        stories.map(|story| StoryView::new(story, &self.policy, &self.iterations)).collect()
    }

    fn keep(&mut self, line: Line) {
        if self.first.len() < FIRST_LINES {
            return self.first.push(line);
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(line);
    }

    fn happened(&mut self, at: Moment, event: &Event) {
        match event {
            Event::RunStarted(start) => self.started(start),
            Event::RunResumed(resume) => self.policy = resume.policy.clone(),
            Event::Agent { iteration, fact } => {
                if let Some(one) = self.of(*iteration) {
                    one.ended = at;
                    fact_in(one, fact);
                }
            }
            Event::WorktreeSeen { iteration, snapshot } => {
                if self.judged_tree.as_ref() == Some(&snapshot.code_tree) {
                    self.matrix.carry(*iteration);
                }
                if let Some(one) = self.of(*iteration) {
                    one.ended = at;
                    one.worked(&snapshot.commits, &snapshot.changed);
                }
            }
            Event::GatesFinished { iteration, result, tamper } => {
                self.matrix.take(*iteration, result);
                self.judged_tree = Some(result.tree.clone());
                if *iteration == IterationNo::BASELINE {
                    self.best = result.score();
                }
                let findings = tamper.iter().take(40);
                let tamper = findings.map(|one| words::line(&one.message, 300)).collect();
                if let Some(one) = self.of(*iteration) {
                    one.ended = at;
                    one.gates = result.checks.iter().map(GateView::new).collect();
                    one.tamper = tamper;
                }
            }
            Event::TimerFired { .. }
            | Event::StopRequested { .. }
            | Event::TimePassed
            | Event::StateReplaced { .. }
            | Event::HumanAsked { .. }
            | Event::ShellFailed { .. } => {}
        }
    }

    fn started(&mut self, start: &RunStart) {
        self.gates.clone_from(&start.gates);
        self.policy = start.policy.clone();
        if let TasksSnapshot::Found { text } = &start.snapshot.tasks
            && let Ok(list) = TaskList::parse(text)
        {
            let (done, _) = list.counts(&start.policy.review);
            (self.stories, self.stories_before) = (Some(done), done);
        }
    }

    fn decided(&mut self, at: Moment, effect: &Effect) {
        if let Effect::StartAgent { iteration, mode, task, briefing, agent } = effect {
            self.matrix.begin(*iteration);
            // One that goes on after a wait keeps what it has.
            if self.of(*iteration).is_none() {
                self.iterations.push(IterationView::begin(*iteration, at, *mode));
            }
            if let Some(one) = self.of(*iteration) {
                (one.task, one.agent) = (task.clone(), *agent);
                one.briefed(briefing);
            }
            self.forget_old_texts();
        } else if let Effect::Announce(notice) = effect {
            self.announced(at, notice);
        } else if let Effect::CloseIteration(report) = effect {
            self.closed(report);
        } else if let Effect::FinishRun(ending) = effect
            && ending.outcome == Outcome::Complete
        {
            self.judge_claim(ClaimVerdict::Accepted);
        }
    }

    fn announced(&mut self, at: Moment, notice: &Notice) {
        if let Notice::CompletionRefused(_) = notice {
            self.judge_claim(ClaimVerdict::Refused);
        } else if let Notice::Tripped { trip, rung } = notice
            && *rung != Rung::Pass
            && let Some(one) = self.iterations.last_mut()
        {
            one.guarded(GuardAct::new(at, trip, *rung));
        }
    }

    fn closed(&mut self, report: &IterationReport) {
        let fixed = self.column(report.iteration).is_some_and(|column| column.fixed > 0);
        let better = match (report.score, self.best) {
            (Some(score), Some(best)) => score > best,
            (Some(_), None) | (None, _) => false,
        };
        let story = self.stories.is_some_and(|before| report.stories_complete > before);
        let works = report.result == IterationResult::Passed && report.commit.is_some();
        let can_tell = !self.gates.is_empty() || self.stories.is_some();
        if let Some(one) = self.of(report.iteration) {
            one.closed(report);
            one.progress = can_tell.then_some(fixed || better || story || works);
        }
        self.stories = self.stories.map(|before| before.max(report.stories_complete));
        self.best = self.best.into_iter().chain(report.score).reduce(f64::max);
    }

    /// What is made of the latest claim of completion, unless it was judged before.
    fn judge_claim(&mut self, verdict: ClaimVerdict) {
        let claim = self.iterations.last_mut().and_then(|one| one.claim.as_mut());
        if let Some(complete @ ClaimVerdict::Open) = claim.and_then(|claim| claim.complete.as_mut())
        {
            *complete = verdict;
        }
    }

    fn of(&mut self, iteration: IterationNo) -> Option<&mut IterationView> {
        self.iterations.iter_mut().rev().take(3).find(|one| one.iteration == iteration)
    }

    fn forget_old_texts(&mut self) {
        let old = self.iterations.len().checked_sub(TEXTS_KEPT + 1);
        if let Some(one) = old.and_then(|old| self.iterations.get_mut(old)) {
            (one.briefing, one.last_words) = (String::new(), String::new());
        }
    }
}
