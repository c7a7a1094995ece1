//! Reading a stream of JSON lines: what is the same for every client.
//!
//! A line that is no event is one validation failure, adjacent ones are one, and those before the
//! first event are a banner. Unknown events are noted and never fatal.

use std::collections::VecDeque;

use flyball_core::call::{StreamLines, ValidationKind};
use flyball_core::event::{Exit, ExitHow};
use memchr::memmem;
use serde::Deserialize;

use super::lenient::{Text, from_str, mended, object};
use super::lines::{Line, Lines};
use super::session::StreamSession;
use super::{AgentNote, Fact, Reader, UsageEntry};

/// What a format made of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Understood {
    /// It was an event, known or not.
    Event,
    /// It was no event.
    Nothing,
}

/// How one client's lines are read.
pub(crate) trait StreamFormat: Send {
    /// Reads one line of standard output.
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood;

    /// Reads one line of standard error.
    fn error_line(&mut self, _line: &str, _to: &mut StreamSession) {}

    /// Learns that a stop was refused after the agent had said `said`.
    fn refused_stop(&mut self, _said: &str) {}

    /// The process is gone.
    fn end(&mut self, _how: ExitHow, _to: &mut StreamSession) {}
}

object! {
    struct Any<'a> {
        "type" => kind: Text<'a>,
    }
}

/// Reads one line. A JSON object that does not fit is an event of an unknown kind.
pub(crate) fn parse<'a, T: Deserialize<'a>>(
    line: &'a str,
    to: &mut StreamSession,
) -> Result<T, Understood> {
    if !line.starts_with('{') {
        return Err(Understood::Nothing);
    }
    from_str(line).map_err(|_| match from_str::<Any<'_>>(line) {
        Ok(any) => unknown(&any.kind, to),
        Err(_) => Understood::Nothing,
    })
}

/// Notes an event of an unknown kind.
pub(crate) fn unknown(kind: &str, to: &mut StreamSession) -> Understood {
    to.note(AgentNote::Unknown(flyball_core::text::prefix(kind, 100).to_owned()));
    Understood::Event
}

/// Reads the stream of one session.
pub(crate) struct StreamReader<F> {
    format: F,
    state: StreamState,
    stdout: Lines,
    stderr: Lines,
    /// The last lines of standard error: all there is when a client fails before its first event.
    complaint: VecDeque<String>,
}

/// The session with what is known of the stream itself.
struct StreamState {
    session: StreamSession,
    lines: StreamLines,
    /// Whether there was an event.
    begun: bool,
}

impl<F: StreamFormat> StreamReader<F> {
    pub(crate) fn new(format: F, session: StreamSession) -> Self {
        let state = StreamState { session, lines: StreamLines::default(), begun: false };
        let (stdout, stderr) = (Lines::default(), Lines::default());
        Self { format, state, stdout, stderr, complaint: VecDeque::new() }
    }
}

impl StreamState {
    fn line(&mut self, line: &Line<'_>, format: &mut impl StreamFormat) {
        let (Line::Whole(text) | Line::Overlong(text)) = line;
        // Events have nothing to trim.
        let whole = text.starts_with('{') && text.ends_with('}');
        let text = if whole { text } else { text.trim() };
        if text.is_empty() {
            return;
        }
        let understood = match line {
            Line::Whole(_) => self.read(&mended(text), format),
            Line::Overlong(_) => Understood::Nothing,
        };
        match understood {
            Understood::Event => {
                self.begun = true;
                self.lines.event();
            }
            Understood::Nothing if !self.lines.bad() => {}
            Understood::Nothing => {
                let error = match line {
                    Line::Whole(_) => "the line is no JSON event",
                    Line::Overlong(_) => "the line is longer than 8 MiB",
                };
                self.session.nonsense(ValidationKind::BadStreamLine, text, error);
            }
        }
    }

    fn error_line(
        &mut self,
        line: &Line<'_>,
        format: &mut impl StreamFormat,
        complaint: &mut VecDeque<String>,
    ) {
        let (Line::Whole(text) | Line::Overlong(text)) = line;
        format.error_line(text, &mut self.session);
        if !self.begun && !text.trim().is_empty() {
            if complaint.len() == 3 {
                complaint.pop_front();
            }
            complaint.push_back(flyball_core::text::prefix(text, 300).to_owned());
        }
    }

    /// A line, or the event at its end when something else was printed in front of it.
    fn read(&mut self, text: &str, format: &mut impl StreamFormat) -> Understood {
        let understood = format.line(text, &mut self.session);
        if understood == Understood::Event {
            return understood;
        }
        match memmem::find(text.as_bytes(), b"{\"type\":")
            .filter(|&at| at > 0)
            .and_then(|at| text.get(at..))
        {
            Some(event) => format.line(event, &mut self.session),
            None => Understood::Nothing,
        }
    }
}

impl<F: StreamFormat> Reader for StreamReader<F> {
    fn stdout(&mut self, bytes: &[u8], out: &mut Vec<Fact>) {
        let Self { format, state, stdout, .. } = self;
        stdout.feed(bytes, |line| state.line(&line, format));
        state.session.drain_into(out);
    }

    fn stderr(&mut self, bytes: &[u8], out: &mut Vec<Fact>) {
        let Self { format, state, stderr, complaint, .. } = self;
        stderr.feed(bytes, |line| state.error_line(&line, format, complaint));
        state.session.drain_into(out);
    }

    fn refused_stop(&mut self, said: &str) {
        self.format.refused_stop(said);
    }

    fn refused_call(&mut self, id: &str) {
        self.state.session.refused_call(id);
    }

    fn used(&mut self, entry: &UsageEntry, out: &mut Vec<Fact>) {
        self.state.session.used_by_file(entry);
        self.state.session.drain_into(out);
    }

    fn finish(mut self: Box<Self>, how: ExitHow, out: &mut Vec<Fact>) -> Exit {
        let Self { format, state, stdout, stderr, complaint } = &mut *self;
        stdout.end(|line| state.line(&line, format));
        stderr.end(|line| state.error_line(&line, format, complaint));
        format.end(how, &mut state.session);
        if !state.begun && !how.is_clean() && !complaint.is_empty() {
            let complaint = complaint.make_contiguous().join("\n");
            state.session.failed(&complaint);
        }
        let exit = state.session.end(how);
        state.session.drain_into(out);
        exit
    }
}
