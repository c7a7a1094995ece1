//! The story for people: one aligned line per thing that happened, the agent's own words between them.
//! What is said is the narrator's (`view`); here it is only printed.

use flyball_core::effect::Effect;
use flyball_core::governor::RunStanding;
use flyball_core::{Event, IterationNo, Moment};

use super::status_line::StatusLine;
use super::summary::print_summary;
use crate::client::AgentNote;
use crate::gate::GateProgress;
use crate::terminal::{self, Paint};
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
        let shown: Vec<Line> =
            lines.into_iter().filter(|line| line.weight <= Weight::Call).collect();
        if shown.iter().any(|line| !line.is_speech()) {
            let begun = self.narrator.pause(self.now);
            self.lay_out(&begun);
        }
        self.lay_out(&shown);
    }

    fn lay_out(&self, lines: &[Line]) {
        if lines.is_empty() {
            return;
        }
        let columns = terminal::err_columns();
        let rows = lines.iter().flat_map(|line| terminal_lines(line, self.paint, columns));
        self.status.print(rows);
    }

    pub(super) fn opening(&mut self, opening: &Opening) {
        self.narrator = Narrator::of(&opening.root);
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
        let lines = self.narrator.aside(self.now, iteration, aside);
        self.print(lines);
    }

    pub(super) fn agent_stderr(&mut self, bytes: &[u8]) {
        let lines = self.narrator.stderr(self.now, bytes);
        self.print(lines);
    }

    pub(super) fn tick(&mut self, at: Moment, standing: &RunStanding<'_>) {
        self.now = at;
        let waited = self.narrator.waited(at);
        self.print(waited);
        let parts = self.narrator.live(at, standing);
        self.status.draw(&parts);
    }

    pub(super) fn summary(&mut self, text: &str) {
        let begun = self.narrator.pause(self.now);
        self.lay_out(&begun);
        self.status.end();
        print_summary(text);
    }
}
