//! The live line at the bottom of a terminal: cleared before anything else is printed, drawn again
//! at the next beat, never in a pipe or CI.

use std::io::IsTerminal;

use flyball_core::Moment;
use flyball_core::governor::{RunPhase, RunStanding};

use crate::terminal::{self, Control, PlainText};
use crate::view::words::dollars;

/// Where the cursor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cursor {
    /// At the start of an empty line.
    LineStart,
    /// Behind something the agent said.
    InText,
    /// Behind the live line.
    InStatus,
}

/// The live line.
#[derive(Debug)]
pub(super) struct StatusLine {
    is_on: bool,
    cursor: Cursor,
    began: Option<(u32, Moment)>,
    /// What the agent says, and what its standard error says, made safe piece by piece.
    said: PlainText,
    errors: PlainText,
    /// Whether the agent may have left a colour on.
    is_tinted: bool,
}

impl StatusLine {
    pub(super) fn new() -> Self {
        let is_on = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        let (said, errors) = (PlainText::default(), PlainText::default());
        Self { is_on, cursor: Cursor::LineStart, began: None, said, errors, is_tinted: false }
    }

    /// Prints a whole line of the story.
    pub(super) fn print_line(&mut self, text: &str) {
        self.clear();
        if std::mem::take(&mut self.is_tinted) {
            terminal::control_err(Control::ResetColour);
        }
        let start = if self.cursor == Cursor::InText { "\n" } else { "" };
        terminal::write_err(&format!("{start}{text}\n"));
        self.cursor = Cursor::LineStart;
    }

    /// Prints the agent's own text as it comes.
    pub(super) fn print_said(&mut self, text: &str) {
        let mut safe = String::new();
        self.said.push(text, &mut safe);
        self.print_safe(&safe);
    }

    /// Prints the agent's standard error as it comes.
    pub(super) fn print_errors(&mut self, bytes: &[u8]) {
        let mut safe = String::new();
        self.errors.push_bytes(bytes, &mut safe);
        self.print_safe(&safe);
    }

    fn print_safe(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.clear();
        terminal::write_err(text);
        self.is_tinted |= text.contains('\u{1b}');
        self.cursor = if text.ends_with('\n') { Cursor::LineStart } else { Cursor::InText };
    }

    pub(super) fn clear(&mut self) {
        if self.cursor == Cursor::InStatus {
            terminal::control_err(Control::ClearLine);
            self.cursor = Cursor::LineStart;
        }
    }

    /// Draws it anew, unless the agent is in the middle of a line.
    pub(super) fn draw(&mut self, now: Moment, standing: &RunStanding<'_>) {
        if !self.is_on || self.cursor == Cursor::InText {
            return;
        }
        let number = standing.iteration.get();
        let began = match self.began {
            Some((of, began)) if of == number => began,
            Some(_) | None => now,
        };
        self.began = Some((number, began));
        let tally = standing.tally;
        let time = match standing.waiting_until {
            Some(until) => format!("{} left", until.since(now)),
            None => now.since(began).to_string(),
        };
        let mut parts = vec![standing.mode.as_str().to_owned(), time];
        parts.extend(standing.task.map(ToString::to_string));
        parts.extend((tally.tokens > 0).then(|| format!("{} tokens", tally.tokens)));
        parts.extend((tally.cost_micro_usd > 0).then(|| dollars(tally.cost_micro_usd)));
        let text = format!("{:>8}  #{number:<3} {}", verb(standing.phase), parts.join(" · "));
        let shown: String = text.chars().take(100).collect();
        self.clear();
        terminal::write_err(&shown);
        self.cursor = Cursor::InStatus;
    }
}

/// What is being done, short enough for the column of verbs.
const fn verb(phase: RunPhase) -> &'static str {
    match phase {
        RunPhase::Baselining => "baseline",
        RunPhase::Iterating => "working",
        RunPhase::Inspecting => "looking",
        RunPhase::Stopping | RunPhase::Gating | RunPhase::Waiting | RunPhase::Finished => {
            phase.as_str()
        }
    }
}
