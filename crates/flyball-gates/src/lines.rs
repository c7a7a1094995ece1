//! Cuts a stream of bytes into clean lines of bounded length.

use crate::ansi;
use crate::hints::Hints;

/// Longer lines of text are cut here.
const TEXT_MAX: usize = 64 * 1024;
/// Longer lines of JSON and XML are cut here, and then no longer understood.
const DOCUMENT_MAX: usize = 16 * 1024 * 1024;

/// How many bytes of lines are looked at together.
const STRETCH: usize = 8 * 1024;

/// One clean line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clean<'a> {
    /// Its text, without colours and without its end.
    pub text: &'a str,
    /// How many more lines the same bytes finish.
    pub further: usize,
    /// What may be in it.
    pub hints: Hints,
}

/// The beginning of a line whose end has not come yet.
#[derive(Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    /// Whether a line is open: its first byte has come.
    open: bool,
    /// Where coloured lines are put together, used again and again.
    room: Vec<u8>,
}

impl Lines {
    /// Takes the next bytes and hands each finished line to `each`.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Clean<'_>)) {
        let ends = memchr::memrchr(b'\n', bytes).map_or(0, |last| last + 1);
        let (mut whole, rest) = bytes.split_at_checked(ends).unwrap_or((bytes, &[]));
        let mut further = memchr::memchr_iter(b'\n', whole).count();
        if self.open
            && let Some(end) = memchr::memchr(b'\n', whole)
        {
            further = further.saturating_sub(1);
            self.keep(whole.get(..end).unwrap_or_default());
            self.finish(|text| each(Clean { text, further, hints: Hints::UNKNOWN }));
            whole = whole.get(end + 1..).unwrap_or_default();
        }
        while !whole.is_empty() {
            let (stretch, after) = stretch(whole);
            further = self.whole_lines(stretch, further, &mut each);
            whole = after;
        }
        if !rest.is_empty() {
            self.keep(rest);
            self.open = true;
        }
    }

    /// Hands over the last line, which had no end.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(&str)) {
        if self.open {
            each(&ansi::clean(&self.partial, &mut self.room));
            self.partial.clear();
            self.open = false;
        }
    }

    /// Hands over lines all of which have their end; `further` counts down.
    fn whole_lines(
        &mut self,
        bytes: &[u8],
        mut further: usize,
        each: &mut impl FnMut(Clean<'_>),
    ) -> usize {
        // Looked at once and not for every line.
        let whole = std::str::from_utf8(bytes).ok();
        let hints = Hints::of(bytes);
        let mut control = next_control(bytes, 0);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            further = further.saturating_sub(1);
            let plain = if control > end { whole } else { None };
            match plain.and_then(|whole| whole.get(start..end)) {
                Some(text) if text.len() <= TEXT_MAX => each(Clean { text, further, hints }),
                _ => {
                    let line = bytes.get(start..end).unwrap_or_default();
                    let text = &ansi::clean(cut(line), &mut self.room);
                    each(Clean { text, further, hints: Hints::UNKNOWN });
                }
            }
            if control < end {
                control = next_control(bytes, end);
            }
            start = end + 1;
        }
        further
    }

    fn keep(&mut self, bytes: &[u8]) {
        let first = self.partial.first().or_else(|| bytes.first());
        let room = limit(first).saturating_sub(self.partial.len());
        self.partial.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
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
    use super::{Lines, TEXT_MAX};

    fn split(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for chunk in chunks {
            lines.feed(chunk, |line| seen.push(line.text.to_owned()));
        }
        lines.finish(|line| seen.push(line.to_owned()));
        seen
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
    fn every_line_comes_with_how_many_follow_it() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for chunk in ["on", "e\ntwo\r\n\nfo", "ur\n"] {
            lines.feed(chunk.as_bytes(), |line| seen.push((line.text.to_owned(), line.further)));
        }
        let want = [("one", 2), ("two", 1), ("", 0), ("four", 0)];
        assert_eq!(seen, want.map(|(line, further)| (line.to_owned(), further)));
    }

    #[test]
    fn many_lines_are_all_handed_over_in_their_order() {
        let lines: Vec<String> = (0..5_000).map(|number| format!("line {number}\n")).collect();
        let text = lines.concat();
        let mut lines = Lines::default();
        let mut seen = 0;
        lines.feed(text.as_bytes(), |line| {
            assert_eq!((line.text, line.further), (&*format!("line {seen}"), 4_999 - seen));
            seen += 1;
        });
        assert_eq!(seen, 5_000);
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
