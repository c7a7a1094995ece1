//! The live line at the bottom of a terminal: cleared before anything else is printed, drawn again
//! at the next beat, never in a pipe or CI.
//!
//! The cursor waits where the line begins. Whatever a terminal makes of the line when it becomes
//! narrower, everything from there on is the line, and is cleared with it.

use std::cell::Cell;
use std::io::IsTerminal;

use crate::terminal::{self, Control};

/// Between two parts.
const JOINT: &str = " · ";
/// The parts before this one are cut rather than left out: the iteration, its task, what is done.
const KEPT: usize = 3;

/// The live line.
#[derive(Debug)]
pub(super) struct StatusLine {
    is_on: Cell<bool>,
    is_drawn: Cell<bool>,
}

impl StatusLine {
    pub(super) fn new() -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_on = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none() && !is_dumb;
        Self { is_on: Cell::new(is_on), is_drawn: Cell::new(false) }
    }

    /// Prints rows of the story.
    pub(super) fn print(&self, rows: impl IntoIterator<Item = String>) {
        self.clear();
        let rows: String = rows.into_iter().map(|row| row + "\n").collect();
        terminal::write_err(&rows);
    }

    pub(super) fn clear(&self) {
        if self.is_drawn.replace(false) {
            terminal::control_err(Control::ClearLive);
        }
    }

    /// It is never drawn again: nothing stands below a summary.
    pub(super) fn end(&self) {
        self.clear();
        self.is_on.set(false);
    }

    /// Draws it anew, in the width the terminal has now.
    pub(super) fn draw(&self, parts: &[String]) {
        let Some(columns) = terminal::err_columns().filter(|_| self.is_on.get()) else { return };
        self.clear();
        // The last cell stays free: some terminals would go on to the next row.
        terminal::write_err(&fitted(parts, columns.saturating_sub(1)));
        terminal::control_err(Control::LineStart);
        self.is_drawn.set(true);
    }
}

/// As many parts as there is room for, from the first; a long one is cut to leave room for others.
fn fitted(parts: &[String], room: usize) -> String {
    let share = (room / 3).max(12);
    let mut line = String::new();
    for (place, part) in parts.iter().enumerate() {
        let joint = if place == 0 { "" } else { JOINT };
        let part = if place < KEPT { terminal::cut(part, share) } else { part.clone() };
        let longer = format!("{line}{joint}{part}");
        if terminal::width(&longer) > room {
            if place < KEPT {
                return terminal::cut(&longer, room);
            }
            break;
        }
        line = longer;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_dropped_from_the_right_and_no_line_is_too_wide() {
        let parts = [
            "#2/15",
            "US-001",
            "Bash cargo test",
            "48s",
            "last output 3s ago",
            "108k tokens",
            "$0.32 of $5.00",
            "3h12m left",
        ]
        .map(str::to_owned);
        let cases = [
            (
                120,
                "#2/15 · US-001 · Bash cargo test · 48s · last output 3s ago · 108k tokens · $0.32 of $5.00 · 3h12m left",
            ),
            (79, "#2/15 · US-001 · Bash cargo test · 48s · last output 3s ago · 108k tokens"),
            (59, "#2/15 · US-001 · Bash cargo test · 48s · last output 3s ago"),
            (58, "#2/15 · US-001 · Bash cargo test · 48s"),
            (39, "#2/15 · US-001 · Bash cargo t… · 48s"),
            (20, "#2/15 · US-001 · Ba…"),
        ];
        for (room, line) in cases {
            assert_eq!(fitted(&parts, room), line, "{room}");
        }
        for room in 0..100 {
            assert!(terminal::width(&fitted(&parts, room)) <= room, "{room}");
        }
    }
}
