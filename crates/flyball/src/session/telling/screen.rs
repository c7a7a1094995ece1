//! A person at a terminal: what the model says on standard output, the story around it on standard
//! error. Everything is made safe, and no line of flyball's own is wider than the screen. A transcript
//! (`--plain`) is the same story on standard output alone, whole lines without colour.

use std::time::Duration;

use flyball_core::call::{ToolCall, ToolOutcome};
use flyball_core::event::Spend;
use flyball_core::gate::CheckStatus;
use flyball_core::guard::Rung;
use flyball_core::text::first_line;
use flyball_models::Failure;
use serde_json::Value;

use super::diff::{Line, lines};
use super::{Shown, Teller, Watch};
use crate::gate::{GateProgress, why_known};
use crate::session::judge::Spoken;
use crate::session::tools::{Change, Done};
use crate::terminal::{self, Paint};
use crate::view::words;

/// Lines shown of a result.
const RESULT_LINES: usize = 5;
/// Columns where the width is not known.
const COLUMNS: usize = 100;

/// What a person sees.
pub(crate) struct Screen {
    paint: Paint,
    form: Form,
    showing: Showing,
    /// What was spent so far.
    spent: Spend,
}

/// How it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The story on standard error, the model's words on standard output.
    Beside,
    /// Everything on standard output, in whole lines.
    Transcript,
}

/// What was shown last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Showing {
    /// A whole line.
    Line,
    /// A line that has not ended.
    Piece,
    /// That the model thinks.
    Thought,
}

impl Screen {
    /// A terminal.
    pub(crate) fn new(paint: Paint) -> Self {
        let (form, showing) = (Form::Beside, Showing::Line);
        Self { paint, form, showing, spent: Spend::default() }
    }

    /// A transcript.
    pub(crate) fn transcript() -> Self {
        Self { form: Form::Transcript, ..Self::new(Paint::OFF) }
    }

    /// A line of the story.
    pub(crate) fn tell(&mut self, text: &str) {
        self.end_line();
        write_line(text, self.form);
    }

    fn end_line(&mut self) {
        if self.showing == Showing::Piece {
            terminal::write_out("\n").ok();
        }
        self.showing = Showing::Line;
    }

    fn columns() -> usize {
        terminal::err_columns().unwrap_or(COLUMNS)
    }

    fn show_change(&mut self, change: &Change) {
        for line in lines(&change.before, &change.after) {
            let (mark, text) = match line {
                Line::Same(text) => (' ', text.to_owned()),
                Line::Removed(text) => ('-', text.to_owned()),
                Line::Added(text) => ('+', text.to_owned()),
                Line::More(more) => (' ', format!("… {more} more lines")),
            };
            let text = terminal::cut(&terminal::plain(&text), Self::columns().saturating_sub(6));
            let text = format!("    {mark} {text}");
            let text = match mark {
                '-' => self.paint.red(&text),
                '+' => self.paint.green(&text),
                _ => self.paint.dim(&text),
            };
            self.tell(&text);
        }
    }

    fn show_result(&mut self, text: &str) {
        let width = Self::columns().saturating_sub(4);
        let all: Vec<&str> = text.lines().collect();
        let more = all.len().saturating_sub(RESULT_LINES);
        for line in all.iter().take(RESULT_LINES) {
            let line = terminal::cut(&terminal::plain(line), width);
            let line = self.paint.dim(&format!("    {line}"));
            self.tell(&line);
        }
        if more > 0 {
            let line = self.paint.dim(&format!("    … {more} more lines"));
            self.tell(&line);
        }
    }
}

impl Teller for Screen {
    fn said(&mut self, piece: &str) {
        if self.form == Form::Transcript {
            return;
        }
        self.showing = if piece.ends_with('\n') { Showing::Line } else { Showing::Piece };
        terminal::write_out(piece).ok();
    }

    fn thought(&mut self, _piece: &str) {
        let is_told = self.form == Form::Transcript || self.showing == Showing::Thought;
        if !is_told && terminal::err_columns().is_some() {
            let text = self.paint.dim("  (thinking)");
            self.tell(&text);
            self.showing = Showing::Thought;
        }
    }

    fn fell_silent(&mut self) {
        self.end_line();
    }

    fn answered(&mut self, words: &str) {
        if self.form == Form::Transcript && !words.trim().is_empty() {
            terminal::write_out(&format!("{}\n", words.trim_end())).ok();
        }
    }

    fn spent(&mut self, spend: Spend, _permille: Option<u16>) {
        let Spend { input_tokens, output_tokens, cost_micro_usd } = &mut self.spent;
        *input_tokens = input_tokens.saturating_add(spend.input_tokens);
        *output_tokens = output_tokens.saturating_add(spend.output_tokens);
        *cost_micro_usd = cost_micro_usd.saturating_add(spend.cost_micro_usd);
    }

