//! What an agent quotes rather than says: code fences and inline code.
//!
//! Fences are three or more backticks or tildes at the start of a line, at any indentation; one that
//! is never closed quotes to the end. Inline code is n backticks closed by n backticks in the same
//! paragraph. One pass, and a map of backtick runs per paragraph: no text makes it slow.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

/// The quoted parts of a text, in order and not overlapping.
pub(super) fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut quotes = Quotes::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        quotes.line(line, at);
        at += line.len();
    }
    quotes.finish(at);
    quotes.found
}

/// Whether this line opens (or closes) a fence.
pub(super) fn is_fence(line: &str) -> bool {
    fence(line).is_some()
}

/// The character and length of a fence, and what follows it on its line.
#[derive(Clone, Copy)]
struct Fence<'a> {
    mark: char,
    length: usize,
    info: &'a str,
}

fn fence(line: &str) -> Option<Fence<'_>> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    // Backticks after backticks on one line are inline code.
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Fence { mark, length, info })
}

#[derive(Default)]
struct Quotes {
    found: Vec<Range<usize>>,
    /// The open fence: its mark, its length, where it began.
    open: Option<(char, usize, usize)>,
    /// Runs of backticks of the paragraph at hand: where, and how many.
    ticks: Vec<(usize, usize)>,
}

impl Quotes {
    fn line(&mut self, line: &str, at: usize) {
        let fence = fence(line);
        if let Some((mark, length, from)) = self.open {
            let closes = |f: Fence<'_>| f.mark == mark && f.length >= length && f.info.is_empty();
            if fence.is_some_and(closes) {
                self.found.push(from..at + line.len());
                self.open = None;
            }
            return;
        }
        if let Some(fence) = fence {
            self.end_paragraph();
            self.open = Some((fence.mark, fence.length, at));
        } else if line.trim().is_empty() {
            self.end_paragraph();
        } else {
            self.collect_ticks(line, at);
        }
    }

    fn finish(&mut self, end: usize) {
        self.end_paragraph();
        if let Some((_, _, from)) = self.open.take() {
            self.found.push(from..end);
        }
    }

    fn collect_ticks(&mut self, line: &str, at: usize) {
        let mut run = 0;
        for (index, byte) in line.bytes().enumerate() {
            if byte == b'`' {
                run += 1;
            } else if run > 0 {
                self.ticks.push((at + index - run, run));
                run = 0;
            }
        }
        if run > 0 {
            self.ticks.push((at + line.len() - run, run));
        }
    }

    /// Pairs each run with the next one of its length, left to right.
    fn end_paragraph(&mut self) {
        let mut later = BTreeMap::new();
        let mut closers = Vec::with_capacity(self.ticks.len());
        for (index, (_, length)) in self.ticks.iter().enumerate().rev() {
            closers.push(later.insert(*length, index));
        }
        closers.reverse();
        let mut next = 0;
        for (index, ((from, _), closer)) in self.ticks.iter().zip(closers).enumerate() {
            if index < next {
                continue;
            }
            let Some(closer) = closer else { continue };
            let Some((at, length)) = self.ticks.get(closer) else { continue };
            self.found.push(*from..at + length);
            next = closer + 1;
        }
        self.ticks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with its quoted parts taken out.
    fn said(text: &str) -> std::string::String {
        let mut out = std::string::String::new();
        let mut at = 0;
        for quote in quoted(text) {
            out.push_str(&text[at..quote.start]);
            at = quote.end;
        }
        out.push_str(&text[at..]);
        out
    }

    #[test]
    fn quotes_are_found_as_markdown_has_them() {
        let cases = [
            ("a `b` c", "a  c"),
            ("a ``b ` c`` d", "a  d"),
            ("a ` b", "a ` b"),
            ("a `b\nc` d", "a  d"),
            ("a `b\n\nc` d", "a `b\n\nc` d"),
            ("x\n```rust\nb\n```\ny", "x\ny"),
            ("x\n````\n```\nb\n````\ny", "x\ny"),
            ("x\n~~~\n```\n~~~\ny", "x\ny"),
            ("x\n```\nnever closed", "x\n"),
            ("x\n```\n``` not closing\ny", "x\n"),
            ("  - x\n      ```\n      b\n      ```\ny", "  - x\ny"),
            ("```inline``` y", " y"),
            ("a `b\n```\nc\n```\nd` e", "a `b\nd` e"),
            ("`", "`"),
            ("", ""),
        ];
        for (given, wanted) in cases {
            assert_eq!(said(given), wanted, "{given:?}");
        }
    }
}
