//! What an agent says, and what its program prints on standard error, in whole lines: pieces are
//! put together, messages are kept apart, and the one never runs into the other.

use flyball_core::{IterationNo, Moment};

use super::line::{Line, Severity, Verb, Weight};
use crate::terminal::PlainText;

/// The longest line that is waited for, and the longest that is shown, in characters.
const LINE_MAX: usize = 4_000;
/// How long the beginning of a line on standard error is waited for before it is shown.
const PATIENCE_MS: u64 = 1_000;

/// Both voices of a session.
#[derive(Debug, Default)]
pub(super) struct Speech {
    said: Voice,
    errors: Voice,
    /// Who spoke last, so that a message of several lines is marked once.
    last: Option<Verb>,
}

/// One of them.
#[derive(Debug, Default)]
struct Voice {
    /// Makes it safe, piece by piece.
    safe: PlainText,
    /// The line that has begun.
    open: String,
    /// Since when.
    since: Option<Moment>,
    /// Whether the line before was empty, or none was shown yet.
    is_blank: bool,
}

impl Speech {
    /// A piece of the agent's own text.
    pub(super) fn said(&mut self, at: Moment, iteration: IterationNo, piece: &str) -> Vec<Line> {
        let mut lines = self.interrupt(Verb::Says, at, iteration);
        let mut safe = String::with_capacity(piece.len());
        self.said.safe.push(piece, &mut safe);
        let whole = self.said.take(at, &safe);
        lines.extend(self.mark(Verb::Says, at, iteration, whole));
        lines
    }

    /// Bytes of its standard error.
    pub(super) fn errors(&mut self, at: Moment, iteration: IterationNo, bytes: &[u8]) -> Vec<Line> {
        let mut lines = self.interrupt(Verb::Stderr, at, iteration);
        let mut safe = String::with_capacity(bytes.len());
        self.errors.safe.push_bytes(bytes, &mut safe);
        let whole = self.errors.take(at, &safe);
        lines.extend(self.mark(Verb::Stderr, at, iteration, whole));
        lines
    }

    /// Somebody else speaks, or a message is over: what was begun is a line of its own.
    pub(super) fn ends(&mut self, at: Moment, iteration: IterationNo) -> Vec<Line> {
        let mut lines = self.end_voice(Verb::Says, at, iteration);
        lines.extend(self.end_voice(Verb::Stderr, at, iteration));
        self.last = None;
        lines
    }

    /// Whether nothing waits to be told.
    pub(super) fn is_quiet(&self) -> bool {
        self.said.open.is_empty() && self.errors.open.is_empty() && self.last.is_none()
    }

    /// Time has passed: half a line on standard error may be a question, and is shown.
    pub(super) fn waited(&mut self, at: Moment, iteration: IterationNo) -> Vec<Line> {
        let is_due = |since: Moment| at.since(since).get() >= PATIENCE_MS;
        if self.errors.since.is_some_and(is_due) {
            return self.end_voice(Verb::Stderr, at, iteration);
        }
        Vec::new()
    }

    /// The other voice is in the middle of a line: it ends there.
    fn interrupt(&mut self, by: Verb, at: Moment, iteration: IterationNo) -> Vec<Line> {
        let other = if by == Verb::Says { Verb::Stderr } else { Verb::Says };
        self.end_voice(other, at, iteration)
    }

    fn end_voice(&mut self, verb: Verb, at: Moment, iteration: IterationNo) -> Vec<Line> {
        let voice = if verb == Verb::Says { &mut self.said } else { &mut self.errors };
        let whole = voice.end();
        self.mark(verb, at, iteration, whole)
    }

    /// Whole lines of one voice, the first of them marked when somebody else spoke before.
    fn mark(
        &mut self,
        verb: Verb,
        at: Moment,
        iteration: IterationNo,
        whole: Vec<String>,
    ) -> Vec<Line> {
        let mut lines = Vec::with_capacity(whole.len());
        for text in whole {
            let goes_on = self.last.replace(verb) == Some(verb);
            let severity = if verb == Verb::Says { Severity::Plain } else { Severity::Quiet };
            let line = Line::spoken(at, verb, severity, text, goes_on).of(iteration);
            lines.push(line.for_readers_of(Weight::Call));
        }
        lines
    }
}

