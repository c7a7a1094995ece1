//! The event stream made visible: lines for people on stderr, or JSON lines on stdout. Shows; never
//! changes a run.

mod json;
mod lines;
mod status_line;
mod summary;
mod watcher;

use flyball_core::effect::{Effect, Ending};
use flyball_core::governor::RunStanding;
use flyball_core::{Event, IterationNo, Moment, RunId};

use self::json::JsonReport;
use self::lines::TextReport;
pub(crate) use self::summary::role_lines;
pub use self::summary::summary_text;
pub use self::watcher::Watcher;
use crate::client::AgentNote;
use crate::gate::GateProgress;
use crate::terminal::ColorChoice;
use crate::view::Opening;

/// How a command answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Shows a run.
pub enum Reporter {
    /// For people.
    Text(Box<TextReport>),
    /// For programs.
    Json(JsonReport),
}

impl Reporter {
    /// A reporter in this format.
    pub fn new(format: Format, color: ColorChoice) -> Self {
        match format {
            Format::Text => Self::Text(Box::new(TextReport::new(color.for_stderr()))),
            Format::Json => Self::Json(JsonReport),
        }
    }

    /// The run begins or goes on.
    pub fn opening(&mut self, opening: &Opening) {
        match self {
            Self::Text(text) => text.opening(opening),
            Self::Json(_) => JsonReport::opening(opening),
        }
    }

    /// A fact was journalled.
    pub fn event(&mut self, at: Moment, event: &Event) {
        match self {
            Self::Text(text) => text.event(at, event),
            Self::Json(_) => JsonReport::event(at, event),
        }
    }

    /// An order is about to be performed.
    pub fn effect(&mut self, at: Moment, effect: &Effect) {
        match self {
            Self::Text(text) => text.effect(at, effect),
            Self::Json(_) => JsonReport::effect(at, effect),
        }
    }

    /// A gate began or ended.
    pub fn gate(&mut self, progress: &GateProgress) {
        match self {
            Self::Text(text) => text.gate(progress),
            Self::Json(_) => JsonReport::gate(progress),
        }
    }

    /// Something the agent said or its client told.
    pub fn aside(&mut self, iteration: IterationNo, aside: &AgentNote) {
        if let Self::Text(text) = self {
            text.aside(iteration, aside);
        }
    }

    /// Bytes of the agent's standard error.
    pub fn agent_stderr(&mut self, bytes: &[u8]) {
        if let Self::Text(text) = self {
            text.agent_stderr(bytes);
        }
    }

    /// A remark of flyball's own.
    pub fn note(&mut self, iteration: IterationNo, note: &str) {
        match self {
            Self::Text(text) => text.note(Some(iteration), note),
            Self::Json(_) => JsonReport::note(Some(iteration), note),
        }
    }

    /// A remark on the run as a whole.
    pub fn remark(&mut self, note: &str) {
        match self {
            Self::Text(text) => text.note(None, note),
            Self::Json(_) => JsonReport::note(None, note),
        }
    }

    /// Half a second has passed.
    pub fn tick(&mut self, at: Moment, standing: &RunStanding<'_>) {
        if let Self::Text(text) = self {
            text.tick(at, standing);
        }
    }

    /// The run is over.
    pub fn summary(&mut self, run: &RunId, end: (&Ending, u8), max: u32, log: Option<&str>) {
        match self {
            Self::Text(text) => text.summary(&summary_text(run, end, max, log)),
            Self::Json(_) => JsonReport::summary(run, end),
        }
    }

    /// The summary as text, for whoever has nothing else left to say it with.
    pub fn last_words(run: &RunId, end: (&Ending, u8), max: u32, log: Option<&str>) -> String {
        summary_text(run, end, max, log)
    }
}
