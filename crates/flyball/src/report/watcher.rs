//! A run shown by somebody who only watches it: the same lines and the same live line as at the run's
//! own terminal.

use flyball_core::Moment;
use flyball_core::governor::RunStanding;

use super::status_line::StatusLine;
use crate::terminal::Paint;
use crate::view::{Line, Weight, terminal_lines};

/// Shows a run that goes on elsewhere.
#[derive(Debug)]
pub struct Watcher {
    paint: Paint,
    status: StatusLine,
}

impl Watcher {
    /// In colour or not.
    pub fn new(paint: Paint) -> Self {
        Self { paint, status: StatusLine::new() }
    }

    /// What is told.
    pub fn lines(&mut self, lines: &[Line]) {
        for line in lines.iter().filter(|line| line.weight <= Weight::Call) {
            for row in terminal_lines(line, self.paint) {
                self.status.print_line(&row);
            }
        }
    }

    /// A sentence of flyball's own.
    pub fn remark(&mut self, text: &str) {
        self.status.print_line(text);
    }

    /// What the run itself has printed.
    pub fn printed(&mut self, bytes: &[u8]) {
        self.status.print_errors(bytes);
    }

    /// Draws the live line anew.
    pub fn tick(&mut self, at: Moment, standing: &RunStanding<'_>) {
        self.status.draw(at, standing);
    }

    /// Takes the live line away.
    pub fn clear(&mut self) {
        self.status.clear();
    }
}
