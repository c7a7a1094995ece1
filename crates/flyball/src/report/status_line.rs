//! The live line at the bottom of a terminal: cleared before anything else is printed, drawn again
//! at the next beat, never in a pipe or CI.

use std::io::IsTerminal;

use flyball_core::Moment;
use flyball_core::governor::RunStanding;

use crate::terminal;

/// The live line.
#[derive(Debug)]
pub(super) struct StatusLine {
    is_on: bool,
    is_drawn: bool,
    /// Whether what was printed last ended in a new line.
    at_line_start: bool,
    began: Option<(u32, Moment)>,
}

impl StatusLine {
    pub(super) fn new() -> Self {
        let is_on = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        Self { is_on, is_drawn: false, at_line_start: true, began: None }
    }

    /// Prints a whole line of the story.
    pub(super) fn print_line(&mut self, text: &str) {
        let start = if self.at_line_start { "" } else { "\n" };
        self.clear();
        terminal::write_err(&format!("{start}{text}\n"));
        self.at_line_start = true;
    }

    /// Prints the agent's own text as it comes.
    pub(super) fn print_raw(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.clear();
        terminal::write_err(text);
        self.at_line_start = text.ends_with('\n');
    }

    pub(super) fn clear(&mut self) {
        if self.is_drawn {
            terminal::write_err("\r\x1b[2K");
            self.is_drawn = false;
        }
    }

    /// Draws it anew, unless the agent is in the middle of a line.
    pub(super) fn draw(&mut self, now: Moment, standing: &RunStanding<'_>) {
        if !self.is_on || !self.at_line_start {
            return;
        }
        let number = standing.iteration.get();
        let began = match self.began {
            Some((of, began)) if of == number => began,
            Some(_) | None => now,
        };
        self.began = Some((number, began));
        let mut text = format!(
            "{:>8}  #{number:<3} {} · {}",
            standing.phase,
            standing.mode.as_str(),
            now.since(began)
        );
        if let Some(task) = standing.task {
            text.push_str(&format!(" · {task}"));
        }
        if standing.tally.tokens > 0 {
            text.push_str(&format!(" · {} tokens", standing.tally.tokens));
        }
        if standing.tally.cost_micro_usd > 0 {
            text.push_str(&format!(
                " · {}",
                super::summary::dollars(standing.tally.cost_micro_usd)
            ));
        }
        let shown: String = text.chars().take(100).collect();
        self.clear();
        terminal::write_err(&shown);
        self.is_drawn = true;
    }
}
