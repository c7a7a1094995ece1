//! What the person looks at and types: which level, which run, what is half written. It changes by
//! keys alone; what comes from the journal meanwhile takes nothing away from it.

use flyball_core::RunId;

use super::board::Board;
use super::row::Row;

/// Something a human does to a run; the commands of the same names do it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// `flyball answer`.
    Answer {
        /// The run that asked.
        run: RunId,
        /// The answer.
        text: String,
    },
    /// `flyball unblock`.
    Unblock(RunId),
    /// `flyball accept tamper`.
    AcceptTests(RunId),
    /// `flyball restore tamper`.
    RestoreTests(RunId),
    /// `flyball stop`.
    Stop(RunId),
}

impl Act {
    /// The question before it is done.
    pub(super) fn question(&self) -> String {
        match self {
            Self::Answer { run, .. } => format!("Answer {run}?"),
            Self::Unblock(run) => format!("Unblock {run}, and bring its tasks back?"),
            Self::AcceptTests(run) => format!("Accept the weakened tests of {run}?"),
            Self::RestoreTests(run) => format!("Bring back the tests of {run}?"),
            Self::Stop(run) => format!("Stop {run}? Its agent is ended, its work stays."),
        }
    }
}

/// What is shown of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pane {
    /// Checks by iteration, and the story.
    #[default]
    Matrix,
    /// One iteration.
    Iteration,
    /// What was told.
    Events,
    /// Beside the run before it.
    Compare,
}

/// What the keys go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Typing {
    /// The list or the run.
    #[default]
    Nothing,
    /// The filter.
    Filter,
    /// An answer.
    Answer {
        /// The run that asked.
        run: RunId,
        /// What is written so far.
        draft: String,
    },
    /// A yes.
    Confirm(Act),
    /// What becomes of weakened tests.
    Tests(RunId),
}

/// What the person looks at and types.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is on or off by itself")]
pub struct State {
    /// The run that is opened; none: the list.
    pub(super) open: Option<RunId>,
    pub(super) pane: Pane,
    /// The chosen run: it stays chosen when others come and go.
    pub(super) selected: Option<RunId>,
    pub(super) filter: String,
    pub(super) typing: Typing,
    pub(super) help: bool,
    /// The chosen iteration, counted from the latest.
    pub(super) back: usize,
    pub(super) scroll: usize,
    pub(super) guards_only: bool,
    /// What came of the last act.
    pub(super) notice: String,
    pub(super) read_only: bool,
}

impl State {
    /// The list, or one run.
    #[expect(clippy::fn_params_excessive_bools, reason = "a flag of the command line")]
    pub fn new(open: Option<RunId>, read_only: bool) -> Self {
        Self { selected: open.clone(), open, read_only, ..Self::default() }
    }

    /// The run that is opened.
    pub const fn open(&self) -> Option<&RunId> {
        self.open.as_ref()
    }

    /// Whether the run before the opened one is wanted too.
    pub fn compares(&self) -> bool {
        self.open.is_some() && self.pane == Pane::Compare
    }

    /// Says what came of something.
    pub fn notice(&mut self, words: impl Into<String>) {
        self.notice = words.into();
    }

    /// The runs that are shown.
    pub(super) fn visible<'b>(&self, board: &'b Board) -> Vec<&'b Row> {
        board.rows.iter().filter(|row| self.filter.is_empty() || row.holds(&self.filter)).collect()
    }

    /// The place of the chosen run among those that are shown.
    pub(super) fn place(&self, visible: &[&Row]) -> usize {
        let chosen = |row: &&Row| Some(&row.run.run) == self.selected.as_ref();
        visible.iter().position(chosen).unwrap_or(0)
    }

    /// The run acts are about.
    pub(super) fn subject<'b>(&self, board: &'b Board) -> Option<&'b Row> {
        if let Some(open) = &self.open {
            return board.row(open);
        }
        let visible = self.visible(board);
        visible.get(self.place(&visible)).copied()
    }
}
