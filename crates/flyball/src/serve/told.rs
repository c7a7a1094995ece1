//! Which lines of a run are shown, and a page of them.

use flyball_core::Moment;
use serde::Deserialize;

use crate::journal::{StoredKind, ToldLine, ToldSort};
use crate::view::{Line, Severity, Speaker, Verb, Weight, words};

/// How much of a line is kept.
pub(super) const TEXT_MAX: usize = 300;

/// Which lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Show {
    /// What is worth reading.
    #[default]
    Story,
    /// What guards did.
    Guards,
    /// What gates said.
    Gates,
    /// Calls and what they gave.
    Calls,
    /// Every event.
    Everything,
}

impl Show {
    /// All of them, in the word of the address and in those of people.
    pub(super) const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Story, "story", "Worth reading"),
        (Self::Guards, "guards", "Guards"),
        (Self::Gates, "gates", "Gates"),
        (Self::Calls, "calls", "Calls"),
        (Self::Everything, "everything", "Everything"),
    ];

    pub(super) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(one, ..)| *one == self).map_or("story", |(_, word, _)| word)
    }

    /// The sort that is looked for; none is everything.
    pub(super) const fn sort(self) -> Option<ToldSort> {
        match self {
            Self::Story => Some(ToldSort::Story),
            Self::Guards => Some(ToldSort::Guards),
            Self::Gates => Some(ToldSort::Gates),
            Self::Calls => Some(ToldSort::Calls),
            Self::Everything => None,
        }
    }
}

/// The sorts a line is of.
pub(super) fn sorts(line: &Line) -> [bool; 4] {
    ToldSort::ALL.map(|sort| match sort {
        ToldSort::Story => line.weight == Weight::Story,
        ToldSort::Guards => line.speaker == Speaker::Guard,
        ToldSort::Gates => line.speaker == Speaker::Gate,
        ToldSort::Calls => matches!(line.verb, Verb::Call | Verb::Result | Verb::Invalid),
    })
}

/// A line as it is kept.
pub(super) fn kept(seq: u64, line: &Line) -> ToldLine {
    ToldLine {
        seq,
        at: line.at,
        iteration: line.iteration,
        verb: line.verb.as_str().to_owned(),
        tone: tone(line.severity).to_owned(),
        text: flyball_core::text::head(words::lines(&line.text).trim(), TEXT_MAX),
    }
}

const fn tone(severity: Severity) -> &'static str {
    match severity {
        Severity::Quiet | Severity::Plain => "plainly",
        Severity::Turn => "turn",
        Severity::Good => "good",
        Severity::Warn => "warn",
        Severity::Bad => "bad",
    }
}

/// A page of lines, in order.
#[derive(Debug, Default)]
pub(super) struct LinePage {
    pub(super) lines: Vec<Shown>,
    /// Whether there are earlier ones.
    pub(super) more: bool,
    /// Why not all of the run could be told.
    pub(super) broken: Option<String>,
}

/// What is shown of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// A line that is told of it.
    Told(ToldLine),
    /// Nothing is: when it came, and what sort it is.
    Silent { seq: u64, at: Moment, kind: &'static str },
}

impl Shown {
    pub(super) const fn seq(&self) -> u64 {
        match self {
            Self::Told(line) => line.seq,
            Self::Silent { seq, .. } => *seq,
        }
    }
}

/// Events and what is told of them, side by side; both in order.
pub(super) fn everything(events: &[StoredKind], told: Vec<ToldLine>) -> Vec<Shown> {
    let mut shown = Vec::with_capacity(events.len().max(told.len()));
    let mut told = told.into_iter().peekable();
    for event in events {
        let mut silent = true;
        while let Some(line) = told.next_if(|line| line.seq <= event.seq) {
            silent = false;
            shown.push(Shown::Told(line));
        }
        if silent {
            shown.push(Shown::Silent { seq: event.seq, at: event.at, kind: kind(&event.kind) });
        }
    }
    shown
}

/// The last lines of these, and whether there are more. A page begins with an event's first line: what
/// comes before is found by that event's number.
pub(super) fn cut(mut lines: Vec<Shown>, most: usize) -> (Vec<Shown>, bool) {
    let Some(over) = lines.len().checked_sub(most).filter(|over| *over > 0) else {
        return (lines, false);
    };
    let torn = lines.get(over - 1).map(Shown::seq);
    let whole = lines.iter().skip(over).position(|line| Some(line.seq()) != torn);
    // All of a page from one event: its last lines are better than none.
    lines.drain(..over + whole.unwrap_or(0));
    (lines, true)
}

/// An event nothing is told of, in words.
fn kind(stored: &str) -> &'static str {
    match stored {
        "run.started" => "run started",
        "run.resumed" => "run resumed",
        "agent" => "sign of the agent",
        "worktree.seen" => "worktree looked at",
        "gates.finished" => "gates finished",
        "timer.fired" => "timer",
        "time.passed" => "time passed",
        "stop.requested" => "stop asked for",
        "human.asked" => "a human's wish",
        "shell.failed" => "fault",
        "state.replaced" => "state replaced",
        _ => "event",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent(seq: u64) -> Shown {
        Shown::Silent { seq, at: Moment::from_millis(seq), kind: "timer" }
    }

    #[test]
    fn a_page_begins_with_the_first_line_of_an_event() {
        let lines = |seqs: &[u64]| seqs.iter().copied().map(silent).collect::<Vec<_>>();
        assert_eq!(cut(lines(&[1, 2, 3]), 3), (lines(&[1, 2, 3]), false));
        assert_eq!(cut(lines(&[1, 2, 3, 4]), 3), (lines(&[2, 3, 4]), true));
        assert_eq!(cut(lines(&[1, 2, 2, 3, 4]), 3), (lines(&[3, 4]), true));
        assert_eq!(cut(lines(&[7, 7, 7, 7]), 3), (lines(&[7, 7, 7]), true));
    }
}
