//! Bytes in, lines out to the tail and the streams; a copy can be taken at any time.

use std::sync::Arc;

use crate::lines::{Clean, Lines, Sink};
use crate::passing::Passing;
use crate::report::{Memory, Report};
use crate::skim::Skimmed;
use crate::stream::Stream;
use crate::tail::Tail;
use crate::{Exit, Finding, Parsed, merge};

/// Everything that was read so far.
#[derive(Clone)]
pub(crate) struct Reading {
    lines: Lines,
    reader: Reader,
    command: String,
}

/// What is said at some point.
pub(crate) struct SoFar {
    /// All but the findings.
    pub parsed: Parsed,
    /// The findings, which are still kept elsewhere.
    pub findings: Vec<Arc<Finding>>,
    /// How much is remembered, by list.
    pub memories: Vec<Memory>,
}

/// Who gets the lines.
#[derive(Clone)]
struct Reader {
    tail: Tail,
    stream: Stream,
    number: u64,
}

impl Reading {
    /// Nothing yet, of the output of `command`.
    pub(crate) fn new(command: &str) -> Self {
        let reader = Reader { tail: Tail::default(), stream: Stream::new(command), number: 0 };
        Self { lines: Lines::default(), reader, command: command.to_owned() }
    }

    /// Reads the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.lines.feed(bytes, &mut self.reader);
    }

    /// Counts lines that nobody reads.
    pub(crate) const fn pass(&mut self, lines: u64) {
        self.reader.number = self.reader.number.saturating_add(lines);
    }

    /// What it would say if the check had failed here.
    pub(crate) fn so_far(&mut self) -> SoFar {
        self.reader.stream.share();
        let Self { mut lines, mut reader, command } = self.clone();
        lines.finish(&mut reader);
        let said = reader.stream.finish(reader.number);
        let reports = said.iter().flat_map(|one| &one.reports);
        let memories = reports.flat_map(Report::memories).collect();
        let (parsed, findings) = merge::merged(said, reader.tail, Exit::Code(1), &command);
        SoFar { parsed, findings, memories }
    }

    /// What it all says.
    pub(crate) fn finish(mut self, exit: Exit) -> Parsed {
        self.lines.finish(&mut self.reader);
        let Reader { tail, stream, number } = self.reader;
        merge::merge(stream.finish(number), tail, exit, &self.command)
    }
}

impl Sink for Reader {
    fn is_curious(&self) -> bool {
        self.stream.is_curious()
    }

    fn skim(&mut self, lines: &[u8]) -> Skimmed {
        let skimmed = self.stream.skim(lines, self.number.saturating_add(1));
        self.number = self.number.saturating_add(skimmed.lines);
        skimmed
    }

    fn line(&mut self, line: Clean<'_>) {
        let Clean { text, near_end, hints, is_refused } = line;
        self.number = self.number.saturating_add(1);
        if near_end {
            self.tail.push(text, self.number);
        }
        self.stream.line(Passing { text, number: self.number, hints, near_end, is_refused });
    }
}