impl Voice {
    /// Adds a safe piece; the lines that are whole with it.
    fn take(&mut self, at: Moment, piece: &str) -> Vec<String> {
        let mut whole = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.open.push_str(part.trim_end_matches('\n'));
            if part.ends_with('\n') || self.open.len() > 4 * LINE_MAX {
                self.close(&mut whole);
            }
        }
        self.since = (!self.open.is_empty()).then(|| self.since.unwrap_or(at));
        whole
    }

    /// The line that has begun is over.
    fn end(&mut self) -> Vec<String> {
        let mut whole = Vec::new();
        if !self.open.is_empty() {
            self.close(&mut whole);
        }
        self.since = None;
        whole
    }

    /// Empty lines are kept between others, one at a time.
    fn close(&mut self, whole: &mut Vec<String>) {
        let line = std::mem::take(&mut self.open);
        let line = line.trim_end();
        self.since = None;
        let is_blank = line.is_empty();
        if is_blank && std::mem::replace(&mut self.is_blank, true) {
            return;
        }
        self.is_blank = is_blank;
        whole.push(flyball_core::text::head(line, LINE_MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Moment = Moment::from_millis(0);
    const ONE: IterationNo = IterationNo::new(1);

    fn told(lines: &[Line]) -> Vec<(Verb, bool, &str)> {
        lines.iter().map(|line| (line.verb, line.goes_on, line.text.as_str())).collect()
    }

    #[test]
    fn pieces_become_lines_and_two_voices_never_one() {
        let mut speech = Speech::default();
        assert_eq!(told(&speech.said(AT, ONE, "Look")), []);
        assert_eq!(told(&speech.said(AT, ONE, "ing.\nThen")), [(Verb::Says, false, "Looking.")]);
        let lines = speech.errors(AT, ONE, b"warn\nhalf");
        assert_eq!(told(&lines), [(Verb::Says, true, "Then"), (Verb::Stderr, false, "warn")]);
        let lines = speech.said(AT, ONE, "on\n");
        assert_eq!(told(&lines), [(Verb::Stderr, true, "half"), (Verb::Says, false, "on")]);
    }

    #[test]
    fn a_message_that_ends_is_not_glued_to_the_next() {
        let mut speech = Speech::default();
        speech.said(AT, ONE, "d1");
        assert_eq!(told(&speech.ends(AT, ONE)), [(Verb::Says, false, "d1")]);
        speech.said(AT, ONE, "d2");
        assert_eq!(told(&speech.ends(AT, ONE)), [(Verb::Says, false, "d2")]);
        assert!(speech.is_quiet());
    }

    #[test]
    fn half_a_line_on_standard_error_is_shown_after_a_while() {
        let mut speech = Speech::default();
        speech.errors(AT, ONE, b"Password: ");
        assert_eq!(told(&speech.waited(Moment::from_millis(999), ONE)), []);
        let lines = speech.waited(Moment::from_millis(1_000), ONE);
        assert_eq!(told(&lines), [(Verb::Stderr, false, "Password:")]);
    }

    #[test]
    fn empty_lines_come_one_at_a_time_and_long_ones_are_cut() {
        let mut speech = Speech::default();
        let lines = speech.said(AT, ONE, "a\n\n\n\nb\n");
        assert_eq!(told(&lines).iter().map(|one| one.2).collect::<Vec<_>>(), ["a", "", "b"]);
        let lines = speech.said(AT, ONE, &"x".repeat(20 * LINE_MAX));
        assert!(lines.iter().all(|line| line.text.chars().count() < LINE_MAX + 40));
        assert!(speech.said.open.len() <= 4 * LINE_MAX);
    }
}
