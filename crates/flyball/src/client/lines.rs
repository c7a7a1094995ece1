//! Bytes to lines, with bounded memory.

use std::borrow::Cow;

/// The longest line that is kept; a longer one counts as a bad one.
pub(crate) const LINE_MAX: usize = 8 * 1024 * 1024;

/// What is kept of the beginning of a longer one: whoever takes it may copy it, again and again.
const BEGINNING: usize = 64 * 1024;

/// How much memory is kept after a short line.
const KEPT: usize = 256 * 1024;

/// One line of output.
pub(crate) enum Line<'a> {
    /// A whole line, without its end.
    Whole(Cow<'a, str>),
    /// The beginning of a line that was too long.
    Overlong(Cow<'a, str>),
}

/// Collects bytes until a line is whole.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    overlong: bool,
}

impl Lines {
    /// Takes bytes and hands out every line they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or(&[]);
            if self.partial.is_empty() && head.len() <= LINE_MAX {
                self.give_back(head.len());
                each(Line::Whole(text(head)));
            } else {
                self.keep(head);
                self.hand_out(&mut each);
            }
        }
        self.keep(bytes);
    }

    /// The output is over: what is left is the last line.
    pub(crate) fn end(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.partial.is_empty() {
            self.hand_out(&mut each);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.overlong {
            return;
        }
        let room = LINE_MAX.saturating_sub(self.partial.len());
        self.partial.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or(&[]));
        if bytes.len() > room {
            self.overlong = true;
            self.partial.truncate(BEGINNING);
            self.partial.shrink_to(KEPT);
        }
    }

    fn hand_out(&mut self, each: &mut impl FnMut(Line<'_>)) {
        let line = text(&self.partial);
        let length = line.len();
        each(if self.overlong { Line::Overlong(line) } else { Line::Whole(line) });
        self.partial.clear();
        self.give_back(length);
        self.overlong = false;
    }

    /// Gives memory back after a short line: one long line rarely comes alone.
    fn give_back(&mut self, length: usize) {
        if self.partial.capacity() > KEPT && length < KEPT {
            self.partial.shrink_to(KEPT);
        }
    }
}

fn text(line: &[u8]) -> Cow<'_, str> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Nearly always valid, and checking is much faster than repairing.
    std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(lines: &mut Lines, bytes: &[u8], out: &mut Vec<String>) {
        lines.feed(bytes, |line| {
            out.push(match line {
                Line::Whole(text) => text.into_owned(),
                Line::Overlong(text) => format!("overlong {}", text.len()),
            });
        });
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_are_split() {
        let bytes = "one\r\ntwö\n\nthree".as_bytes();
        for cut in 0..=bytes.len() {
            let (mut lines, mut out) = (Lines::default(), Vec::new());
            collect(&mut lines, &bytes[..cut], &mut out);
            collect(&mut lines, &bytes[cut..], &mut out);
            assert_eq!(out, ["one", "twö", ""]);
            lines.end(|line| assert!(matches!(line, Line::Whole(text) if text == "three")));
        }
    }

    #[test]
    fn an_endless_line_is_cut_and_the_next_one_is_whole_again() {
        let (mut lines, mut out) = (Lines::default(), Vec::new());
        for _ in 0..9 {
            collect(&mut lines, &vec![b'x'; 1024 * 1024], &mut out);
            assert!(lines.partial.len() <= LINE_MAX);
        }
        assert!(lines.partial.capacity() <= KEPT, "all but the beginning is given back");
        collect(&mut lines, b"\nnext\n", &mut out);
        assert_eq!(out, [format!("overlong {BEGINNING}"), "next".to_owned()]);
    }
}