    fn announced(&mut self, _shown: &Shown<'_>) {}

    fn called(&mut self, shown: &Shown<'_>) {
        let call = call_words(shown, Self::columns());
        let text = format!("  {} {call}", self.paint.cyan("●"));
        self.tell(&text);
    }

    fn returned(&mut self, _call: &ToolCall, done: &Done, text: &str) {
        match (&done.change, done.outcome) {
            (Some(change), ToolOutcome::Ok) => self.show_change(change),
            (_, ToolOutcome::Refused) => {
                let text = format!("    {} {}", self.paint.yellow("not made:"), first_line(text));
                self.tell(&text);
            }
            _ => self.show_result(text),
        }
    }

    fn judged(&mut self, spoken: &Spoken) {
        let word = match spoken.rung {
            Rung::Pass | Rung::Refuse | Rung::Redirect | Rung::Ask => return,
            Rung::Nudge => self.paint.yellow("flyball:"),
            Rung::Halt => self.paint.red("flyball:"),
        };
        let why = spoken.trip.as_ref().map(|trip| trip.evidence.clone());
        let why = why.or_else(|| spoken.message.clone()).unwrap_or_default();
        self.tell(&format!("  {word} {}", first_line(&why)));
    }

    fn watch_gates(&mut self) -> Watch {
        self.end_line();
        let (paint, form) = (self.paint, self.form);
        Box::new(move |progress| write_line(&gate_words(&progress, paint), form))
    }

    fn sent_back(&mut self, reason: &str) {
        let text = reason.trim_start_matches("# ");
        let word = self.paint.yellow("flyball: sent back:");
        self.tell(&format!("  {word} {}", first_line(text)));
    }

    fn retrying(&mut self, why: &str, wait: Duration) {
        let secs = wait.as_secs_f32().ceil();
        let text = format!("  {} {why}; again in {secs} s", self.paint.yellow("flyball:"));
        self.tell(&text);
    }

    fn compacting(&mut self, messages: usize) {
        let text =
            format!("  flyball: the window is nearly full: {messages} messages become a summary");
        let text = self.paint.dim(&text);
        self.tell(&text);
    }

    fn failed(&mut self, _failure: &Failure) {}

    fn lost(&mut self, _why: &str) {}

    fn summed_up(&mut self) {
        let Spend { input_tokens, output_tokens, cost_micro_usd } = self.spent;
        let tokens = input_tokens.saturating_add(output_tokens);
        if tokens == 0 {
            return;
        }
        let (tokens, money) = (words::count(tokens), words::dollars(cost_micro_usd));
        let text = format!("{tokens} tokens, {money}");
        let text = self.paint.dim(&text);
        self.tell(&text);
    }

    fn question(&mut self, shown: &Shown<'_>) -> String {
        let text = |name: &str| shown.args.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(after) = text("new").or_else(|| text("content")) {
            let (path, before) = (String::new(), text("old").unwrap_or_default());
            self.show_change(&Change { path, before, after });
        } else {
            // Whoever allows it has seen all of it, and not what fits into a line.
            let whole = text("command").unwrap_or_else(|| shown.args.to_string());
            for line in whole.lines() {
                self.tell(&format!("    {}", terminal::plain(line)));
            }
        }
        let what = shown.args.get("path").and_then(Value::as_str).unwrap_or_default();
        let what =
            terminal::cut(&terminal::plain(what), Self::columns().saturating_sub(50).max(10));
        format!("  {} {} {what}", self.paint.yellow("?"), shown.call.tool).trim_end().to_owned()
    }
}

/// Writes a line of the story, no wider than the screen.
fn write_line(text: &str, form: Form) {
    let text = terminal::err_columns().map_or_else(
        || text.to_owned(),
        |columns| terminal::fitted(text, columns).trim_end().to_owned(),
    );
    if form == Form::Transcript {
        // A reader that has gone is no loss here.
        terminal::write_out(&format!("{text}\n")).ok();
    } else {
        terminal::write_err(&format!("{text}\n"));
    }
}

/// What a gate does, in one line.
fn gate_words(progress: &GateProgress, paint: Paint) -> String {
    let (check, note) = match progress {
        GateProgress::Started { name, index, of } => {
            let place = if *of > 1 { format!(" ({index} of {of})") } else { String::new() };
            return paint.dim(&format!("  gate {name}{place} …"));
        }
        GateProgress::Finished(check) => (check, format!("({})", check.duration)),
        GateProgress::Cached(check) => (check, format!("({})", why_known(check))),
    };
    let word = check.status.as_str();
    let word = match &check.status {
        CheckStatus::Passed => paint.green(word),
        CheckStatus::Failed | CheckStatus::TimedOut => paint.red(word),
        CheckStatus::Skipped { .. } => paint.yellow(word),
    };
    format!("  gate {}: {word} {}", check.gate, paint.dim(&note))
}

/// A call in one line.
fn call_words(Shown { call, args }: &Shown<'_>, columns: usize) -> String {
    let text = |name: &str| args.get(name).and_then(Value::as_str);
    let what = ["command", "path", "pattern", "prompt"].into_iter().find_map(text);
    let what = what.map_or_else(|| args.to_string(), |what| what.replace('\n', " ⏎ "));
    let room = columns.saturating_sub(call.tool.len() + 6).max(10);
    format!("{} {}", call.tool, terminal::cut(&terminal::plain(&what), room))
}
