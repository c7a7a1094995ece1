//! The story for people: one aligned line per thing that happened, the agent's own words between.
//! What is said is the narrator's (`view`); here it is only printed.

use flyball_core::effect::{Effect, Ending};
use flyball_core::governor::RunStanding;
use flyball_core::{Event, IterationNo, Moment, RunId};

use super::status_line::StatusLine;
use super::summary::summary_text;
use crate::client::AgentNote;
use crate::gate::GateProgress;
use crate::terminal::Paint;
use crate::view::{Line, Narrator, Opening, Verb, Weight, terminal_lines};

/// Writes lines.
#[derive(Debug)]
pub struct TextReport {
    paint: Paint,
    status: StatusLine,
    narrator: Narrator,
    /// When the last thing happened: for what has no time of its own.
    now: Moment,
}

impl TextReport {
    pub(super) fn new(paint: Paint) -> Self {
        let now = Moment::from_millis(0);
        Self { paint, status: StatusLine::new(), narrator: Narrator::default(), now }
    }

    fn print(&mut self, lines: impl IntoIterator<Item = Line>) {
        for line in lines {
            if line.weight > Weight::Call {
                continue;
            }
            for row in terminal_lines(&line, self.paint) {
                self.status.print_line(&row);
            }
        }
    }

    pub(super) fn opening(&mut self, opening: &Opening) {
        self.print(opening.lines(self.now));
    }

    pub(super) fn event(&mut self, at: Moment, event: &Event) {
        self.now = at;
        let lines = self.narrator.happened(at, event);
        // Gates were told one by one as they ended.
        self.print(lines.into_iter().filter(|line| line.verb != Verb::Gate));
    }

    pub(super) fn effect(&mut self, at: Moment, effect: &Effect) {
        let lines = self.narrator.decided(at, effect);
        self.print(lines);
    }

    pub(super) fn gate(&mut self, progress: &GateProgress) {
        let line = self.narrator.gate(self.now, progress);
        self.print(line);
    }

    pub(super) fn note(&mut self, iteration: Option<IterationNo>, note: &str) {
        self.print([Narrator::note(self.now, iteration, note)]);
    }

    pub(super) fn aside(&mut self, iteration: IterationNo, aside: &AgentNote) {
        if let AgentNote::Said(text) = aside {
            self.status.print_said(text);
        } else {
            self.print(Narrator::aside(self.now, iteration, aside));
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.status.print_errors(bytes);
    }

    pub(super) fn tick(&mut self, at: Moment, standing: &RunStanding<'_>) {
        self.status.draw(at, standing);
    }

    pub(super) fn summary(&mut self, run: &RunId, end: (&Ending, u8), max: u32, loop_dir: &str) {
        self.status.clear();
        for line in summary_text(run, end, max, loop_dir).lines() {
            self.status.print_line(line);
        }
    }
}
