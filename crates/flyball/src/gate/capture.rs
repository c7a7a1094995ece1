//! What a check prints: understood as it comes, and its beginning and end kept. Memory stays
//! bounded whatever is printed.

use std::collections::VecDeque;

use flyball_gates::{Exit, Parsed, Parser};

use crate::process::Stream;

/// How much of the beginning is kept, and how much of the end.
const KEPT: usize = 16 * 1024;
/// The longest unfinished line that is held back.
const LINE_MAX: usize = 64 * 1024;

/// The output of one check.
pub(super) struct Capture {
    parser: Parser,
    /// Lines of stdout and stderr that have not ended yet: the two are mixed by lines only.
    unfinished: [Vec<u8>; 2],
    kept: Kept,
}

impl Capture {
    pub(super) fn new(command: &str) -> Self {
        Self {
            parser: Parser::new(command),
            unfinished: [Vec::new(), Vec::new()],
            kept: Kept::default(),
        }
    }

    /// Takes what was just printed.
    pub(super) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        self.kept.take(bytes);
        let [out, err] = &mut self.unfinished;
        let unfinished = match stream {
            Stream::Stdout => out,
            Stream::Stderr => err,
        };
        let end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at.saturating_add(1));
        let (lines, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        if !lines.is_empty() {
            self.parser.feed(unfinished);
            unfinished.clear();
            self.parser.feed(lines);
        }
        unfinished.extend_from_slice(rest);
        if unfinished.len() > LINE_MAX {
            self.parser.feed(unfinished);
            unfinished.clear();
        }
    }

    /// What it says, and what is kept of it.
    pub(super) fn finish(mut self, exit: Exit) -> (Parsed, Vec<u8>) {
        for unfinished in self.unfinished {
            if !unfinished.is_empty() {
                self.parser.feed(&unfinished);
                self.parser.feed(b"\n");
            }
        }
        (self.parser.finish(exit), self.kept.bytes())
    }
}

/// The beginning and the end of a text of any length.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Kept {
    fn take(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        let skipped = rest.len().saturating_sub(KEPT);
        let rest = rest.get(skipped..).unwrap_or_default();
        let excess = self.tail.len().saturating_add(rest.len()).saturating_sub(KEPT);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(rest);
        let gone = skipped.saturating_add(excess);
        self.left_out = self.left_out.saturating_add(u64::try_from(gone).unwrap_or(u64::MAX));
    }

    fn bytes(self) -> Vec<u8> {
        let mut all = self.head;
        if self.left_out > 0 {
            let note = format!("\n[{} bytes are left out here]\n", self.left_out);
            all.extend_from_slice(note.as_bytes());
        }
        all.extend(self.tail);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_kept_whole_and_long_output_keeps_both_ends() {
        let cases: [(usize, usize); 4] = [(1, 10), (KEPT, 2), (7, 10_000), (3 * KEPT, 3)];
        for (piece, times) in cases {
            let all: Vec<u8> = (b'a'..=b'w').cycle().take(piece * times).collect();
            let mut kept = Kept::default();
            for bytes in all.chunks(piece) {
                kept.take(bytes);
            }
            let got = kept.bytes();
            if all.len() <= 2 * KEPT {
                assert_eq!(got, all, "{piece} × {times}");
            } else {
                let note = format!("\n[{} bytes are left out here]\n", all.len() - 2 * KEPT);
                let expected = [&all[..KEPT], note.as_bytes(), &all[all.len() - KEPT..]].concat();
                assert_eq!(got, expected, "{piece} × {times}");
            }
        }
    }

    #[test]
    fn two_streams_are_mixed_by_whole_lines() {
        let mut capture = Capture::new("x");
        capture.take(Stream::Stdout, b"one ");
        capture.take(Stream::Stderr, b"err\nno end");
        capture.take(Stream::Stdout, b"two\nthree");
        let (parsed, kept) = capture.finish(Exit::Code(1));
        let lines: Vec<&str> = parsed.tail.lines().collect();
        assert_eq!(lines, ["err", "one two", "three", "no end"]);
        assert_eq!(kept, b"one err\nno endtwo\nthree");
    }
}
