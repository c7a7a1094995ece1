//! Cuts a stream of bytes into clean lines of bounded length.

use crate::ansi;
use crate::hints::Hints;
use crate::skim::Skimmed;
use crate::tail::Tail;

/// Longer lines of text are cut here.
const TEXT_MAX: usize = 64 * 1024;
/// Longer lines of JSON and XML are cut here, and then no longer understood.
const DOCUMENT_MAX: usize = 16 * 1024 * 1024;

/// How many bytes of lines are looked at together.
const STRETCH: usize = 8 * 1024;
/// So many lines go by one by one after one that was not routine, where others before it were not.
const PATIENCE: u32 = 16;
/// So many lines in a row that were not routine are looked at alone.
const MISSES_MAX: u32 = 4;

/// One clean line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clean<'a> {
    /// Its text, without colours and without its end.
    pub text: &'a str,
    /// Whether it is among the last lines of the same bytes: others are certain to be pushed out
    /// again by them and need not be kept.
    pub near_end: bool,
    /// What may be in it.
    pub hints: Hints,
    /// Whether it was among lines that were skimmed, and not taken.
    pub is_refused: bool,
}

/// Who gets the lines.
pub(crate) trait Sink {
    /// Whether words that speak of an error are still looked for.
    fn is_curious(&self) -> bool;
    /// Takes whole lines from the start of these, if they are nothing special. They have no colours.
    fn skim(&mut self, lines: &[u8]) -> Skimmed;
    /// Takes a line.
    fn line(&mut self, line: Clean<'_>);
}

/// The beginning of a line whose end has not come yet.
#[derive(Clone, Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    /// Whether a line is open: its first byte has come.
    open: bool,
    /// Where coloured lines are put together, used again and again.
    room: Vec<u8>,
    /// How many lines in a row were not routine, as far as that matters.
    misses: u32,
}

impl Lines {
    /// Takes the next bytes and hands over each finished line.
    pub(crate) fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let ends = memchr::memrchr(b'\n', bytes).map_or(0, |last| last + 1);
        let (mut whole, rest) = bytes.split_at_checked(ends).unwrap_or((bytes, &[]));
        // Where the last lines begin.
        let mut near =
            memchr::memrchr_iter(b'\n', whole).nth(Tail::LINES_MAX).map_or(0, |at| at + 1);
        if self.open
            && let Some(end) = memchr::memchr(b'\n', whole)
        {
            self.keep(whole.get(..end).unwrap_or_default());
            self.close(near, sink);
            whole = whole.get(end + 1..).unwrap_or_default();
            near = near.saturating_sub(end + 1);
        }
        while !whole.is_empty() {
            let (stretch, after) = stretch(whole);
            self.whole_lines(stretch, near, sink);
            near = near.saturating_sub(stretch.len());
            whole = after;
        }
        if !rest.is_empty() {
            self.keep(rest);
            self.open = true;
        }
    }

    /// Hands over the last line, which had no end.
    pub(crate) fn finish(&mut self, sink: &mut impl Sink) {
        if self.open {
            self.close(0, sink);
        }
    }

    /// Hands over the line that is open; what follows it is near the end from `near` on.
    fn close(&mut self, near: usize, sink: &mut impl Sink) {
        let text = &ansi::clean(&self.partial, &mut self.room);
        sink.line(Clean { text, near_end: near == 0, hints: Hints::UNKNOWN, is_refused: false });
        self.partial.clear();
        self.open = false;
    }

    /// Hands over lines all of which have their end; those from `near` on are the last ones.
    fn whole_lines(&mut self, bytes: &[u8], near: usize, sink: &mut impl Sink) {
        let hints = if sink.is_curious() { Hints::of } else { Hints::of_places };
        let mut control = next_control(bytes, 0);
        let mut seen = None;
        let (mut at, mut patience) = (0, 0);
        while at < bytes.len() {
            let mut is_refused = false;
            if patience == 0 {
                let lines = plain(bytes, at, control.min(near));
                let skimmed = sink.skim(lines);
                at += skimmed.bytes;
                is_refused = skimmed.bytes < lines.len();
                self.misses = if skimmed.lines > 0 { 0 } else { self.misses.saturating_add(1) };
                patience = if self.misses < MISSES_MAX { 1 } else { PATIENCE };
            }
            patience -= 1;
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(length) = memchr::memchr(b'\n', rest) else { break };
            let (line, end) = (rest.get(..length).unwrap_or_default(), at + length);
            let seen = match &seen {
                // One line among many that were routine is looked at alone.
                None if self.misses < MISSES_MAX => {
                    Seen { whole: std::str::from_utf8(line).ok(), from: at, hints: Hints::UNKNOWN }
                }
                _ => *seen.get_or_insert_with(|| Seen::of(bytes, at, hints)),
            };
            let (text, near_end) = (seen.text(at, end).filter(|_| control > end), at >= near);
            match text {
                Some(text) if text.len() <= TEXT_MAX => {
                    sink.line(Clean { text, near_end, hints: seen.hints, is_refused });
                }
                _ => {
                    let text = &ansi::clean(cut(line), &mut self.room);
                    sink.line(Clean { text, near_end, hints: Hints::UNKNOWN, is_refused });
                }
            }
            if control < end {
                control = next_control(bytes, end);
            }
            at = end + 1;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let first = self.partial.first().or_else(|| bytes.first());
        let room = limit(first).saturating_sub(self.partial.len());
        self.partial.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

/// What is seen of many lines at once and not of each of them, once it is needed.
#[derive(Clone, Copy)]
struct Seen<'a> {
    whole: Option<&'a str>,
    from: usize,
    hints: Hints,
}

impl<'a> Seen<'a> {
    fn of(bytes: &'a [u8], from: usize, hints: fn(&[u8]) -> Hints) -> Self {
        let rest = bytes.get(from..).unwrap_or_default();
        Self { whole: std::str::from_utf8(rest).ok(), from, hints: hints(rest) }
    }

    fn text(&self, start: usize, end: usize) -> Option<&'a str> {
        self.whole?.get(start.checked_sub(self.from)?..end.checked_sub(self.from)?)
    }
}

