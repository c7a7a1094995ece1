//! One run as a row of the list: how it stands, what it does, what it needs.

use flyball_core::Moment;
use flyball_core::effect::{IterationReport, IterationResult};

use crate::journal::RunSummary;
use crate::view::words;

/// How a run stands, in the order of the list: who needs somebody comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It asks something.
    Asks,
    /// Tests or gates were weakened, and a human decides.
    Weakened,
    /// It is blocked.
    Blocked,
    /// Its process is gone.
    Lost,
    /// Its agent or its gates are at work.
    AtWork,
    /// It waits by itself.
    Waits,
    /// It ended, and the work is done.
    Done,
    /// It ended otherwise.
    Ended,
}

impl Standing {
    /// Whether somebody must do something.
    pub const fn needs_you(self) -> bool {
        matches!(self, Self::Asks | Self::Weakened | Self::Blocked | Self::Lost)
    }

    /// Whether its process is there.
    pub const fn is_alive(self) -> bool {
        matches!(self, Self::AtWork | Self::Waits)
    }

    /// The mark before its row.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Asks | Self::Weakened | Self::Blocked | Self::Lost => "!",
            Self::AtWork => "●",
            Self::Waits => "◌",
            Self::Done | Self::Ended => " ",
        }
    }
}

/// One iteration, as one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowMark {
    /// The gates are green, or nothing checks.
    Green,
    /// It moved on.
    Better,
    /// The gates are red.
    Red,
    /// A guard, a limit or a death ended it.
    Halted,
    /// It is under way.
    Now,
}

impl RowMark {
    pub(super) const fn of(result: IterationResult) -> Self {
        match result {
            IterationResult::Passed | IterationResult::Unchecked => Self::Green,
            IterationResult::Improved => Self::Better,
            IterationResult::Red => Self::Red,
            IterationResult::Halted(_)
            | IterationResult::Died
            | IterationResult::Lost
            | IterationResult::Cut(_) => Self::Halted,
        }
    }

    /// As it is drawn.
    pub const fn glyph(self) -> &'static str {
        match self {
            Self::Green => "▇",
            Self::Better => "▅",
            Self::Red => "▁",
            Self::Halted => "!",
            Self::Now => "●",
        }
    }
}

/// A run as a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The run.
    pub run: RunSummary,
    /// How it stands.
    pub standing: Standing,
    /// Its iterations.
    pub strip: Vec<RowMark>,
    /// Failures counted last.
    pub failing: Option<u64>,
    /// The limit of money, in millionths of a dollar; 0 is none.
    pub cost_limit: u64,
    /// What is asked, done or waited for, in words.
    pub what: String,
}

impl Row {
    /// The folder it works in, by its name.
    pub fn project(&self) -> String {
        let root = &self.run.root;
        words::line(&root.file_name().unwrap_or(root.as_os_str()).to_string_lossy(), 60)
    }

    /// How it stands, in a word or two.
    pub fn state(&self) -> String {
        match self.standing {
            Standing::Asks => "asks".to_owned(),
            Standing::Weakened => "tests weakened".to_owned(),
            Standing::Blocked => "blocked".to_owned(),
            Standing::Lost => "lost".to_owned(),
            Standing::AtWork => words::line(&self.run.state.phase, 20),
            Standing::Waits => "waits".to_owned(),
            Standing::Done | Standing::Ended => {
                let outcome = self.run.ending.as_ref().map(|ending| ending.outcome.to_string());
                outcome.or_else(|| self.run.outcome.clone()).unwrap_or_default()
            }
        }
    }

    /// The task at hand.
    pub fn task(&self) -> String {
        self.run.state.task.as_ref().map(|task| words::line(task.as_str(), 40)).unwrap_or_default()
    }

    /// `6/15`.
    pub fn iteration(&self) -> String {
        match (self.run.state.iteration, self.run.max_iterations) {
            (number, 0) => number.to_string(),
            (number, max) if self.standing.is_alive() => format!("{number}/{max}"),
            (number, _) => number.to_string(),
        }
    }

    /// Whether a word typed for the filter is in it.
    pub fn holds(&self, filter: &str) -> bool {
        let filter = filter.to_lowercase();
        [self.project(), self.run.run.to_string(), self.state(), self.task(), self.what.clone()]
            .iter()
            .any(|text| text.to_lowercase().contains(&filter))
    }

    /// The one line that is left of it on the terminal once it has ended.
    pub fn summary(&self) -> String {
        let state = &self.run.state;
        let iterations = usize::try_from(state.iteration.get()).unwrap_or(usize::MAX);
        let mut parts = vec![words::counted(iterations, "iteration")];
        if state.stories_total > 0 {
            let (done, all) = (state.stories_complete, state.stories_total);
            parts.push(format!("{done} of {}", words::stories(usize::try_from(all).unwrap_or(0))));
        }
        if state.cost_micro_usd > 0 {
            parts.push(words::dollars(state.cost_micro_usd));
        }
        let (project, state) = (self.project(), self.state());
        format!("{project}  {}  {state}: {}", self.run.run, parts.join(" · "))
    }
}

/// The cells of closed iterations, and of the one under way.
#[expect(clippy::fn_params_excessive_bools, reason = "a fact found elsewhere, not a mode")]
pub(super) fn strip(closed: &[IterationReport], is_alive: bool, run: &RunSummary) -> Vec<RowMark> {
    let mut marks: Vec<RowMark> = closed.iter().map(|one| RowMark::of(one.result)).collect();
    let last = closed.last().map(|one| one.iteration);
    if is_alive && last.is_none_or(|last| last < run.state.iteration) {
        marks.push(RowMark::Now);
    }
    marks
}

/// How a run that ended stands when nothing of it is open.
pub(super) fn ended(run: &RunSummary) -> Standing {
    let is_done = run.ending.as_ref().is_some_and(|ending| ending.outcome.is_success());
    if is_done { Standing::Done } else { Standing::Ended }
}

/// Since when a run stands as it does, for the order: those that wait longest come first.
pub(super) fn since(run: &RunSummary) -> Moment {
    run.ended.unwrap_or(run.last_at)
}