/// The whole lines from `at` on that end before `end`.
fn plain(bytes: &[u8], at: usize, end: usize) -> &[u8] {
    let rest = bytes.get(at..end.min(bytes.len())).unwrap_or_default();
    let length = memchr::memrchr(b'\n', rest).map_or(0, |last| last + 1);
    rest.get(..length).filter(|lines| lines.len() <= STRETCH).unwrap_or_default()
}

/// Some whole lines from the start, and what follows them.
fn stretch(bytes: &[u8]) -> (&[u8], &[u8]) {
    let near = bytes.get(..STRETCH).unwrap_or(bytes);
    let end = memchr::memrchr(b'\n', near).or_else(|| memchr::memchr(b'\n', bytes));
    end.and_then(|end| bytes.split_at_checked(end + 1)).unwrap_or((bytes, &[]))
}

/// Where the next byte stands that a terminal would not show.
fn next_control(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    memchr::memchr2(ansi::ESCAPE, b'\r', rest).map_or(usize::MAX, |at| from + at)
}

fn cut(line: &[u8]) -> &[u8] {
    line.get(..limit(line.first())).unwrap_or(line)
}

const fn limit(first: Option<&u8>) -> usize {
    match first {
        Some(b'{' | b'[' | b'<') => DOCUMENT_MAX,
        _ => TEXT_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::{Clean, Lines, Sink, TEXT_MAX};
    use crate::skim::Skimmed;

    /// All lines, and those among them that were not the last ones. Lines with an `r` are routine.
    #[derive(Default)]
    struct Seen {
        lines: Vec<String>,
        early: usize,
        skimmed: u64,
    }

    impl Sink for Seen {
        fn is_curious(&self) -> bool {
            true
        }

        fn skim(&mut self, lines: &[u8]) -> Skimmed {
            let mut skimmed = Skimmed::default();
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                if !line.starts_with(b"r") {
                    break;
                }
                skimmed.bytes += line.len();
                skimmed.lines += 1;
                self.lines.push(String::from_utf8_lossy(line).trim_end().to_owned());
            }
            self.skimmed += skimmed.lines;
            skimmed
        }

        fn line(&mut self, line: Clean<'_>) {
            self.lines.push(line.text.to_owned());
            self.early += usize::from(!line.near_end);
        }
    }

    fn seen(chunks: &[&[u8]]) -> Seen {
        let mut lines = Lines::default();
        let mut seen = Seen::default();
        for chunk in chunks {
            lines.feed(chunk, &mut seen);
        }
        lines.finish(&mut seen);
        seen
    }

    fn split(chunks: &[&[u8]]) -> Vec<String> {
        seen(chunks).lines
    }

    #[test]
    fn chunk_borders_do_not_matter() {
        let text = b"one\r\n\ntwo\x1b[0m\nlast";
        let whole = split(&[text]);
        assert_eq!(whole, ["one", "", "two", "last"]);
        for cut in 0..text.len() {
            assert_eq!(split(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn many_lines_are_all_handed_over_in_their_order_and_the_last_ones_as_such() {
        let lines: Vec<String> = (0..5_000)
            .map(|number| format!("{} {number}", if number % 7 == 3 { "line" } else { "routine" }))
            .collect();
        let text = format!("{}\n", lines.join("\n"));
        let whole = seen(&[text.as_bytes()]);
        assert_eq!(whole.lines, lines);
        assert!(whole.skimmed > 4_000, "{}", whole.skimmed);
        let plain = text.replace("routine", "line");
        assert_eq!(seen(&[plain.as_bytes()]).early, 4_960);
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(1_013).collect();
        assert_eq!(split(&pieces), lines);
        let coloured = text.replace("line 101\n", "line \u{1b}[0m101\n");
        assert_eq!(split(&[coloured.as_bytes()]), lines);
    }

    #[test]
    fn one_strange_line_does_not_spoil_the_others() {
        let seen =
            split(&[b"a \xc3\xa9\n\xff\n\x1b[31mred\x1b[0m\n1\r2\nlast \xe2\x9c", b"\x93\n"]);
        assert_eq!(seen, ["a \u{e9}", "\u{fffd}", "red", "2", "last \u{2713}"]);
    }

    #[test]
    fn a_very_long_line_is_cut_the_same_way_however_it_arrives() {
        let long = vec![b'x'; TEXT_MAX + 10];
        let once = split(&[&long, b"\nnext\n"]);
        let slowly: Vec<&[u8]> = long.chunks(1000).chain([b"\nnext\n".as_slice()]).collect();
        assert_eq!(once, split(&slowly));
        assert_eq!(once[0].len(), TEXT_MAX);
        assert_eq!(once[1], "next");
    }
}
